/** Model comparison: each model at its planned threshold, with differences; and all at an equal flag rate. */

import { MEASURES, expectedCost, factorsFor, thresholdIndex, readNumber, tableAt } from "../core.js";
import { capacityIndex } from "../rules.js";
import { element, measureName, numberAttributes, updateChildren, makeTable } from "../dom.js";
import {
  shorten,
  formatThreshold,
  formatPValue,
  formatPercent,
  formatNumber,
  formatLevel,
  formatSetting,
  formatValue,
} from "../format.js";
import { modelAt, policyCounts, describePrevalence, currentNumber } from "../view.js";

const THRESHOLD_MEASURES = ["flag_rate", "sensitivity", "specificity", "precision"];
const SCORE_MEASURES = ["auc", "average_precision", "brier"];

/** @typedef {import("../core.js").Counts} Counts */
/** A model with its threshold and confusion matrix. @typedef {{at: number, cut: string, counts: Counts}} Decision */

/**
 * Draw all tables into the body of the panel.
 * @param {HTMLElement} body
 * @param {import("../view.js").View} view
 */
export function drawModels(body, view) {
  /** @param {string} measure */
  const name = (measure) => measureName(view.payload.measures[measure]);
  // A function, since each table needs elements of its own.
  const columns = () => ["threshold", ...THRESHOLD_MEASURES.map(name), name("expected_cost")];
  const planned = view.report.models.map((_, at) => planDecision(view, at));
  const equal = view.report.models.map((_, at) => equalShareDecision(view, at));
  const where = describePrevalence(view);
  const share = formatPercent(MEASURES.flag_rate(view.everybody));
  updateChildren(body, [
    element("h3", {}, `Each model at its planned threshold, ${where}`),
    scrollTable("Models at their planned thresholds", [
      ["model", ...SCORE_MEASURES.map(name), ...columns()],
      planned.map((each) => modelRow(view, each, SCORE_MEASURES)),
    ]),
    ...differences(view),
    element("h3", {}, `All models at an equal flag rate (${share}), ${where}`),
    scrollTable("Models at an equal flag rate", [
      ["model", ...columns()],
      equal.map((each) => modelRow(view, each, [])),
    ]),
  ]);
}

/**
 * A table in a scrollable region.
 * @param {string} caption
 * @param {[import("../dom.js").Child[], import("../dom.js").Child[][]]} table columns and rows
 * @returns {HTMLElement}
 */
function scrollTable(caption, [columns, rows]) {
  return element(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    makeTable(caption, columns, rows),
  );
}

/**
 * Rows for a download.
 * @param {import("../view.js").View} view
 * @returns {import("../chart.js").Table}
 */
export function modelsTable(view) {
  /** @param {string} basis @param {Decision} decision */
  const rowOf = (basis, { at, cut, counts }) => [
    basis,
    view.report.models[at].entry.name,
    cut,
    ...THRESHOLD_MEASURES.map((name) => MEASURES[name](counts)),
    expectedCost(counts, view.costs),
  ];
  return {
    columns: ["compared at", "model", "threshold", ...THRESHOLD_MEASURES, "expected_cost"],
    rows: () =>
      view.report.models
        .map((_, at) => rowOf("planned threshold", planDecision(view, at)))
        .concat(view.report.models.map((_, at) => rowOf("equal flag rate", equalShareDecision(view, at)))),
  };
}

/**
 * The decision of the plan for a model, at the selected prevalence.
 * @param {import("../view.js").View} view
 * @param {number} at
 * @returns {Decision}
 */
function planDecision(view, at) {
  const model = modelAt(view.report, at, view.state.prevalence);
  const factors = factorsFor(model.everybody, view.state.prevalence);
  const { labels, cut } = model.entry;
  if (cut.threshold === null) return { at, cut: "policy", counts: policyCounts(model, factors) };
  const index = thresholdIndex(model.threshold, readNumber(cut.threshold));
  return {
    at,
    cut: labels ? "labels" : formatThreshold(model.threshold[index]),
    counts: tableAt(model.everybody, index, factors),
  };
}

/**
 * The threshold at which a model flags the same share as the selected one; predicted labels stay.
 * @param {import("../view.js").View} view
 * @param {number} at
 * @returns {Decision}
 */
function equalShareDecision(view, at) {
  const model = modelAt(view.report, at, view.state.prevalence);
  if (model.entry.labels) return planDecision(view, at);
  if (at === view.state.model) {
    const cut = view.single ? formatThreshold(model.threshold[view.index]) : "by group";
    return { at, cut: view.state.parity === "planned" ? "policy" : cut, counts: view.everybody };
  }
  const factors = factorsFor(model.everybody, view.state.prevalence);
  const index = capacityIndex(model.everybody, MEASURES.flag_rate(view.everybody), factors);
  return { at, cut: formatThreshold(model.threshold[index]), counts: tableAt(model.everybody, index, factors) };
}

/**
 * @param {import("../view.js").View} view
 * @param {Decision} decision
 * @param {string[]} scoreMeasures
 * @returns {import("../dom.js").Child[]}
 */
function modelRow(view, { at, cut, counts }, scoreMeasures) {
  const { name } = view.report.models[at].entry;
  const cost = expectedCost(counts, view.costs);
  const mark = at === view.state.model ? element("small", {}, " selected") : null;
  return [
    element("span", { title: name }, shorten(name), mark),
    ...scoreMeasures.map((measure) => scoreCell(view, measure, at)),
    cut,
    ...THRESHOLD_MEASURES.map((measure) => {
      const value = MEASURES[measure](counts);
      return element("td", { class: "value", ...numberAttributes(measure, value) }, formatPercent(value));
    }),
    element("td", { class: "value", ...numberAttributes("expected_cost", cost) }, formatNumber(cost)),
  ];
}

/**
 * A measure of the scores of a model, at the selected prevalence.
 * @param {import("../view.js").View} view
 * @param {string} measure
 * @param {number} model
 * @returns {HTMLElement}
 */
function scoreCell(view, measure, model) {
  const row = currentNumber(view, measure, { model, group: undefined });
  if (!row || row.value === undefined) return element("td", {}, "–");
  const bounds =
    row.low === undefined ? "" : `${formatNumber(readNumber(row.low))} to ${formatNumber(readNumber(row.high))}`;
  return element(
    "td",
    { class: "value", ...numberAttributes(measure, readNumber(row.value)) },
    formatNumber(readNumber(row.value)),
    element("small", {}, bounds),
  );
}

/** @typedef {import("../view.js").Json} Json */

/**
 * Differences between models, computed by Python: a table for each pair.
 * @param {import("../view.js").View} view
 * @returns {HTMLElement[]}
 */
function differences(view) {
  const { payload } = view;
  /** @type {Json[]} */
  const numbers = payload.numbers.filter((/** @type {Json} */ each) => each.part === "differences");
  if (!numbers.length) return [];
  const pairs = [...new Set(numbers.map(pairOf))];
  const several = numbers.length > 1;
  const where =
    numbers[0].where === "there" ? `at ${formatSetting(payload.use.prevalence)} prevalence` : "in the sample";
  return [
    element("h3", {}, `Differences at the planned thresholds, ${where}`),
    ...notes(view, several),
    ...pairs.flatMap((pair) =>
      pairTable(
        view,
        numbers.filter((each) => pairOf(each) === pair),
        several,
      ),
    ),
  ];
}

/** @param {Json} number @returns {string} */
function pairOf({ model, other }) {
  return `${model} ${other}`;
}

/**
 * What the differences refer to, and how their p-values are adjusted.
 * @param {import("../view.js").View} view
 * @param {boolean} several
 * @returns {HTMLElement[]}
 */
function notes(view, several) {
  const texts = [
    view.planned ? "" : "The controls differ from the plan. These differences stay those of the plan.",
    several
      ? `Holm-adjusted p: for several comparisons. ${formatLevel(view.payload.level)} confidence intervals are not adjusted for multiplicity.`
      : "",
  ];
  return texts.filter(Boolean).map((text) => element("p", { class: "quiet" }, text));
}

/**
 * The table of one pair: a line for each measure.
 * @param {import("../view.js").View} view
 * @param {Json[]} numbers
 * @param {boolean} several
 * @returns {HTMLElement[]}
 */
function pairTable(view, numbers, several) {
  const names = [numbers[0].model, numbers[0].other].map((at) => view.payload.models[at].name);
  const decided = numbers.find((each) => each.threshold !== undefined);
  const cuts = decided && [decided.threshold, decided.other_threshold].map(readNumber);
  const columns = names.map((name, at) =>
    element(
      "span",
      { title: name },
      shorten(name, 30),
      cuts ? element("small", {}, ` ≥ ${formatThreshold(cuts[at])}`) : null,
    ),
  );
  const rows = numbers.map((each) => differenceRow(view, each, several));
  const title = names.map((name) => shorten(name, 30)).join(" − ");
  return [
    element("h4", {}, title),
    scrollTable(`Differences between models: ${title}`, [
      ["measure", ...columns, "difference", "p", ...(several ? ["Holm-adjusted p"] : [])],
      rows,
    ]),
  ];
}

/**
 * The line of one measure: both numbers, their difference with its interval, and p-values.
 * @param {import("../view.js").View} view
 * @param {Json} number
 * @param {boolean} several
 * @returns {import("../dom.js").Child[]}
 */
function differenceRow({ payload }, number, several) {
  const { measure } = number;
  const entry = payload.measures[measure] ?? payload.compared[measure];
  const [value, low, high] = [number.value, number.low, number.high].map(readNumber);
  const own = [number.model_value, number.other_value].map((each) =>
    element("td", { class: "value" }, formatValue(readNumber(each), entry.format)),
  );
  const bounds =
    number.low === undefined
      ? (number.why ?? "")
      : `${formatValue(low, entry.format)} to ${formatValue(high, entry.format)}`;
  return [
    measureName(entry),
    ...own,
    element(
      "td",
      { class: "value", ...numberAttributes(`difference ${measure}`, value) },
      formatValue(value, entry.format),
      element("small", {}, bounds),
    ),
    formatPValue(readNumber(number.p), number.p_is_bound),
    ...(several ? [formatPValue(readNumber(number.p_adjusted), number.p_is_bound)] : []),
  ];
}
