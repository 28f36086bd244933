/** Models side by side: each at its planned threshold, with differences; and all at the same share flagged. */

import { MEASURES, expectedCost, factorsFor, place, readNumber, tableAt } from "../core.js";
import { capacity } from "../rules.js";
import { element, headed, numbered, refresh, tableOf } from "../dom.js";
import { clipped, cutOff, formatP, percent, short, sure, written } from "../format.js";
import { modelAt, plannedCounts, prevalenceInWords, reportedNow } from "../view.js";
import { SPOKEN, technicalName } from "../words.js";

const AT_CUT = ["flag_rate", "sensitivity", "specificity", "precision"];
const RANKS = ["auc", "average_precision", "brier"];

/** @typedef {import("../core.js").Counts} Counts */
/** A model, where it flags, and what that gives. @typedef {{at: number, cut: string, counts: Counts}} Compared */

/** @param {string} measure */
const named = (measure) => headed(SPOKEN[measure], technicalName(measure));

/**
 * Draw it into the body of its panel.
 * @param {HTMLElement} body
 * @param {import("../view.js").View} view
 */
export function drawModels(body, view) {
  // Each table has headings of its own: an element stands in one place alone.
  const columns = () => ["threshold", ...AT_CUT.map(named), "cost of a case"];
  const planned = view.book.models.map((_, at) => asPlanned(view, at));
  const equal = view.book.models.map((_, at) => atEqualShare(view, at));
  const where = prevalenceInWords(view);
  const share = percent(MEASURES.flag_rate(view.everybody));
  refresh(body, [
    element("h3", {}, `Each model at its planned threshold, ${where}`),
    scrolled("Models at their planned thresholds", [
      ["model", ...RANKS.map(named), ...columns()],
      planned.map((each) => row(view, each, RANKS)),
    ]),
    ...differences(view),
    element("h3", {}, `All models at an equal share flagged (${share}), ${where}`),
    scrolled("Models at an equal share flagged", [["model", ...columns()], equal.map((each) => row(view, each, []))]),
  ]);
}

/**
 * A table that scrolls by itself.
 * @param {string} caption
 * @param {[import("../dom.js").Child[], import("../dom.js").Child[][]]} table columns and rows
 * @returns {HTMLElement}
 */
function scrolled(caption, [columns, rows]) {
  return element(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    tableOf(caption, columns, rows),
  );
}

/**
 * Rows for a download.
 * @param {import("../view.js").View} view
 * @returns {import("../kit.js").Table}
 */
export function modelsTable(view) {
  /** @param {string} which @param {Compared} compared */
  const told = (which, { at, cut, counts }) => [
    which,
    view.book.models[at].entry.name,
    cut,
    ...AT_CUT.map((name) => MEASURES[name](counts)),
    expectedCost(counts, view.costs),
  ];
  return {
    columns: ["compared at", "model", "threshold", ...AT_CUT, "expected_cost"],
    rows: () =>
      view.book.models
        .map((_, at) => told("planned threshold", asPlanned(view, at)))
        .concat(view.book.models.map((_, at) => told("equal share flagged", atEqualShare(view, at)))),
  };
}

/**
 * A model as the plan decides, at the chosen prevalence.
 * @param {import("../view.js").View} view
 * @param {number} at
 * @returns {Compared}
 */
function asPlanned(view, at) {
  const model = modelAt(view.book, at, view.state.prevalence);
  const factors = factorsFor(model.everybody, view.state.prevalence);
  const { labels, cut } = model.entry;
  if (cut.threshold === null) return { at, cut: "policy", counts: plannedCounts(model, factors) };
  const index = place(model.threshold, readNumber(cut.threshold));
  return {
    at,
    cut: labels ? "labels" : cutOff(model.threshold[index]),
    counts: tableAt(model.everybody, index, factors),
  };
}

/**
 * Where a model flags as many as the chosen one does; labels are decided already.
 * @param {import("../view.js").View} view
 * @param {number} at
 * @returns {Compared}
 */
function atEqualShare(view, at) {
  const model = modelAt(view.book, at, view.state.prevalence);
  if (model.entry.labels) return asPlanned(view, at);
  if (at === view.state.model) {
    const cut = view.single ? cutOff(model.threshold[view.index]) : "by group";
    return { at, cut: view.state.parity === "planned" ? "policy" : cut, counts: view.everybody };
  }
  const factors = factorsFor(model.everybody, view.state.prevalence);
  const index = capacity(model.everybody, MEASURES.flag_rate(view.everybody), factors);
  return { at, cut: cutOff(model.threshold[index]), counts: tableAt(model.everybody, index, factors) };
}

/**
 * @param {import("../view.js").View} view
 * @param {Compared} compared
 * @param {string[]} ranks
 * @returns {import("../dom.js").Child[]}
 */
function row(view, { at, cut, counts }, ranks) {
  const { name } = view.book.models[at].entry;
  const cost = expectedCost(counts, view.costs);
  const chosen = at === view.state.model ? element("small", {}, " chosen") : null;
  return [
    element("span", { title: name }, clipped(name), chosen),
    ...ranks.map((measure) => ranked(view, measure, at)),
    cut,
    ...AT_CUT.map((measure) => {
      const value = MEASURES[measure](counts);
      return element("td", { class: "value", ...numbered(measure, value) }, percent(value));
    }),
    element("td", { class: "value", ...numbered("expected_cost", cost) }, short(cost)),
  ];
}

/**
 * A number of the scores of a model, at the chosen prevalence.
 * @param {import("../view.js").View} view
 * @param {string} measure
 * @param {number} model
 * @returns {HTMLElement}
 */
function ranked(view, measure, model) {
  const found = reportedNow(view, measure, { model, group: undefined });
  if (!found || found.value === undefined) return element("td", {}, "–");
  const between = found.low === undefined ? "" : `${short(readNumber(found.low))} – ${short(readNumber(found.high))}`;
  return element(
    "td",
    { class: "value", ...numbered(measure, readNumber(found.value)) },
    short(readNumber(found.value)),
    element("small", {}, between),
  );
}

/**
 * Differences as the report has them.
 * @param {import("../view.js").View} view
 * @returns {HTMLElement[]}
 */
function differences({ payload }) {
  const found = payload.numbers.filter((/** @type {import("../view.js").Json} */ each) => each.part === "differences");
  if (!found.length) return [];
  const pairs = found.map((/** @type {import("../view.js").Json} */ each) => `${each.model} ${each.other}`);
  const adjusted = new Set(pairs).size > 1;
  const rows = found.map((/** @type {import("../view.js").Json} */ each) => {
    const { format } = SPOKEN[each.measure];
    const [value, low, high] = [each.value, each.low, each.high].map(readNumber);
    return [
      `${clipped(payload.models[each.model].name, 30)} less ${clipped(payload.models[each.other].name, 30)}`,
      technicalName(each.measure),
      element(
        "td",
        { class: "value", ...numbered("difference", value) },
        written(value, format),
        element("small", {}, `${written(low, format)} – ${written(high, format)}`),
      ),
      formatP(readNumber(adjusted ? each.p_adjusted : each.p), each.p_is_bound),
    ];
  });
  return [
    element("h3", {}, "Differences in the sample, each model at its planned threshold"),
    scrolled("Differences between models", [
      ["models", "measure", "difference", adjusted ? "Holm-adjusted p" : "p"],
      rows,
    ]),
    ...(adjusted
      ? [
          element(
            "p",
            { class: "quiet" },
            `Holm-adjusted p: over all pairs of models for one measure. ${sure(payload.level)} confidence intervals are not adjusted for multiplicity.`,
          ),
        ]
      : []),
  ];
}
