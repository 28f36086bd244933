/** The least cost of a parity at each tolerance, exactly. As in baserate.fairness.frontier. */

import { MEASURES, expectedCost, tableAt } from "./core.js";
import { RATES, cheapestOf, isEligible, lowestCosts, regionsOf, vertexCosts } from "./fairness.js";
import { TOLERANCE, costWeights, regionCost } from "./region.js";
import { minimizeAlong } from "./simplex.js";

/** @typedef {import("./core.js").Counts} Counts */
/** @typedef {import("./core.js").Costs} Costs */
/** @typedef {import("./core.js").Part} Part */
/** @typedef {import("./fairness.js").Constraint} Constraint */
/** @typedef {import("./fairness.js").Problem} Problem */
/** @typedef {import("./region.js").Region} Region */
/**
 * A piecewise linear curve: the least cost at ascending tolerances. The cost stays beyond the last one.
 * @typedef {{within: number[], cost: number[]}} Frontier
 */
/** A part of a convex function of one rate: its length, and its slope. @typedef {{length: number, slope: number}} Piece */

/**
 * The least cost per person at each tolerance, from 0 to where the constraint costs nothing: a convex function that is
 * linear between the tolerances of the result. Groups without the required classes do not take part.
 * @param {Constraint} constraint
 * @param {Problem} problem
 * @returns {Frontier}
 */
export function solveFrontier(constraint, { groups, factors, costs }) {
  const parts = groups.filter((part) => isEligible(part, constraint));
  const regions = regionsOf(parts, factors);
  if (!regions.length) return { within: [], cost: [] };
  return constraint.rates.length === 1
    ? oneRateFrontier(regions, RATES[constraint.rates[0]].of, costs)
    : linearFrontier(regions, constraint.rates, costs);
}

/**
 * Rates of all groups lie in [u, v], and each group takes the rate of its lowest cost if it can. So the cost is the sum of
 * a convex function of u and one of v. A tolerance that shrinks from the free one to 0 raises u and lowers v, the cheaper of
 * both first.
 * @param {Region[]} regions
 * @param {(region: Region) => Float64Array} vertexRates
 * @param {Costs} costs
 * @returns {Frontier}
 */
function oneRateFrontier(regions, vertexRates, costs) {
  const lines = regions.map((region) => rateLine(region, vertexRates, costs));
  const bests = lines.map(({ best }) => best);
  const [lowest, highest] = [Math.min(...bests), Math.max(...bests)];
  const raised = lines.map(({ up }) => up);
  const lowered = lines.map(({ down }) => down);
  const pieces = [
    ...addSlopes(raised, lowest, highest),
    ...addSlopes(
      lowered.map((line) => line.map(({ from, slope }) => ({ from: -from, slope }))),
      -highest,
      -lowest,
    ),
  ].sort((one, other) => one.slope - other.slope);
  let cost = regions.reduce((sum, region, at) => sum + regionCost(region, costs, lines[at].point), 0);
  let tolerance = highest - lowest;
  const points = [{ within: tolerance, cost }];
  for (const { length, slope } of pieces) {
    if (tolerance <= TOLERANCE) break;
    const step = Math.min(length, tolerance);
    tolerance -= step;
    cost += slope * step;
    points.push({ within: tolerance <= TOLERANCE ? 0 : tolerance, cost });
  }
  return frontierOf(points);
}

/**
 * What moving the rate of a group costs: slopes upwards from its best rate, each from the place where it begins, and
 * slopes downwards.
 * @param {Region} region
 * @param {(region: Region) => Float64Array} vertexRates
 * @param {Costs} costs
 */
function rateLine(region, vertexRates, costs) {
  const [rates, cost] = [vertexRates(region), vertexCosts(region, costs)];
  const place = cheapestOf(cost);
  const { xs, ys } = lowestCosts(rates, cost);
  const best = rates[place];
  /** @type {{from: number, slope: number}[]} */
  const up = [];
  /** @type {{from: number, slope: number}[]} */
  const down = [];
  for (let at = 0; at + 1 < xs.length; at += 1) {
    const slope = (ys[at + 1] - ys[at]) / (xs[at + 1] - xs[at]);
    if (xs[at] >= best) up.push({ from: xs[at], slope: Math.max(slope, 0) });
    else down.unshift({ from: xs[at + 1], slope: Math.max(-slope, 0) });
  }
  return { best, up, down, point: { fpr: region.fpr[place], tpr: region.tpr[place] } };
}

/**
 * Pieces of the sum of convex functions, between two places. Each function is given by the places at which its slope
 * becomes another one; before the first it is constant.
 * @param {{from: number, slope: number}[][]} lines
 * @param {number} start
 * @param {number} end
 * @returns {Piece[]}
 */
function addSlopes(lines, start, end) {
  const changes = lines.flatMap((line) =>
    line.map(({ from, slope }, at) => ({ at: from, change: slope - (at ? line[at - 1].slope : 0) })),
  );
  changes.sort((one, other) => one.at - other.at);
  /** @type {Piece[]} */
  const pieces = [];
  let [slope, last] = [0, start];
  for (const { at, change } of changes) {
    const place = Math.min(Math.max(at, start), end);
    if (place > last) pieces.push({ length: place - last, slope });
    last = Math.max(last, place);
    slope += change;
  }
  if (end > last) pieces.push({ length: end - last, slope });
  return pieces;
}

/**
 * Several rates: a linear program whose right-hand side moves with the tolerance. Unknowns are both rates of each group, and
 * the lowest value of each bounded rate.
 * @param {Region[]} regions
 * @param {string[]} rates
 * @param {Costs} costs
 * @returns {Frontier}
 */
function linearFrontier(regions, rates, costs) {
  const size = 2 * regions.length + rates.length;
  const objective = new Float64Array(size);
  let base = 0;
  regions.forEach((region, at) => {
    const { cost, gain } = costWeights(region, costs);
    [objective[2 * at], objective[2 * at + 1]] = [cost, -gain];
    base += region.positive * costs.fn + region.negative * costs.tn;
  });
  // The solver's tolerances are absolute.
  const largest = objective.reduce((most, each) => Math.max(most, Math.abs(each)), 0) || 1;
  /** @type {import("./simplex.js").Row[]} */
  const rows = [];
  regions.forEach((region, at) => {
    /** @param {[number, number]} pair @param {number} [extra] @param {number} [weight] */
    const row = ([x, y], extra, weight = 0) => {
      const result = new Float64Array(size);
      [result[2 * at], result[2 * at + 1]] = [x, y];
      if (extra !== undefined) result[2 * regions.length + extra] = weight;
      return result;
    };
    rates.forEach((rate, place) => {
      const [x, y] = rateWeights(rate, region);
      rows.push({ weights: row([x, y], place, -1), limit: 0, slope: 1 });
      rows.push({ weights: row([-x, -y], place, 1), limit: 0, slope: 0 });
    });
    rows.push({ weights: row([1, -1]), limit: 0, slope: 0 }, { weights: row([1, 0]), limit: 1, slope: 0 });
    for (const { weights, limit } of hullEdges(region)) rows.push({ weights: row(weights), limit, slope: 0 });
  });
  const points = minimizeAlong(
    objective.map((each) => each / largest),
    rows,
    1,
  );
  return frontierOf(points.map(({ at, value }) => ({ within: at, cost: base + largest * value })));
}

/**
 * Coefficients of both rates in a rate of a group.
 * @param {string} rate
 * @param {Region} region
 * @returns {[number, number]}
 */
function rateWeights(rate, { positive, negative }) {
  if (rate === "flag_rate") return [negative / (positive + negative), positive / (positive + negative)];
  return rate === "fpr" ? [1, 0] : [0, 1];
}

/**
 * Constraints that keep a point below each edge of a hull.
 * @param {Region} region
 * @returns {{weights: [number, number], limit: number}[]}
 */
function hullEdges({ fpr, tpr }) {
  return Array.from(fpr.slice(1), (_, at) => {
    const [run, rise] = [fpr[at + 1] - fpr[at], tpr[at + 1] - tpr[at]];
    // Of unit length, so that rounding is a distance in ROC space.
    const length = Math.hypot(run, rise);
    return { weights: [-rise / length, run / length], limit: Math.max(0, (run * tpr[at] - rise * fpr[at]) / length) };
  });
}

/**
 * A curve through points of descending tolerance: without those at the end that cost no more, and without repetitions.
 * @param {{within: number, cost: number}[]} points
 * @returns {Frontier}
 */
function frontierOf(points) {
  const free = points[0].cost + TOLERANCE * Math.max(1, Math.abs(points[0].cost));
  // Costs ascend, so those that are free come first.
  const first = points.filter(({ cost }) => cost <= free).length - 1;
  const kept = points.slice(first).reverse();
  const distinct = kept.filter(({ within }, at) => at === 0 || within - kept[at - 1].within > TOLERANCE);
  return { within: distinct.map(({ within }) => within), cost: distinct.map(({ cost }) => cost) };
}

/**
 * The greatest difference of a constrained rate between two groups that take part; 0 for one group.
 * @param {Constraint} constraint
 * @param {(Counts | null)[]} counts
 * @returns {number}
 */
export function greatestGap({ rates }, counts) {
  return Math.max(0, ...rates.map((rate) => gapOf(rate, counts)));
}

/**
 * The difference between the highest and the lowest value of a measure; NaN where fewer than two groups have one.
 * @param {string} measure
 * @param {(Counts | null)[]} counts
 * @returns {number}
 */
export function gapOf(measure, counts) {
  const values = counts
    .flatMap((each) => (each ? [MEASURES[measure](each)] : []))
    .filter((each) => !Number.isNaN(each));
  return values.length > 1 ? Math.max(...values) - Math.min(...values) : NaN;
}

/**
 * The least cost of one threshold for all groups at each tolerance: a step function, which begins where a threshold
 * first satisfies the parity.
 * @param {Constraint} constraint
 * @param {Problem} problem
 * @returns {Frontier}
 */
export function singleFrontier(constraint, { threshold, groups, factors, costs }) {
  const parts = groups.filter((part) => isEligible(part, constraint));
  const points = Array.from(threshold, (_, index) => {
    const tables = parts.map((part) => tableAt(part, index, factors));
    const mass = tables.map(({ tp, fp, fn, tn }) => tp + fp + fn + tn);
    const total = mass.reduce((sum, each) => sum + each, 0);
    const cost = tables.reduce((sum, table, at) => sum + (expectedCost(table, costs) * mass[at]) / total, 0);
    return { within: greatestGap(constraint, tables), cost };
  }).sort((one, other) => one.within - other.within || one.cost - other.cost);
  /** @type {Frontier} */
  const result = { within: [], cost: [] };
  for (const { within, cost } of points) {
    if (result.cost.length && cost >= result.cost[result.cost.length - 1]) continue;
    result.within.push(within);
    result.cost.push(cost);
  }
  return result;
}
