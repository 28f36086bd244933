/** Reachable points of a group in ROC space, and the thresholds, perhaps randomized, that reach them. As in baserate.fairness. */

import { hull } from "./rules.js";

/** @typedef {import("./core.js").Part} Part */
/** @typedef {import("./core.js").Costs} Costs */
/** @typedef {{fpr: number, tpr: number}} Point */
/**
 * Indices of thresholds, strictest first, and the probability of each.
 * @typedef {{places: number[], chances: number[]}} Mixture
 */
/**
 * The upper hull of a group's ROC curve, strictest vertex first; all points between it and the diagonal are reachable.
 * `positive` and `negative` are the classes of this group as shares of all groups. An absent class takes the rates of
 * the other class, with weight 0.
 * @typedef {{ends: Int32Array, fpr: Float64Array, tpr: Float64Array, positive: number, negative: number}} Region
 */

/** Distances in ROC space, and probabilities, below this are rounding. */
export const TOLERANCE = 1e-12;

/** Hulls of groups, which depend neither on the prevalence nor on costs. @type {WeakMap<Part, Omit<Region, "positive" | "negative">>} */
const hulls = new WeakMap();

/**
 * @param {Part} part
 * @param {number} positive
 * @param {number} negative
 * @returns {Region}
 */
export function regionOf(part, positive, negative) {
  const known = hulls.get(part) ?? hullRates(part);
  hulls.set(part, known);
  return { ...known, positive, negative };
}

/**
 * Vertices of the hull of a group, and their rates.
 * @param {Part} part
 * @returns {Omit<Region, "positive" | "negative">}
 */
function hullRates(part) {
  const ends = hull(part);
  const [trueMass, falseMass] = [part.positives > 0 ? part.tp : part.fp, part.negatives > 0 ? part.fp : part.tp];
  /** @param {Float64Array} mass */
  const rates = (mass) => Float64Array.from(ends, (end) => mass[end] / mass[mass.length - 1]);
  return { ends, fpr: rates(falseMass), tpr: rates(trueMass) };
}

/**
 * Cost of the false positive rate and gain of the true positive rate, per person over all groups.
 * @param {{positive: number, negative: number}} region
 * @param {Costs} costs
 * @returns {{cost: number, gain: number}}
 */
export function costWeights({ positive, negative }, costs) {
  return { cost: negative * (costs.fp - costs.tn), gain: positive * (costs.fn - costs.tp) };
}

/**
 * Cost of this group at a point, per person over all groups.
 * @param {Region} region
 * @param {Costs} costs
 * @param {Point} point
 * @returns {number}
 */
export function regionCost(region, costs, { fpr, tpr }) {
  const { cost, gain } = costWeights(region, costs);
  return region.positive * costs.fn + region.negative * costs.tn + cost * fpr - gain * tpr;
}

/**
 * Share of the group that is flagged, at every vertex.
 * @param {Region} region
 * @returns {Float64Array}
 */
export function flagRates({ fpr, tpr, positive, negative }) {
  return fpr.map((rate, at) => (positive * tpr[at] + negative * rate) / (positive + negative));
}

/**
 * Index of the first value that is not below a bound, in ascending order.
 * @param {Float64Array} values
 * @param {number} value
 * @returns {number}
 */
export function lowerBound(values, value) {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    [low, high] = values[middle] < value ? [middle + 1, high] : [low, middle];
  }
  return low;
}

/**
 * The mixture of thresholds that reaches a point: one at a vertex, two on an edge, otherwise three. Of all mixtures that
 * reach a point below the hull it randomizes the fewest people.
 * @param {Region} region
 * @param {Point} point
 * @returns {Mixture}
 */
export function mixtureAt(region, point) {
  const { fpr, tpr } = region;
  const along = fpr.map((each, at) => each + tpr[at]);
  const right = Math.min(Math.max(lowerBound(along, point.fpr + point.tpr), 1), fpr.length - 1);
  const left = right - 1;
  if (belowChord(region, left, right, point) <= TOLERANCE) {
    const [run, rise] = [fpr[right] - fpr[left], tpr[right] - tpr[left]];
    const chance = ((point.fpr - fpr[left]) * run + (point.tpr - tpr[left]) * rise) / (run * run + rise * rise);
    return mixtureOf(region, [left, right], [1 - chance, chance]);
  }
  const [strict, lax] = narrowestChord(region, point);
  const corners = [strict, lax - 1, lax];
  return mixtureOf(
    region,
    corners,
    chancesOf(
      corners.map((at) => [fpr[at], tpr[at], 1]),
      [point.fpr, point.tpr, 1],
    ),
  );
}

/**
 * How far a point is below the line through two vertices.
 * @param {Region} region
 * @param {number} left
 * @param {number} right
 * @param {Point} point
 * @returns {number}
 */
function belowChord({ fpr, tpr }, left, right, point) {
  const [run, rise] = [fpr[right] - fpr[left], tpr[right] - tpr[left]];
  return (rise * (point.fpr - fpr[left]) - run * (point.tpr - tpr[left])) / Math.hypot(run, rise);
}

/**
 * Two vertices whose chord passes below a point, with the fewest people between them.
 * @param {Region} region
 * @param {Point} point
 * @returns {[number, number]}
 */
function narrowestChord(region, point) {
  const { fpr } = region;
  const share = flagRates(region);
  /** @type {[number, number]} */
  let chord = [0, fpr.length - 1];
  let [best, lax] = [Infinity, fpr.length - 1];
  let strict = fpr.length - 1;
  while (fpr[strict] > point.fpr) {
    strict -= 1;
  }
  for (; strict >= 0; strict -= 1) {
    // Two-pointer search: a chord that begins further left may also end further left.
    lax = Math.max(lax, strict + 1);
    while (lax - 1 > strict && fpr[lax - 1] >= point.fpr && belowChord(region, strict, lax - 1, point) <= 0) {
      lax -= 1;
    }
    if (belowChord(region, strict, lax, point) <= 0 && share[lax] - share[strict] < best) {
      [best, chord] = [share[lax] - share[strict], [strict, lax]];
    }
  }
  return chord;
}

/**
 * Probabilities that mix three corners to a point, by Gaussian elimination with partial pivoting.
 * @param {number[][]} corners each a column of the matrix
 * @param {number[]} target
 * @returns {number[]}
 */
function chancesOf(corners, target) {
  const rows = target.map((each, at) => [...corners.map((corner) => corner[at]), each]);
  for (let step = 0; step < 3; step += 1) {
    let largest = step;
    for (let at = step + 1; at < 3; at += 1) {
      largest = Math.abs(rows[at][step]) > Math.abs(rows[largest][step]) ? at : largest;
    }
    [rows[step], rows[largest]] = [rows[largest], rows[step]];
    for (let at = step + 1; at < 3; at += 1) {
      const times = rows[at][step] / rows[step][step];
      rows[at] = rows[at].map((each, column) => each - times * rows[step][column]);
    }
  }
  const last = rows[2][3] / rows[2][2];
  const middle = (rows[1][3] - rows[1][2] * last) / rows[1][1];
  return [(rows[0][3] - rows[0][1] * middle - rows[0][2] * last) / rows[0][0], middle, last];
}

/**
 * A mixture of vertices, without those whose probability is rounding.
 * @param {Region} region
 * @param {number[]} vertices
 * @param {number[]} chances
 * @returns {Mixture}
 */
function mixtureOf({ ends }, vertices, chances) {
  const likely = vertices.map((_, at) => at).filter((at) => chances[at] > TOLERANCE);
  const total = likely.reduce((sum, at) => sum + chances[at], 0);
  return {
    places: likely.map((at) => ends[vertices[at]]),
    chances: likely.length === 1 ? [1] : likely.map((at) => chances[at] / total),
  };
}
