/** Lines of charts that are no measure along the cut-offs: decision curves, equal costs, isotonic steps. */

import { place } from "./core.js";
import { hull } from "./rules.js";

/** @typedef {import("./core.js").Costs} Costs */
/** @typedef {import("./core.js").Factors} Factors */
/** @typedef {import("./core.js").Numbers} Numbers */
/** @typedef {import("./core.js").Part} Part */

/** A difference that is only rounding. */
const NEAR = 1e-12;

/**
 * The score that, adjusted from the prevalence of the rows to the one in use, is a probability. A little less, so that
 * rounding leaves out no score that reaches it.
 * @param {number} probability from 0 to below 1
 * @param {Factors} factors
 * @returns {number}
 */
export function scoreReaching(probability, { positive, negative }) {
  if (positive === negative) return probability;
  const odds = (negative / positive) * probability;
  return (odds / (odds + 1 - probability)) * (1 - NEAR);
}

/**
 * Net benefit per case, to those who would act from a probability on: of flagging from a score on.
 * @param {Part} part
 * @param {Numbers} threshold all kept thresholds
 * @param {{probability: number, score: number}} at  the probability is below 1
 * @param {Factors} factors
 * @returns {number}
 */
export function netBenefit(part, threshold, { probability, score }, { positive, negative }) {
  const at = place(threshold, score);
  const odds = probability / (1 - probability);
  const total = part.positives * positive + part.negatives * negative;
  return (part.tp[at] * positive - odds * (part.fp[at] * negative)) / total;
}

/**
 * The decision curve: net benefit against the probability, of the model with scores adjusted to the prevalence in use,
 * of the same with scores as they are, and of flagging everybody.
 * @param {Numbers} threshold
 * @param {Part} part
 * @param {Numbers} probabilities
 * @param {Factors} factors
 * @param {Factors} [adjustment]  by which scores are adjusted, where groups have prevalences of their own
 * @returns {{model: Float64Array, kept: Float64Array, all: Float64Array}}
 */
export function decisionCurve(threshold, part, probabilities, factors, adjustment = factors) {
  const positives = part.positives * factors.positive;
  const negatives = part.negatives * factors.negative;
  const total = positives + negatives;
  /** @param {(probability: number) => number} score */
  const flaggedFrom = (score) =>
    Float64Array.from(probabilities, (each) =>
      netBenefit(part, threshold, { probability: each, score: score(each) }, factors),
    );
  return {
    model: flaggedFrom((each) => scoreReaching(each, adjustment)),
    kept: flaggedFrom((each) => each),
    all: Float64Array.from(probabilities, (each) => (positives - (each / (1 - each)) * negatives) / total),
  };
}

/**
 * Net benefit of decisions that do not change with the probability from which on one would act.
 * @param {import("./core.js").Cells} cells
 * @param {Numbers} probabilities
 * @returns {Float64Array}
 */
export function fixedBenefit({ tp, fp, fn, tn }, probabilities) {
  const total = tp + fp + fn + tn;
  return Float64Array.from(probabilities, (each) => (tp - (each / (1 - each)) * fp) / total);
}

/**
 * The line of equal cost through a point of ROC space, and its ends within the unit square.
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
 * Isotonic regression of the share of positives on the score, ascending: between two edges it is the same. The last
 * edge is the highest score.
 * @param {Numbers} threshold
 * @param {Part} part
 * @param {Factors} factors
 * @returns {{edges: Float64Array, share: Float64Array}}
 */
export function isotonic(threshold, part, { positive, negative }) {
  const ends = hull(part);
  const many = ends.length - 1;
  const [edges, share] = [new Float64Array(many + 1), new Float64Array(many)];
  for (let at = 0; at < many; at += 1) {
    const [strict, lax] = [ends[many - 1 - at], ends[many - at]];
    const hits = (part.tp[lax] - part.tp[strict]) * positive;
    edges[at] = threshold[lax];
    share[at] = hits / (hits + (part.fp[lax] - part.fp[strict]) * negative);
  }
  edges[many] = threshold[many ? firstThere(part) : 0];
  return { edges, share };
}

/**
 * Place of the highest score at which there is anybody.
 * @param {Part} part
 * @returns {number}
 */
function firstThere({ tp, fp }) {
  let at = 1;
  while (at < tp.length - 1 && tp[at] + fp[at] === 0) {
    at += 1;
  }
  return at;
}
