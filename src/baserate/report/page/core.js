/** The arithmetic of the page: tables, measures, rules and curves, number for number as baserate in Python has them. */

import { runningPart, summedRows } from "./running.js";
import { SHARES, predictiveInterval, shareInterval, sideOf } from "./shares.js";

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
 * What the masses of both classes are multiplied with in each group, so that it has the prevalence stated for it.
 * @typedef {[number, number][]} GroupFactors
 */
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
 * Everybody and each group at every kept threshold: in the sample, or with the prevalences stated for groups.
 * @param {CurveEntry} model
 * @param {GroupFactors|null} [factors]
 * @returns {Expanded}
 */
export function expand(model, factors = null) {
  /** @param {number[][]|null|undefined} rows */
  const spread = (rows) => (rows ?? []).map((row) => unfolded(row, model.threshold.length));
  const counted = [spread(model.positive_mass), spread(model.negative_mass)];
  const weighed = [spread(model.positive_squares), spread(model.negative_squares)];
  const masses = scaledRows(counted, factors, 1);
  // Rows that weigh 1 have no squares of their own; those that are multiplied do.
  const both = scaledRows(weighed[0].length || !factors ? weighed : counted, factors, 2);
  const squares = both[0].length ? both : undefined;
  /** @param {(rows: Float64Array[]) => ArrayLike<number>} of */
  const part = (of) => runningPart(masses.map(of), squares?.map(of));
  const groups = masses[0].map((_, at) => part((rows) => rows[at]));
  const everybody = groups.length === 1 ? groups[0] : part(summedRows);
  return { threshold: Float64Array.from([Infinity, ...model.threshold.map(readNumber)]), everybody, groups };
}

/**
 * Rows of positives and of negatives, one for each group, times a power of the factor of their class and group.
 * @template {Float64Array | number[]} Row
 * @param {Row[][]} classes
 * @param {GroupFactors|null} factors
 * @param {number} power
 * @returns {Row[][]}
 */
export function scaledRows(classes, factors, power) {
  if (!factors) return classes;
  /** @param {Row[]} rows @param {number} which */
  const scaled = (rows, which) =>
    rows.map((row, at) => /** @type {Row} */ (row.map((mass) => mass * factors[at][which] ** power)));
  return classes.map(scaled);
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
  return mixedCounts(
    tables,
    tables.map(() => 1),
  );
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
