/** Performance at the threshold, and measures of the scores, with confidence intervals. */

import { MEASURES, expectedCost, interval, readNumber } from "../core.js";
import { element, measureName, numberAttributes, updateChildren, makeTable } from "../dom.js";
import { formatLevel, formatValue } from "../format.js";
import { shape } from "../marks.js";
import { partKey, describePrevalence, reportNumber, currentNumber } from "../view.js";

/** The prevalence is a setting: the heading of the table states it. */
const SETTING = "prevalence";

/** @typedef {{low: number, high: number, how?: string}} Bounds */
/** @typedef {{measure: string, value: number, bounds: Bounds | null, why?: string}} Line */

/**
 * Draw both tables into the body of the panel.
 * @param {HTMLElement} body
 * @param {import("../view.js").View} view
 */
export function drawMeasures(body, view) {
  const level = `${formatLevel(view.payload.level)} CI`;
  const columns = [`measure, ${describePrevalence(view)}`, "value", level];
  if (!body.firstChild) body.append(element("div"), scoreDetails());
  const [first, second] = body.querySelectorAll("div");
  const current = thresholdLines(view).map((line) => lineCells(view, line));
  updateChildren(first, [makeTable("Performance at the threshold", columns, current)]);
  const key = `${partKey(view.state)} ${view.state.prevalence}`;
  if (body.dataset.of === key) return;
  body.dataset.of = key;
  const lines = scoreLines(view);
  const note = isOtherPrevalence(view)
    ? [
        element(
          "p",
          { class: "quiet" },
          "Measures of the scores that depend on the prevalence are known in the sample and at the deployment prevalence of the plan only.",
        ),
      ]
    : [];
  body.lastElementChild?.toggleAttribute("hidden", !lines.length);
  const rows = lines.map((line) => lineCells(view, line));
  updateChildren(second, [makeTable("Measures of the scores", columns, rows), ...note]);
}

/**
 * Container of the second table; open on wide screens.
 * @returns {HTMLElement}
 */
function scoreDetails() {
  const open = matchMedia("(min-width: 1640px)").matches;
  return element(
    "details",
    { class: "fixed", open },
    element("summary", {}, "Measures of the scores: AUC, calibration …"),
    element("div"),
  );
}

/**
 * Measures of the payload at the threshold.
 * @param {import("../view.js").View} view
 * @returns {Line[]}
 */
function thresholdLines(view) {
  const measures = Object.entries(/** @type {Record<string, import("../view.js").Measure>} */ (view.payload.measures));
  return measures
    .filter(([measure, { of_scores }]) => !of_scores && measure !== SETTING)
    .map(([measure]) => currentLine(view, measure));
}

/**
 * Measures of the scores that the report has at the selected prevalence.
 * @param {import("../view.js").View} view
 * @returns {Line[]}
 */
function scoreLines(view) {
  return Object.keys(view.payload.measures)
    .map((measure) => scoreLine(view, measure))
    .filter((line) => line !== null);
}

/**
 * Rows for a download.
 * @param {import("../view.js").View} view
 * @returns {import("../chart.js").Table}
 */
export function measuresTable(view) {
  return {
    columns: ["measure", "value", "low", "high"],
    rows: () =>
      [...thresholdLines(view), ...scoreLines(view)].map(({ measure, value, bounds }) => [
        measure,
        value,
        bounds?.low ?? NaN,
        bounds?.high ?? NaN,
      ]),
  };
}

/**
 * A measure at the threshold. Intervals of rates are computed; others are known at the settings of the plan only.
 * @param {import("../view.js").View} view
 * @param {string} measure
 * @returns {Line}
 */
function currentLine(view, measure) {
  const { counts, costs, payload } = view;
  const value = measure === "expected_cost" ? expectedCost(counts, costs) : MEASURES[measure](counts);
  const planned = view.planned ? plannedBounds(view, measure) : null;
  const own = view.exact ? interval(measure, counts, payload.level, payload.z) : null;
  return { measure, value, bounds: planned ?? own, why: missingIntervalReason(view) };
}

/**
 * Why there is no interval at the current settings.
 * @param {import("../view.js").View} view
 * @returns {string}
 */
function missingIntervalReason({ randomized, planned }) {
  if (planned) return "";
  return randomized ? "none for randomized decisions" : "at the settings of the plan only";
}

/**
 * The interval in the report.
 * @param {import("../view.js").View} view
 * @param {string} measure
 * @returns {Bounds | null}
 */
function plannedBounds(view, measure) {
  const where = view.state.prevalence === null ? "here" : "there";
  const row = reportNumber(view, { part: "decisions", measure, where });
  return row && row.low !== undefined ? { low: readNumber(row.low), high: readNumber(row.high), how: row.how } : null;
}

/**
 * Whether the prevalence is neither that of the sample nor that of the plan.
 * @param {import("../view.js").View} view
 * @returns {boolean}
 */
function isOtherPrevalence({ state, payload }) {
  return state.prevalence !== null && state.prevalence !== payload.use.prevalence;
}

/**
 * A measure of the scores at the selected prevalence; null where the report lacks it.
 * @param {import("../view.js").View} view
 * @param {string} measure
 * @returns {Line | null}
 */
function scoreLine(view, measure) {
  const row = currentNumber(view, measure);
  if (!row || row.value === undefined) return null;
  const bounds = row.low === undefined ? null : { low: readNumber(row.low), high: readNumber(row.high), how: row.how };
  return { measure, value: readNumber(row.value), bounds };
}

/**
 * @param {import("../view.js").View} view
 * @param {Line} line
 * @returns {import("../dom.js").Child[]}
 */
function lineCells({ payload }, { measure, value, bounds, why }) {
  const { format } = payload.measures[measure];
  const interval = bounds && !Number.isNaN(bounds.low) ? bounds : null;
  const text = interval ? `${formatValue(interval.low, format)} to ${formatValue(interval.high, format)}` : "";
  const cell = interval
    ? element("td", { title: interval.how }, intervalPlot(value, interval), element("span", {}, text))
    : element("td", { class: "none", title: why }, why && !Number.isNaN(value) ? element("small", {}, why) : "");
  return [
    measureName(payload.measures[measure], { class: "measure-name" }),
    element("td", { class: "value", ...numberAttributes(measure, value, interval) }, formatValue(value, format)),
    cell,
  ];
}

/**
 * Estimate and interval on a line from 0 to 1; null outside of it.
 * @param {number} value
 * @param {Bounds} bounds
 * @returns {Element | null}
 */
function intervalPlot(value, { low, high }) {
  if (!(low >= 0 && high <= 1)) return null;
  const drawing = shape("svg", { class: "interval-plot", viewBox: "0 0 100 10", "aria-hidden": "true" });
  drawing.append(
    shape("path", { class: "track", d: "M0 5H100" }),
    shape("path", { class: "bar", d: `M${(100 * low).toFixed(1)} 5H${(100 * high).toFixed(1)}` }),
    shape("circle", { class: "dot", cx: (100 * value).toFixed(1), cy: 5, r: 3 }),
  );
  return drawing;
}
