/** Rules that choose a threshold, the threshold of a capacity, and the ROC convex hull. */

import { SAMPLE_FACTORS, MEASURES, valuesAlong } from "./core.js";

/** @typedef {import("./core.js").Cells} Cells */
/** @typedef {import("./core.js").Costs} Costs */
/** @typedef {import("./core.js").Factors} Factors */
/** @typedef {import("./core.js").Numbers} Numbers */
/** @typedef {import("./core.js").Part} Part */

/** Relative difference below which two values are equal: sums differ by rounding. */
const NEARLY_EQUAL = 1e-12;

/**
 * Index of the greatest finite value, the first among values that differ by rounding only; −1 if none is finite.
 * @param {Float64Array} values
 * @returns {number}
 */
export function strictestMaximum(values) {
  let at = -1;
  let most = -Infinity;
  let least = Infinity;
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index];
    // An infinite value is never the best one, as in Python.
    if (value > most && value < Infinity) {
      at = index;
      most = value;
    }
    // Once `least` is NaN it stays NaN, since comparisons with NaN are false.
    if (value < least || Number.isNaN(value)) {
      least = value;
    }
  }
  if (at < 0) {
    return at;
  }
  const size = Math.max(Math.abs(most), Number.isFinite(least) ? Math.abs(least) : 0);
  return values.findIndex((value) => value >= most - NEARLY_EQUAL * size && value < Infinity);
}

/**
 * Index of the threshold with the greatest weighted difference of true and false positives.
 * @param {Part} part
 * @param {number} positive
 * @param {number} negative
 * @returns {number}
 */
function maximizeWorth(part, positive, negative) {
  const worth = new Float64Array(part.tp.length);
  for (let at = 0; at < worth.length; at += 1) {
    worth[at] = part.tp[at] * positive - part.fp[at] * negative;
  }
  return strictestMaximum(worth);
}

/**
 * Index of the threshold that minimizes a function of the confusion matrix; −1 without both classes.
 * @param {Part} part
 * @param {Factors} factors
 * @param {(c: Cells) => number} measure
 * @returns {number}
 */
function minimizeValue(part, factors, measure) {
  return part.positives > 0 && part.negatives > 0
    ? strictestMaximum(valuesAlong(part, factors, (c) => -measure(c)))
    : -1;
}

/**
 * Rules that return the index of a threshold, the strictest of equals; −1 where a class that the rule needs is absent.
 * The payload lists the rules that have a button.
 * @type {Record<string, (part: Part, costs: Costs, factors: Factors) => number>}
 */
export const choose = {
  cost: (part, costs, factors) =>
    maximizeWorth(part, (costs.fn - costs.tp) * factors.positive, (costs.fp - costs.tn) * factors.negative),
  // Multiplied by both totals: whole numbers make ties exact.
  youden: (part) =>
    part.positives > 0 && part.negatives > 0 ? maximizeWorth(part, part.negatives, part.positives) : -1,
  closest: (part) =>
    minimizeValue(part, SAMPLE_FACTORS, (c) => (1 - MEASURES.sensitivity(c)) ** 2 + (1 - MEASURES.specificity(c)) ** 2),
  balanced: (part) =>
    minimizeValue(part, SAMPLE_FACTORS, (c) => Math.abs(MEASURES.sensitivity(c) - MEASURES.specificity(c))),
  // Without true positives precision and recall are both 0, which is no break-even point.
  breakEven: (part, _costs, factors) =>
    strictestMaximum(
      valuesAlong(part, factors, (c) => (c.tp > 0 ? -Math.abs(MEASURES.precision(c) - MEASURES.sensitivity(c)) : NaN)),
    ),
};

/**
 * Index of the laxest threshold that flags at most a share of everybody; the strictest of those that flag the same.
 * @param {Part} part
 * @param {number} share
 * @param {Factors} factors
 * @returns {number}
 */
export function capacityIndex(part, share, { positive, negative }) {
  const most = share * (part.positives * positive + part.negatives * negative) * (1 + NEARLY_EQUAL);
  let index = 0;
  let largest = 0;
  for (let at = 1; at < part.tp.length; at += 1) {
    const flagged = part.tp[at] * positive + part.fp[at] * negative;
    if (flagged > most) {
      break;
    }
    if (flagged > largest) {
      index = at;
      largest = flagged;
    }
  }
  return index;
}

/**
 * Indices of the vertices of the ROC convex hull, strictest first: neighbors are pooled until the share of positives
 * falls strictly from each pool to the next (pool adjacent violators).
 * @param {Part} part
 * @returns {Int32Array}
 */
export function hull({ positive, negative }) {
  const { length } = positive;
  const [ends, hits, misses] = [new Int32Array(length + 1), new Float64Array(length + 1), new Float64Array(length + 1)];
  let last = 0; // index of the last pool; pool 0 is empty: nothing is flagged
  for (let at = 0; at < length; at += 1) {
    let more = positive[at];
    let others = negative[at];
    if (more === 0 && others === 0) {
      continue;
    }
    // Products in place of shares: pools without one of the classes need no division by 0.
    for (; last > 0 && hits[last] * others <= more * misses[last]; last -= 1) {
      more += hits[last];
      others += misses[last];
    }
    last += 1;
    ends[last] = at + 1;
    hits[last] = more;
    misses[last] = others;
  }
  return ends.slice(0, last + 1);
}
