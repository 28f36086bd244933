/** Decision curve: net benefit against the threshold probability. */

import { decisionCurve, fixedBenefit } from "../curves.js";
import { formatPercent, formatNumber, formatSetting } from "../format.js";
import { partKey, memoize } from "../view.js";

const POINTS = 100;
/** Possible ends of the axis; the smallest that shows the relevant probabilities is used. */
const ENDS = [0.02, 0.05, 0.1, 0.2, 0.5, 1];

/** @typedef {import("../chart.js").Mark} Mark */
/** @typedef {import("../view.js").View} View */

/**
 * @param {View} view
 * @returns {import("../chart.js").Spec | null} null where scores are not probabilities
 */
export function benefitSpec(view) {
  if (!view.model.entry.probable || view.model.entry.labels) return null;
  const { costs } = view;
  const probability = (costs.fp - costs.tn) / (costs.fp - costs.tn + costs.fn - costs.tp);
  const end = ENDS.find((each) => each >= Math.max(4 * view.prevalence, 1.5 * probability)) ?? 1;
  const { grid, model, unadjusted, all, none, top } = deriveCurves(view, end);
  const current = currentLine(view, grid, end);
  const [benefit] = fixedBenefit(view.counts, [probability]);
  const nearest = Math.min(POINTS - 1, Math.max(0, Math.round((POINTS * probability) / end) - 1));
  const scores = isAdjusted(view) ? `, adjusted to ${formatSetting(view.prevalence)} prevalence` : "";
  return {
    x: { label: "threshold probability", domain: [0, end], format: "percent" },
    y: { label: "net benefit", domain: [lowestBenefit(benefit, top), 1.08 * top] },
    marks: [
      { kind: "line", key: "none", x: grid, y: none, look: "faint", label: "flag nobody" },
      { kind: "line", key: "all", x: grid, y: all, look: "series-1 dash-1", label: "flag everybody" },
      ...unadjustedLine(view, grid, unadjusted),
      {
        kind: "line",
        key: "current",
        x: grid,
        y: current,
        look: "accent dash-3",
        label: `${decisionName(view)}, fixed`,
      },
      { kind: "line", key: "model", x: grid, y: model, look: "series-0 strong", label: `flag by the scores${scores}` },
      ...currentDot(view, probability, benefit),
      {
        kind: "rule",
        key: "costs",
        x: probability,
        look: "quiet",
        label: `selected costs: ${formatPercent(probability)}`,
      },
    ],
    probe: {
      x: grid,
      y: model,
      upright: true,
      describe: (at) =>
        `threshold probability ${formatPercent(grid[at])}: scores ${formatNumber(model[at])}, flag everybody ${formatNumber(all[at])}, ${decisionName(view)} ${formatNumber(current[at])}`,
    },
    description: `Decision curve. Scores are ${scores ? scores.slice(2) : "not adjusted to another prevalence"}. At a threshold probability of ${formatPercent(grid[nearest])} the net benefit of the scores is ${formatNumber(model[nearest])}, of flagging everybody ${formatNumber(all[nearest])}, of flagging nobody 0, and of the ${decisionName(view)} ${formatNumber(current[nearest])}.`,
    table: {
      columns: [
        "threshold probability",
        `flag by the scores${scores}`,
        "scores not adjusted",
        "flag everybody",
        "flag nobody",
        `${decisionName(view)}, fixed`,
      ],
      rows: () => Array.from(grid, (at, index) => [at, model[index], unadjusted[index], all[index], 0, current[index]]),
    },
  };
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
 * The current decision, in words.
 * @param {View} view
 * @returns {string}
 */
function decisionName(view) {
  return view.single ? `current threshold ${formatNumber(view.state.threshold)}` : "current policy";
}

/**
 * Net benefit of the current decisions, which do not depend on the threshold probability.
 * @param {View} view
 * @param {Float64Array} grid
 * @param {number} end
 * @returns {Float64Array}
 */
function currentLine({ report, counts }, grid, end) {
  const { tp, fp, fn, tn } = counts;
  return memoize(report, "benefit now", [tp, fp, fn, tn, end].join(), () => fixedBenefit(counts, grid));
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
  return [
    { kind: "line", key: "unadjusted", x: grid, y: unadjusted, look: "quiet dash-2", label: "scores not adjusted" },
  ];
}

/**
 * Net benefit of the current decisions at the selected costs.
 * @param {View} view
 * @param {number} probability
 * @param {number} benefit
 * @returns {Mark[]}
 */
function currentDot(view, probability, benefit) {
  if (!Number.isFinite(benefit)) return [];
  const label = `${decisionName(view)} at the selected costs: ${formatNumber(benefit)}`;
  return [{ kind: "dots", key: "now", x: [probability], y: [benefit], look: "accent", label }];
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
