/** The arithmetic of the page: tables, measures, rules and curves, number for number as baserate in Python has them. */

import { runningPart, summedRows } from "./running.js";
import { SHARES, predictiveInterval, shareInterval, sideOf, wilson } from "./shares.js";

/** @typedef {import("./shares.js").Cells} Cells */
/** @typedef {import("./shares.js").Counts} Counts */
/** @typedef {import("./shares.js").Interval} Interval */
/** What each cell of the table costs. @typedef {Cells} Costs */
/** @typedef {import("./running.js").Running} Running */
/** @typedef {import("./running.js").Part} Part */
/**
 * What masses of both classes are multiplied with.
 * @typedef {{positive: number, negative: number, known: boolean}} Factors
 */
/** @typedef {{threshold: Float64Array, everybody: Part, groups: Part[]}} Expanded */
/** @typedef {ArrayLike<number>} Numbers */
/**
 * @typedef {{threshold: (number|string)[], positive_mass: number[][], negative_mass: number[][],
 *   positive_squares?: number[][]|null, negative_squares?: number[][]|null}} CurveEntry
 */
/**
 * @typedef {{edges: number[], positive: number[][], negative: number[][], positive_sum: number[][],
 *   negative_sum: number[][], positive_squares?: number[][], negative_squares?: number[][]}} ReliabilityEntry
 */

/**
 * @typedef {{lower: number, upper: number, predicted: number, share: number, low: number, high: number, mass: number}
 *   } ReliabilityBin
 */

/** Part of the largest value by which two may differ and still be equal: sums differ by rounding alone. */
const NEARLY_EQUAL = 1e-12;

/** Rows as they are. @type {Factors} */
export const AS_THEY_ARE = { positive: 1, negative: 1, known: false };

/**
 * A number of the payload, in which infinite ones are spelled and null is none.
 * @param {number|string|null} told
 * @returns {number}
 */
export function readNumber(told) {
  return told === "inf" ? Infinity : told === "-inf" ? -Infinity : told === null ? NaN : Number(told);
}

/**
 * Everybody and each group at every kept threshold.
 * @param {CurveEntry} model
 * @returns {Expanded}
 */
export function expand(model) {
  /** @param {number[][]|null|undefined} rows */
  const spread = (rows) => (rows ?? []).map((row) => unfolded(row, model.threshold.length));
  const masses = [spread(model.positive_mass), spread(model.negative_mass)];
  const both = [spread(model.positive_squares), spread(model.negative_squares)];
  const squares = both[0].length ? both : undefined;
  /** @param {(rows: Float64Array[]) => ArrayLike<number>} of */
  const part = (of) => runningPart(masses.map(of), squares?.map(of));
  const groups = masses[0].map((_, at) => part((rows) => rows[at]));
  const everybody = groups.length === 1 ? groups[0] : part(summedRows);
  return { threshold: Float64Array.from([Infinity, ...model.threshold.map(readNumber)]), everybody, groups };
}

/**
 * Masses of which a negative one tells how many zeros stand in its place.
 * @param {number[]} row
 * @param {number} many
 * @returns {Float64Array}
 */
export function unfolded(row, many) {
  const found = new Float64Array(many);
  let at = 0;
  for (const mass of row) {
    if (mass < 0) {
      at -= mass;
    } else {
      found[at] = mass;
      at += 1;
    }
  }
  return found;
}

/**
 * Place of the laxest kept threshold that is not below t; 0 if there is none.
 * @param {Numbers} threshold decreasing
 * @param {number} t
 * @returns {number}
 */
export function place(threshold, t) {
  let [low, high] = [0, threshold.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    [low, high] = threshold[middle] >= t ? [middle, high] : [low, middle - 1];
  }
  return low;
}

/**
 * What masses are multiplied with, so that so many are positive and there are as many as there were. Where a class is
 * not there, nothing can make it so frequent: rows stay as they are.
 * @param {Part} everybody
 * @param {number|null} prevalence
 * @returns {Factors}
 */
export function factorsFor({ positives, negatives }, prevalence) {
  if (prevalence === null || !(positives > 0) || !(negatives > 0)) {
    return AS_THEY_ARE;
  }
  const total = positives + negatives;
  return { positive: (prevalence * total) / positives, negative: ((1 - prevalence) * total) / negatives, known: true };
}

/**
 * @param {Running} cells
 * @param {number} index
 * @param {number} positive
 * @param {number} negative
 * @returns {Cells}
 */
function cellsAt(cells, index, positive, negative) {
  return {
    tp: cells.tp[index] * positive,
    fp: cells.fp[index] * negative,
    fn: cells.fn[index] * positive,
    tn: cells.tn[index] * negative,
  };
}

/**
 * The 2×2 table at a threshold.
 * @param {Part} part
 * @param {number} index
 * @param {Factors} factors
 * @returns {Counts}
 */
export function tableAt(part, index, { positive, negative, known }) {
  const squared = part.squares ?? (known ? part : null);
  const squares = squared && cellsAt(squared, index, positive * positive, negative * negative);
  return { ...cellsAt(part, index, positive, negative), squares, known };
}

/**
 * Tables added up, each so many times.
 * @param {Counts[]} tables
 * @param {number[]} times
 * @returns {Counts}
 */
export function mixedCounts(tables, times) {
  /** @param {(table: Counts) => Cells} of */
  const added = (of) => {
    const found = { tp: 0, fp: 0, fn: 0, tn: 0 };
    tables.forEach((table, at) => {
      const cells = of(table);
      found.tp += times[at] * cells.tp;
      found.fp += times[at] * cells.fp;
      found.fn += times[at] * cells.fn;
      found.tn += times[at] * cells.tn;
    });
    return found;
  };
  const squares = tables.some((table) => table.squares) ? added((table) => table.squares ?? table) : null;
  return { ...added((table) => table), squares, known: tables.some((table) => table.known) };
}

/**
 * Tables added up.
 * @param {Counts[]} tables
 * @returns {Counts}
 */
export function sumCounts(tables) {
  return mixedCounts(tables, tables.map(() => 1));
}

/** @param {Cells} c */
const positivesOf = (c) => c.tp + c.fn;
/** @param {Cells} c */
const negativesOf = (c) => c.fp + c.tn;
/** @param {Cells} c */
const everybodyOf = (c) => positivesOf(c) + negativesOf(c);

/**
 * Measures of a 2×2 table by their names in baserate.measure, with the options that they have if nobody says otherwise.
 * 0/0 is NaN, and what is above 0 over 0 is infinite.
 * @type {Record<string, (c: Cells) => number>}
 */
export const MEASURES = {
  accuracy: (c) => (c.tp + c.tn) / everybodyOf(c),
  error_rate: (c) => (c.fp + c.fn) / everybodyOf(c),
  sensitivity: (c) => c.tp / positivesOf(c),
  specificity: (c) => c.tn / negativesOf(c),
  precision: (c) => c.tp / (c.tp + c.fp),
  npv: (c) => c.tn / (c.fn + c.tn),
  fpr: (c) => c.fp / negativesOf(c),
  fnr: (c) => c.fn / positivesOf(c),
  fdr: (c) => c.fp / (c.tp + c.fp),
  false_omission_rate: (c) => c.fn / (c.fn + c.tn),
  prevalence: (c) => positivesOf(c) / everybodyOf(c),
  flag_rate: (c) => (c.tp + c.fp) / everybodyOf(c),
  pass_rate: (c) => (c.fn + c.tn) / everybodyOf(c),
  lift: (c) => c.tp / (c.tp + c.fp) / (positivesOf(c) / everybodyOf(c)),
  positive_likelihood_ratio: (c) => c.tp / positivesOf(c) / (c.fp / negativesOf(c)),
  negative_likelihood_ratio: (c) => c.fn / positivesOf(c) / (c.tn / negativesOf(c)),
  diagnostic_odds_ratio: (c) => (c.tp * c.tn) / (c.fp * c.fn),
  prevalence_threshold: (c) => {
    const [hits, alarms] = [Math.sqrt(c.tp / positivesOf(c)), Math.sqrt(c.fp / negativesOf(c))];
    return alarms / (hits + alarms);
  },
  expected_cost: (c) => (c.fp + c.fn) / everybodyOf(c),
  net_benefit: (c) => (c.tp - c.fp) / everybodyOf(c),
  standardized_net_benefit: (c) => c.tp / positivesOf(c) - c.fp / positivesOf(c),
  net_reduction: (c) => (c.tn - c.fn) / everybodyOf(c),
  f1: (c) => (2 * c.tp) / (2 * c.tp + c.fn + c.fp),
  f_beta: (c) => (2 * c.tp) / (2 * c.tp + c.fn + c.fp),
  e_measure: (c) => 1 - (2 * c.tp) / (2 * c.tp + c.fn + c.fp),
  borko: (c) => c.tp / (c.tp + c.fp) + c.tp / positivesOf(c) - 1,
  mcc: (c) => {
    const margins = Math.sqrt((c.tp + c.fp) * positivesOf(c)) * Math.sqrt((c.fn + c.tn) * negativesOf(c));
    return (c.tp * c.tn - c.fp * c.fn) / margins;
  },
  kappa: (c) => {
    const byChance = (c.tp + c.fp) * negativesOf(c) + (c.fn + c.tn) * positivesOf(c);
    return (2 * (c.tp * c.tn - c.fp * c.fn)) / byChance;
  },
  balanced_accuracy: (c) => (c.tp / positivesOf(c) + c.tn / negativesOf(c)) / 2,
  youden: (c) => c.tp / positivesOf(c) + c.tn / negativesOf(c) - 1,
  markedness: (c) => c.tp / (c.tp + c.fp) + c.tn / (c.fn + c.tn) - 1,
  g_mean: (c) => Math.sqrt((c.tp / positivesOf(c)) * (c.tn / negativesOf(c))),
  fowlkes_mallows: (c) => Math.sqrt((c.tp / (c.tp + c.fp)) * (c.tp / positivesOf(c))),
  jaccard: (c) => c.tp / (c.tp + c.fp + c.fn),
};

/**
 * Mean cost of a case.
 * @param {Cells} c
 * @param {Costs} costs
 * @returns {number}
 */
export function expectedCost(c, costs) {
  return (costs.tp * c.tp + costs.fp * c.fp + costs.fn * c.fn + costs.tn * c.tn) / everybodyOf(c);
}

/**
 * Anything that is made of the table at each threshold.
 * @param {Part} part
 * @param {Factors} factors
 * @param {(c: Cells) => number} measure
 * @returns {Float64Array}
 */
export function valuesAlong(part, { positive, negative }, measure) {
  const found = new Float64Array(part.tp.length);
  const cells = { tp: 0, fp: 0, fn: 0, tn: 0 };
  for (let at = 0; at < found.length; at += 1) {
    cells.tp = part.tp[at] * positive;
    cells.fp = part.fp[at] * negative;
    cells.fn = part.fn[at] * positive;
    cells.tn = part.tn[at] * negative;
    found[at] = measure(cells);
  }
  return found;
}

/**
 * A measure at each threshold.
 * @param {Part} part
 * @param {Factors} factors
 * @param {string} name
 * @returns {Float64Array}
 */
export function measureAlong(part, factors, name) {
  return valuesAlong(part, factors, MEASURES[name]);
}

/**
 * Bounds of a measure that is a share, and what made them; null of any other, and where it is undefined.
 * @param {string} name
 * @param {Counts} counts
 * @param {number} level
 * @param {number} z
 * @returns {Interval|null}
 */
export function interval(name, counts, level, z) {
  const value = MEASURES[name](counts);
  const found = SHARES[name] && !Number.isNaN(value) ? shareInterval(SHARES[name], counts, value, { level, z }) : null;
  return found && aroundValue(found, value);
}

/**
 * Bounds of a share that lie from 0 to 1, and on either side of the value.
 * @param {Interval} found
 * @param {number} value
 * @returns {Interval}
 */
function aroundValue({ low, high, how }, value) {
  return { low: Math.min(Math.max(low, 0), value), high: Math.max(Math.min(high, 1), value), how };
}

/**
 * PPV and NPV at other prevalences, with bounds: rates are those of the table.
 * @param {Counts} counts
 * @param {Numbers} prevalences
 * @param {number} level
 * @param {number} z
 * @returns {Record<"precision"|"npv", {value: number, low: number, high: number}[]>}
 */
export function predictiveAt(counts, prevalences, level, z) {
  const [tp, fp, fn, tn] = [sideOf(counts, "tp"), sideOf(counts, "fp"), sideOf(counts, "fn"), sideOf(counts, "tn")];
  const [sensitivity, fpr] = [MEASURES.sensitivity(counts), MEASURES.fpr(counts)];
  const [flagged, passed] = [predictiveInterval(tp, fp, level, z), predictiveInterval(tn, fn, level, z)];
  const shares = Array.from(prevalences);
  return {
    precision: shares.map((share) => {
      const value = (share * sensitivity) / (share * sensitivity + (1 - share) * fpr);
      return valueWithin(value, flagged(share, 1 - share));
    }),
    npv: shares.map((share) => {
      const [right, wrong] = [(1 - share) * MEASURES.specificity(counts), share * MEASURES.fnr(counts)];
      return valueWithin(right / (right + wrong), passed(1 - share, share));
    }),
  };
}

/**
 * @param {number} value
 * @param {Interval} found
 * @returns {{value: number, low: number, high: number}}
 */
function valueWithin(value, found) {
  const { low, high } = Number.isNaN(value) ? { low: NaN, high: NaN } : aroundValue(found, value);
  return { value, low, high };
}

/**
 * Place of the greatest value, the first of those that are equal but for rounding; −1 if all are undefined.
 * @param {Float64Array} values
 * @returns {number}
 */
export function strictest(values) {
  let at = -1;
  let most = -Infinity;
  let least = Infinity;
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index];
    if (value > most) {
      at = index;
      most = value;
    }
    // NaN stays, once there is one.
    if (value < least || Number.isNaN(value)) {
      least = value;
    }
  }
  if (at < 0 || most === Infinity) {
    return at;
  }
  const size = Math.max(Math.abs(most), Number.isFinite(least) ? Math.abs(least) : 0);
  return values.findIndex((value) => value >= most - NEARLY_EQUAL * size);
}

/**
 * Place of the threshold at which flagging is worth the most: so much for a positive, less so much for a negative.
 * @param {Part} part
 * @param {number} positive
 * @param {number} negative
 * @returns {number}
 */
function steepestAt(part, positive, negative) {
  const worth = new Float64Array(part.tp.length);
  for (let at = 0; at < worth.length; at += 1) {
    worth[at] = part.tp[at] * positive - part.fp[at] * negative;
  }
  return strictest(worth);
}

/**
 * Place of the threshold at which something made of both rates and of precision is least; −1 without both classes.
 * @param {Part} part
 * @param {Factors} factors
 * @param {(c: Cells) => number} measure
 * @returns {number}
 */
function leastAt(part, factors, measure) {
  return part.positives > 0 && part.negatives > 0 ? strictest(valuesAlong(part, factors, (c) => -measure(c))) : -1;
}

/**
 * Rules that choose a threshold: its place, the strictest of equals; −1 where a class is not there that the rule needs.
 * @type {Record<"cost"|"youden"|"closest"|"balanced"|"breakEven",
 *   (part: Part, costs: Costs, factors: Factors) => number>}
 */
export const choose = {
  cost: (part, costs, factors) =>
    steepestAt(part, (costs.fn - costs.tp) * factors.positive, (costs.fp - costs.tn) * factors.negative),
  // In whole numbers, so that equals are equal.
  youden: (part) =>
    part.positives > 0 && part.negatives > 0 ? steepestAt(part, part.negatives, part.positives) : -1,
  closest: (part) =>
    leastAt(part, AS_THEY_ARE, (c) => (1 - MEASURES.sensitivity(c)) ** 2 + (1 - MEASURES.specificity(c)) ** 2),
  balanced: (part) => leastAt(part, AS_THEY_ARE, (c) => Math.abs(MEASURES.sensitivity(c) - MEASURES.specificity(c))),
  // Where nothing is found precision and recall are both 0, and that is no meeting.
  breakEven: (part, _costs, factors) =>
    strictest(
      valuesAlong(part, factors, (c) => (c.tp > 0 ? -Math.abs(MEASURES.precision(c) - MEASURES.sensitivity(c)) : NaN)),
    ),
};

/**
 * Place of the laxest threshold that flags no more than a share of everybody; the strictest of those that flag the
 * same.
 * @param {Part} part
 * @param {number} share
 * @param {Factors} factors
 * @returns {number}
 */
export function capacity(part, share, { positive, negative }) {
  const most = share * (part.positives * positive + part.negatives * negative) * (1 + NEARLY_EQUAL);
  let found = 0;
  let flagged = 0;
  for (let at = 1; at < part.tp.length; at += 1) {
    const here = part.tp[at] * positive + part.fp[at] * negative;
    if (here > most) {
      break;
    }
    if (here > flagged) {
      found = at;
      flagged = here;
    }
  }
  return found;
}

/**
 * Places of the vertices of the upper hull of the ROC curve, strictest first: neighbours are pooled until the share of
 * positives falls strictly from each pool to the next.
 * @param {Part} part
 * @returns {Int32Array}
 */
export function hull({ positive, negative }) {
  const many = positive.length;
  const [ends, hits, misses] = [new Int32Array(many + 1), new Float64Array(many + 1), new Float64Array(many + 1)];
  let last = 0; // of the pools; the one at 0 is empty, where nothing is flagged
  for (let at = 0; at < many; at += 1) {
    let more = positive[at];
    let others = negative[at];
    if (more === 0 && others === 0) {
      continue;
    }
    for (; last > 0 && hits[last] * others <= more * misses[last]; last -= 1) {
      more += hits[last];
      others += misses[last];
    }
    last += 1;
    ends[last] = at + 1;
    hits[last] = more;
    misses[last] = others;
  }
  return ends.slice(0, last + 1);
}

/**
 * The ROC curve.
 * @param {Part} part
 * @returns {{fpr: Float64Array, tpr: Float64Array}}
 */
export function rocPoints(part) {
  return { fpr: measureAlong(part, AS_THEY_ARE, "fpr"), tpr: measureAlong(part, AS_THEY_ARE, "sensitivity") };
}

/**
 * The precision–recall curve.
 * @param {Part} part
 * @param {Factors} factors
 * @returns {{recall: Float64Array, precision: Float64Array}}
 */
export function prPoints(part, factors) {
  const precision = measureAlong(part, factors, "precision");
  return { recall: measureAlong(part, AS_THEY_ARE, "sensitivity"), precision };
}

/**
 * What it is worth, per case, to flag from a probability on, to those who would act from that probability on.
 * @param {Part} part
 * @param {Numbers} threshold all kept thresholds
 * @param {number} probability from 0 to below 1
 * @param {Factors} factors
 * @returns {number}
 */
export function netBenefit(part, threshold, probability, { positive, negative }) {
  const at = place(threshold, probability);
  const odds = probability / (1 - probability);
  const total = part.positives * positive + part.negatives * negative;
  return (part.tp[at] * positive - odds * (part.fp[at] * negative)) / total;
}

/**
 * The decision curve: net benefit of the model and of flagging everybody, against the probability.
 * @param {Numbers} threshold
 * @param {Part} part
 * @param {Numbers} probabilities
 * @param {Factors} factors
 * @returns {{model: Float64Array, all: Float64Array}}
 */
export function decisionCurve(threshold, part, probabilities, factors) {
  const positives = part.positives * factors.positive;
  const negatives = part.negatives * factors.negative;
  const total = positives + negatives;
  return {
    model: Float64Array.from(probabilities, (each) => netBenefit(part, threshold, each, factors)),
    all: Float64Array.from(probabilities, (each) => (positives - (each / (1 - each)) * negatives) / total),
  };
}

/**
 * The line of equal cost through a point of ROC space, and its ends within the unit square.
 * @param {Costs} costs
 * @param {number} prevalence
 * @param {{fpr: number, tpr: number}} through
 * @returns {{slope: number, intercept: number, x: [number, number], y: [number, number]}}
 */
export function isoCost(costs, prevalence, { fpr, tpr }) {
  const slope = ((costs.fp - costs.tn) * (1 - prevalence)) / ((costs.fn - costs.tp) * prevalence);
  const intercept = tpr - slope * fpr;
  if (!Number.isFinite(slope)) {
    return { slope, intercept: NaN, x: [fpr, fpr], y: [0, 1] };
  }
  if (slope === 0) {
    return { slope, intercept, x: [0, 1], y: [tpr, tpr] };
  }
  const ends = [-intercept / slope, (1 - intercept) / slope].sort((first, second) => first - second);
  const [left, right] = [Math.max(0, ends[0]), Math.min(1, ends[1])];
  return { slope, intercept, x: [left, right], y: [intercept + slope * left, intercept + slope * right] };
}

/**
 * Bins of probabilities that are not empty: what was predicted, and the share that is positive with Wilson's bounds.
 * @param {ReliabilityEntry} told
 * @param {number[]} groups places of the groups that are taken together
 * @param {Factors} factors
 * @param {number} _level
 * @param {number} z
 * @returns {ReliabilityBin[]}
 */
export function reliabilityBins(told, groups, factors, _level, z) {
  /** @param {number[][]|undefined} rows */
  const of = (rows) => summedRows(groups.map((group) => (rows ?? [])[group]));
  const [positive, negative] = [of(told.positive), of(told.negative)];
  const [positiveSum, negativeSum] = [of(told.positive_sum), of(told.negative_sum)];
  const squares = [
    told.positive_squares ? of(told.positive_squares) : positive,
    told.negative_squares ? of(told.negative_squares) : negative,
  ];
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

/**
 * Isotonic regression of the share of positives on the score, ascending: between two edges it is the same. The last
 * edge is the highest score.
 * @param {Numbers} threshold
 * @param {Part} part
 * @param {Factors} factors
 * @returns {{edges: Float64Array, share: Float64Array}}
 */
export function isotonic(threshold, part, { positive, negative }) {
  const ends = hull(part);
  const many = ends.length - 1;
  const [edges, share] = [new Float64Array(many + 1), new Float64Array(many)];
  for (let at = 0; at < many; at += 1) {
    const [strict, lax] = [ends[many - 1 - at], ends[many - at]];
    const hits = (part.tp[lax] - part.tp[strict]) * positive;
    edges[at] = threshold[lax];
    share[at] = hits / (hits + (part.fp[lax] - part.fp[strict]) * negative);
  }
  edges[many] = threshold[many ? firstThere(part) : 0];
  return { edges, share };
}

/**
 * Place of the highest score at which there is anybody.
 * @param {Part} part
 * @returns {number}
 */
function firstThere({ tp, fp }) {
  let at = 1;
  while (at < tp.length - 1 && tp[at] + fp[at] === 0) {
    at += 1;
  }
  return at;
}

/**
 * Deal so many people in proportion to shares, the last of them to where the most is left over.
 * @param {number[]} shares
 * @param {number} many
 * @returns {number[]}
 */
function dealtPeople(shares, many) {
  const total = shares.reduce((sum, share) => sum + share, 0);
  const due = shares.map((share) => (total ? (many * share) / total : 0));
  const whole = due.map(Math.floor);
  const left = many - whole.reduce((sum, each) => sum + each, 0);
  const order = shares.map((_, at) => at).sort((one, other) => whole[one] - due[one] - (whole[other] - due[other]));
  order.slice(0, left).forEach((at) => {
    whole[at] += 1;
  });
  return whole;
}

/**
 * A table of a thousand people in whole numbers; classes are rounded first, so that rows and columns add up.
 * @param {Cells} c
 * @returns {Cells}
 */
export function thousand(c) {
  const total = c.tp + c.fn + c.fp + c.tn;
  const exact = [c.tp, c.fn, c.fp, c.tn].map((cell) => (1000 * cell) / total);
  const [positives, negatives] = dealtPeople([exact[0] + exact[1], exact[2] + exact[3]], 1000);
  const [[tp, fn], [fp, tn]] = [dealtPeople(exact.slice(0, 2), positives), dealtPeople(exact.slice(2), negatives)];
  return { tp, fp, fn, tn };
}
