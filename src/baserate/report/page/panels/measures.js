/** Performance at the threshold, and measures of the scores, with confidence intervals. Rows are made once. */

import { MEASURES, expectedCost, interval, readNumber } from "../core.js";
import { element, measureName, numberAttributes, setAttributes, setText } from "../dom.js";
import {
  formatBound,
  formatLevel,
  formatPercent,
  formatSetting,
  formatThreshold,
  formatValue,
  shorten,
} from "../format.js";
import { shape } from "../marks.js";
import { placeOf } from "../summary.js";
import { cutOf, currentNumber, describePrevalence, isInvariant, prevalenceOf, reportNumber } from "../view.js";

/** The prevalence is a setting: the caption of the table states it. */
const SETTING = "prevalence";
/** From here on, both tables are beside each other. */
const WIDE = "(min-width: 1000px)";

/** @typedef {import("../view.js").View} View */
/** @typedef {import("../core.js").Counts} Counts */
/** @typedef {{low: number, high: number, how?: string}} Bounds */
/** @typedef {{measure: string, value: number, bounds: Bounds | null, why: string, place: import("../dom.js").Place}} Line */
/**
 * A row: its cells for threshold A, the value, the difference, the interval, and the prevalence.
 * @typedef {{row: HTMLElement, cells: Record<string, HTMLElement>, plot: Plot}} Row
 */
/** @typedef {{drawing: Element, bar: Element, dot: Element, text: HTMLElement}} Plot */
/** @typedef {{table: HTMLElement, caption: HTMLElement, heads: Record<string, HTMLElement>, rows: Map<string, Row>}} Table */
/** @typedef {{decisions: Table, scores: Table, details: HTMLElement, note: HTMLElement}} Frame */

/** @type {WeakMap<HTMLElement, Frame>} */
const frames = new WeakMap();

/**
 * Draw both tables into the body of the panel.
 * @param {HTMLElement} body
 * @param {View} view
 */
export function drawMeasures(body, view) {
  const frame = frames.get(body) ?? makeFrame(body, view);
  drawDecisions(frame.decisions, view);
  const lines = scoreLines(view);
  frame.details.hidden = lines.length === 0;
  frame.note.hidden = !isOtherPrevalence(view);
  for (const [measure, row] of frame.scores.rows) {
    if (lines.every((line) => line.measure !== measure)) hideRow(row);
  }
  for (const line of lines) drawScore(/** @type {Row} */ (frame.scores.rows.get(line.measure)), view, line);
}

/**
 * Both tables with a row for each measure, without numbers.
 * @param {HTMLElement} body
 * @param {View} view
 * @returns {Frame}
 */
function makeFrame(body, view) {
  const level = `${formatLevel(view.payload.level)} CI`;
  const names = Object.keys(view.payload.measures).filter((measure) => measure !== SETTING);
  const ofScores = names.filter((measure) => view.payload.measures[measure].of_scores);
  const decisions = makeTable(
    view,
    names.filter((measure) => !ofScores.includes(measure)),
    { pinned: "A", value: "value", difference: "B − A", interval: level },
  );
  const scores = makeTable(view, ofScores, { value: "value", interval: level, holds: "prevalence" });
  setText(scores.caption, "Measures of the scores, at any threshold");
  const note = element(
    "p",
    { class: "quiet" },
    "Measures that depend on the prevalence are known in the sample and at the deployment prevalence of the plan only.",
  );
  const details = element(
    "details",
    { class: "fixed", open: matchMedia(WIDE).matches },
    element("summary", {}, "Measures of the scores: AUC, calibration …"),
    scores.table,
    note,
  );
  body.append(decisions.table, details);
  const frame = { decisions, scores, details, note };
  frames.set(body, frame);
  return frame;
}

/**
 * A table with a row for each measure.
 * @param {View} view
 * @param {string[]} measures
 * @param {Record<string, string>} columns
 * @returns {Table}
 */
function makeTable({ payload }, measures, columns) {
  const caption = element("caption");
  const heads = Object.fromEntries(
    Object.entries(columns).map(([name, text]) => [name, element("th", { scope: "col", class: name }, text)]),
  );
  const rows = new Map(
    measures.map((measure) => {
      const cells = Object.fromEntries(Object.keys(columns).map((name) => [name, element("td", { class: name })]));
      const plot = makePlot();
      cells.interval.append(plot.drawing, plot.text);
      const name = element("th", { scope: "row" }, measureName(payload.measures[measure], { class: "measure-name" }));
      return [measure, { row: element("tr", {}, name, ...Object.values(cells)), cells, plot }];
    }),
  );
  const table = element(
    "table",
    { class: "measures" },
    caption,
    element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "measure"), ...Object.values(heads))),
    element("tbody", {}, ...[...rows.values()].map(({ row }) => row)),
  );
  return { table, caption, heads, rows };
}

/**
 * A line from 0 to 1 with an estimate and its interval.
 * @returns {Plot}
 */
function makePlot() {
  const drawing = shape("svg", { class: "interval-plot", viewBox: "0 0 100 10", "aria-hidden": "true" });
  const [bar, dot] = [shape("path", { class: "bar" }), shape("circle", { class: "dot", cy: 5, r: 2.2 })];
  drawing.append(shape("path", { class: "track", d: "M0 5H100" }), bar, dot);
  return { drawing, bar, dot, text: element("span") };
}

/**
 * Measures at the threshold, and at threshold A if it is pinned.
 * @param {Table} table
 * @param {View} view
 */
function drawDecisions({ table, caption, heads, rows }, view) {
  const { pinned } = view;
  setText(caption, describeSetting(view));
  table.classList.toggle("compares", pinned !== null);
  heads.pinned.hidden = heads.difference.hidden = pinned === null;
  if (pinned) setText(heads.pinned, `A: ${formatThreshold(view.model.threshold[pinned.index])}`);
  setText(heads.value, pinned ? `B: ${describeCut(view)}` : "value");
  for (const [measure, row] of rows) {
    if (measure === "expected_cost" && !view.priced) hideRow(row);
    else drawDecision(row, view, currentLine(view, measure));
  }
}

/**
 * Hide a row, which no longer states a number.
 * @param {Row} row
 */
function hideRow({ row, cells, plot }) {
  row.hidden = true;
  for (const cell of Object.values(cells)) if (cell !== cells.interval) clearNumber(cell);
  setText(plot.text, "");
  clearPlot(plot);
}

/**
 * Remove a number and its attributes.
 * @param {HTMLElement} cell
 */
function clearNumber(cell) {
  setText(cell, "");
  setAttributes(cell, { "data-number": null, "data-value": null, "data-low": null, "data-high": null });
}

/**
 * Remove the interval of a plot.
 * @param {Plot} plot
 */
function clearPlot({ bar, dot }) {
  setAttributes(bar, { d: null });
  setAttributes(dot, { cx: null });
}

/**
 * Threshold and prevalence of the numbers; of a group, also its own prevalence.
 * @param {View} view
 * @returns {string}
 */
function describeSetting(view) {
  const { state, model, part, factors } = view;
  const everybody = describePrevalence(view);
  if (state.who < 0) return `${describeDecision(view)}, ${everybody}`;
  const own = formatPercent(prevalenceOf(part, factors));
  const name = shorten(model.entry.names[state.who]);
  return `${describeDecision(view)}, ${name}: prevalence ${own} (everybody: ${everybody})`;
}

/**
 * What decides, in the caption.
 * @param {View} view
 * @returns {string}
 */
function describeDecision({ single, state, model }) {
  if (model.entry.labels) return "Predicted labels";
  if (!single) return state.parity === "planned" ? "Policy of the plan" : "Thresholds by group";
  if (Number.isFinite(state.threshold)) return `Threshold ${formatThreshold(state.threshold)}`;
  return state.threshold > 0 ? "Nobody is flagged" : "Everybody is flagged";
}

/**
 * What decides, in the heading of a column.
 * @param {View} view
 * @returns {string}
 */
function describeCut(view) {
  if (view.single) return formatThreshold(view.state.threshold);
  return view.state.parity === "planned" ? "policy" : "by group";
}

/**
 * @param {Row} row
 * @param {View} view
 * @param {Line} line
 */
function drawDecision({ row, cells, plot }, view, line) {
  row.hidden = false;
  const { measure, value } = line;
  const entry = view.payload.measures[measure];
  const { format } = entry;
  drawValue(cells.value, line, format);
  drawInterval(cells.interval, plot, line, entry);
  cells.pinned.hidden = cells.difference.hidden = !view.pinned;
  if (!view.pinned) {
    [cells.pinned, cells.difference].forEach(clearNumber);
    return;
  }
  const place = { ...line.place, cut: view.model.threshold[view.pinned.index] };
  const other = valueOf(view, measure, view.pinned.counts);
  drawValue(
    cells.pinned,
    { ...line, value: other, bounds: boundsOf(view, measure, view.pinned.counts), place },
    format,
  );
  setText(cells.difference, formatDifference(value - other, format));
  setAttributes(cells.difference, numberAttributes(`${measure}: B − A`, value - other, null, line.place));
}

/**
 * @param {HTMLElement} cell
 * @param {Line} line
 * @param {string} format
 */
function drawValue(cell, { measure, value, bounds, place }, format) {
  setText(cell, formatValue(value, format));
  setAttributes(cell, numberAttributes(measure, value, definedBounds(bounds), place));
}

/**
 * @param {Bounds | null} bounds
 * @returns {Bounds | null}
 */
function definedBounds(bounds) {
  return bounds && !Number.isNaN(bounds.low) ? bounds : null;
}

/**
 * Draw an interval beside its text; without one, the reason.
 * @param {HTMLElement} cell
 * @param {Plot} plot
 * @param {Line} line
 * @param {import("../view.js").Measure} entry
 */
function drawInterval(cell, plot, { value, bounds, why }, { format, unit: isShare }) {
  const { drawing, bar, dot, text } = plot;
  const drawn = definedBounds(bounds);
  cell.classList.toggle("none", drawn === null);
  const reason = why && !Number.isNaN(value) ? `no interval: ${why}` : "";
  setAttributes(cell, { title: drawn ? (drawn.how ?? null) : null });
  setText(text, drawn ? describeBounds(value, drawn, format) : reason);
  const plotted = drawn !== null && isShare && drawn.low >= 0;
  drawing.classList.toggle("empty", !plotted);
  if (!plotted) {
    clearPlot(plot);
    return;
  }
  setAttributes(bar, { d: `M${(100 * drawn.low).toFixed(1)} 5H${(100 * drawn.high).toFixed(1)}` });
  setAttributes(dot, { cx: (100 * value).toFixed(1) });
}

/**
 * @param {number} value
 * @param {Bounds} bounds
 * @param {string} format
 * @returns {string}
 */
function describeBounds(value, { low, high }, format) {
  const text = formatValue(value, format);
  return `${formatBound(low, text, format)} to ${formatBound(high, text, format)}`;
}

/**
 * A difference with its sign; of percentages in percentage points.
 * @param {number} difference
 * @param {string} format
 * @returns {string}
 */
function formatDifference(difference, format) {
  if (Number.isNaN(difference)) return "–";
  const text = format === "percent" ? `${Math.abs(100 * difference).toFixed(1)} pp` : Math.abs(difference).toFixed(4);
  return Number.parseFloat(text) === 0 ? text : `${difference < 0 ? "−" : "+"}${text}`;
}

/**
 * @param {Row} row
 * @param {View} view
 * @param {Line} line
 */
function drawScore({ row, cells, plot }, view, line) {
  row.hidden = false;
  const entry = view.payload.measures[line.measure];
  drawValue(cells.value, line, entry.format);
  drawInterval(cells.interval, plot, line, entry);
  setText(cells.holds, describePlace(view, line.place));
}

/**
 * The prevalence at which a measure of the scores holds.
 * @param {View} view
 * @param {import("../dom.js").Place} place
 * @returns {string}
 */
function describePlace({ payload }, { prevalence }) {
  if (prevalence === "any") return "any";
  return prevalence === null ? `in the sample (${formatPercent(payload.data.prevalence)})` : formatSetting(prevalence);
}

/**
 * Measures of the payload at the threshold.
 * @param {View} view
 * @returns {Line[]}
 */
function decisionLines(view) {
  const measures = Object.entries(/** @type {Record<string, import("../view.js").Measure>} */ (view.payload.measures));
  return measures
    .filter(([measure, { of_scores }]) => !of_scores && measure !== SETTING)
    .filter(([measure]) => view.priced || measure !== "expected_cost")
    .map(([measure]) => currentLine(view, measure));
}

/**
 * Rows for a download.
 * @param {View} view
 * @returns {import("../chart.js").Table}
 */
export function measuresTable(view) {
  return {
    columns: ["measure", "prevalence", "value", "low", "high"],
    rows: () =>
      [...decisionLines(view), ...scoreLines(view)].map(({ measure, value, bounds, place }) => [
        measure,
        describePlace(view, place),
        value,
        bounds?.low ?? NaN,
        bounds?.high ?? NaN,
      ]),
  };
}

/**
 * A measure of a confusion matrix.
 * @param {View} view
 * @param {string} measure
 * @param {Counts} counts
 * @returns {number}
 */
function valueOf({ costs }, measure, counts) {
  return measure === "expected_cost" ? expectedCost(counts, costs) : MEASURES[measure](counts);
}

/**
 * The interval of a measure of a confusion matrix.
 * @param {View} view
 * @param {string} measure
 * @param {Counts} counts
 * @returns {Bounds | null}
 */
function boundsOf({ payload, costs }, measure, counts) {
  return interval(measure, counts, payload.level, payload.z, costs);
}

/**
 * A measure at the threshold, with the interval of the report at the settings of the plan, and computed elsewhere.
 * @param {View} view
 * @param {string} measure
 * @returns {Line}
 */
function currentLine(view, measure) {
  const value = valueOf(view, measure, view.counts);
  const planned = view.planned ? plannedBounds(view, measure) : null;
  const own = view.exact ? boundsOf(view, measure, view.counts) : null;
  return {
    measure,
    value,
    bounds: planned ?? own,
    why: missingReason(view),
    place: { ...placeOf(view), cut: cutOf(view) },
  };
}

/**
 * Why there is no interval at the current settings.
 * @param {View} view
 * @returns {string}
 */
function missingReason({ randomized, exact }) {
  if (exact) return "";
  return randomized ? "decisions are partly at random" : "this policy has intervals at the settings of the plan only";
}

/**
 * The interval in the report.
 * @param {View} view
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
 * @param {View} view
 * @returns {boolean}
 */
function isOtherPrevalence({ state, payload }) {
  return state.prevalence !== null && state.prevalence !== payload.use.prevalence;
}

/**
 * Measures of the scores that the report has at the selected prevalence.
 * @param {View} view
 * @returns {Line[]}
 */
function scoreLines(view) {
  return Object.keys(view.payload.measures).flatMap((measure) => {
    const row = currentNumber(view, measure);
    if (!row || row.value === undefined) return [];
    const bounds =
      row.low === undefined ? null : { low: readNumber(row.low), high: readNumber(row.high), how: row.how };
    const place = placeOf(view);
    return [
      {
        measure,
        value: readNumber(row.value),
        bounds,
        why: whyUnbounded(view, row),
        place: holdsAt(view, measure, place),
      },
    ];
  });
}

/**
 * Why a measure of the scores has no interval: a calibration error has a null reference instead.
 * @param {View} view
 * @param {import("../view.js").Json} row
 * @returns {string}
 */
function whyUnbounded({ payload }, row) {
  if (row.floor === undefined) return row.why ?? "";
  const { format } = payload.measures[row.measure];
  const [mean, limit] = [row.floor, row.floor_high].map((each) => formatValue(readNumber(each), format));
  return `a calibrated model has ${mean} by chance (median), ${formatLevel(payload.level)} limit ${limit}`;
}

/**
 * Where a measure of the scores holds: some are the same at every prevalence.
 * @param {View} view
 * @param {string} measure
 * @param {import("../dom.js").Place} place
 * @returns {import("../dom.js").Place}
 */
function holdsAt(view, measure, place) {
  const mixes = view.report.models.some((model) => model.deployed);
  return isInvariant(view, measure) && !mixes ? { ...place, prevalence: "any" } : place;
}
