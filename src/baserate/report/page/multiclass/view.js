/** The view of a report on several classes: what is selected, the numbers of Python, and the curves of the class. */

import { MEASURES, expand, readNumber, thresholdIndex } from "../core.js";

/** @typedef {import("../view.js").Json} Json */
/** @typedef {"row" | "count" | "column"} MatrixMode */
/**
 * What a user selects. A threshold of null is that with the largest difference of recall and false positive rate.
 * @typedef {{class: number, matrix: MatrixMode, measure: string, threshold: number | null}} State
 */
/** @typedef {{threshold: Float64Array, recall: number[], fpr: number[], precision: number[], best: number}} ClassCurve */
/**
 * @typedef {object} MulticlassReport
 * @property {Json} payload
 * @property {string[]} names
 * @property {Map<string, Json>} numbers
 * @property {Map<string, any>} cache
 */
/**
 * @typedef {object} MulticlassView
 * @property {MulticlassReport} report
 * @property {Json} payload
 * @property {State} state
 * @property {string[]} names
 * @property {ClassCurve | null} curve  of the selected class; null without scores
 * @property {number} index             place of the threshold on the curve
 */

/** Ways to show the confusion matrix, with their names. @type {Record<MatrixMode, string>} */
export const MATRIX_MODES = { count: "Counts", row: "% of the true class", column: "% of the predicted class" };
/** Measures that the panel of all classes offers, in this order. */
const CHOICES = ["sensitivity", "precision", "f1", "specificity", "auc", "average_precision"];

/**
 * @param {Json} payload
 * @returns {MulticlassReport}
 */
export function loadReport(payload) {
  const numbers = new Map(
    payload.numbers.map((/** @type {Json} */ number) => [
      numberKey(number.part, number.measure, number.class, number.average),
      number,
    ]),
  );
  return { payload, names: payload.classes, numbers, cache: new Map() };
}

/**
 * @param {MulticlassReport} report
 * @returns {State}
 */
export function firstState({ payload }) {
  return { class: payload.worst, matrix: "row", measure: CHOICES[0], threshold: null };
}

/**
 * @param {MulticlassReport} report
 * @param {State} state
 * @returns {MulticlassView}
 */
export function makeView(report, state) {
  const curve = report.payload.curves.length ? classCurve(report, state.class) : null;
  const at = curve && (state.threshold === null ? curve.best : thresholdIndex(curve.threshold, state.threshold));
  return { report, payload: report.payload, state, names: report.names, curve, index: at ?? 0 };
}

/**
 * Measures of each class that the report has.
 * @param {MulticlassReport} report
 * @returns {string[]}
 */
export function measureChoices({ payload }) {
  return CHOICES.filter((name) => payload.measures[name]);
}

/**
 * A value that is computed once for a report.
 * @template Value
 * @param {MulticlassReport} report
 * @param {string} key
 * @param {() => Value} compute
 * @returns {Value}
 */
export function remember({ cache }, key, compute) {
  if (!cache.has(key)) cache.set(key, compute());
  return cache.get(key);
}

/**
 * The curve of a class against the rest.
 * @param {MulticlassReport} report
 * @param {number} at
 * @returns {ClassCurve}
 */
export function classCurve(report, at) {
  return remember(report, `curve ${at}`, () => {
    const entry = report.payload.curves[at];
    const { threshold, everybody } = expand({
      threshold: entry.threshold,
      positive_mass: entry.positive_mass,
      negative_mass: entry.negative_mass,
    });
    const cells = Array.from(threshold, (_, place) => ({
      tp: everybody.tp[place],
      fp: everybody.fp[place],
      fn: everybody.fn[place],
      tn: everybody.tn[place],
    }));
    const [recall, fpr, precision] = ["sensitivity", "fpr", "precision"].map((name) => cells.map(MEASURES[name]));
    return { threshold, recall, fpr, precision, best: bestIndex(recall, fpr) };
  });
}

/**
 * The strictest threshold with the largest difference of recall and false positive rate.
 * @param {number[]} recall
 * @param {number[]} fpr
 * @returns {number}
 */
export function bestIndex(recall, fpr) {
  let best = 0;
  for (let at = 1; at < recall.length; at++) if (recall[at] - fpr[at] > recall[best] - fpr[best]) best = at;
  return best;
}

/**
 * @param {string} part
 * @param {string} measure
 * @param {number | null} [at]
 * @param {string | null} [average]
 * @returns {string}
 */
function numberKey(part, measure, at, average) {
  return [part, measure, at ?? "", average ?? ""].join("|");
}

/** @typedef {{value: number, low: number, high: number, why: string}} Estimate */

/**
 * A number of the report with its interval; NaN where there is none.
 * @param {MulticlassReport} report
 * @param {string} part
 * @param {string} measure
 * @param {{at?: number, average?: string}} [of]  the class, or the average over classes
 * @returns {Estimate}
 */
export function numberOf({ numbers }, part, measure, { at, average } = {}) {
  const number = numbers.get(numberKey(part, measure, at, average));
  const [value, low, high] = ["value", "low", "high"].map((name) => readNumber(number?.[name] ?? null));
  return { value, low, high, why: number?.why ?? "" };
}

/**
 * Cells of the confusion matrix as numbers of rows, or as shares of the true or of the predicted class.
 * @param {MulticlassReport} report
 * @param {MatrixMode} mode
 * @returns {number[][]}
 */
export function matrixCells(report, mode) {
  const matrix = /** @type {number[][]} */ (report.payload.matrix);
  if (mode === "count") return matrix;
  return remember(report, `matrix ${mode}`, () => {
    const rows = matrix.map((row) => row.reduce((sum, cell) => sum + cell, 0));
    const columns = matrix.map((_, at) => matrix.reduce((sum, row) => sum + row[at], 0));
    return matrix.map((row, at) => row.map((cell, to) => cell / (mode === "row" ? rows[at] : columns[to])));
  });
}
