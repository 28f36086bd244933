/** Model comparison: forest plots of differences, each model at its planned threshold, and all at an equal flag rate. */

import { Chart } from "../chart.js";
import { MEASURES, expectedCost, factorsFor, thresholdIndex, readNumber, tableAt } from "../core.js";
import { differencesWith, forestSpecs, holmNote, nameOfP } from "../forest.js";
import { capacityIndex } from "../rules.js";
import { element, measureName, numberAttributes, scrollTable, updateChildren } from "../dom.js";
import {
  shorten,
  formatThreshold,
  formatPValue,
  formatPercent,
  formatNumber,
  formatSetting,
  formatValue,
} from "../format.js";
import { summariesOf } from "../summary.js";
import { cutOf, modelAt, policyCounts, describePrevalence } from "../view.js";

const THRESHOLD_MEASURES = ["flag_rate", "sensitivity", "specificity", "precision"];
const SCORE_MEASURES = ["auc", "average_precision", "brier"];

/** @typedef {import("../core.js").Counts} Counts */
/**
 * A model with its threshold, in words and as a number or the name of a policy, and its confusion matrix.
 * @typedef {{at: number, cut: string, key: number | string, counts: Counts}} Decision
 */

/**
 * Draw tables and forest plots into the body of the panel.
 * @param {HTMLElement} body
 * @param {import("../view.js").View} view
 */
export function drawModels(body, view) {
  if (!body.firstChild) body.append(element("div"), element("div"), element("div"));
  const [planned, differences, equal] = /** @type {HTMLElement[]} */ ([...body.children]);
  /** @param {string} measure */
  const name = (measure) => measureName(view.payload.measures[measure]);
  // A function, since each table needs elements of its own.
  const columns = () => ["threshold", ...thresholdMeasures(view).map(name)];
  const where = describePrevalence(view);
  const share = formatPercent(MEASURES.flag_rate(view.everybody));
  updateChildren(planned, [
    element("h3", {}, `Each model at its planned threshold, ${where}`),
    scrollTable(
      "Models at their planned thresholds",
      ["model", ...SCORE_MEASURES.map(name), ...columns()],
      view.report.models.map((_, at) => modelRow(view, planDecision(view, at), SCORE_MEASURES)),
    ),
  ]);
  drawDifferences(differences, view);
  updateChildren(equal, [
    element("h3", {}, `All models at an equal flag rate (${share}), ${where}`),
    scrollTable(
      "Models at an equal flag rate",
      ["model", ...columns()],
      view.report.models.map((_, at) => modelRow(view, equalShareDecision(view, at), [])),
    ),
  ]);
}

/**
 * Measures at a threshold; the cost only where costs are stated.
 * @param {import("../view.js").View} view
 * @returns {string[]}
 */
function thresholdMeasures({ priced }) {
  return priced ? [...THRESHOLD_MEASURES, "expected_cost"] : THRESHOLD_MEASURES;
}

/**
 * A measure at a threshold.
 * @param {import("../view.js").View} view
 * @param {string} measure
 * @param {Counts} counts
 * @returns {number}
 */
function valueOf(view, measure, counts) {
  return measure === "expected_cost" ? expectedCost(counts, view.costs) : MEASURES[measure](counts);
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
    view.report.models[at].entry.label,
    cut,
    ...thresholdMeasures(view).map((measure) => valueOf(view, measure, counts)),
  ];
  return {
    columns: ["compared at", "model", "threshold", ...thresholdMeasures(view)],
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
  if (cut.threshold === null) return { at, cut: "policy", key: "planned", counts: policyCounts(model, factors) };
  const index = thresholdIndex(model.threshold, readNumber(cut.threshold));
  return {
    at,
    cut: labels ? "labels" : formatThreshold(model.threshold[index]),
    key: model.threshold[index],
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
    const text = view.state.parity === "planned" ? "policy" : cut;
    return { at, cut: text, key: cutOf(view), counts: view.everybody };
  }
  const factors = factorsFor(model.everybody, view.state.prevalence);
  const index = capacityIndex(model.everybody, MEASURES.flag_rate(view.everybody), factors);
  const threshold = model.threshold[index];
  const counts = tableAt(model.everybody, index, factors);
  return { at, cut: formatThreshold(threshold), key: threshold, counts };
}

/**
 * @param {import("../view.js").View} view
 * @param {Decision} decision
 * @param {string[]} scoreMeasures
 * @returns {import("../dom.js").Child[]}
 */
function modelRow(view, { at, cut, key, counts }, scoreMeasures) {
  const { label } = view.report.models[at].entry;
  const mark = at === view.state.model ? element("small", {}, " selected") : null;
  return [
    element("span", { title: label }, shorten(label), mark),
    ...scoreMeasures.map((measure) => scoreCell(view, measure, at)),
    cut,
    ...thresholdMeasures(view).map((measure) => {
      const value = valueOf(view, measure, counts);
      const text = formatValue(value, view.payload.measures[measure].format);
      const place = { prevalence: view.state.prevalence, model: at, cut: key };
      return element("td", { class: "value", ...numberAttributes(measure, value, null, place) }, text);
    }),
  ];
}

/**
 * A measure of the scores of a model, for everybody at the selected prevalence.
 * @param {import("../view.js").View} view
 * @param {string} measure
 * @param {number} model
 * @returns {HTMLElement}
 */
function scoreCell(view, measure, model) {
  const [number] = summariesOf(everybodyOf(view), measure, model);
  if (!number) return element("td", {}, "–");
  const { value, low, high } = number;
  const definedBounds = low === undefined || high === undefined ? null : { low, high };
  const bounds = definedBounds ? `${formatNumber(definedBounds.low)} to ${formatNumber(definedBounds.high)}` : "";
  return element(
    "td",
    { class: "value", ...numberAttributes(measure, value, definedBounds, number) },
    formatNumber(value),
    element("small", {}, bounds),
  );
}

/**
 * The view of everybody: models are compared on all people.
 * @param {import("../view.js").View} view
 * @returns {import("../view.js").View}
 */
function everybodyOf(view) {
  return { ...view, state: { ...view.state, who: -1 } };
}

/**
 * Numbers of the first table, and the differences.
 * @param {import("../view.js").View} view
 * @returns {import("../chart.js").Summary[]}
 */
export function modelsNumbers(view) {
  const { prevalence } = view.state;
  const own = view.report.models.flatMap(({ entry }, model) => {
    const { counts } = planDecision(view, model);
    const threshold = entry.cut.threshold === null ? {} : { threshold: readNumber(entry.cut.threshold) };
    return [
      ...SCORE_MEASURES.flatMap((measure) => summariesOf(everybodyOf(view), measure, model)),
      ...thresholdMeasures(view).map((measure) => {
        const value = valueOf(view, measure, counts);
        return { measure, prevalence, model, ...threshold, value };
      }),
    ];
  });
  const differences = differencesWith(view).map(({ measure, other, value, low, high }) => ({
    ...{ measure, model: view.state.model, other, value, low, high },
    prevalence: view.payload.use.prevalence,
  }));
  return [...own, ...differences];
}

/** @typedef {import("../view.js").Json} Json */

/**
 * Charts of a body, which are kept as long as it has as many.
 * @type {WeakMap<HTMLElement, {model: number, charts: Chart[]}>}
 */
const drawn = new WeakMap();

/**
 * Draw the differences of the selected model and the others, computed by Python, as forest plots, and all pairs as tables.
 * They do not change with the controls, so that only another model needs a new drawing.
 * @param {HTMLElement} body
 * @param {import("../view.js").View} view
 */
function drawDifferences(body, view) {
  const { payload, state, report } = view;
  const numbers = payload.numbers.filter((/** @type {Json} */ each) => each.part === "differences");
  if (!numbers.length) return;
  const changed = view.planned ? [] : ["The controls differ from the plan. These differences stay those of the plan."];
  const texts = [...changed, ...holmNote(view)].map((text) => element("p", { class: "quiet" }, text));
  if (drawn.get(body)?.model === state.model) {
    updateChildren(body.children[1], texts);
    return;
  }
  const specs = forestSpecs(view);
  const { prevalence } = payload.use;
  const where = numbers[0].where === "there" ? `at ${formatSetting(prevalence)} prevalence` : "in the sample";
  const [label, ...others] = [state.model, ...report.models.keys()].map((at) =>
    shorten(report.models[at].entry.label, 40),
  );
  const minus = others.length === 2 ? others[1 - state.model] : "each other model";
  const before = drawn.get(body)?.charts ?? [];
  if (before.length !== specs.length) {
    body.replaceChildren(
      element("h3"),
      element("div"),
      element("div", { class: "forest" }, ...specs.map(() => element("div", { class: "holder" }, element("h4")))),
      pairDetails(view, numbers),
    );
  }
  const [title, notes, forest] = body.children;
  title.textContent = `Differences at the planned thresholds, ${where}: ${label} minus ${minus}`;
  updateChildren(notes, texts);
  const holders = /** @type {HTMLElement[]} */ ([...forest.children]);
  const charts =
    before.length === specs.length ? before : holders.map((holder, at) => new Chart(holder, `forest-${at}`, () => {}));
  specs.forEach(({ title: text, spec }, at) => {
    const values = element("small", {}, `difference, ${nameOfP(view)}`);
    /** @type {Element} */ (holders[at].firstElementChild).replaceChildren(text, values);
    charts[at].draw(spec);
  });
  drawn.set(body, { model: state.model, charts });
}

/**
 * Tables of all pairs, which are made when they are opened.
 * @param {import("../view.js").View} view
 * @param {Json[]} numbers
 * @returns {HTMLElement}
 */
function pairDetails(view, numbers) {
  const pairs = [...new Set(numbers.map(pairOf))];
  const several = numbers.length > 1;
  const body = element("div");
  const details = element("details", {}, element("summary", {}, "Differences of all pairs as tables"), body);
  details.addEventListener("toggle", () => {
    if (body.firstChild) return;
    const tables = pairs.map((pair) => numbers.filter((each) => pairOf(each) === pair));
    body.append(...tables.flatMap((each) => pairTable(view, each, several)));
  });
  return details;
}

/** @param {Json} number @returns {string} */
function pairOf({ model, other }) {
  return `${model} ${other}`;
}

/**
 * The table of one pair: a line for each measure.
 * @param {import("../view.js").View} view
 * @param {Json[]} numbers
 * @param {boolean} several
 * @returns {HTMLElement[]}
 */
function pairTable(view, numbers, several) {
  const names = [numbers[0].model, numbers[0].other].map((at) => view.payload.models[at].label);
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
    scrollTable(
      `Differences between models: ${title}`,
      ["measure", ...columns, "difference", "p", ...(several ? ["Holm-adjusted p"] : [])],
      rows,
    ),
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
