/** What a group can have in ROC space, and the cuts and lotteries that reach a point of it. As in baserate.equalize. */

import { hull } from "./rules.js";

/** @typedef {import("./core.js").Part} Part */
/** @typedef {import("./core.js").Costs} Costs */
/** @typedef {{fpr: number, tpr: number}} Point */
/**
 * Places of thresholds, strictest first, and the chance of each.
 * @typedef {{places: number[], chances: number[]}} Mixture
 */
/**
 * The upper hull of a group's curve, strictest vertex first; all that lies between it and the diagonal can be had.
 * `positive` and `negative` are shares of everybody, in all groups, who are in this one. A class that is not there has
 * the rates of the other one, and no weight.
 * @typedef {{ends: Int32Array, fpr: Float64Array, tpr: Float64Array, positive: number, negative: number}} Region
 */

/** Distance in ROC space, and chance, that are nothing but rounding. */
const ONLY_ROUNDING = 1e-12;

/**
 * @param {Part} part
 * @param {number} positive
 * @param {number} negative
 * @returns {Region}
 */
export function regionOf(part, positive, negative) {
  const ends = hull(part);
  const [true_, false_] = [part.positives > 0 ? part.tp : part.fp, part.negatives > 0 ? part.fp : part.tp];
  /** @param {Float64Array} running */
  const rates = (running) => Float64Array.from(ends, (end) => running[end] / running[running.length - 1]);
  return { ends, fpr: rates(false_), tpr: rates(true_), positive, negative };
}

/**
 * What the false positive rate costs, and the true positive rate saves, of a case of everybody.
 * @param {Region} region
 * @param {Costs} costs
 * @returns {{dear: number, saved: number}}
 */
export function gainsOf({ positive, negative }, costs) {
  return { dear: negative * (costs.fp - costs.tn), saved: positive * (costs.fn - costs.tp) };
}

/**
 * What a case of everybody costs for what is done in this group.
 * @param {Region} region
 * @param {Costs} costs
 * @param {Point} point
 * @returns {number}
 */
export function regionCost(region, costs, { fpr, tpr }) {
  const { dear, saved } = gainsOf(region, costs);
  return region.positive * costs.fn + region.negative * costs.tn + dear * fpr - saved * tpr;
}

/**
 * Share of the group that is flagged, at every vertex.
 * @param {Region} region
 * @returns {Float64Array}
 */
export function flagRates({ fpr, tpr, positive, negative }) {
  return fpr.map((false_, at) => (positive * tpr[at] + negative * false_) / (positive + negative));
}

/**
 * Place of the first that is not below a value, among ascending ones.
 * @param {Float64Array} values
 * @param {number} value
 * @returns {number}
 */
export function firstFrom(values, value) {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    [low, high] = values[middle] < value ? [middle + 1, high] : [low, middle];
  }
  return low;
}

/**
 * How to reach a point: by one cut at a vertex, by two on an edge, otherwise by three. Of all mixtures that reach a
 * point below the hull it is the one that leaves the fewest people to a lot.
 * @param {Region} region
 * @param {Point} point
 * @returns {Mixture}
 */
export function mixtureAt(region, point) {
  const { fpr, tpr } = region;
  const along = fpr.map((each, at) => each + tpr[at]);
  const right = Math.min(Math.max(firstFrom(along, point.fpr + point.tpr), 1), fpr.length - 1);
  const left = right - 1;
  if (belowChord(region, left, right, point) <= ONLY_ROUNDING) {
    const [run, rise] = [fpr[right] - fpr[left], tpr[right] - tpr[left]];
    const chance = ((point.fpr - fpr[left]) * run + (point.tpr - tpr[left]) * rise) / (run * run + rise * rise);
    return mixtureOf(region, [left, right], [1 - chance, chance]);
  }
  const [strict, lax] = narrowest(region, point);
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
function narrowest(region, point) {
  const { fpr } = region;
  const share = flagRates(region);
  /** @type {[number, number]} */
  let found = [0, fpr.length - 1];
  let [best, lax] = [Infinity, fpr.length - 1];
  let strict = fpr.length - 1;
  while (fpr[strict] > point.fpr) {
    strict -= 1;
  }
  for (; strict >= 0; strict -= 1) {
    // The further left a chord begins, the further left it may end.
    lax = Math.max(lax, strict + 1);
    while (lax - 1 > strict && fpr[lax - 1] >= point.fpr && belowChord(region, strict, lax - 1, point) <= 0) {
      lax -= 1;
    }
    if (belowChord(region, strict, lax, point) <= 0 && share[lax] - share[strict] < best) {
      [best, found] = [share[lax] - share[strict], [strict, lax]];
    }
  }
  return found;
}

/**
 * Chances with which three corners are mixed to a point: elimination with the largest of what is left.
 * @param {number[][]} corners each a column of the matrix
 * @param {number[]} wanted
 * @returns {number[]}
 */
function chancesOf(corners, wanted) {
  const rows = wanted.map((each, at) => [...corners.map((corner) => corner[at]), each]);
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
 * A mixture of vertices, without those that have no chance but rounding.
 * @param {Region} region
 * @param {number[]} vertices
 * @param {number[]} chances
 * @returns {Mixture}
 */
function mixtureOf({ ends }, vertices, chances) {
  const kept = vertices.map((_, at) => at).filter((at) => chances[at] > ONLY_ROUNDING);
  const whole = kept.reduce((sum, at) => sum + chances[at], 0);
  return {
    places: kept.map((at) => ends[vertices[at]]),
    chances: kept.length === 1 ? [1] : kept.map((at) => chances[at] / whole),
  };
}
