/** Numbers, and how sure they are. */

import { MEASURES, expectedCost, interval, readNumber } from "../core.js";
import { element, numbered, refresh, tableOf } from "../dom.js";
import { sure, written } from "../format.js";
import { shape } from "../kit.js";
import { partKey, prevalenceInWords, reported, reportedNow } from "../view.js";
import { SPOKEN } from "../words.js";

const MOVING = [
  "sensitivity",
  "specificity",
  "precision",
  "npv",
  "flag_rate",
  "accuracy",
  "balanced_accuracy",
  "f1",
  "mcc",
  "expected_cost",
];
const FIXED = [
  "auc",
  "average_precision",
  "brier",
  "brier_skill",
  "ece",
  "calibration_slope",
  "observed_expected",
  "mean_probability",
];

/** @typedef {{low: number, high: number, how?: string}} Bounds */
/** @typedef {{measure: string, value: number, bounds: Bounds | null, why?: string}} Line */

/**
 * Draw it into the body of its panel.
 * @param {HTMLElement} body
 * @param {import("../view.js").View} view
 */
export function drawMeasures(body, view) {
  const moving = MOVING.map((measure) => moved(view, measure));
  const level = `${sure(view.payload.level)} interval`;
  const columns = [`measure, ${prevalenceInWords(view)}`, "value", level];
  if (!body.firstChild) body.append(element("div"), rest());
  const [now, always] = body.querySelectorAll("div");
  refresh(now, [tableOf("Measures at the cut-off", columns, moving.map(cells))]);
  const of = `${partKey(view.state)} ${view.state.prevalence}`;
  if (body.dataset.of === of) return;
  body.dataset.of = of;
  const fixed = FIXED.map((measure) => standing(view, measure)).filter((line) => line !== null);
  const left = isElsewhere(view)
    ? [
        element(
          "p",
          { class: "quiet" },
          "Numbers of the scores that change with the prevalence are in the report at the plan's prevalence and in the sample; they are not computed in between.",
        ),
      ]
    : [];
  body.lastElementChild?.toggleAttribute("hidden", !fixed.length);
  refresh(always, [tableOf("Measures of the scores", columns, fixed.map(cells)), ...left]);
}

/**
 * Where numbers stand that no cut-off moves; open where there is room for them.
 * @returns {HTMLElement}
 */
function rest() {
  const open = matchMedia("(min-width: 1640px)").matches;
  return element(
    "details",
    { class: "fixed", open },
    element("summary", {}, "Whatever the cut-off: AUC, calibration …"),
    element("div"),
  );
}

/**
 * Rows for a download.
 * @param {import("../view.js").View} view
 * @returns {import("../kit.js").Table}
 */
export function measuresTable(view) {
  return {
    columns: ["measure", "value", "low", "high"],
    rows: () =>
      [...MOVING.map((measure) => moved(view, measure)), ...FIXED.map((measure) => standing(view, measure))]
        .filter((line) => line !== null)
        .map(({ measure, value, bounds }) => [measure, value, bounds?.low ?? NaN, bounds?.high ?? NaN]),
  };
}

/**
 * A measure at the cut-off; the interval of one that is no share is known as planned alone.
 * @param {import("../view.js").View} view
 * @param {string} measure
 * @returns {Line}
 */
function moved(view, measure) {
  const { counts, costs, payload } = view;
  const value = measure === "expected_cost" ? expectedCost(counts, costs) : MEASURES[measure](counts);
  const planned = view.planned ? plannedBounds(view, measure) : null;
  const own = view.counted ? interval(measure, counts, payload.level, payload.z) : null;
  return { measure, value, bounds: planned ?? own, why: whyNone(view) };
}

/**
 * Why there is no interval, if that may change.
 * @param {import("../view.js").View} view
 * @returns {string}
 */
function whyNone({ lots, planned }) {
  if (planned) return "";
  return lots ? "not while lots are drawn" : "at the plan's settings alone";
}

/**
 * The interval that the report has.
 * @param {import("../view.js").View} view
 * @param {string} measure
 * @returns {Bounds | null}
 */
function plannedBounds(view, measure) {
  const where = view.state.prevalence === null ? "here" : "there";
  const row = reported(view, { part: "decisions", measure, where });
  return row && row.low !== undefined ? { low: readNumber(row.low), high: readNumber(row.high), how: row.how } : null;
}

/**
 * Whether the prevalence is neither that of the sample nor that of the plan.
 * @param {import("../view.js").View} view
 * @returns {boolean}
 */
function isElsewhere({ state, payload }) {
  return state.prevalence !== null && state.prevalence !== payload.use.prevalence;
}

/**
 * A number of the scores at the chosen prevalence, which no threshold moves.
 * @param {import("../view.js").View} view
 * @param {string} measure
 * @returns {Line | null}
 */
function standing(view, measure) {
  const row = reportedNow(view, measure);
  if (!row || row.value === undefined) return null;
  const bounds = row.low === undefined ? null : { low: readNumber(row.low), high: readNumber(row.high), how: row.how };
  return { measure, value: readNumber(row.value), bounds };
}

/**
 * @param {Line} line
 * @returns {import("../dom.js").Child[]}
 */
function cells({ measure, value, bounds, why }) {
  const { plain, technical, means, format } = SPOKEN[measure];
  const known = bounds && !Number.isNaN(bounds.low) ? bounds : null;
  const between = known ? `${written(known.low, format)} – ${written(known.high, format)}` : "";
  const doubt = known
    ? element("td", { title: known.how }, dotted(value, known), element("span", {}, between))
    : element("td", { class: "none", title: why }, why && !Number.isNaN(value) ? element("small", {}, why) : "");
  return [
    element("span", { class: "named", title: means }, plain, element("small", {}, ` ${technical}`)),
    element("td", { class: "value", ...numbered(measure, value, known) }, written(value, format)),
    doubt,
  ];
}

/**
 * Dot and bar on a line from 0 to 1; nothing for what is not between.
 * @param {number} value
 * @param {Bounds} bounds
 * @returns {Element | null}
 */
function dotted(value, { low, high }) {
  if (!(low >= 0 && high <= 1)) return null;
  const drawing = shape("svg", { class: "doubt", viewBox: "0 0 100 10", "aria-hidden": "true" });
  drawing.append(
    shape("path", { class: "track", d: "M0 5H100" }),
    shape("path", { class: "bar", d: `M${(100 * low).toFixed(1)} 5H${(100 * high).toFixed(1)}` }),
    shape("circle", { class: "dot", cx: (100 * value).toFixed(1), cy: 5, r: 3 }),
  );
  return drawing;
}
