/** ROC curves of all models, with convex hull, iso-cost line and confidence band of the selected one. */

import { MEASURES, measureAlong } from "../core.js";
import { isoCost, thinCurve } from "../curves.js";
import { formatLevel } from "../format.js";
import { seriesLook } from "../paths.js";
import { currentName, describeBoth, pinnedPoint } from "../pin.js";
import { modelLabel, otherModels, summariesOf } from "../summary.js";
import { measureCurve, hullOf, partKey, memoize } from "../view.js";
import { describeThreshold } from "./scores.js";

const DIAGONAL = [0, 1];
/** Axes of every ROC curve. @type {{x: import("../chart.js").Axis, y: import("../chart.js").Axis}} */
export const ROC_AXES = {
  x: { label: "False positive rate", name: "1 − specificity", domain: [0, 1], format: "percent" },
  y: { label: "Sensitivity", name: "recall", domain: [0, 1], format: "percent" },
};
/** @type {[string, string]} */
const AUC = ["AUC", "auc"];

/** @typedef {import("../chart.js").Mark} Mark */
/** @typedef {import("../view.js").View} View */

/**
 * @param {View} view
 * @returns {import("../chart.js").Spec}
 */
export function rocSpec(view) {
  const { state, model } = view;
  const [fpr, tpr] = [measureCurve(view, "fpr"), measureCurve(view, "sensitivity")];
  const look = `${seriesLook(state.model)} strong`;
  /** @param {number} index */
  const describe = (index) => describeThreshold(view, index);
  return {
    ...ROC_AXES,
    shape: 0.96,
    height: 480,
    marks: [
      ...bandMark(view),
      { kind: "line", key: "chance", x: DIAGONAL, y: DIAGONAL, look: "faint", label: "chance" },
      ...otherCurves(view, { x: "fpr", y: "sensitivity", number: AUC }),
      ...hullMark(view),
      { kind: "line", key: "curve", x: fpr, y: tpr, look, label: modelLabel(view, state.model, AUC) },
      ...isoCostMarks(view),
      ...currentPoint(view, "fpr", "sensitivity"),
      ...pinnedPoint(view, fpr, tpr),
    ],
    handle: { x: fpr, y: tpr, index: view.index, idle: !view.single, name: "Threshold on the ROC curve", describe },
    description: `ROC curve. ${describeBoth(view, describe)}.`,
    numbers: view.report.models.flatMap((_, at) => summariesOf(view, "auc", at)),
    table: {
      columns: ["threshold", "false positive rate", "sensitivity"],
      rows: () => Array.from(model.threshold, (at, index) => [at, fpr[index], tpr[index]]),
    },
  };
}

/**
 * Thin curves of the other models; a point for predicted labels.
 * @param {View} view
 * @param {{x: string, y: string, number: [string, string]}} what  measures of both axes, and number of the legend
 * @returns {Mark[]}
 */
export function otherCurves(view, { x, y, number }) {
  return otherModels(view).map(({ at, model, part, factors, look }) => {
    const { labels } = model.entry;
    const key = `${partKey(view.state)} ${view.state.prevalence}`;
    const [across, up] = memoize(view.report, `other ${y} ${at}`, key, () => {
      const columns = [x, y].map((measure) => measureAlong(part, factors, measure));
      // The threshold of 1 flags the rows that are labelled positive.
      return labels ? columns.map((column) => column.subarray(1, 2)) : columns.map(thinCurve);
    });
    const kind = /** @type {"dots" | "line"} */ (labels ? "dots" : "line");
    return { kind, key: `other ${at}`, x: across, y: up, look, label: modelLabel(view, at, number) };
  });
}

/**
 * Confidence band of the curve of everybody.
 * @param {View} view
 * @returns {Mark[]}
 */
function bandMark({ state, model, payload }) {
  const limits = model.entry.band;
  if (!limits || state.who >= 0) return [];
  const { fpr: x, low, high } = limits;
  const label = `${formatLevel(payload.level)} confidence band`;
  return [{ kind: "band", key: "band", x, low, high, look: seriesLook(state.model), label }];
}

/**
 * The convex hull.
 * @param {View} view
 * @returns {Mark[]}
 */
function hullMark(view) {
  const { fpr, sensitivity } = hullOf(view);
  return [{ kind: "line", key: "hull", x: fpr, y: sensitivity, look: "hull", label: "convex hull" }];
}

/**
 * The iso-cost line that touches the hull, and the point of contact; none without costs.
 * @param {View} view
 * @returns {Mark[]}
 */
function isoCostMarks(view) {
  const { cheapest, costs, part, factors } = view;
  if (!view.priced) return [];
  const [fpr, tpr] = [measureCurve(view, "fpr")[cheapest], measureCurve(view, "sensitivity")[cheapest]];
  if (Number.isNaN(fpr) || Number.isNaN(tpr)) return [];
  const [positives, negatives] = [part.positives * factors.positive, part.negatives * factors.negative];
  const line = isoCost(costs, positives / (positives + negatives), { fpr, tpr });
  if (!line) return [];
  const key = [cheapest, costs.fp, costs.fn, view.state.prevalence, view.state.model, view.state.who].join();
  const [x, y, dotX, dotY] = memoize(view.report, "iso", key, () => [line.x, line.y, [fpr], [tpr]]);
  return [
    { kind: "line", key: "iso", x, y, look: "quiet", label: "iso-cost line" },
    { kind: "dots", key: "cheapest", x: dotX, y: dotY, look: "best", label: "lowest cost" },
  ];
}

/**
 * The point of decisions that have no single threshold.
 * @param {View} view
 * @param {string} x
 * @param {string} y
 * @returns {Mark[]}
 */
export function currentPoint(view, x, y) {
  if (view.single) return [];
  const [right, above] = [[MEASURES[x](view.counts)], [MEASURES[y](view.counts)]];
  const label = currentName(view, "current policy");
  return [{ kind: "dots", key: "reached", x: right, y: above, look: "accent", label }];
}
