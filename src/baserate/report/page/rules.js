/** Which cut-off is chosen: by a rule, for a capacity, or by costs that make a vertex of the hull the best. */

import { AS_THEY_ARE, MEASURES, valuesAlong } from "./core.js";

/** @typedef {import("./core.js").Cells} Cells */
/** @typedef {import("./core.js").Costs} Costs */
/** @typedef {import("./core.js").Factors} Factors */
/** @typedef {import("./core.js").Numbers} Numbers */
/** @typedef {import("./core.js").Part} Part */

/** Part of the largest value by which two may differ and still be equal: sums differ by rounding alone. */
const NEARLY_EQUAL = 1e-12;

/**
 * Place of the greatest finite value, the first of those that are equal but for rounding; −1 if none is finite.
 * @param {Float64Array} values
 * @returns {number}
 */
export function strictest(values) {
  let at = -1;
  let most = -Infinity;
  let least = Infinity;
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index];
    // Infinities never win a search.
    if (value > most && value < Infinity) {
      at = index;
      most = value;
    }
    // NaN stays, once there is one.
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
 * Place of the threshold at which flagging is worth the most: so much for a positive, less so much for a negative.
 * @param {Part} part
 * @param {number} positive
 * @param {number} negative
 * @returns {number}
 */
function steepestAt(part, positive, negative) {
  const worth = new Float64Array(part.tp.length);
  for (let at = 0; at < worth.length; at += 1) {
    worth[at] = part.tp[at] * positive - part.fp[at] * negative;
  }
  return strictest(worth);
}

/**
 * Place of the threshold at which something made of both rates and of precision is least; −1 without both classes.
 * @param {Part} part
 * @param {Factors} factors
 * @param {(c: Cells) => number} measure
 * @returns {number}
 */
function leastAt(part, factors, measure) {
  return part.positives > 0 && part.negatives > 0 ? strictest(valuesAlong(part, factors, (c) => -measure(c))) : -1;
}

/**
 * Rules that choose a threshold: its place, the strictest of equals; −1 where a class is not there that the rule needs.
 * The payload says which of them have a button.
 * @type {Record<string, (part: Part, costs: Costs, factors: Factors) => number>}
 */
export const choose = {
  cost: (part, costs, factors) =>
    steepestAt(part, (costs.fn - costs.tp) * factors.positive, (costs.fp - costs.tn) * factors.negative),
  // In whole numbers, so that equals are equal.
  youden: (part) => (part.positives > 0 && part.negatives > 0 ? steepestAt(part, part.negatives, part.positives) : -1),
  closest: (part) =>
    leastAt(part, AS_THEY_ARE, (c) => (1 - MEASURES.sensitivity(c)) ** 2 + (1 - MEASURES.specificity(c)) ** 2),
  balanced: (part) => leastAt(part, AS_THEY_ARE, (c) => Math.abs(MEASURES.sensitivity(c) - MEASURES.specificity(c))),
  // Where nothing is found precision and recall are both 0, and that is no meeting.
  breakEven: (part, _costs, factors) =>
    strictest(
      valuesAlong(part, factors, (c) => (c.tp > 0 ? -Math.abs(MEASURES.precision(c) - MEASURES.sensitivity(c)) : NaN)),
    ),
};

/**
 * Place of the laxest threshold that flags no more than a share of everybody; the strictest of those that flag the
 * same.
 * @param {Part} part
 * @param {number} share
 * @param {Factors} factors
 * @returns {number}
 */
export function capacity(part, share, { positive, negative }) {
  const most = share * (part.positives * positive + part.negatives * negative) * (1 + NEARLY_EQUAL);
  let found = 0;
  let flagged = 0;
  for (let at = 1; at < part.tp.length; at += 1) {
    const here = part.tp[at] * positive + part.fp[at] * negative;
    if (here > most) {
      break;
    }
    if (here > flagged) {
      found = at;
      flagged = here;
    }
  }
  return found;
}

/**
 * Places of the vertices of the upper hull of the ROC curve, strictest first: neighbours are pooled until the share of
 * positives falls strictly from each pool to the next.
 * @param {Part} part
 * @returns {Int32Array}
 */
export function hull({ positive, negative }) {
  const many = positive.length;
  const [ends, hits, misses] = [new Int32Array(many + 1), new Float64Array(many + 1), new Float64Array(many + 1)];
  let last = 0; // of the pools; the one at 0 is empty, where nothing is flagged
  for (let at = 0; at < many; at += 1) {
    let more = positive[at];
    let others = negative[at];
    if (more === 0 && others === 0) {
      continue;
    }
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
