/** Linear programs whose limits move with a parameter: the least cost at every value of it, by the parametric simplex method. */

/**
 * A constraint `weights · x ≤ limit + parameter · slope`; limits are not negative.
 * @typedef {{weights: Float64Array, limit: number, slope: number}} Row
 */
/**
 * A tableau: rows of coefficients, each with its limit and the slope of the limit at the end, and the basic variable of each
 * row; `costs` likewise.
 * @typedef {{rows: Float64Array[], costs: Float64Array, basis: Int32Array, width: number}} Tableau
 */

/** Coefficients below this are rounding. */
const ZERO = 1e-11;
/** Ties of ratios. */
const TIE = 1e-13;
/** Steps after which the entering variable is the first one that improves the value, which excludes cycles. */
const CAREFUL_AFTER = 400;
const MOST_STEPS = 20_000;

/**
 * The least value of `costs · x` with x ≥ 0 under constraints, for all parameters from the greatest one down to 0: points
 * between which the value is linear, in descending order.
 * @param {Float64Array} costs
 * @param {Row[]} constraints
 * @param {number} greatest
 * @returns {{at: number, value: number}[]}
 */
export function minimizeAlong(costs, constraints, greatest) {
  const tableau = startTableau(costs, constraints);
  minimize(tableau, greatest);
  return followDown(tableau, greatest);
}

/**
 * The tableau at x = 0, which satisfies all constraints.
 * @param {Float64Array} costs
 * @param {Row[]} constraints
 * @returns {Tableau}
 */
function startTableau(costs, constraints) {
  const width = costs.length;
  const rows = constraints.map(({ weights, limit, slope }) => {
    const row = new Float64Array(width + 2);
    row.set(weights);
    row[width] = limit;
    row[width + 1] = slope;
    return row;
  });
  const last = new Float64Array(width + 2);
  last.set(costs);
  // Columns are the variables outside of the basis: a pivot exchanges a row and a column. At first these are x.
  return { rows, costs: last, basis: Int32Array.from({ length: rows.length + width }, (_, at) => at), width };
}

/**
 * Exchange the variables of a row and a column.
 * @param {Tableau} tableau
 * @param {number} row
 * @param {number} column
 */
function pivot({ rows, costs, basis, width }, row, column) {
  const own = rows[row];
  const factor = 1 / own[column];
  for (let at = 0; at < own.length; at += 1) own[at] *= factor;
  own[column] = factor;
  for (const other of [...rows, costs]) {
    if (other === own) continue;
    const times = other[column];
    if (times === 0) continue;
    other[column] = 0;
    for (let at = 0; at < own.length; at += 1) other[at] -= times * own[at];
  }
  [basis[width + row], basis[column]] = [basis[column], basis[width + row]];
}

/**
 * Minimize at a parameter, from a solution that satisfies all constraints.
 * @param {Tableau} tableau
 * @param {number} parameter
 */
function minimize(tableau, parameter) {
  const { costs, width } = tableau;
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const column = enteringColumn(tableau, step > CAREFUL_AFTER);
    if (column < 0) return;
    const row = leavingRow(tableau, column, parameter);
    if (row < 0) return;
    pivot(tableau, row, column);
  }
  costs.fill(NaN, width);
}

/**
 * The column that lowers the cost the most, or the first one that does; −1 at the minimum.
 * @param {Tableau} tableau
 * @param {boolean} careful
 * @returns {number}
 */
function enteringColumn({ costs, basis, width }, careful) {
  let best = -1;
  for (let at = 0; at < width; at += 1) {
    if (costs[at] >= -ZERO) continue;
    const isBetter = best < 0 || (careful ? basis[at] < basis[best] : costs[at] < costs[best]);
    if (isBetter) best = at;
  }
  return best;
}

/**
 * The row whose variable first reaches 0 as a column grows; of equals the one that entered as the lowest variable.
 * @param {Tableau} tableau
 * @param {number} column
 * @param {number} parameter
 * @returns {number}
 */
function leavingRow({ rows, basis, width }, column, parameter) {
  let best = -1;
  let least = Infinity;
  rows.forEach((row, at) => {
    if (row[column] <= ZERO) return;
    const ratio = Math.max(0, row[width] + parameter * row[width + 1]) / row[column];
    if (ratio < least - TIE || (ratio <= least + TIE && (best < 0 || basis[width + at] < basis[width + best]))) {
      [best, least] = [at, Math.min(ratio, least)];
    }
  });
  return best;
}

/**
 * Follow the minimum as the parameter falls to 0. A variable that would become negative leaves the basis.
 * @param {Tableau} tableau
 * @param {number} greatest
 * @returns {{at: number, value: number}[]}
 */
function followDown(tableau, greatest) {
  const { rows, costs, width } = tableau;
  // The last entries of the costs are the negative value, and its slope.
  const value = (/** @type {number} */ at) => -costs[width] - at * costs[width + 1];
  let parameter = greatest;
  const points = [{ at: parameter, value: value(parameter) }];
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const { row, at } = nextRow(rows, width, parameter);
    if (row < 0 || at <= 0) break;
    parameter = Math.min(parameter, at);
    points.push({ at: parameter, value: value(parameter) });
    const column = dualColumn(tableau, rows[row]);
    if (column < 0) break;
    pivot(tableau, row, column);
  }
  points.push({ at: 0, value: value(0) });
  return points;
}

/**
 * The row whose variable first reaches 0 as the parameter falls, and where it does.
 * @param {Float64Array[]} rows
 * @param {number} width
 * @param {number} parameter
 * @returns {{row: number, at: number}}
 */
function nextRow(rows, width, parameter) {
  let [best, most] = [-1, -Infinity];
  rows.forEach((row, place) => {
    const slope = row[width + 1];
    if (slope <= ZERO) return;
    const at = Math.min(-row[width] / slope, parameter);
    if (at > most) [best, most] = [place, at];
  });
  return { row: best, at: most };
}

/**
 * The column that replaces the variable of a row at the least cost; of equals that of the largest coefficient.
 * @param {Tableau} tableau
 * @param {Float64Array} row
 * @returns {number}
 */
function dualColumn({ costs, width }, row) {
  let best = -1;
  let least = Infinity;
  for (let at = 0; at < width; at += 1) {
    if (row[at] >= -ZERO) continue;
    const ratio = Math.max(0, costs[at]) / -row[at];
    if (ratio < least - TIE || (ratio <= least + TIE && (best < 0 || row[at] < row[best]))) {
      [best, least] = [at, Math.min(least, ratio)];
    }
  }
  return best;
}
