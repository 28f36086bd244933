/** Measures of each class against the rest: a dot plot of one of them, and a table of all. */

import { element, numberAttributes, scrollTable } from "../dom.js";
import { formatEstimate, formatLevel, formatValue, shorten } from "../format.js";
import { axisUp, rowsFor } from "./axes.js";
import { measureChoices, numberOf, remember } from "./view.js";

/** @typedef {import("./view.js").MulticlassView} MulticlassView */
/** @typedef {import("./view.js").Estimate} Estimate */

/** Averages over classes, with their names. */
const AVERAGES = { macro: "macro average", weighted: "weighted average" };

/**
 * @param {MulticlassView} view
 * @returns {import("../chart.js").Spec}
 */
export function perClassSpec(view) {
  const { state, names, payload } = view;
  const { label, format } = payload.measures[state.measure];
  const lines = linesOf(view);
  const rows = [...lines.classes, ...lines.averages];
  const selected = remember(view.report, `line ${state.measure} ${state.class}`, () => ({
    ...columnsOf([lines.classes[state.class]], state.class),
  }));
  const all = [...names, ...Object.values(AVERAGES)];
  const lowest = Math.min(1, ...rows.flatMap(({ value, low }) => [value, low]).filter((each) => !Number.isNaN(each)));
  const level = formatLevel(payload.options.level);
  return {
    x: { label, domain: [Math.min(0.9, Math.floor(lowest * 10) / 10), 1], format },
    y: axisUp(all, ""),
    rows: rowsFor(all.length, 1),
    marks: [
      { kind: "intervals", key: "classes", ...lines.columns, look: "series-0", label: `class (${level} CI)` },
      { kind: "intervals", key: "averages", ...lines.means, look: "best", marker: 2, label: "average over classes" },
      {
        kind: "intervals",
        key: "selected",
        ...selected,
        look: "series-1",
        marker: 1,
        label: `selected: ${shorten(names[state.class], 30)}`,
      },
    ],
    probe: {
      x: rows.map(({ value }) => (Number.isNaN(value) ? 0 : value)),
      y: rows.map((_, at) => at),
      describe: (at) => `${shorten(all[at], 40)}\n${label}: ${describeEstimate(rows[at], format)}`,
    },
    description: `${label} of each class. ${rows.map((row, at) => `${shorten(all[at], 30)} ${formatEstimate(row.value, row, format)}`).join("; ")}.`,
    table: perClassTable(view),
  };
}

/**
 * The chosen measure of all classes, and of averages.
 * @param {MulticlassView} view
 */
function linesOf({ report, state, names }) {
  return remember(report, `lines ${state.measure}`, () => {
    const classes = names.map((_, at) => numberOf(report, "classes", state.measure, { at }));
    const averages = Object.keys(AVERAGES).map((average) => numberOf(report, "averages", state.measure, { average }));
    return { classes, averages, columns: columnsOf(classes, 0), means: columnsOf(averages, names.length) };
  });
}

/**
 * Coordinates of estimates, one below the other.
 * @param {Estimate[]} estimates
 * @param {number} first
 */
function columnsOf(estimates, first) {
  return {
    x: estimates.map(({ value }) => value),
    y: estimates.map((_, at) => first + at),
    left: estimates.map(({ low }) => low),
    right: estimates.map(({ high }) => high),
  };
}

/**
 * @param {Estimate} estimate
 * @param {string} format
 * @returns {string}
 */
function describeEstimate(estimate, format) {
  if (Number.isNaN(estimate.value)) return `undefined: ${estimate.why}`;
  return formatEstimate(estimate.value, estimate, format);
}

/**
 * The table of all measures of all classes.
 * @param {HTMLElement} body
 * @param {MulticlassView} view
 */
export function drawPerClass(body, view) {
  const { report, names, payload, state } = view;
  if (!body.firstChild) {
    const measures = measureChoices(report);
    const heads = measures.map((name) =>
      element("span", { title: payload.measures[name].hint }, payload.measures[name].label),
    );
    const rows = names.map((name, at) => [
      shorten(name, 40),
      valueCell("support", numberOf(report, "data", "support", { at }), "count"),
      ...measures.map((measure) =>
        valueCell(measure, numberOf(report, "classes", measure, { at }), payload.measures[measure].format),
      ),
    ]);
    const averages = Object.entries(AVERAGES).map(([average, name]) => [
      name,
      "",
      ...measures.map((measure) =>
        valueCell(
          `${average} ${measure}`,
          numberOf(report, "averages", measure, { average }),
          payload.measures[measure].format,
        ),
      ),
    ]);
    const title = "Measures of each class against the rest";
    body.replaceChildren(
      scrollTable(title, ["class", payload.data.weighted ? "weight" : "rows", ...heads], [...rows, ...averages]),
    );
  }
  body.querySelectorAll("tbody tr").forEach((row, at) => row.classList.toggle("selected", at === state.class));
}

/**
 * A cell with a number and its interval in small print.
 * @param {string} measure
 * @param {Estimate} estimate
 * @param {string} format
 * @returns {HTMLElement}
 */
export function valueCell(measure, { value, low, high, why }, format) {
  const bounds = Number.isNaN(low) || Number.isNaN(high) ? null : { low, high };
  const show = (/** @type {number} */ each) => formatValue(each, format);
  const title = Number.isNaN(value) ? why : null;
  return element(
    "td",
    { class: "value", title, ...numberAttributes(measure, value, bounds) },
    show(value),
    bounds && element("small", {}, `${show(low).replace("%", "")} to ${show(high)}`),
  );
}

/**
 * @param {MulticlassView} view
 * @returns {import("../chart.js").Table}
 */
function perClassTable({ report, names }) {
  const measures = measureChoices(report);
  const columns = measures.flatMap((name) => [name, `${name} low`, `${name} high`]);
  return {
    columns: ["class", "support", ...columns],
    rows: () =>
      names.map((name, at) => [
        name,
        numberOf(report, "data", "support", { at }).value,
        ...measures.flatMap((measure) => {
          const { value, low, high } = numberOf(report, "classes", measure, { at });
          return [value, low, high];
        }),
      ]),
  };
}
