/** Confusion matrices, measures and their intervals on the page: the same numbers as in Python. */

import { cumulativePart, sumRows } from "./cumulative.js";
import { SHARES, predictiveInterval, shareInterval, sideOf } from "./intervals.js";
import { RATE_INTERVALS } from "./rate_intervals.js";

/** @typedef {import("./intervals.js").Cells} Cells */
/** @typedef {import("./intervals.js").Counts} Counts */
/** @typedef {import("./intervals.js").Interval} Interval */
/** Cost of each cell of the table. @typedef {Cells} Costs */
/** @typedef {import("./cumulative.js").Cumulative} Cumulative */
/** @typedef {import("./cumulative.js").Part} Part */
/**
 * Weights of both classes; `known` where they give a stated prevalence.
 * @typedef {{positive: number, negative: number, known: boolean}} Factors
 */
/** @typedef {{threshold: Float64Array, everybody: Part, groups: Part[]}} Expanded */
/** @typedef {ArrayLike<number>} Numbers */
/**
 * @typedef {{threshold: (number|string)[], positive_mass: number[][], negative_mass: number[][],
 *   positive_squares?: number[][]|null, negative_squares?: number[][]|null}} CurveEntry
 */
/**
 * Weights of both classes in each group, which give it the prevalence stated for it.
 * @typedef {[number, number][]} GroupFactors
 */
/** Weights that leave the sample unchanged. @type {Factors} */
export const SAMPLE_FACTORS = { positive: 1, negative: 1, known: false };

/**
 * Read a number of the payload; infinite ones are text, and null is NaN.
 * @param {number|string|null} value
 * @returns {number}
 */
export function readNumber(value) {
  return value === "inf" ? Infinity : value === "-inf" ? -Infinity : value === null ? NaN : Number(value);
}

/**
 * Everybody and each group at every threshold of the payload: in the sample, or at the prevalences stated for groups.
 * @param {CurveEntry} model
 * @param {GroupFactors|null} [factors]
 * @returns {Expanded}
 */
export function expand(model, factors = null) {
  /** @param {number[][]|null|undefined} rows */
  const unfold = (rows) => (rows ?? []).map((row) => unfoldZeros(row, model.threshold.length));
  const sampleMasses = [unfold(model.positive_mass), unfold(model.negative_mass)];
  const sampleSquares = [unfold(model.positive_squares), unfold(model.negative_squares)];
  const masses = scaleRows(sampleMasses, factors, 1);
  // Squares are absent where all rows weigh 1: then they equal the masses, until factors change the weights.
  const hasSquares = sampleSquares[0].length > 0;
  const scaled = scaleRows(hasSquares || !factors ? sampleSquares : sampleMasses, factors, 2);
  const squares = scaled[0].length ? scaled : undefined;
  /** @param {(rows: Float64Array[]) => ArrayLike<number>} of */
  const part = (of) => cumulativePart(masses.map(of), squares?.map(of));
  const groups = masses[0].map((_, at) => part((rows) => rows[at]));
  const everybody = groups.length === 1 ? groups[0] : part(sumRows);
  return { threshold: Float64Array.from([Infinity, ...model.threshold.map(readNumber)]), everybody, groups };
}

/**
 * Rows of positives and of negatives, one for each group, multiplied by a power of their factor.
 * @template {Float64Array | number[]} Row
 * @param {Row[][]} classes
 * @param {GroupFactors|null} factors
 * @param {number} power
 * @returns {Row[][]}
 */
export function scaleRows(classes, factors, power) {
  if (!factors) return classes;
  /** @param {Row[]} rows @param {number} which */
  const scale = (rows, which) =>
    rows.map((row, at) => /** @type {Row} */ (row.map((mass) => mass * factors[at][which] ** power)));
  return classes.map(scale);
}

/**
 * Masses of a payload row, in which a negative number −n stands for n zeros.
 * @param {number[]} row
 * @param {number} length
 * @returns {Float64Array}
 */
export function unfoldZeros(row, length) {
  const masses = new Float64Array(length);
  let at = 0;
  for (const mass of row) {
    if (mass < 0) {
      at -= mass;
    } else {
      masses[at] = mass;
      at += 1;
    }
  }
  return masses;
}

/**
 * Index of the laxest threshold that is at least t; 0 if there is none.
 * @param {Numbers} threshold decreasing
 * @param {number} t
 * @returns {number}
 */
export function thresholdIndex(threshold, t) {
  let [low, high] = [0, threshold.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    [low, high] = threshold[middle] >= t ? [middle, high] : [low, middle - 1];
  }
  return low;
}

/**
 * Weights of both classes that give everybody a prevalence and keep the total mass. Without rows of a class no weight
 * gives a prevalence, and the sample is unchanged.
 * @param {Part} everybody
 * @param {number|null} prevalence
 * @returns {Factors}
 */
export function factorsFor({ positives, negatives }, prevalence) {
  if (prevalence === null || !(positives > 0) || !(negatives > 0)) {
    return SAMPLE_FACTORS;
  }
  const total = positives + negatives;
  return { positive: (prevalence * total) / positives, negative: ((1 - prevalence) * total) / negatives, known: true };
}

/**
 * @param {Cumulative} cells
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
 * The confusion matrix at a threshold.
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
 * Weighted sum of tables.
 * @param {Counts[]} tables
 * @param {number[]} weights
 * @returns {Counts}
 */
export function mixCounts(tables, weights) {
  /** @param {(table: Counts) => Cells} of */
  const add = (of) => {
    const sums = { tp: 0, fp: 0, fn: 0, tn: 0 };
    tables.forEach((table, at) => {
      const cells = of(table);
      sums.tp += weights[at] * cells.tp;
      sums.fp += weights[at] * cells.fp;
      sums.fn += weights[at] * cells.fn;
      sums.tn += weights[at] * cells.tn;
    });
    return sums;
  };
  const squares = tables.some((table) => table.squares) ? add((table) => table.squares ?? table) : null;
  return { ...add((table) => table), squares, known: tables.some((table) => table.known) };
}

/**
 * Sum of tables.
 * @param {Counts[]} tables
 * @returns {Counts}
 */
export function sumCounts(tables) {
  return mixCounts(
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
 * Measures of a confusion matrix by their names in baserate.measure, with default options. 0/0 is NaN, and a/0 infinite.
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
    // Two roots, since the product of four large masses could overflow.
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
  no_information_rate: (c) => Math.max(positivesOf(c), negativesOf(c)) / everybodyOf(c),
  risk_ratio: (c) => c.tp / (c.tp + c.fp) / (c.fn / (c.fn + c.tn)),
  weighted_kappa: (c) => {
    const byChance = (c.tp + c.fp) * negativesOf(c) + (c.fn + c.tn) * positivesOf(c);
    return (2 * (c.tp * c.tn - c.fp * c.fn)) / byChance;
  },
  number_needed_to_diagnose: (c) => {
    const pairs = positivesOf(c) * negativesOf(c);
    const gain = c.tp * c.tn - c.fp * c.fn;
    // Equal rates of weighted rows may differ by rounding.
    return pairs / (Math.abs(gain) <= 1e-12 * pairs ? 0 : gain);
  },
  number_needed_to_misdiagnose: (c) => everybodyOf(c) / (c.fp + c.fn),
  predictive_value_product: (c) => (c.tp / (c.tp + c.fp)) * (c.tn / (c.fn + c.tn)),
  sedi: (c) => {
    const right = Math.log(c.tp / positivesOf(c)) + Math.log(c.tn / negativesOf(c));
    const wrong = Math.log(c.fp / negativesOf(c)) + Math.log(c.fn / positivesOf(c));
    if (wrong === -Infinity && right === -Infinity) return NaN;
    if (wrong === -Infinity) return 1;
    return right === -Infinity ? -1 : (wrong - right) / (wrong + right);
  },
  roc_distance: (c) => Math.hypot(c.fn / positivesOf(c), c.fp / negativesOf(c)),
  average_odds: (c) => (c.tp / positivesOf(c) + c.fp / negativesOf(c)) / 2,
  average_predictive_value: (c) => (c.tp / (c.tp + c.fp) + c.fn / (c.fn + c.tn)) / 2,
  generalized_entropy: (c) => benefitVariation(c) ** 2 / 2,
  benefit_variation: (c) => benefitVariation(c),
  theil_index: (c) => {
    const benefits = c.tp + c.tn + 2 * c.fp;
    return Math.max(0, Math.log(everybodyOf(c) / benefits) + (2 * Math.LN2 * c.fp) / benefits);
  },
};

/**
 * Coefficient of variation of benefits: 1 for a correct decision, 2 for a false positive, 0 for a false negative.
 * @param {Cells} c
 * @returns {number}
 */
function benefitVariation(c) {
  const everybody = everybodyOf(c);
  const variance = (c.fp + c.fn) / everybody - ((c.fp - c.fn) / everybody) ** 2;
  return Math.sqrt(Math.max(0, variance)) / ((c.tp + c.tn + 2 * c.fp) / everybody);
}

/**
 * Expected cost per person.
 * @param {Cells} c
 * @param {Costs} costs
 * @returns {number}
 */
export function expectedCost(c, costs) {
  return (costs.tp * c.tp + costs.fp * c.fp + costs.fn * c.fn + costs.tn * c.tn) / everybodyOf(c);
}

/**
 * A function of the confusion matrix at each threshold.
 * @param {Part} part
 * @param {Factors} factors
 * @param {(c: Cells) => number} measure
 * @returns {Float64Array}
 */
export function valuesAlong(part, { positive, negative }, measure) {
  const values = new Float64Array(part.tp.length);
  // One object for all thresholds: allocating one for each slows down dragging.
  const cells = { tp: 0, fp: 0, fn: 0, tn: 0 };
  for (let at = 0; at < values.length; at += 1) {
    cells.tp = part.tp[at] * positive;
    cells.fp = part.fp[at] * negative;
    cells.fn = part.fn[at] * positive;
    cells.tn = part.tn[at] * negative;
    values[at] = measure(cells);
  }
  return values;
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

/** Costs of a table where none are stated. */
const EQUAL_COSTS = { tp: 0, fp: 1, fn: 1, tn: 0 };

/**
 * Confidence interval of a measure with its method; null for measures without one, and for undefined values.
 * @param {string} name
 * @param {Counts} counts
 * @param {number} level
 * @param {number} z
 * @param {Costs} [costs] of the expected cost
 * @returns {Interval|null}
 */
export function interval(name, counts, level, z, costs = EQUAL_COSTS) {
  const value = name === "expected_cost" ? expectedCost(counts, costs) : MEASURES[name](counts);
  if (Number.isNaN(value)) return null;
  if (name in RATE_INTERVALS) {
    const { span, interval: bound } = RATE_INTERVALS[name];
    return clampAround(bound(counts, { level, z, costs }), value, span);
  }
  const bounds = SHARES[name] ? shareInterval(SHARES[name], counts, value, { level, z }) : null;
  return bounds && clampAround(bounds, value);
}

/**
 * Bounds of a number, clamped to its limits and to either side of the value.
 * @param {Interval} bounds
 * @param {number} value
 * @param {[number, number]} [span]
 * @returns {Interval}
 */
function clampAround({ low, high, how }, value, [least, most] = [0, 1]) {
  return { low: Math.min(Math.max(low, least), value), high: Math.max(Math.min(high, most), value), how };
}

/**
 * PPV and NPV at other prevalences with their intervals, from the sensitivity and specificity of a table.
 * @param {Counts} counts
 * @param {Numbers} prevalences
 * @param {number} level
 * @param {number} z
 * @returns {Record<"precision"|"npv", {value: number, low: number, high: number}[]>}
 */
export function predictiveValues(counts, prevalences, level, z) {
  const [tp, fp, fn, tn] = [sideOf(counts, "tp"), sideOf(counts, "fp"), sideOf(counts, "fn"), sideOf(counts, "tn")];
  const [sensitivity, fpr] = [MEASURES.sensitivity(counts), MEASURES.fpr(counts)];
  const [flagged, notFlagged] = [predictiveInterval(tp, fp, level, z), predictiveInterval(tn, fn, level, z)];
  const shares = Array.from(prevalences);
  return {
    precision: shares.map((share) => {
      const value = (share * sensitivity) / (share * sensitivity + (1 - share) * fpr);
      return valueWithin(value, flagged(share, 1 - share));
    }),
    npv: shares.map((share) => {
      const [trueShare, falseShare] = [(1 - share) * MEASURES.specificity(counts), share * MEASURES.fnr(counts)];
      return valueWithin(trueShare / (trueShare + falseShare), notFlagged(1 - share, share));
    }),
  };
}

/**
 * @param {number} value
 * @param {Interval} bounds
 * @returns {{value: number, low: number, high: number}}
 */
function valueWithin(value, bounds) {
  const { low, high } = Number.isNaN(value) ? { low: NaN, high: NaN } : clampAround(bounds, value);
  return { value, low, high };
}

/**
 * Apportion whole people in proportion to shares, by largest remainders.
 * @param {number[]} shares
 * @param {number} total
 * @returns {number[]}
 */
function apportion(shares, total) {
  const mass = shares.reduce((sum, share) => sum + share, 0);
  const due = shares.map((share) => (mass ? (total * share) / mass : 0));
  const whole = due.map(Math.floor);
  const left = total - whole.reduce((sum, each) => sum + each, 0);
  // The sort is stable, so that equal remainders go to the first cell, as in Python.
  const order = shares.map((_, at) => at).sort((one, other) => whole[one] - due[one] - (whole[other] - due[other]));
  order.slice(0, left).forEach((at) => {
    whole[at] += 1;
  });
  return whole;
}

/**
 * The confusion matrix of 1000 people in whole numbers; classes are rounded first, so that rows and columns add up.
 * @param {Cells} c
 * @returns {Cells}
 */
export function naturalFrequencies(c) {
  const total = c.tp + c.fn + c.fp + c.tn;
  const exact = [c.tp, c.fn, c.fp, c.tn].map((cell) => (1000 * cell) / total);
  const [positives, negatives] = apportion([exact[0] + exact[1], exact[2] + exact[3]], 1000);
  const [[tp, fn], [fp, tn]] = [apportion(exact.slice(0, 2), positives), apportion(exact.slice(2), negatives)];
  return { tp, fp, fn, tn };
}
