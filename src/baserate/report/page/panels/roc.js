/** ROC curve, with convex hull, iso-cost line and confidence band. */

import { MEASURES } from "../core.js";
import { isoCost } from "../curves.js";
import { shorten, formatLevel } from "../format.js";
import { measureCurve, hullOf, modelAt, partKey, memoize, describeNumber } from "../view.js";
import { describeThreshold } from "./scores.js";

const DIAGONAL = [0, 1];
/** Axes of every ROC curve. @type {{x: import("../chart.js").Axis, y: import("../chart.js").Axis}} */
export const ROC_AXES = {
  x: { label: "false positive rate", name: "1 − specificity", domain: [0, 1], format: "percent" },
  y: { label: "sensitivity", name: "recall", domain: [0, 1], format: "percent" },
};

/**
 * @param {import("../view.js").View} view
 * @returns {import("../chart.js").Spec}
 */
export function rocSpec(view) {
  const { state, model } = view;
  const [fpr, tpr] = [measureCurve(view, "fpr"), measureCurve(view, "sensitivity")];
  return {
    ...ROC_AXES,
    marks: [
      ...bandMark(view),
      { kind: "line", key: "chance", x: DIAGONAL, y: DIAGONAL, look: "faint", label: "chance" },
      ...otherCurves(view),
      ...hullMark(view),
      { kind: "line", key: "curve", x: fpr, y: tpr, look: `series-${state.model % 7} strong`, label: curveName(view) },
      ...isoCostMarks(view),
      ...currentPoint(view),
    ],
    handle: {
      x: fpr,
      y: tpr,
      index: view.index,
      idle: !view.single,
      name: "Threshold on the ROC curve",
      describe: (index) => describeThreshold(view, index),
    },
    description: `ROC curve. ${describeThreshold(view, view.index)}.`,
    table: {
      columns: ["threshold", "false positive rate", "sensitivity"],
      rows: () => Array.from(model.threshold, (at, index) => [at, fpr[index], tpr[index]]),
    },
  };
}

/**
 * The curve's name, with its AUC.
 * @param {import("../view.js").View} view
 * @returns {string}
 */
function curveName(view) {
  const who = view.state.who < 0 ? view.model.entry.name : view.model.entry.names[view.state.who];
  return `${shorten(who, 40)}${describeNumber(view, ": AUC", "auc")}`;
}

/**
 * Thin curves of the other models.
 * @param {import("../view.js").View} view
 * @returns {import("../chart.js").Mark[]}
 */
function otherCurves(view) {
  return view.report.models.flatMap((_, at) => {
    if (at === view.state.model || view.state.who >= 0) return [];
    const model = modelAt(view.report, at, view.state.prevalence);
    const { fpr, sensitivity } = memoize(view.report, `other ${at}`, partKey(view.state), () => {
      const { fp, tp, negatives, positives } = model.everybody;
      return { fpr: fp.map((mass) => mass / negatives), sensitivity: tp.map((mass) => mass / positives) };
    });
    return [
      {
        kind: /** @type {const} */ ("line"),
        key: `other ${at}`,
        x: fpr,
        y: sensitivity,
        look: `series-${at % 7} dash-${at % 4}`,
        label: shorten(model.entry.name, 40),
      },
    ];
  });
}

/**
 * Confidence band of the curve of everybody.
 * @param {import("../view.js").View} view
 * @returns {import("../chart.js").Mark[]}
 */
function bandMark({ state, model, payload }) {
  const limits = model.entry.band;
  if (!limits || state.who >= 0) return [];
  const label = `${formatLevel(payload.level)} confidence band`;
  return [
    {
      kind: "band",
      key: "band",
      x: limits.fpr,
      low: limits.low,
      high: limits.high,
      look: `series-${state.model % 7}`,
      label,
    },
  ];
}

/**
 * The convex hull.
 * @param {import("../view.js").View} view
 * @returns {import("../chart.js").Mark[]}
 */
function hullMark(view) {
  const { fpr, sensitivity } = hullOf(view);
  return [{ kind: "line", key: "hull", x: fpr, y: sensitivity, look: "hull", label: "convex hull" }];
}

/**
 * The iso-cost line that touches the hull, and the point of contact.
 * @param {import("../view.js").View} view
 * @returns {import("../chart.js").Mark[]}
 */
function isoCostMarks(view) {
  const { cheapest, costs, part, factors } = view;
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
 * @param {import("../view.js").View} view
 * @returns {import("../chart.js").Mark[]}
 */
function currentPoint(view) {
  if (view.single) return [];
  const point = [MEASURES.fpr(view.counts), MEASURES.sensitivity(view.counts)];
  return [{ kind: "dots", key: "reached", x: [point[0]], y: [point[1]], look: "accent", label: "current policy" }];
}
