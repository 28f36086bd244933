/** Forest plots: differences between the selected model and the others, computed by Python. */

import { readNumber } from "./core.js";
import { formatEstimate, formatLevel, formatPValue, formatValue, shorten } from "./format.js";
import { categoryAxis, seriesLook } from "./paths.js";

/** @typedef {import("./view.js").Json} Json */
/** @typedef {import("./view.js").View} View */
/**
 * The selected model minus another one.
 * @typedef {{measure: string, other: number, value: number, low: number, high: number, p: number, isBound: boolean}} Difference
 */

/** Measures that share an axis where only two models are compared. */
const FAMILIES = [
  { title: "Rates", measures: ["sensitivity", "specificity", "precision", "npv"] },
  { title: "AUC and average precision", measures: ["auc", "average_precision"] },
];
/** Measures of which a lower value is better. */
const LOWER_IS_BETTER = ["expected_cost", "brier", "log_loss", "ece"];
/** Room at both ends of an axis, as a part of its length. */
const ROOM = 0.06;

/**
 * Differences between the selected model and the others.
 * @param {View} view
 * @returns {Difference[]}
 */
export function differencesWith({ payload, state }) {
  return differenceNumbers(payload)
    .filter(({ model, other }) => model === state.model || other === state.model)
    .map((number) => {
      const sign = number.model === state.model ? 1 : -1;
      const [low, high] = [number.low ?? null, number.high ?? null].map((bound) => sign * readNumber(bound));
      return {
        measure: number.measure,
        other: sign > 0 ? number.other : number.model,
        value: sign * readNumber(number.value),
        low: sign > 0 ? low : high,
        high: sign > 0 ? high : low,
        p: readNumber(number.p_adjusted ?? number.p ?? null),
        isBound: number.p_is_bound,
      };
    });
}

/** @param {Json} payload @returns {Json[]} */
function differenceNumbers({ numbers }) {
  return numbers.filter((/** @type {Json} */ each) => each.part === "differences");
}

/**
 * The name of p-values: Holm's where several comparisons are adjusted.
 * @param {View} view
 * @returns {string}
 */
export function nameOfP({ payload }) {
  return differenceNumbers(payload).length > 1 ? "Holm p" : "p";
}

/**
 * How the p-values are adjusted.
 * @param {View} view
 * @returns {string[]}
 */
export function holmNote({ payload }) {
  const { length } = differenceNumbers(payload);
  if (length < 2) return [];
  return [
    `Holm p is adjusted for all ${length} comparisons of this report. ${formatLevel(payload.level)} confidence intervals are not adjusted for multiplicity.`,
  ];
}

/**
 * A chart for each measure, with a line for each other model. With two models, measures of one unit share a chart, with a
 * line for each measure.
 * @param {View} view
 * @returns {{title: string, spec: import("./chart.js").Spec}[]}
 */
export function forestSpecs(view) {
  const differences = differencesWith(view);
  const several = new Set(differences.map(({ other }) => other)).size > 1;
  const measures = [...new Set(differences.map(({ measure }) => measure))];
  const families = several ? [] : FAMILIES;
  const titles = new Map(measures.map((measure) => [measure, familyTitle(view, measure, families)]));
  const charts = [...new Set(titles.values())].map((title) => {
    const rows = differences.filter(({ measure }) => titles.get(measure) === title);
    return { title, rows };
  });
  charts.sort((one, other) => other.rows.length - one.rows.length);
  return charts.map(({ title, rows }) => ({ title, spec: forestSpec(view, title, rows) }));
}

/**
 * The title of the chart of a measure.
 * @param {View} view
 * @param {string} measure
 * @param {typeof FAMILIES} families
 * @returns {string}
 */
function familyTitle(view, measure, families) {
  return families.find(({ measures }) => measures.includes(measure))?.title ?? entryOf(view, measure).label;
}

/**
 * Text and format of a measure.
 * @param {View} view
 * @param {string} measure
 * @returns {{label: string, format: "percent" | "number"}}
 */
function entryOf({ payload }, measure) {
  return payload.measures[measure] ?? payload.compared[measure];
}

/**
 * @param {View} view
 * @param {string} title
 * @param {Difference[]} rows
 * @returns {import("./chart.js").Spec}
 */
function forestSpec(view, title, rows) {
  const { format } = entryOf(view, rows[0].measure);
  const one = new Set(rows.map(({ measure }) => measure)).size === 1;
  const names = rows.map(({ measure, other }) =>
    one && view.report.models.length > 2
      ? shorten(view.report.models[other].entry.label, 30)
      : entryOf(view, measure).label.replace(/ \(.*\)$/, ""),
  );
  /** @param {number} at */
  const describe = (at) => `${names[at]}: ${differenceText(view, rows[at])}`;
  return {
    x: {
      label: format === "percent" ? "Difference (percentage points)" : "Difference",
      name: LOWER_IS_BETTER.includes(rows[0].measure) ? "lower is better" : undefined,
      domain: domainOf(rows),
      format,
    },
    y: { ...categoryAxis(names, "up"), notes: rows.map((row) => noteOf(row, format)) },
    rows: rows.length,
    marks: [
      { kind: "rule", key: "zero", x: 0, look: "quiet" },
      {
        kind: "intervals",
        key: "differences",
        x: rows.map(({ value }) => value),
        y: rows.map((_, at) => at),
        left: rows.map(({ low }) => low),
        right: rows.map(({ high }) => high),
        look: seriesLook(view.state.model),
        describe,
      },
    ],
    description: `Forest plot of differences, ${title}. ${rows.map((_, at) => describe(at)).join("; ")}.`,
    table: {
      columns: ["measure", "other model", "difference", "low", "high", "p"],
      rows: () =>
        rows.map(({ measure, other, value, low, high, p }) => [
          ...[measure, view.report.models[other].entry.label],
          ...[value, low, high, p],
        ]),
    },
  };
}

/**
 * A difference in words.
 * @param {View} view
 * @param {Difference} row
 * @returns {string}
 */
function differenceText(view, { measure, value, low, high, p, isBound }) {
  const text = formatEstimate(value, { low, high }, entryOf(view, measure).format);
  return Number.isNaN(p) ? text : `${text}, ${nameOfP(view)} ${formatPValue(p, isBound)}`;
}

/**
 * Value and p-value at the right of a line.
 * @param {Difference} row
 * @param {"percent" | "number"} format
 * @returns {string}
 */
function noteOf({ value, p, isBound }, format) {
  const text = `${value > 0 ? "+" : ""}${formatValue(value, format)}`;
  if (Number.isNaN(p)) return text;
  const tail = formatPValue(p, isBound);
  return `${text}, p ${/^[<≤]/.test(tail) ? "" : "= "}${tail}`;
}

/**
 * An axis that contains all intervals and 0.
 * @param {Difference[]} rows
 * @returns {[number, number]}
 */
function domainOf(rows) {
  const ends = rows.flatMap(({ value, low, high }) => [value, low, high]).filter(Number.isFinite);
  const [low, high] = [Math.min(0, ...ends), Math.max(0, ...ends)];
  const room = ROOM * (high - low) || 1;
  return [low - room, high + room];
}
