/** Policies for several groups: the ROC point of each group that minimizes the cost under a parity constraint. */

import { mixCounts, tableAt } from "./core.js";
import { strictestMaximum } from "./rules.js";
import { costWeights, flagRates, lowerBound, mixtureAt, regionCost, regionOf } from "./region.js";

/** @typedef {import("./core.js").Counts} Counts */
/** @typedef {import("./core.js").Costs} Costs */
/** @typedef {import("./core.js").Factors} Factors */
/** @typedef {import("./core.js").Part} Part */
/** @typedef {import("./region.js").Region} Region */
/** @typedef {import("./region.js").Point} Point */
/** @typedef {import("./region.js").Mixture} Mixture */
/** The name `lottery` is that of policy files. */
/** @typedef {{thresholds: number[]} | {lottery: {chance: number, threshold: number}[]}} Treatment */
/**
 * Rates that must be equal in all groups, by their names in Python. Without rates each group minimizes its own cost.
 * @typedef {{rates: string[]}} Constraint
 */
/** @typedef {{threshold: ArrayLike<number>, groups: Part[], factors: Factors, costs: Costs}} Problem */
/**
 * Policy of each group, null for a group without the required classes; the expected cost per person, and the share of
 * people who are decided at random, both over the other groups.
 * @typedef {{points: (Point|null)[], treatments: (Treatment|null)[], counts: (Counts|null)[], cost: number,
 *   randomized: number}} Strategy
 */

/**
 * Rates that are linear in ROC space: their values at the vertices of a region, and the class that a group needs.
 * @type {Record<string, {of: (region: Region) => Float64Array, needs?: "positives" | "negatives"}>}
 */
export const RATES = {
  flag_rate: { of: flagRates },
  sensitivity: { of: (region) => region.tpr, needs: "positives" },
  fpr: { of: (region) => region.fpr, needs: "negatives" },
};

/**
 * The policy of lowest cost under a parity constraint.
 * @param {Constraint} constraint
 * @param {Problem} problem
 * @returns {Strategy}
 */
export function solveStrategy(constraint, { threshold, groups, factors, costs }) {
  const eligible = groups.map((part) => isEligible(part, constraint));
  const parts = groups.filter((_, at) => eligible[at]);
  const regions = regionsOf(parts, factors);
  const points = solvePoints(constraint.rates, regions, costs);
  const mixtures = regions.map((region, at) => mixtureAt(region, points[at]));
  const counts = parts.map((part, at) => countsOf(part, mixtures[at], factors));
  const cost = regions.reduce((sum, region, at) => sum + regionCost(region, costs, points[at]), 0);
  return {
    points: alignToGroups(eligible, points),
    treatments: alignToGroups(
      eligible,
      mixtures.map((mixture) => treatmentOf(mixture, threshold)),
    ),
    counts: alignToGroups(eligible, counts),
    cost: regions.length ? cost : NaN,
    randomized: randomizedShare(parts, mixtures, factors),
  };
}

/**
 * Whether a group has rows of every class that a constraint needs.
 * @param {Part} part
 * @param {Constraint} constraint
 * @returns {boolean}
 */
export function isEligible(part, { rates }) {
  const needs = rates.flatMap((rate) => RATES[rate].needs ?? []);
  return part.positives + part.negatives > 0 && needs.every((each) => part[each] > 0);
}

/**
 * Values of eligible groups in the order of all groups, null for the others.
 * @template T
 * @param {boolean[]} eligible
 * @param {T[]} values
 * @returns {(T|null)[]}
 */
function alignToGroups(eligible, values) {
  let next = 0;
  return eligible.map((isIn) => (isIn ? values[next++] : null));
}

/**
 * Reachable points of groups, at the prevalence of the factors.
 * @param {Part[]} parts
 * @param {Factors} factors
 * @returns {Region[]}
 */
export function regionsOf(parts, { positive, negative }) {
  const masses = parts.map((part) => [part.positives * positive, part.negatives * negative]);
  const total = masses.reduce((sum, [hits, misses]) => sum + hits + misses, 0);
  return parts.map((part, at) => regionOf(part, masses[at][0] / total, masses[at][1] / total));
}

/**
 * The expected table of a mixture of thresholds.
 * @param {Part} part
 * @param {Mixture} mixture
 * @param {Factors} factors
 * @returns {Counts}
 */
function countsOf(part, { places, chances }, factors) {
  return mixCounts(
    places.map((at) => tableAt(part, at, factors)),
    chances,
  );
}

/**
 * @param {Mixture} mixture
 * @param {ArrayLike<number>} threshold
 * @returns {Treatment}
 */
function treatmentOf({ places, chances }, threshold) {
  return places.length === 1
    ? { thresholds: [threshold[places[0]]] }
    : { lottery: places.map((at, which) => ({ chance: chances[which], threshold: threshold[at] })) };
}

/**
 * Share of people whose scores lie between the strictest and the laxest threshold of their group.
 * @param {Part[]} parts
 * @param {Mixture[]} mixtures
 * @param {Factors} factors
 * @returns {number}
 */
function randomizedShare(parts, mixtures, { positive, negative }) {
  let [randomized, total] = [0, 0];
  parts.forEach((part, at) => {
    const [strict, lax] = [mixtures[at].places[0], mixtures[at].places[mixtures[at].places.length - 1]];
    randomized += (part.tp[lax] - part.tp[strict]) * positive + (part.fp[lax] - part.fp[strict]) * negative;
    total += part.positives * positive + part.negatives * negative;
  });
  return randomized / total;
}

/**
 * Points of lowest cost, one for each group, with these rates equal in all groups. Python offers parities of one rate
 * or of two on the page.
 * @param {string[]} rates
 * @param {Region[]} regions
 * @param {Costs} costs
 * @returns {Point[]}
 */
function solvePoints(rates, regions, costs) {
  if (!rates.length || regions.length < 2) {
    return regions.map((region) => vertexPoint(region, cheapestOf(vertexCosts(region, costs))));
  }
  if (rates.length === 1) {
    return equalRate(regions, RATES[rates[0]].of, costs);
  }
  if (!rates.includes("flag_rate")) {
    return equalOdds(regions, costs);
  }
  return rates.includes("fpr") ? equalFlagsAndFpr(regions, costs) : equalFlagsAndTpr(regions, costs);
}

/**
 * Both rates equal: one point for all groups, on the lower envelope of the hulls.
 * @param {Region[]} regions
 * @param {Costs} costs
 * @returns {Point[]}
 */
function equalOdds(regions, costs) {
  const weights = regions.map((region) => costWeights(region, costs));
  const line = { cost: sum(weights.map((each) => each.cost)), gain: sum(weights.map((each) => each.gain)) };
  const { x, y } = envelopePoint(
    regions.map(({ fpr, tpr }) => ({ xs: fpr, ys: tpr })),
    line,
  );
  return regions.map(() => ({ fpr: x, tpr: y }));
}

/**
 * Flag rate and false positive rate equal. Each group reaches all flag rates from the false positive rate (on the
 * diagonal) up to that of its hull, and costs fall with the flag rate. So the optimum is on the lower envelope of the
 * hulls in the plane of both rates, as for equal odds.
 * @param {Region[]} regions
 * @param {Costs} costs
 * @returns {Point[]}
 */
function equalFlagsAndFpr(regions, costs) {
  // tpr = (flagged − negative·fpr)/positive, with masses of the group, makes the cost linear in both rates. A group
  // without positives has tpr = fpr, and no gain.
  const masses = regions.map((region) => ({ ...region, both: region.positive + region.negative }));
  const price = costs.fn - costs.tp;
  const line = {
    cost: sum(masses.map((each) => costWeights(each, costs).cost + (each.positive ? each.negative * price : 0))),
    gain: sum(masses.map((each) => (each.positive ? each.both * price : 0))),
  };
  const { x, y } = envelopePoint(
    regions.map((region) => ({ xs: region.fpr, ys: flagRates(region) })),
    line,
  );
  return masses.map(({ positive, negative, both }) => ({
    fpr: x,
    tpr: positive ? (both * y - negative * x) / positive : x,
  }));
}

/**
 * Flag rate and sensitivity equal: the problem above with the classes swapped.
 * @param {Region[]} regions
 * @param {Costs} costs
 * @returns {Point[]}
 */
function equalFlagsAndTpr(regions, costs) {
  const swapped = regions.map(({ ends, fpr, tpr, positive, negative }) => ({
    ends,
    fpr: tpr.map((each) => 1 - each).reverse(),
    tpr: fpr.map((each) => 1 - each).reverse(),
    positive: negative,
    negative: positive,
  }));
  const points = equalFlagsAndFpr(swapped, { tp: costs.tn, fp: costs.fn, fn: costs.fp, tn: costs.tp });
  return points.map(({ fpr, tpr }) => ({ fpr: 1 - tpr, tpr: 1 - fpr }));
}

/**
 * @param {number[]} values
 * @returns {number}
 */
function sum(values) {
  return values.reduce((total, each) => total + each, 0);
}

/**
 * @param {Region} region
 * @param {number} at
 * @returns {Point}
 */
function vertexPoint({ fpr, tpr }, at) {
  return { fpr: fpr[at], tpr: tpr[at] };
}

/**
 * Cost of each vertex relative to flagging nobody.
 * @param {Region} region
 * @param {Costs} costs
 * @returns {Float64Array}
 */
export function vertexCosts(region, costs) {
  const { cost, gain } = costWeights(region, costs);
  return region.fpr.map((each, at) => cost * each - gain * region.tpr[at]);
}

/**
 * Index of the lowest cost, the strictest of equals.
 * @param {Float64Array} cost
 * @returns {number}
 */
export function cheapestOf(cost) {
  return Math.max(strictestMaximum(cost.map((each) => -each)), 0);
}

/**
 * Distinct values in ascending order.
 * @param {Float64Array[]} several
 * @returns {Float64Array}
 */
function distinctOf(several) {
  const all = new Float64Array(several.reduce((sum, each) => sum + each.length, 0));
  let filled = 0;
  for (const each of several) {
    all.set(each, filled);
    filled += each.length;
  }
  return all.sort().filter((each, at, sorted) => at === 0 || each !== sorted[at - 1]);
}

/**
 * Heights of a polyline at ascending places; beyond its ends, those of the ends. At a vertical step the last height
 * counts.
 * @param {Float64Array} places
 * @param {ArrayLike<number>} xs ascending, perhaps some of them equal
 * @param {ArrayLike<number>} ys
 * @returns {Float64Array}
 */
function heightsAt(places, xs, ys) {
  let left = 0;
  const last = xs.length - 1;
  return places.map((x) => {
    while (left < last && xs[left + 1] <= x) {
      left += 1;
    }
    if (left === last || x <= xs[left]) {
      return ys[left];
    }
    return ((ys[left + 1] - ys[left]) / (xs[left + 1] - xs[left])) * (x - xs[left]) + ys[left];
  });
}

/**
 * One rate equal. The cost of each group is convex in its rate and linear between the rates of its vertices, so the best
 * rate is that of a vertex.
 * @param {Region[]} regions
 * @param {(region: Region) => Float64Array} vertexRates
 * @param {Costs} costs
 * @returns {Point[]}
 */
function equalRate(regions, vertexRates, costs) {
  const rates = regions.map(vertexRates);
  const places = distinctOf(rates.map((each) => each.map((rate) => Math.min(Math.max(rate, 0), 1))));
  const totals = new Float64Array(places.length);
  regions.forEach((region, at) => {
    const { xs, ys } = lowestCosts(rates[at], vertexCosts(region, costs));
    heightsAt(places, xs, ys).forEach((cost, place) => {
      totals[place] += cost;
    });
  });
  const target = places[cheapestOf(totals)];
  return regions.map((region, at) => pointAtRate(region, rates[at], target, costs));
}

/**
 * Distinct rates, each with its lowest cost.
 * @param {Float64Array} rates ascending
 * @param {Float64Array} cost
 * @returns {{xs: number[], ys: number[]}}
 */
export function lowestCosts(rates, cost) {
  /** @type {{xs: number[], ys: number[]}} */
  const line = { xs: [], ys: [] };
  rates.forEach((rate, at) => {
    const last = line.xs.length - 1;
    if (line.xs[last] === rate) {
      line.ys[last] = Math.min(line.ys[last], cost[at]);
    } else {
      line.xs.push(rate);
      line.ys.push(cost[at]);
    }
  });
  return line;
}

/**
 * The point of lowest cost on the hull at a rate.
 * @param {Region} region
 * @param {Float64Array} rates
 * @param {number} target
 * @param {Costs} costs
 * @returns {Point}
 */
function pointAtRate(region, rates, target, costs) {
  const right = lowerBound(rates, target);
  if (rates[right] === target) {
    const cost = vertexCosts(region, costs).filter((_, at) => rates[at] === target);
    return vertexPoint(region, right + cheapestOf(cost));
  }
  const part = (target - rates[right - 1]) / (rates[right] - rates[right - 1]);
  /** @param {Float64Array} each */
  const interpolate = (each) => (1 - part) * each[right - 1] + part * each[right];
  return { fpr: interpolate(region.fpr), tpr: interpolate(region.tpr) };
}

/**
 * The point of lowest cost below several concave polylines: on their lower envelope, which is concave. So it is a vertex
 * of the polyline that is lowest there, or a crossing of two polylines next to the best vertex.
 * @param {{xs: Float64Array, ys: Float64Array}[]} lines
 * @param {{cost: number, gain: number}} weights  cost of x, and gain of y
 * @returns {{x: number, y: number}}
 */
function envelopePoint(lines, { cost, gain }) {
  const places = distinctOf(lines.map(({ xs }) => xs));
  const heights = lines.map(({ xs, ys }) => heightsAt(places, xs, ys));
  const lowest = places.map((_, at) => heights.reduce((least, each) => Math.min(least, each[at]), Infinity));
  const best = cheapestOf(places.map((x, at) => cost * x - gain * lowest[at]));
  const candidates = [{ x: places[best], y: lowest[best] }];
  for (const left of [best - 1, best].filter((each) => each >= 0 && each + 1 < places.length)) {
    const ends = heights.map((each) => each.slice(left, left + 2));
    candidates.push(...crossings(ends, places[left], places[left + 1]));
  }
  // Sorted, so that the first of equals is the strictest.
  candidates.sort((one, other) => one.x - other.x || one.y - other.y);
  const points = [{ x: 0, y: 0 }, ...candidates];
  return points[cheapestOf(Float64Array.from(points, ({ x, y }) => cost * x - gain * y))];
}

/**
 * Crossings of lines between two places without a vertex in between, lowered to the lowest line.
 * @param {Float64Array[]} heights of each line, at both places
 * @param {number} left
 * @param {number} right
 * @returns {{x: number, y: number}[]}
 */
function crossings(heights, left, right) {
  /** @type {{x: number, y: number}[]} */
  const points = [];
  heights.forEach((one, at) => {
    for (const other of heights.slice(at + 1)) {
      const [before, after] = [one[0] - other[0], one[1] - other[1]];
      if (before * after < 0) {
        const part = before / (before - after);
        const lowest = Math.min(...heights.map((each) => (1 - part) * each[0] + part * each[1]));
        points.push({ x: (1 - part) * left + part * right, y: lowest });
      }
    }
  });
  return points;
}
