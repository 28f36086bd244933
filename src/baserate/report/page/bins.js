/** Bins of probabilities: what was predicted, and what happened. */

import { scaledRows } from "./core.js";
import { summedRows } from "./running.js";
import { wilson } from "./shares.js";

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
 * The same bins, with the prevalences stated for groups.
 * @param {ReliabilityEntry|null} told
 * @param {import("./core.js").GroupFactors} factors
 * @returns {ReliabilityEntry|null}
 */
export function scaledBins(told, factors) {
  if (!told) return null;
  const [positive, negative] = scaledRows([told.positive, told.negative], factors, 1);
  const [positive_sum, negative_sum] = scaledRows([told.positive_sum, told.negative_sum], factors, 1);
  const [positive_squares, negative_squares] = scaledRows([told.positive_squares, told.negative_squares], factors, 2);
  return { ...told, positive, negative, positive_sum, negative_sum, positive_squares, negative_squares };
}

/**
 * Bins of probabilities that are not empty: what was predicted, and the share that is positive with Wilson's bounds.
 * @param {ReliabilityEntry} told
 * @param {number[]} groups places of the groups that are taken together
 * @param {Factors} factors
 * @param {number} z
 * @returns {ReliabilityBin[]}
 */
export function reliabilityBins(told, groups, factors, z) {
  /** @param {number[][]} rows */
  const of = (rows) => summedRows(groups.map((group) => rows[group]));
  const [positive, negative] = [of(told.positive), of(told.negative)];
  const [positiveSum, negativeSum] = [of(told.positive_sum), of(told.negative_sum)];
  const squares = [of(told.positive_squares), of(told.negative_squares)];
  /** @type {[number, number]} */
  const weights = [
    usualWeight(positive, squares[0], factors.positive),
    usualWeight(negative, squares[1], factors.negative),
  ];
  return Array.from(positive, (_, at) => {
    const [hits, misses] = [positive[at] * factors.positive, negative[at] * factors.negative];
    const mass = hits + misses;
    const predicted = (positiveSum[at] * factors.positive + negativeSum[at] * factors.negative) / mass;
    const bounds = factors.known
      ? knownBounds([hits, misses], weights, z)
      : effectiveWilson([hits, misses], squares[0][at] + squares[1][at], z);
    return { lower: told.edges[at], upper: told.edges[at + 1], predicted, share: hits / mass, ...bounds, mass };
  }).filter((bin) => bin.mass > 0);
}

/**
 * Wilson's bounds of a share of as many rows of equal weight as would be as sure as those there are.
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
 * What a row of a class usually weighs, times a factor; 1 where there is none.
 * @param {Float64Array} masses
 * @param {Float64Array} squares
 * @param {number} factor
 * @returns {number}
 */
function usualWeight(masses, squares, factor) {
  const total = masses.reduce((sum, each) => sum + each, 0);
  return total > 0 ? (factor * squares.reduce((sum, each) => sum + each, 0)) / total : 1;
}

/**
 * Wilson's bounds are of rows; those of a class have a weight of their own, by which odds become odds of mass.
 * @param {[number, number]} masses
 * @param {[number, number]} weights
 * @param {number} z
 * @returns {{low: number, high: number}}
 */
function knownBounds([hits, misses], [one, other], z) {
  const found = wilson(hits / one, misses / other, z);
  /** @param {number} bound */
  const moved = (bound) => (bound * one) / (bound * one + (1 - bound) * other);
  return { low: moved(found.low), high: moved(found.high) };
}
