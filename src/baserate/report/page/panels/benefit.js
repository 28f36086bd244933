/** Decision curves: net benefit against the threshold probability. */

import { decisionCurve, fixedBenefit } from "../curves.js";
import { formatPercent, formatNumber, formatThreshold } from "../format.js";
import { seriesLook } from "../paths.js";
import { currentName, pinnedName } from "../pin.js";
import { modelName, otherModels, placeOf } from "../summary.js";
import { describePrevalence, partKey, memoize } from "../view.js";

const POINTS = 100;
/** Possible ends of the axis; the smallest that shows the relevant probabilities is used. */
const ENDS = [0.02, 0.05, 0.1, 0.2, 0.5, 1];

/** @typedef {import("../chart.js").Mark} Mark */
/** @typedef {import("../view.js").View} View */
/** Net benefit of the current decisions at the selected costs. @typedef {{probability: number, benefit: number}} Current */

/**
 * @param {View} view
 * @returns {import("../chart.js").Spec | null} null where scores are not probabilities
 */
export function benefitSpec(view) {
  if (!isProbable(view.model.entry)) return null;
  const point = currentPoint(view);
  const least = Math.max(4 * view.prevalence, 1.5 * (point?.probability ?? 0));
  const end = ENDS.find((each) => each >= least) ?? 1;
  const { grid, model, unadjusted, all, none, top } = deriveCurves(view, end);
  const decision = currentName(view, view.single ? "current threshold" : "current policy");
  const current = fixedCurve(view, view.counts, { grid, end, slot: "benefit now" });
  const where = describePrevalence(view);
  const adjusted = isAdjusted(view) ? ", adjusted" : "";
  const threshold = view.single ? ` ${formatThreshold(view.state.threshold)}` : "";
  /** @param {number} at */
  const describe = (at) =>
    `threshold probability ${formatPercent(grid[at])}: net benefit ${formatNumber(model[at])}, flag everybody ${formatNumber(all[at])}, ${decision} ${formatNumber(current[at])}`;
  const nearest = Math.min(
    POINTS - 1,
    Math.max(0, Math.round((POINTS * (point?.probability ?? view.prevalence)) / end) - 1),
  );
  return {
    x: { label: "Threshold probability", domain: [0, end], format: "percent" },
    y: { label: "Net benefit", name: where, domain: [lowestBenefit(point?.benefit ?? NaN, top), 1.08 * top] },
    marks: [
      { kind: "line", key: "none", x: grid, y: none, look: "quiet", label: "flag nobody" },
      { kind: "line", key: "all", x: grid, y: all, look: "quiet dash-1", label: "flag everybody" },
      ...unadjustedLine(view, grid, unadjusted),
      ...otherCurves(view, grid, end),
      ...pinnedCurve(view, grid, end),
      { kind: "line", key: "current", x: grid, y: current, look: "accent dash-3", label: `${decision}${threshold}` },
      {
        kind: "line",
        key: "model",
        x: grid,
        y: model,
        look: `${seriesLook(view.state.model)} strong`,
        label: `${modelName(view)}${adjusted}`,
      },
      ...pointMarks(view, point),
    ],
    probe: { x: grid, y: model, upright: true, describe },
    description: `Decision curve ${where}. Scores are ${adjusted ? "" : "not "}adjusted to the prevalence. At a ${describe(nearest)}, flag nobody 0.`,
    numbers: point
      ? [{ measure: "net_benefit", ...placeOf(view), value: point.benefit, threshold: view.state.threshold }]
      : [],
    table: {
      columns: [
        ...["threshold probability", `${modelName(view)}${adjusted}`, "scores not adjusted", "flag everybody"],
        ...["flag nobody", decision],
      ],
      rows: () => Array.from(grid, (at, index) => [at, model[index], unadjusted[index], all[index], 0, current[index]]),
    },
  };
}

/** @param {import("../view.js").Json} entry */
function isProbable({ probable, labels }) {
  return probable && !labels;
}

/**
 * Whether the selected prevalence is not that of the sample, so that scores are adjusted.
 * @param {View} view
 * @returns {boolean}
 */
function isAdjusted({ adjustment }) {
  return Math.abs(adjustment.negative / adjustment.positive - 1) > 1e-9;
}

/**
 * Net benefit of the current decisions at the threshold probability that the costs imply; null without costs.
 * @param {View} view
 * @returns {Current | null}
 */
function currentPoint({ costs, counts, priced }) {
  const probability = (costs.fp - costs.tn) / (costs.fp - costs.tn + costs.fn - costs.tp);
  const [benefit] = fixedBenefit(counts, [probability]);
  return priced && Number.isFinite(benefit) ? { probability, benefit } : null;
}

/**
 * Net benefit of decisions that do not depend on the threshold probability.
 * @param {View} view
 * @param {import("../core.js").Cells} counts
 * @param {{grid: Float64Array, end: number, slot: string}} at
 * @returns {Float64Array}
 */
function fixedCurve({ report }, counts, { grid, end, slot }) {
  const { tp, fp, fn, tn } = counts;
  return memoize(report, slot, [tp, fp, fn, tn, end].join(), () => fixedBenefit(counts, grid));
}

/**
 * The line of threshold A.
 * @param {View} view
 * @param {Float64Array} grid
 * @param {number} end
 * @returns {Mark[]}
 */
function pinnedCurve(view, grid, end) {
  if (!view.pinned) return [];
  const y = fixedCurve(view, view.pinned.counts, { grid, end, slot: "benefit A" });
  return [{ kind: "line", key: "pinned", x: grid, y, look: "pinned", label: pinnedName(view) }];
}

/**
 * The line of unadjusted scores, where others are adjusted.
 * @param {View} view
 * @param {Float64Array} grid
 * @param {Float64Array} unadjusted
 * @returns {Mark[]}
 */
function unadjustedLine(view, grid, unadjusted) {
  if (!isAdjusted(view)) return [];
  const label = `${modelName(view)}, not adjusted`;
  return [{ kind: "line", key: "unadjusted", x: grid, y: unadjusted, look: "faint dash-2", label }];
}

/**
 * Decision curves of the other models with probabilities.
 * @param {View} view
 * @param {Float64Array} grid
 * @param {number} end
 * @returns {Mark[]}
 */
function otherCurves(view, grid, end) {
  const { report, state } = view;
  return otherModels(view).flatMap(({ at, model, part, factors, adjustment, look, name }) => {
    if (!isProbable(model.entry)) return [];
    const y = memoize(
      report,
      `benefit ${at}`,
      `${partKey(state)} ${state.prevalence} ${end}`,
      () => decisionCurve(model.threshold, part, grid, factors, adjustment).model,
    );
    return [{ kind: /** @type {const} */ ("line"), key: `other ${at}`, x: grid, y, look, label: name }];
  });
}

/**
 * The threshold probability of the selected costs, and the net benefit of the current decisions there.
 * @param {View} view
 * @param {Current | null} point
 * @returns {Mark[]}
 */
function pointMarks(view, point) {
  if (!point) return [];
  const label = currentName(view, `net benefit ${formatNumber(point.benefit)} ${describePrevalence(view)}`);
  return [
    {
      kind: "rule",
      key: "costs",
      x: point.probability,
      look: "quiet",
      label: `selected costs: ${formatPercent(point.probability)}`,
    },
    { kind: "dots", key: "now", x: [point.probability], y: [point.benefit], look: "accent", label },
  ];
}

/**
 * Lower end of the axis: below the dot, unless the dot is far below all lines.
 * @param {number} benefit
 * @param {number} top
 * @returns {number}
 */
function lowestBenefit(benefit, top) {
  return Number.isFinite(benefit) ? Math.max(-top, Math.min(-0.25 * top, 1.1 * benefit)) : -0.25 * top;
}

/**
 * Net benefit of all strategies at a grid of threshold probabilities.
 * @param {View} view
 * @param {number} end
 */
function deriveCurves(view, end) {
  const { state, part, factors, adjustment } = view;
  return memoize(view.report, "benefit", `${partKey(state)} ${state.prevalence} ${end}`, () => {
    const grid = Float64Array.from({ length: POINTS }, (_, at) => Math.min(0.995, (at + 1) / POINTS) * end);
    const curve = decisionCurve(view.model.threshold, part, grid, factors, adjustment);
    const top = Math.max(...curve.model, ...curve.all.filter((value) => value > 0)) || 1;
    return { grid, ...curve, none: new Float64Array(POINTS), top };
  });
}
