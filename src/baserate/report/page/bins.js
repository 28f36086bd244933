/** Bins of the reliability diagram: mean prediction and observed share of positives. */

import { scaleRows } from "./core.js";
import { sumRows } from "./cumulative.js";
import { wilson } from "./intervals.js";

/** @typedef {import("./core.js").Factors} Factors */
/**
 * @typedef {{edges: number[], positive: number[][], negative: number[][], positive_sum: number[][],
 *   negative_sum: number[][], positive_squares: number[][], negative_squares: number[][]}} ReliabilityEntry
 */

/**
 * @typedef {{lower: number, upper: number, predicted: number, share: number, low: number, high: number, mass: number}
 *   } ReliabilityBin
 */

/**
 * Bins reweighted to the prevalences stated for groups.
 * @param {ReliabilityEntry|null} entry
 * @param {import("./core.js").GroupFactors} factors
 * @returns {ReliabilityEntry|null}
 */
export function scaleBins(entry, factors) {
  if (!entry) return null;
  const [positive, negative] = scaleRows([entry.positive, entry.negative], factors, 1);
  const [positive_sum, negative_sum] = scaleRows([entry.positive_sum, entry.negative_sum], factors, 1);
  const [positive_squares, negative_squares] = scaleRows([entry.positive_squares, entry.negative_squares], factors, 2);
  return { ...entry, positive, negative, positive_sum, negative_sum, positive_squares, negative_squares };
}

/**
 * Nonempty bins: mean prediction, and observed share of positives with its Wilson interval.
 * @param {ReliabilityEntry} entry
 * @param {number[]} groups indices of the groups to pool
 * @param {Factors} factors
 * @param {number} z
 * @returns {ReliabilityBin[]}
 */
export function reliabilityBins(entry, groups, factors, z) {
  /** @param {number[][]} rows */
  const pool = (rows) => sumRows(groups.map((group) => rows[group]));
  const [positive, negative] = [pool(entry.positive), pool(entry.negative)];
  const [positiveSum, negativeSum] = [pool(entry.positive_sum), pool(entry.negative_sum)];
  const squares = [pool(entry.positive_squares), pool(entry.negative_squares)];
  /** @type {[number, number]} */
  const weights = [
    typicalWeight(positive, squares[0], factors.positive),
    typicalWeight(negative, squares[1], factors.negative),
  ];
  return Array.from(positive, (_, at) => {
    const [hits, misses] = [positive[at] * factors.positive, negative[at] * factors.negative];
    const mass = hits + misses;
    const predicted = (positiveSum[at] * factors.positive + negativeSum[at] * factors.negative) / mass;
    const bounds = factors.known
      ? boundsAtKnownPrevalence([hits, misses], weights, z)
      : effectiveWilson([hits, misses], squares[0][at] + squares[1][at], z);
    return { lower: entry.edges[at], upper: entry.edges[at + 1], predicted, share: hits / mass, ...bounds, mass };
  }).filter((bin) => bin.mass > 0);
}

/**
 * Wilson's interval for the effective number of rows.
 * @param {[number, number]} masses
 * @param {number} squares
 * @param {number} z
 * @returns {{low: number, high: number}}
 */
function effectiveWilson([hits, misses], squares, z) {
  const weight = squares / (hits + misses);
  return wilson(hits / weight, misses / weight, z);
}

/**
 * Typical weight of a row of a class, times a factor; 1 where the class is absent.
 * @param {Float64Array} masses
 * @param {Float64Array} squares
 * @param {number} factor
 * @returns {number}
 */
function typicalWeight(masses, squares, factor) {
  const total = masses.reduce((sum, each) => sum + each, 0);
  return total > 0 ? (factor * squares.reduce((sum, each) => sum + each, 0)) / total : 1;
}

/**
 * Wilson's interval for rows, whose odds are then multiplied by the weights of both classes to become odds of masses.
 * @param {[number, number]} masses
 * @param {[number, number]} weights
 * @param {number} z
 * @returns {{low: number, high: number}}
 */
function boundsAtKnownPrevalence([hits, misses], [one, other], z) {
  const bounds = wilson(hits / one, misses / other, z);
  /** @param {number} bound */
  const reweigh = (bound) => (bound * one) / (bound * one + (1 - bound) * other);
  return { low: reweigh(bounds.low), high: reweigh(bounds.high) };
}

/**
 * Expected calibration error: mean distance of prediction and observed share, weighted by the mass of bins.
 * @param {ReliabilityBin[]} bins
 * @returns {number}
 */
export function calibrationError(bins) {
  return (
    sumOf(bins, ({ mass, share, predicted }) => mass * Math.abs(share - predicted)) / sumOf(bins, ({ mass }) => mass)
  );
}

/**
 * Observed positives over expected ones.
 * @param {ReliabilityBin[]} bins
 * @returns {number}
 */
export function observedExpected(bins) {
  return sumOf(bins, ({ mass, share }) => mass * share) / sumOf(bins, ({ mass, predicted }) => mass * predicted);
}

/**
 * @param {ReliabilityBin[]} bins
 * @param {(bin: ReliabilityBin) => number} of
 * @returns {number}
 */
function sumOf(bins, of) {
  return bins.reduce((sum, bin) => sum + of(bin), 0);
}
