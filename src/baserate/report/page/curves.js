/** Lines of charts: decision curves, iso-cost lines and isotonic fits. */

import { thresholdIndex } from "./core.js";
import { hull } from "./rules.js";

/** @typedef {import("./core.js").Costs} Costs */
/** @typedef {import("./core.js").Factors} Factors */
/** @typedef {import("./core.js").Numbers} Numbers */
/** @typedef {import("./core.js").Part} Part */

/** Relative difference that is rounding. */
const NEAR = 1e-12;

/**
 * The score that becomes a probability when it is adjusted from the sample to the selected prevalence; slightly less, so
 * that rounding excludes no score that reaches the probability.
 * @param {number} probability from 0 to below 1
 * @param {Factors} factors
 * @returns {number}
 */
export function unadjustedScore(probability, { positive, negative }) {
  if (positive === negative) return probability;
  const odds = (negative / positive) * probability;
  return (odds / (odds + 1 - probability)) * (1 - NEAR);
}

/**
 * Net benefit per person at a threshold probability, of flagging from a score on.
 * @param {Part} part
 * @param {Numbers} threshold all thresholds
 * @param {{probability: number, score: number}} at  the probability is below 1
 * @param {Factors} factors
 * @returns {number}
 */
export function netBenefit(part, threshold, { probability, score }, { positive, negative }) {
  const at = thresholdIndex(threshold, score);
  const odds = probability / (1 - probability);
  const total = part.positives * positive + part.negatives * negative;
  return (part.tp[at] * positive - odds * (part.fp[at] * negative)) / total;
}

/**
 * The decision curve: net benefit against the threshold probability, of scores adjusted to the selected prevalence, of
 * unadjusted scores, and of flagging everybody.
 * @param {Numbers} threshold
 * @param {Part} part
 * @param {Numbers} probabilities
 * @param {Factors} factors
 * @param {Factors} [adjustment]  of the scores, where groups have prevalences of their own
 * @returns {{model: Float64Array, unadjusted: Float64Array, all: Float64Array}}
 */
export function decisionCurve(threshold, part, probabilities, factors, adjustment = factors) {
  const positives = part.positives * factors.positive;
  const negatives = part.negatives * factors.negative;
  const total = positives + negatives;
  /** @param {(probability: number) => number} score */
  const benefitCurve = (score) =>
    Float64Array.from(probabilities, (each) =>
      netBenefit(part, threshold, { probability: each, score: score(each) }, factors),
    );
  return {
    model: benefitCurve((each) => unadjustedScore(each, adjustment)),
    unadjusted: benefitCurve((each) => each),
    all: Float64Array.from(probabilities, (each) => (positives - (each / (1 - each)) * negatives) / total),
  };
}

/**
 * Net benefit of decisions that do not depend on the threshold probability.
 * @param {import("./core.js").Cells} cells
 * @param {Numbers} probabilities
 * @returns {Float64Array}
 */
export function fixedBenefit({ tp, fp, fn, tn }, probabilities) {
  const total = tp + fp + fn + tn;
  return Float64Array.from(probabilities, (each) => (tp - (each / (1 - each)) * fp) / total);
}

/** Most points of a thin curve. */
const POINTS = 250;

/**
 * Some points of a curve, evenly along its thresholds; the first and the last one are kept.
 * @param {Float64Array} values
 * @returns {Float64Array}
 */
export function thinCurve(values) {
  const step = Math.ceil(values.length / POINTS);
  return values.filter((_, at) => at % step === 0 || at === values.length - 1);
}

/**
 * The iso-cost line through a point of ROC space, and its ends within the unit square.
 * @param {Costs} costs
 * @param {number} prevalence
 * @param {{fpr: number, tpr: number}} through
 * @returns {{slope: number, intercept: number, x: [number, number], y: [number, number]}}
 */
export function isoCost(costs, prevalence, { fpr, tpr }) {
  const slope = ((costs.fp - costs.tn) * (1 - prevalence)) / ((costs.fn - costs.tp) * prevalence);
  const intercept = tpr - slope * fpr;
  if (!Number.isFinite(slope)) {
    return { slope, intercept: NaN, x: [fpr, fpr], y: [0, 1] };
  }
  if (slope === 0) {
    return { slope, intercept, x: [0, 1], y: [tpr, tpr] };
  }
  const ends = [-intercept / slope, (1 - intercept) / slope].sort((first, second) => first - second);
  const [left, right] = [Math.max(0, ends[0]), Math.min(1, ends[1])];
  return { slope, intercept, x: [left, right], y: [intercept + slope * left, intercept + slope * right] };
}

/**
 * Isotonic regression of the share of positives on the score, ascending; constant between two edges. The last edge is
 * the highest score.
 * @param {Numbers} threshold
 * @param {Part} part
 * @param {Factors} factors
 * @returns {{edges: Float64Array, share: Float64Array}}
 */
export function isotonic(threshold, part, { positive, negative }) {
  const ends = hull(part);
  const steps = ends.length - 1; // the hull has the same pools as isotonic regression
  const [edges, share] = [new Float64Array(steps + 1), new Float64Array(steps)];
  for (let at = 0; at < steps; at += 1) {
    const [strict, lax] = [ends[steps - 1 - at], ends[steps - at]];
    const hits = (part.tp[lax] - part.tp[strict]) * positive;
    edges[at] = threshold[lax];
    share[at] = hits / (hits + (part.fp[lax] - part.fp[strict]) * negative);
  }
  edges[steps] = threshold[steps ? firstOccupied(part) : 0];
  return { edges, share };
}

/**
 * Index of the highest score that occurs.
 * @param {Part} part
 * @returns {number}
 */
function firstOccupied({ tp, fp }) {
  let at = 1;
  while (at < tp.length - 1 && tp[at] + fp[at] === 0) {
    at += 1;
  }
  return at;
}

/**
 * The share of the cost of errors that thresholds save, compared with the better one of flagging nobody and flagging
 * everybody (relative utility). It depends on one number, the odds of the prevalence times the cost of a false negative in
 * false positives.
 * @param {{fpr: Numbers, sensitivity: Numbers}} vertices  of the convex hull
 * @param {number} weight
 * @returns {{saved: number, vertex: number}} the vertex is the first of equals
 */
export function relativeUtility({ fpr, sensitivity }, weight) {
  let [least, vertex] = [Infinity, 0];
  for (let at = 0; at < fpr.length; at += 1) {
    const cost = weight * (1 - sensitivity[at]) + fpr[at];
    if (cost < least) [least, vertex] = [cost, at];
  }
  return { saved: Math.max(0, 1 - least / Math.min(weight, 1)), vertex };
}
