/** Masses added up along the thresholds, from either end. */

/** @typedef {{tp: Float64Array, fp: Float64Array, fn: Float64Array, tn: Float64Array}} Running */
/**
 * Some people at every threshold: what is flagged and what is passed, added up from either end. Index 0 is +inf, where
 * nothing is flagged. Masses that are not added up, `positive` and `negative`, begin with the first threshold below it.
 * @typedef {Running & {squares: null|Running, positives: number, negatives: number,
 *   positive: Float64Array, negative: Float64Array}} Part
 */
/** @typedef {ArrayLike<number>} Numbers */

/**
 * Running sums, one longer than the masses; what rounding takes from one sum is given back to the next.
 * @param {Numbers} masses
 * @param {boolean} [backward] from the last to the first
 * @returns {Float64Array}
 */
function runningSums(masses, backward = false) {
  const many = masses.length;
  const found = new Float64Array(many + 1);
  let [sum, lost] = [0, 0];
  for (let step = 1; step <= many; step += 1) {
    const mass = masses[backward ? many - step : step - 1];
    const next = sum + mass;
    lost += sum >= mass ? sum - next + mass : mass - next + sum;
    sum = next;
    found[backward ? many - step : step] = sum + lost;
  }
  return found;
}

/**
 * @param {Numbers} positive
 * @param {Numbers} negative
 * @returns {Running}
 */
function runningCells(positive, negative) {
  return {
    tp: runningSums(positive),
    fp: runningSums(negative),
    fn: runningSums(positive, true),
    tn: runningSums(negative, true),
  };
}

/**
 * What is in all rows together, place by place.
 * @param {Numbers[]} rows
 * @returns {Float64Array}
 */
export function summedRows(rows) {
  const found = new Float64Array(rows[0].length);
  for (const row of rows) {
    for (let at = 0; at < found.length; at += 1) {
      found[at] += row[at];
    }
  }
  return found;
}

/**
 * Some people at every threshold, from masses and squared weights of both classes.
 * @param {Numbers[]} masses
 * @param {Numbers[]} [squares]
 * @returns {Part}
 */
export function runningPart([positive, negative], squares) {
  const cells = runningCells(positive, negative);
  const last = positive.length;
  return {
    ...cells,
    squares: squares ? runningCells(squares[0], squares[1]) : null,
    positives: cells.tp[last],
    negatives: cells.fp[last],
    positive: Float64Array.from(positive),
    negative: Float64Array.from(negative),
  };
}
