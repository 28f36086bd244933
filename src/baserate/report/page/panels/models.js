/** Models side by side, at the same share of flags. */

import { MEASURES, expectedCost, factorsFor, place, readNumber, tableAt } from "../core.js";
import { capacity } from "../rules.js";
import { element, headed, numbered, refresh, tableOf } from "../dom.js";
import { clipped, cutOff, formatP, percent, short, sure, written } from "../format.js";
import { reported } from "../view.js";
import { SPOKEN, technicalName } from "../words.js";

const AT_CUT = ["flag_rate", "sensitivity", "specificity", "precision"];
const RANKS = ["auc", "average_precision", "brier"];

/** @param {string} measure */
const named = (measure) => headed(SPOKEN[measure], technicalName(measure));

/**
 * Draw it into the body of its panel.
 * @param {HTMLElement} body
 * @param {import("../view.js").View} view
 */
export function drawModels(body, view) {
  const columns = ["model", ...RANKS.map(named), "cut-off", ...AT_CUT.map(named), "cost of a case"];
  const rows = view.book.models.map((model, at) => row(view, model, at));
  refresh(body, [
    element(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Models" },
      tableOf("Models", columns, rows),
    ),
    ...differences(view),
  ]);
}

/**
 * Rows for a download.
 * @param {import("../view.js").View} view
 * @returns {import("../kit.js").Table}
 */
export function modelsTable(view) {
  return {
    columns: ["model", "threshold", ...AT_CUT, "expected_cost"],
    rows: () =>
      view.book.models.map((model, at) => {
        const { index, counts } = atSameWork(view, model, at);
        return [
          model.entry.name,
          model.threshold[index],
          ...AT_CUT.map((name) => MEASURES[name](counts)),
          expectedCost(counts, view.costs),
        ];
      }),
  };
}

/**
 * Where a model flags as many as the chosen one does; labels are decided already.
 * @param {import("../view.js").View} view
 * @param {import("../view.js").Model} model
 * @param {number} at
 */
function atSameWork(view, model, at) {
  const factors = factorsFor(model.everybody, view.state.prevalence);
  if (at === view.state.model) return { index: view.index, counts: view.everybody };
  const index = model.entry.labels
    ? place(model.threshold, readNumber(model.entry.cut.threshold))
    : capacity(model.everybody, MEASURES.flag_rate(view.everybody), factors);
  return { index, counts: tableAt(model.everybody, index, factors) };
}

/**
 * @param {import("../view.js").View} view
 * @param {import("../view.js").Model} model
 * @param {number} at
 * @returns {import("../dom.js").Child[]}
 */
function row(view, model, at) {
  const { index, counts } = atSameWork(view, model, at);
  const chosen = at === view.state.model;
  const cost = expectedCost(counts, view.costs);
  return [
    element(
      "span",
      { title: model.entry.name },
      clipped(model.entry.name),
      chosen ? element("small", {}, " chosen") : null,
    ),
    ...RANKS.map((measure) => ranked(view, measure, at)),
    cutTold(view, model, index),
    ...AT_CUT.map((measure) =>
      element(
        "td",
        { class: "value", ...numbered(measure, MEASURES[measure](counts)) },
        percent(MEASURES[measure](counts)),
      ),
    ),
    element("td", { class: "value", ...numbered("expected_cost", cost) }, short(cost)),
  ];
}

/**
 * Where a model is cut, in words.
 * @param {import("../view.js").View} view
 * @param {import("../view.js").Model} model
 * @param {number} index
 * @returns {string}
 */
function cutTold(view, model, index) {
  if (model.entry.labels) return "labels";
  if (model !== view.model || view.single) return cutOff(model.threshold[index]);
  return view.state.parity === "planned" ? "as planned" : "by group";
}

/**
 * A number of the scores of a model.
 * @param {import("../view.js").View} view
 * @param {string} measure
 * @param {number} model
 * @returns {HTMLElement}
 */
function ranked(view, measure, model) {
  const found = ["ranks", "probabilities"]
    .map((part) => reported(view, { part, measure, model, group: undefined, where: "here" }))
    .find(Boolean);
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
    element("h3", {}, "Differences, at the plan's cut-offs"),
    element(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Differences" },
      tableOf(
        "Differences between models",
        ["models", "measure", "difference", adjusted ? "Holm-adjusted p" : "p"],
        rows,
      ),
    ),
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
