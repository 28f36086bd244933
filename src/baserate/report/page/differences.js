/** Differences of a proportion between two independent groups, with Newcombe's intervals. As in baserate.infer. */

import { MEASURES, interval } from "./core.js";
import { SHARES, wilson } from "./intervals.js";

/** @typedef {import("./intervals.js").Counts} Counts */
/** @typedef {import("./intervals.js").Cell} Cell */
/** @typedef {import("./intervals.js").Bounds} Bounds */
/** @typedef {{value: number, low: number, high: number}} Difference */
/** Masses and sums of squared weights of hits and misses. @typedef {{mass: [number, number], squares: [number, number]}} Cells */

/**
 * The difference of a proportion, the first group less the second. Bounds are NaN where there are none.
 * @param {string} measure
 * @param {Counts} first
 * @param {Counts} second
 * @param {{level: number, z: number}} confidence
 * @returns {Difference}
 */
export function compareShares(measure, first, second, confidence) {
  const values = [MEASURES[measure](first), MEASURES[measure](second)];
  const value = values[0] - values[1];
  const none = { value, low: NaN, high: NaN };
  if (Number.isNaN(value) || !SHARES[measure]) return none;
  if (!first.known && !second.known) return { value, ...sampleBounds(measure, first, second, confidence.z) };
  const [one, other] = [first, second].map((counts) => interval(measure, counts, confidence.level, confidence.z));
  return one && other ? { value, ...hybridBounds(values, one, other) } : none;
}

/**
 * Bounds in the sample: Wilson's intervals of both, of as many rows as have the same variance.
 * @param {string} measure
 * @param {Counts} first
 * @param {Counts} second
 * @param {number} z
 * @returns {Bounds}
 */
function sampleBounds(measure, first, second, z) {
  const cells = [cellsOf(measure, first), cellsOf(measure, second)];
  const isWeighted = first.squares !== null || second.squares !== null;
  const shares = isWeighted ? effectiveShares(cells) : cells.map(({ mass }) => mass);
  const part = isWeighted ? 1 / widening(welchFreedom(shares), z) ** 2 : 1;
  const [one, other] = shares.map(([hits, misses]) => wilson(part * hits, part * misses, z));
  return hybridBounds(
    shares.map(([hits, misses]) => hits / (hits + misses)),
    one,
    other,
  );
}

/**
 * Newcombe's hybrid (1998) of the intervals of both values.
 * @param {number[]} values
 * @param {Bounds} first
 * @param {Bounds} second
 * @returns {Bounds}
 */
function hybridBounds([one, other], first, second) {
  return {
    low: one - other - Math.hypot(one - first.low, second.high - other),
    high: one - other + Math.hypot(first.high - one, other - second.low),
  };
}

/**
 * @param {string} measure
 * @param {Counts} counts
 * @returns {Cells}
 */
function cellsOf(measure, counts) {
  const { hits, misses } = SHARES[measure];
  /** @param {Record<Cell, number>} cells @returns {[number, number]} */
  const sums = (cells) => [
    hits.reduce((sum, name) => sum + cells[name], 0),
    misses.reduce((sum, name) => sum + cells[name], 0),
  ];
  return { mass: sums(counts), squares: sums(counts.squares ?? counts) };
}

/**
 * Effective hits and misses of weighted groups: Kish's number of rows, times a ratio of variances over all groups.
 * @param {Cells[]} groups
 * @returns {[number, number][]}
 */
function effectiveShares(groups) {
  const parts = groups.map(({ mass, squares }) => {
    const [total, square] = [mass[0] + mass[1], squares[0] + squares[1]];
    const [p, q] = [mass[0] / total, mass[1] / total];
    // In units of the usual weight of a group, since the scale of weights is arbitrary.
    const usual = (square / total) ** 2;
    const expected = (p * q * square) / usual;
    const observed = (q * q * squares[0] + p * p * squares[1]) / usual;
    return { p, q, kish: (total * total) / square, expected, observed };
  });
  const [expected, observed] = [
    parts.reduce((sum, each) => sum + each.expected, 0),
    parts.reduce((sum, each) => sum + each.observed, 0),
  ];
  const ratio = observed > 0 ? expected / observed : 1;
  return parts.map(({ p, q, kish }) => [p * kish * ratio, q * kish * ratio]);
}

/**
 * Degrees of freedom of a variance that is estimated from weighted rows (Welch 1947).
 * @param {[number, number][]} shares
 * @returns {number}
 */
function welchFreedom(shares) {
  let [variance, uncertainty, rows] = [0, 0, 0];
  for (const [hits, misses] of shares) {
    const trials = hits + misses;
    const [own, free] = [(hits * misses) / trials ** 3, Math.max(trials - 1, 1)];
    variance += own;
    uncertainty += own ** 2 / free;
    rows += free;
  }
  return uncertainty > 0 ? variance ** 2 / uncertainty : rows;
}

/**
 * Ratio of a quantile of Student's t to that of the normal distribution, by Cornish and Fisher's series.
 * @param {number} freedom
 * @param {number} z
 * @returns {number}
 */
function widening(freedom, z) {
  const s = z * z;
  return (
    1 +
    (s + 1) / (4 * freedom) +
    (5 * s ** 2 + 16 * s + 3) / (96 * freedom ** 2) +
    (3 * s ** 3 + 19 * s ** 2 + 17 * s - 15) / (384 * freedom ** 3) +
    (79 * s ** 4 + 776 * s ** 3 + 1482 * s ** 2 - 1920 * s - 945) / (92160 * freedom ** 4)
  );
}
