/** Cumulative masses along the thresholds, from either end. */

/** @typedef {{tp: Float64Array, fp: Float64Array, fn: Float64Array, tn: Float64Array}} Cumulative */
/**
 * Everybody or one group: the cells of the confusion matrix at every threshold. Index 0 is the threshold +inf, at which
 * nothing is flagged. The masses between thresholds, `positive` and `negative`, start with the first finite threshold.
 * @typedef {Cumulative & {squares: null|Cumulative, positives: number, negatives: number,
 *   positive: Float64Array, negative: Float64Array}} Part
 */
/** @typedef {ArrayLike<number>} Numbers */

/**
 * Cumulative sums, one longer than the masses. Compensated summation (Neumaier): sums from either end must agree with
 * those of Python.
 * @param {Numbers} masses
 * @param {boolean} [backward] from the last to the first
 * @returns {Float64Array}
 */
function cumulativeSums(masses, backward = false) {
  const { length } = masses;
  const sums = new Float64Array(length + 1);
  let [sum, compensation] = [0, 0];
  for (let step = 1; step <= length; step += 1) {
    const mass = masses[backward ? length - step : step - 1];
    const next = sum + mass;
    compensation += sum >= mass ? sum - next + mass : mass - next + sum;
    sum = next;
    sums[backward ? length - step : step] = sum + compensation;
  }
  return sums;
}

/**
 * @param {Numbers} positive
 * @param {Numbers} negative
 * @returns {Cumulative}
 */
function cumulativeCells(positive, negative) {
  return {
    tp: cumulativeSums(positive),
    fp: cumulativeSums(negative),
    fn: cumulativeSums(positive, true),
    tn: cumulativeSums(negative, true),
  };
}

/**
 * Sum of rows, column by column.
 * @param {Numbers[]} rows
 * @returns {Float64Array}
 */
export function sumRows(rows) {
  const sums = new Float64Array(rows[0].length);
  for (const row of rows) {
    for (let at = 0; at < sums.length; at += 1) {
      sums[at] += row[at];
    }
  }
  return sums;
}

/**
 * The cells at every threshold, from masses and sums of squared weights of both classes.
 * @param {Numbers[]} masses
 * @param {Numbers[]} [squares]
 * @returns {Part}
 */
export function cumulativePart([positive, negative], squares) {
  const cells = cumulativeCells(positive, negative);
  const last = positive.length;
  return {
    ...cells,
    squares: squares ? cumulativeCells(squares[0], squares[1]) : null,
    positives: cells.tp[last],
    negatives: cells.fp[last],
    positive: Float64Array.from(positive),
    negative: Float64Array.from(negative),
  };
}
