/** What is found against what is flagged in vain. */

import { MEASURES } from "../core.js";
import { isoCost } from "../curves.js";
import { clipped, sure } from "../format.js";
import { along, hullOf, modelAt, partKey, remembered, toldNow } from "../view.js";
import { toldAt } from "./scores.js";

const DIAGONAL = [0, 1];
/** Those of every ROC curve. @type {{x: import("../kit.js").Axis, y: import("../kit.js").Axis}} */
export const ROC_AXES = {
  x: { label: "negatives who are flagged", name: "false positive rate", domain: [0, 1], format: "percent" },
  y: { label: "positives who are flagged", name: "sensitivity", domain: [0, 1], format: "percent" },
};

/**
 * @param {import("../view.js").View} view
 * @returns {import("../kit.js").Spec}
 */
export function rocSpec(view) {
  const { state, model } = view;
  const [fpr, found] = [along(view, "fpr"), along(view, "sensitivity")];
  return {
    ...ROC_AXES,
    marks: [
      ...band(view),
      { kind: "line", key: "chance", x: DIAGONAL, y: DIAGONAL, look: "faint", label: "by chance" },
      ...others(view),
      ...hullMarks(view),
      { kind: "line", key: "curve", x: fpr, y: found, look: `series-${state.model % 7} strong`, label: named(view) },
      ...iso(view),
      ...reached(view),
    ],
    handle: {
      x: fpr,
      y: found,
      index: view.index,
      idle: !view.single,
      name: "Cut-off on the ROC curve",
      told: (index) => toldAt(view, index),
    },
    told: `ROC curve. ${toldAt(view, view.index)}.`,
    table: {
      columns: ["threshold", "false positive rate", "sensitivity"],
      rows: () => Array.from(model.threshold, (at, index) => [at, fpr[index], found[index]]),
    },
  };
}

/**
 * The curve's name, with the area below it.
 * @param {import("../view.js").View} view
 * @returns {string}
 */
function named(view) {
  const who = view.state.who < 0 ? view.model.entry.name : view.model.entry.names[view.state.who];
  return `${clipped(who, 40)}${toldNow(view, ": AUC", "auc")}`;
}

/**
 * Curves of the other models, thin.
 * @param {import("../view.js").View} view
 * @returns {import("../kit.js").Mark[]}
 */
function others(view) {
  return view.book.models.flatMap((_, at) => {
    if (at === view.state.model || view.state.who >= 0) return [];
    const model = modelAt(view.book, at, view.state.prevalence);
    const { fpr, sensitivity } = remembered(view.book, `other ${at}`, partKey(view.state), () => {
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
        label: clipped(model.entry.name, 40),
      },
    ];
  });
}

/**
 * How far the true curve may lie, of everybody.
 * @param {import("../view.js").View} view
 * @returns {import("../kit.js").Mark[]}
 */
function band({ state, model, payload }) {
  const found = model.entry.band;
  if (!found || state.who >= 0) return [];
  const label = `${sure(payload.level)} band`;
  return [
    {
      kind: "band",
      key: "band",
      x: found.fpr,
      low: found.low,
      high: found.high,
      look: `series-${state.model % 7}`,
      label,
    },
  ];
}

/**
 * The hull, where there is a curve.
 * @param {import("../view.js").View} view
 * @returns {import("../kit.js").Mark[]}
 */
function hullMarks(view) {
  const { fpr, sensitivity } = hullOf(view);
  return [{ kind: "line", key: "hull", x: fpr, y: sensitivity, look: "hull", label: "hull" }];
}

/**
 * The line of equal cost that touches the hull, and where.
 * @param {import("../view.js").View} view
 * @returns {import("../kit.js").Mark[]}
 */
function iso(view) {
  const { cheapest, costs, part, factors } = view;
  const [fpr, found] = [along(view, "fpr")[cheapest], along(view, "sensitivity")[cheapest]];
  if (Number.isNaN(fpr) || Number.isNaN(found)) return [];
  const [positives, negatives] = [part.positives * factors.positive, part.negatives * factors.negative];
  const line = isoCost(costs, positives / (positives + negatives), { fpr, tpr: found });
  if (!line) return [];
  const key = [cheapest, costs.fp, costs.fn, view.state.prevalence, view.state.model, view.state.who].join();
  const [x, y, dotX, dotY] = remembered(view.book, "iso", key, () => [line.x, line.y, [fpr], [found]]);
  return [
    { kind: "line", key: "iso", x, y, look: "quiet", label: "equal cost" },
    { kind: "dots", key: "cheapest", x: dotX, y: dotY, look: "best", label: "cheapest cut-off" },
  ];
}

/**
 * What is reached by other than one cut-off for all.
 * @param {import("../view.js").View} view
 * @returns {import("../kit.js").Mark[]}
 */
function reached(view) {
  if (view.single) return [];
  const point = [MEASURES.fpr(view.counts), MEASURES.sensitivity(view.counts)];
  return [{ kind: "dots", key: "reached", x: [point[0]], y: [point[1]], look: "accent", label: "what is done now" }];
}
