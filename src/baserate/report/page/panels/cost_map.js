/** Costs and prevalences at which the classifier is useful: a heat map of the share of the cost that it saves. */

import { changeRatio, costRatio, formatRatio } from "../controls.js";
import { relativeUtility } from "../curves.js";
import { formatPercent, formatSetting, formatThreshold } from "../format.js";
import { hullOf, memoize, prevalenceOf } from "../view.js";

const [COLUMNS, ROWS] = [48, 40];
/** Ends of both axes: prevalence, and cost of a false negative in false positives. They include the settings of the plan. */
const [LEAST, MOST] = [1e-4, 0.9];
const [CHEAPEST, DEAREST] = [0.01, 1000];
const PREVALENCES = [1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.5, 0.9];
const POINTS = 60;
/** Share of the cost that is not worth a classifier; and steps of the bisection for the weights at which it is reached. */
const NEGLIGIBLE = 0.01;
const TURNS = 50;
/** Ends of the color scale; the smallest that contains all shares is used. */
const ENDS = [0.1, 0.2, 0.4, 0.6, 0.8, 1];

/** @typedef {import("../chart.js").Mark} Mark */
/** @typedef {import("../view.js").View} View */

/**
 * @param {View} view
 * @returns {import("../chart.js").Spec | null} null without rows of both classes
 */
export function costMapSpec(view) {
  const { part, factors, priced, costs } = view;
  if (!(part.positives > 0 && part.negatives > 0)) return null;
  const { x, y, edgesX, edgesY, values, boundaries, colors } = deriveCells(view);
  const prevalence = prevalenceOf(part, factors);
  const ratio = priced ? costRatio(costs) : NaN;
  /** @param {number} share @param {number} many */
  const describe = (share, many) => {
    const { saved, vertex } = relativeUtility(hullOf(view), (many * share) / (1 - share));
    const best = formatThreshold(view.model.threshold[hullOf(view).places[vertex]]);
    const text = saved > 0 ? `cost saved: ${formatPercent(saved)}, best threshold ${best}` : "no cost saved";
    return `prevalence ${formatPercent(share)}, miss : false alarm ${formatRatio(many)}\n${text}`;
  };
  const current = ratio > 0 && Number.isFinite(ratio);
  const point = current ? describe(prevalence, ratio).replace("\n", ": ") : "No costs are stated";
  return {
    x: {
      label: "Prevalence",
      name: "logit scale",
      domain: [edgesX[0], edgesX[COLUMNS]],
      scale: "logit",
      ticks: PREVALENCES.map((at) => ({ at, text: `${Number((100 * at).toPrecision(3))}%` })).filter(
        ({ at }) => at >= edgesX[0] * 0.999,
      ),
    },
    y: {
      label: "Miss : false alarm",
      name: "ratio of costs",
      domain: [edgesY[0], edgesY[ROWS]],
      scale: "log",
      ticks: ratioTicks(edgesY),
    },
    marks: [
      {
        kind: "cells",
        key: "cells",
        edgesX,
        edgesY,
        values,
        colors,
        texts: false,
        label: "cost saved",
      },
      ...boundaries,
      ...(current
        ? [
            {
              kind: /** @type {const} */ ("dots"),
              key: "current",
              x: [prevalence],
              y: [ratio],
              look: "selected",
              label: `selected: ${formatPercent(prevalence)}, ${formatRatio(ratio)}`,
            },
          ]
        : []),
    ],
    probe: { x, y, columns: COLUMNS, picks: true, describe: (at) => describe(x[at], y[at]) },
    description: `Share of the cost that the best threshold saves, by prevalence and ratio of costs. ${point}.`,
    table: {
      columns: ["prevalence", "cost of a false negative in false positives", "share of the cost saved"],
      rows: () => Array.from(values, (value, at) => [x[at], y[at], value]),
    },
  };
}

/**
 * The settings of a cell, with two digits. The prevalence of a group is converted to that of everybody.
 * @param {View} view
 * @param {number} index
 * @returns {Partial<import("../view.js").State>}
 */
export function pickSetting(view, index) {
  const { part, model } = view;
  const { x, y } = deriveCells(view);
  const relative = (model.everybody.positives * part.negatives) / (model.everybody.negatives * part.positives);
  const odds = (x[index] / (1 - x[index])) * relative;
  const prevalence = Number((odds / (1 + odds)).toPrecision(2));
  return { prevalence, ...changeRatio(view, Number(y[index].toPrecision(2))) };
}

/**
 * The cells, in rows from the lowest ratio on, and lines between which the classifier saves cost.
 * @param {View} view
 */
function deriveCells(view) {
  const { report, state } = view;
  // Only stated prevalences of groups change the cells in deployment.
  const key = `${state.model}/${state.who}/${view.model === report.models[state.model]}`;
  return memoize(report, "cost map", key, () => {
    const { edgesX, edgesY, middlesX, middlesY } = gridOf(view);
    const hull = hullOf(view);
    const cells = middlesY.flatMap((ratio) => middlesX.map((share) => ({ share, ratio })));
    const values = Float64Array.from(
      cells,
      ({ share, ratio }) => relativeUtility(hull, (ratio * share) / (1 - share)).saved,
    );
    const most = values.reduce((one, other) => Math.max(one, other));
    const end = ENDS.find((each) => each >= most) ?? 1;
    return {
      edgesX,
      edgesY,
      x: cells.map(({ share }) => share),
      y: cells.map(({ ratio }) => ratio),
      values,
      colors: { domain: /** @type {[number, number]} */ ([0, end]), format: /** @type {const} */ ("percent") },
      boundaries: boundaryMarks(hull, edgesX, edgesY),
    };
  });
}

/**
 * Edges and middles of cells: even on the logit of the prevalence, and on the logarithm of the ratio.
 * @param {View} view
 */
function gridOf({ payload }) {
  const { prevalence, priced, costs } = payload.use;
  const ratio = priced ? costRatio(costs) : 1;
  const [low, high] = [Math.min(LEAST, prevalence || 1), MOST].map((share) => Math.log(share / (1 - share)));
  const [few, many] = [Math.min(CHEAPEST, ratio || 1), Math.min(1e9, Math.max(DEAREST, ratio))].map(Math.log);
  /** @param {number} at @param {number} count */
  const share = (at, count) => 1 / (1 + Math.exp(-low - (at / count) * (high - low)));
  /** @param {number} at @param {number} count */
  const ratioAt = (at, count) => Math.exp(few + (at / count) * (many - few));
  /** @param {number} count @param {(at: number, count: number) => number} of @param {number} shift */
  const several = (count, of, shift) => Array.from({ length: count + 1 - 2 * shift }, (_, at) => of(at + shift, count));
  return {
    edgesX: several(COLUMNS, share, 0),
    edgesY: several(ROWS, ratioAt, 0),
    middlesX: several(COLUMNS, share, 0.5),
    middlesY: several(ROWS, ratioAt, 0.5),
  };
}

/**
 * Lines beyond which less than a negligible share of the cost is saved; none where it is so everywhere, or nowhere on the
 * map.
 * @param {{fpr: Float64Array, sensitivity: Float64Array}} hull
 * @param {number[]} edgesX
 * @param {number[]} edgesY
 * @returns {Mark[]}
 */
function boundaryMarks(hull, edgesX, edgesY) {
  const isUseful = (/** @type {number} */ weight) => relativeUtility(hull, weight).saved >= NEGLIGIBLE;
  // The share is highest at 1, where flagging nobody and everybody cost the same, and falls on both sides.
  if (!isUseful(1)) return [];
  const [low, high] = [edgesX[0], edgesX[COLUMNS]];
  const ends = [(edgesY[0] * low) / (1 - low), (edgesY[ROWS] * high) / (1 - high)];
  const x = Array.from({ length: POINTS }, (_, at) => low * (high / low) ** (at / (POINTS - 1)));
  const marks = ends.flatMap((end, at) => {
    if (isUseful(end)) return [];
    let [inside, outside] = [0, Math.log(end)];
    for (let turn = 0; turn < TURNS; turn += 1) {
      const middle = (inside + outside) / 2;
      [inside, outside] = isUseful(Math.exp(middle)) ? [middle, outside] : [inside, middle];
    }
    const y = x.map((share) => (Math.exp(inside) * (1 - share)) / share);
    return [{ kind: /** @type {const} */ ("line"), key: `boundary ${at}`, x, y, look: "quiet dashed" }];
  });
  return marks.map((mark, at) => (at ? mark : { ...mark, label: `${formatSetting(NEGLIGIBLE)} saved` }));
}

/**
 * Ticks at powers of ten.
 * @param {number[]} edges
 */
function ratioTicks(edges) {
  const [first, last] = [edges[0], edges[edges.length - 1]].map((edge) => Math.log10(edge));
  const powers = Array.from({ length: Math.floor(last + 1e-9) - Math.ceil(first - 1e-9) + 1 }, (_, at) => at);
  return powers.map((power) => {
    const at = Number((10 ** (Math.ceil(first - 1e-9) + power)).toPrecision(1));
    return { at, text: formatRatio(at) };
  });
}
