/** Strategies for several groups: where each of them should be, so that a parity holds and the least is paid. */

import { MEASURES, expectedCost, mixedCounts, sumCounts, tableAt } from "./core.js";
import { strictest } from "./rules.js";
import { firstFrom, flagRates, gainsOf, mixtureAt, regionCost, regionOf } from "./region.js";

/** @typedef {import("./core.js").Counts} Counts */
/** @typedef {import("./core.js").Costs} Costs */
/** @typedef {import("./core.js").Factors} Factors */
/** @typedef {import("./core.js").Part} Part */
/** @typedef {import("./region.js").Region} Region */
/** @typedef {import("./region.js").Point} Point */
/** @typedef {import("./region.js").Mixture} Mixture */
/** @typedef {{thresholds: number[]} | {lottery: {chance: number, threshold: number}[]}} Treatment */
/**
 * Who is to be treated, and what it costs; `index` is the place of the threshold that everybody has if all have one.
 * @typedef {{threshold: ArrayLike<number>, groups: Part[], factors: Factors, costs: Costs, index: number}} Asked
 */
/**
 * What is done in each group, null in one that takes no part; what a case of all who do costs, and how many of these
 * are decided by lot.
 * @typedef {{points: (Point|null)[], treatments: (Treatment|null)[], counts: (Counts|null)[], cost: number,
 *   lots: number}} Strategy
 */

/** What can be done for several groups. */
export const STRATEGIES = ["single", "own", "demographic-parity", "equal-opportunity", "equalized-odds"];

/**
 * Classes that a group must have rows of, so that it has the rates that shall be equal.
 * @type {Record<string, ("positives"|"negatives")[]>}
 */
const CLASSES_NEEDED = { "equal-opportunity": ["positives"], "equalized-odds": ["positives", "negatives"] };

/**
 * What a strategy does with each group.
 * @param {string} name
 * @param {Asked} asked
 * @returns {Strategy}
 */
export function strategy(name, asked) {
  if (name === "single") {
    return singleCut(asked);
  }
  const there = asked.groups.map((part) => takesPart(name, part));
  const parts = asked.groups.filter((_, at) => there[at]);
  const regions = regionsOf(parts, asked.factors);
  const points = solvedPoints(name, regions, asked.costs);
  const mixtures = regions.map((region, at) => mixtureAt(region, points[at]));
  const counts = parts.map((part, at) => countsOf(part, mixtures[at], asked.factors));
  const cost = regions.reduce((sum, region, at) => sum + regionCost(region, asked.costs, points[at]), 0);
  return {
    points: spreadOver(there, points),
    treatments: spreadOver(
      there,
      mixtures.map((mixture) => treatmentOf(mixture, asked.threshold)),
    ),
    counts: spreadOver(there, counts),
    cost: regions.length ? cost : NaN,
    lots: lotsOf(parts, mixtures, asked.factors),
  };
}

/**
 * One threshold for everybody.
 * @param {Asked} asked
 * @returns {Strategy}
 */
function singleCut({ threshold, groups, factors, costs, index }) {
  const counts = groups.map((part) => tableAt(part, index, factors));
  return {
    points: counts.map((table) => ({ fpr: MEASURES.fpr(table), tpr: MEASURES.sensitivity(table) })),
    treatments: groups.map(() => ({ thresholds: [threshold[index]] })),
    counts,
    cost: expectedCost(sumCounts(counts), costs),
    lots: 0,
  };
}

/**
 * Whether a group has rows of every class that is asked for.
 * @param {string} name
 * @param {Part} part
 * @returns {boolean}
 */
function takesPart(name, part) {
  return part.positives + part.negatives > 0 && (CLASSES_NEEDED[name] ?? []).every((each) => part[each] > 0);
}

/**
 * Values of those who take part, in the order of all groups.
 * @template T
 * @param {boolean[]} there
 * @param {T[]} values
 * @returns {(T|null)[]}
 */
function spreadOver(there, values) {
  let next = 0;
  return there.map((takes) => (takes ? values[next++] : null));
}

/**
 * @param {Part[]} parts
 * @param {Factors} factors
 * @returns {Region[]}
 */
function regionsOf(parts, { positive, negative }) {
  const masses = parts.map((part) => [part.positives * positive, part.negatives * negative]);
  const total = masses.reduce((sum, [hits, misses]) => sum + hits + misses, 0);
  return parts.map((part, at) => regionOf(part, masses[at][0] / total, masses[at][1] / total));
}

/**
 * The table that can be expected of a mixture of thresholds.
 * @param {Part} part
 * @param {Mixture} mixture
 * @param {Factors} factors
 * @returns {Counts}
 */
function countsOf(part, { places, chances }, factors) {
  return mixedCounts(
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
 * Share of those who take part whose scores lie between the strictest and the laxest cut that may be theirs.
 * @param {Part[]} parts
 * @param {Mixture[]} mixtures
 * @param {Factors} factors
 * @returns {number}
 */
function lotsOf(parts, mixtures, { positive, negative }) {
  let [drawn, total] = [0, 0];
  parts.forEach((part, at) => {
    const [strict, lax] = [mixtures[at].places[0], mixtures[at].places[mixtures[at].places.length - 1]];
    drawn += (part.tp[lax] - part.tp[strict]) * positive + (part.fp[lax] - part.fp[strict]) * negative;
    total += part.positives * positive + part.negatives * negative;
  });
  return drawn / total;
}

/**
 * Points of least cost, one for each group, whose rates are equal where the strategy asks for it.
 * @param {string} name
 * @param {Region[]} regions
 * @param {Costs} costs
 * @returns {Point[]}
 */
function solvedPoints(name, regions, costs) {
  if (name === "own" || regions.length === 1) {
    return regions.map((region) => vertexPoint(region, cheapestOf(vertexCosts(region, costs))));
  }
  if (name !== "equalized-odds") {
    return equalRate(regions, name === "demographic-parity" ? flagRates : (region) => region.tpr, costs);
  }
  const point = regions.length ? envelopePoint(regions, costs) : { fpr: NaN, tpr: NaN };
  return regions.map(() => point);
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
 * What each vertex costs beyond flagging nobody.
 * @param {Region} region
 * @param {Costs} costs
 * @returns {Float64Array}
 */
function vertexCosts(region, costs) {
  const { dear, saved } = gainsOf(region, costs);
  return region.fpr.map((each, at) => dear * each - saved * region.tpr[at]);
}

/**
 * Place of the least cost, the strictest of equals.
 * @param {Float64Array} cost
 * @returns {number}
 */
function cheapestOf(cost) {
  return Math.max(strictest(cost.map((each) => -each)), 0);
}

/**
 * Ascending, each once.
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
 * Heights of a line through given points, at ascending places; beyond its ends, those of the ends. Where it rises
 * upright, the last of them counts.
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
 * Points at which a rate is the same in all groups: what each pays is convex in its rate and straight between those of
 * its vertices, so that the best rate is one of these.
 * @param {Region[]} regions
 * @param {(region: Region) => Float64Array} rateOfVertices
 * @param {Costs} costs
 * @returns {Point[]}
 */
function equalRate(regions, rateOfVertices, costs) {
  const rates = regions.map(rateOfVertices);
  const places = distinctOf(rates.map((each) => each.map((rate) => Math.min(Math.max(rate, 0), 1))));
  const paid = new Float64Array(places.length);
  regions.forEach((region, at) => {
    const { xs, ys } = leastAtRate(rates[at], vertexCosts(region, costs));
    heightsAt(places, xs, ys).forEach((cost, place) => {
      paid[place] += cost;
    });
  });
  const wanted = places[cheapestOf(paid)];
  return regions.map((region, at) => pointAtRate(region, rates[at], wanted, costs));
}

/**
 * Each rate once, with the least that it costs.
 * @param {Float64Array} rates ascending
 * @param {Float64Array} cost
 * @returns {{xs: number[], ys: number[]}}
 */
function leastAtRate(rates, cost) {
  /** @type {{xs: number[], ys: number[]}} */
  const found = { xs: [], ys: [] };
  rates.forEach((rate, at) => {
    const last = found.xs.length - 1;
    if (found.xs[last] === rate) {
      found.ys[last] = Math.min(found.ys[last], cost[at]);
    } else {
      found.xs.push(rate);
      found.ys.push(cost[at]);
    }
  });
  return found;
}

/**
 * The cheapest point of the hull at a rate.
 * @param {Region} region
 * @param {Float64Array} rates
 * @param {number} wanted
 * @param {Costs} costs
 * @returns {Point}
 */
function pointAtRate(region, rates, wanted, costs) {
  const right = firstFrom(rates, wanted);
  if (rates[right] === wanted) {
    const cost = vertexCosts(region, costs).filter((_, at) => rates[at] === wanted);
    return vertexPoint(region, right + cheapestOf(cost));
  }
  const part = (wanted - rates[right - 1]) / (rates[right] - rates[right - 1]);
  /** @param {Float64Array} each */
  const between = (each) => (1 - part) * each[right - 1] + part * each[right];
  return { fpr: between(region.fpr), tpr: between(region.tpr) };
}

/**
 * The cheapest point that every group can have: on the lower envelope of the hulls, which is concave, so that it is a
 * vertex of a hull that lies lowest there, or a crossing of two hulls beside the best of all vertices.
 * @param {Region[]} regions
 * @param {Costs} costs
 * @returns {Point}
 */
function envelopePoint(regions, costs) {
  const gains = regions.map((region) => gainsOf(region, costs));
  const dear = gains.reduce((sum, each) => sum + each.dear, 0);
  const saved = gains.reduce((sum, each) => sum + each.saved, 0);
  const places = distinctOf(regions.map((region) => region.fpr));
  const every = regions.map(({ fpr, tpr }) => heightsAt(places, fpr, tpr));
  const height = places.map((_, at) => every.reduce((least, each) => Math.min(least, each[at]), Infinity));
  const best = cheapestOf(places.map((fpr, at) => dear * fpr - saved * height[at]));
  const found = [{ fpr: places[best], tpr: height[best] }];
  for (const left of [best - 1, best].filter((each) => each >= 0 && each + 1 < places.length)) {
    const ends = every.map((each) => each.slice(left, left + 2));
    found.push(...hullCrossings(ends, places[left], places[left + 1]));
  }
  found.sort((one, other) => one.fpr - other.fpr || one.tpr - other.tpr);
  const points = [{ fpr: 0, tpr: 0 }, ...found];
  return points[cheapestOf(Float64Array.from(points, ({ fpr, tpr }) => dear * fpr - saved * tpr))];
}

/**
 * Where hulls cross between two rates at which no hull has a vertex in between, on the lowest of them.
 * @param {Float64Array[]} heights of each hull, at both
 * @param {number} left
 * @param {number} right
 * @returns {Point[]}
 */
function hullCrossings(heights, left, right) {
  /** @type {Point[]} */
  const found = [];
  heights.forEach((one, at) => {
    for (const other of heights.slice(at + 1)) {
      const [before, after] = [one[0] - other[0], one[1] - other[1]];
      if (before * after < 0) {
        const part = before / (before - after);
        const lowest = Math.min(...heights.map((each) => (1 - part) * each[0] + part * each[1]));
        found.push({ fpr: (1 - part) * left + part * right, tpr: lowest });
      }
    }
  });
  return found;
}
