/** Confidence intervals of F1, MCC, balanced accuracy, Youden's J and expected cost, as in baserate.infer._rate_intervals. */

import {
  BY_QUADRATURE,
  BY_SUM,
  SHARES,
  combineSides,
  effectiveShare,
  proportionInterval,
  shareOf,
  sideOf,
} from "./intervals.js";

/** @typedef {import("./intervals.js").Cell} Cell */
/** @typedef {import("./intervals.js").Cells} Cells */
/** @typedef {import("./intervals.js").Counts} Counts */
/** @typedef {import("./intervals.js").Bounds} Bounds */
/** @typedef {import("./intervals.js").Interval} Interval */
/** @typedef {{level: number, z: number, costs: Cells}} Confidence */
/** A proportion of a table with its bounds. @typedef {Bounds & {rate: number}} Part */
/** @typedef {(share: number, sensitivity: number, fpr: number) => number} OfRates */
/** A scale on which distances are added, and its inverse. @typedef {{forward: (value: number) => number, back: (value: number) => number}} Scale */
/** Mass of cells, their squared weights, and their cost. @typedef {{mass: number, squares: number, factor: number}} CellGroup */

const BY_JACCARD = "from Wilson or Clopper–Pearson of the Jaccard index";
const BY_FISHER =
  "Wilson or Clopper–Pearson of the prevalence and within each class, added in quadrature on Fisher's z scale";
const BY_FISHER_KNOWN =
  "Wilson or Clopper–Pearson within each class, added in quadrature on Fisher's z scale; prevalence known";
const BY_RATES = "Wilson or Clopper–Pearson within each class, added in quadrature";
const BY_CELLS = "Wilson or Clopper–Pearson of both shares, added in quadrature with their correlation";
/** @type {Scale} */
const PLAIN = { forward: (value) => value, back: (value) => value };
/** @type {Scale} */
const LOG_ODDS = {
  forward: (value) => Math.log(value) - Math.log1p(-value),
  back: (odds) => 1 / (1 + Math.exp(-odds)),
};
/** @type {Scale} */
const FISHER_Z = { forward: (value) => Math.atanh(Math.min(Math.max(value, -1), 1)), back: Math.tanh };
const CELLS = /** @type {Cell[]} */ (["tp", "fp", "fn", "tn"]);

/**
 * Limits of each measure, and its interval before it is clamped.
 * @type {Record<string, {span: [number, number], interval: (counts: Counts, confidence: Confidence) => Interval}>}
 */
export const RATE_INTERVALS = {
  f1: { span: [0, 1], interval: f1Interval },
  mcc: { span: [-1, 1], interval: mccInterval },
  balanced_accuracy: {
    span: [0, 1],
    interval: ratesInterval([
      ["tp", 0.5],
      ["tn", 0.5],
    ]),
  },
  youden: {
    span: [-1, 1],
    interval: ratesInterval([
      ["tp", 1],
      ["fp", -1],
    ]),
  },
  average_odds: {
    span: [0, 1],
    interval: ratesInterval([
      ["tp", 0.5],
      ["fp", 0.5],
    ]),
  },
  expected_cost: { span: [-Infinity, Infinity], interval: costInterval },
};

/**
 * F1 is 2J/(1 + J) of the Jaccard index J; at a known prevalence, its bounds are those of log-odds.
 * @param {Counts} counts
 * @param {Confidence} confidence
 * @returns {Interval}
 */
function f1Interval(counts, confidence) {
  if (counts.known) return { ...addDistances(computeF1, counts, confidence, LOG_ODDS), how: BY_QUADRATURE };
  const { low, high } = proportionInterval(shareOf(counts, SHARES.jaccard), confidence.level, confidence.z);
  return { low: (2 * low) / (1 + low), high: (2 * high) / (1 + high), how: BY_JACCARD };
}

/**
 * MCC on Fisher's z scale.
 * @param {Counts} counts
 * @param {Confidence} confidence
 * @returns {Interval}
 */
function mccInterval(counts, confidence) {
  const how = counts.known ? BY_FISHER_KNOWN : BY_FISHER;
  return { ...addDistances(computeMcc, counts, confidence, FISHER_Z), how };
}

/** @type {OfRates} */
function computeF1(share, sensitivity, fpr) {
  const found = 2 * share * sensitivity;
  return found / (found + share * (1 - sensitivity) + (1 - share) * fpr);
}

/** MCC is 0 where everybody or nobody is flagged. @type {OfRates} */
function computeMcc(share, sensitivity, fpr) {
  const flagged = share * sensitivity + (1 - share) * fpr;
  const spread = Math.sqrt(share * (1 - share)) / Math.sqrt(flagged * (1 - flagged));
  return (sensitivity - fpr) * spread || 0; // NaN becomes 0
}

/**
 * The rate of a cell in its class.
 * @param {Counts} counts
 * @param {Cell} cell
 * @param {Confidence} confidence
 * @returns {Part}
 */
function classPart(counts, cell, { level, z }) {
  const { hits, misses } = sideOf(counts, cell);
  const { low, high } = proportionInterval({ hits, misses }, level, z);
  return { rate: hits / (hits + misses) || 0, low, high };
}

/**
 * The prevalence; a known one has no interval.
 * @param {Counts} counts
 * @param {Confidence} confidence
 * @returns {Part}
 */
function prevalencePart(counts, { level, z }) {
  const rate = (counts.tp + counts.fn) / (counts.tp + counts.fp + counts.fn + counts.tn);
  if (counts.known) return { rate, low: rate, high: rate };
  const { low, high } = proportionInterval(shareOf(counts, SHARES.prevalence), level, z);
  return { rate, low, high };
}

/**
 * Bounds of a function of the prevalence and both rates that grows with the sensitivity and falls with the false
 * positive rate.
 * @param {OfRates} compute
 * @param {Counts} counts
 * @param {Confidence} confidence
 * @param {Scale} scale
 * @returns {Bounds}
 */
function addDistances(compute, counts, confidence, scale) {
  const share = prevalencePart(counts, confidence);
  const [hit, alarm] = [classPart(counts, "tp", confidence), classPart(counts, "fp", confidence)];
  const value = compute(share.rate, hit.rate, alarm.rate);
  const shares = [share.low, share.high].map((end) => compute(end, hit.rate, alarm.rate));
  const correlation = correlations(counts);
  // At the ends of the scale every distance is infinite.
  const { forward, back } = Number.isFinite(scale.forward(value)) ? scale : PLAIN;
  /** @param {number} sign @param {number} hitEnd @param {number} alarmEnd */
  const bound = (sign, hitEnd, alarmEnd) => {
    const ends = [compute(share.rate, hitEnd, alarm.rate), compute(share.rate, hit.rate, alarmEnd), ...shares];
    return back(forward(value) + sign * distanceOf(sign, forward(value), ends.map(forward), correlation));
  };
  return { low: bound(-1, hit.low, alarm.high), high: bound(1, hit.high, alarm.low) };
}

/**
 * Distance from a value to its bound on one side, from the distances of each part.
 * @param {number} sign
 * @param {number} value
 * @param {number[]} ends with the sensitivity, the false positive rate, or the prevalence at an end of its interval
 * @param {[number, number]} correlation of the prevalence with the sensitivity, and with the false positive rate
 * @returns {number}
 */
function distanceOf(sign, value, ends, correlation) {
  const [hit, alarm, lower, upper] = ends.map((end) => Math.max(sign * (end - value), 0));
  // The prevalence moves to the end that moves the measure farther; with weights it is correlated with the rates.
  const [share, move] = upper > lower ? [upper, 1] : [lower, -1];
  const cross = sign * move * (correlation[0] * hit - correlation[1] * alarm) * share;
  // Where a distance is infinite, so is their sum.
  return Math.sqrt(Math.max(hit ** 2 + alarm ** 2 + share ** 2 + 2 * (Number.isFinite(cross) ? cross : 0), 0));
}

/**
 * Correlation of the prevalence with the sensitivity, and with the false positive rate: 0 for counted rows, and at a known
 * prevalence.
 * @param {Counts} counts
 * @returns {[number, number]}
 */
function correlations(counts) {
  const { squares } = counts;
  if (squares === null || counts.known) return [0, 0];
  const share = (counts.tp + counts.fn) / (counts.tp + counts.fp + counts.fn + counts.tn);
  const spread = (1 - share) ** 2 * (squares.tp + squares.fn) + share ** 2 * (squares.fp + squares.tn);
  /** @param {Cell} cell @param {Cell} rest @param {number} factor */
  const correlate = (cell, rest, factor) => {
    const { hits, misses } = sideOf(counts, cell);
    const rate = hits / (hits + misses) || 0;
    const covariance = factor * ((1 - rate) * squares[cell] - rate * squares[rest]);
    const variance = ((1 - rate) ** 2 * squares[cell] + rate ** 2 * squares[rest]) * spread;
    return Math.min(Math.max(covariance / Math.sqrt(variance) || 0, -1), 1);
  };
  return [correlate("tp", "fn", 1 - share), correlate("fp", "tn", -share)];
}

/**
 * Interval of a measure that is linear in both rates.
 * @param {[Cell, number][]} factors
 * @returns {(counts: Counts, confidence: Confidence) => Interval}
 */
function ratesInterval(factors) {
  return (counts, { level, z }) => {
    const parts = factors.map(([cell, factor]) => ({ side: sideOf(counts, cell), factor }));
    return { ...combineSides(parts, level, z), how: BY_RATES };
  };
}

/**
 * Interval of the expected cost.
 * @param {Counts} counts
 * @param {Confidence} confidence
 * @returns {Interval}
 */
function costInterval(counts, { level, z, costs }) {
  const total = counts.tp + counts.fp + counts.fn + counts.tn;
  if (counts.known) {
    const share = (counts.tp + counts.fn) / total;
    const base = share * costs.tp + (1 - share) * costs.tn;
    const { low, high } = combineSides(
      [
        { side: sideOf(counts, "fn"), factor: share * (costs.fn - costs.tp) },
        { side: sideOf(counts, "fp"), factor: (1 - share) * (costs.fp - costs.tn) },
      ],
      level,
      z,
    );
    return { low: base + low, high: base + high, how: BY_SUM };
  }
  const { low, high } = combineCells(equalCostCells(counts, costs), total, counts, { level, z });
  return { low: costs.tn + low, high: costs.tn + high, how: BY_CELLS };
}

/**
 * Cells of equal cost are one proportion: with equal costs of both errors, the interval is that of the error rate.
 * @param {Counts} counts
 * @param {Cells} costs
 * @returns {CellGroup[]}
 */
function equalCostCells(counts, costs) {
  /** @type {Map<number, CellGroup>} */
  const groups = new Map();
  for (const cell of CELLS) {
    const factor = costs[cell] - costs.tn;
    const group = groups.get(factor) ?? { mass: 0, squares: 0, factor };
    group.mass += counts[cell];
    group.squares += (counts.squares ?? counts)[cell];
    groups.set(factor, group);
  }
  return [...groups.values()].filter(({ factor }) => factor !== 0);
}

/**
 * Bounds of a linear combination of shares of one sample, which are correlated.
 * @param {CellGroup[]} cells
 * @param {number} total
 * @param {Counts} counts
 * @param {{level: number, z: number}} confidence
 * @returns {Bounds}
 */
function combineCells(cells, total, counts, { level, z }) {
  const squares = CELLS.reduce((sum, cell) => sum + (counts.squares ?? counts)[cell], 0);
  const shares = cells.map((cell) => cell.mass / total || 0);
  let value = 0;
  /** @type {number[]} */ const down = [];
  /** @type {number[]} */ const up = [];
  cells.forEach((cell, at) => {
    const rest = total - cell.mass;
    const share = counts.squares
      ? effectiveShare(cell.mass, rest, cell.squares, squares - cell.squares)
      : { hits: cell.mass, misses: rest };
    const { low, high } = proportionInterval({ hits: share.hits || 0, misses: share.misses || 0 }, level, z);
    const ends = [cell.factor * (low - shares[at]), cell.factor * (high - shares[at])];
    value += cell.factor * shares[at];
    down.push(Math.min(...ends));
    up.push(Math.max(...ends));
  });
  /** @param {number[]} reach */
  const distance = (reach) => {
    let sum = reach.reduce((whole, each) => whole + each * each, 0);
    for (let i = 0; i < cells.length; i += 1) {
      for (let j = i + 1; j < cells.length; j += 1) {
        const sides = Math.sign(cells[i].factor) * Math.sign(cells[j].factor);
        sum += 2 * sides * correlate(cells[i], shares[i], cells[j], shares[j], squares) * reach[i] * reach[j];
      }
    }
    return Math.sqrt(Math.max(sum, 0));
  };
  return { low: value - distance(down), high: value + distance(up) };
}

/**
 * Correlation of two shares of a sample; 0 where one has no variance.
 * @param {CellGroup} one
 * @param {number} p
 * @param {CellGroup} other
 * @param {number} q
 * @param {number} squares of the sample
 * @returns {number}
 */
function correlate({ squares: s }, p, { squares: t }, q, squares) {
  const covariance = p * q * (squares - s - t) - s * (1 - p) * q - t * p * (1 - q);
  const variances = ((1 - p) ** 2 * s + p * p * (squares - s)) * ((1 - q) ** 2 * t + q * q * (squares - t));
  return Math.min(Math.max(covariance / Math.sqrt(variances) || 0, -1), 1);
}
