/** Confidence intervals of proportions: of counts or weighted rows, in the sample or at a known prevalence. As in baserate.infer. */

import { betaQuantile } from "./beta.js";

/** @typedef {"tp"|"fp"|"fn"|"tn"} Cell */
/** @typedef {{tp: number, fp: number, fn: number, tn: number}} Cells */
/**
 * A confusion matrix: masses, sums of squared weights where they differ from the masses, and whether the prevalence is
 * known.
 * @typedef {{tp: number, fp: number, fn: number, tn: number, squares: null|Cells, known: boolean}} Counts
 */
/** @typedef {{low: number, high: number}} Bounds */
/** @typedef {{low: number, high: number, how: string}} Interval */
/** @typedef {{hits: number, misses: number}} Share */
/**
 * A class: its mass, and its effective numbers of hits and misses.
 * @typedef {Share & {mass: number}} Side
 */
/** @typedef {{hits: Cell[], misses: Cell[], kind: "within"|"predictive"|"everybody"|"known"|"other"}} ShareOf */

/** Hits or misses below which Wilson's interval may cover too little, and the exact one is used. */
const FEW_ROWS = 13;
const KNOWN_SHARE = "known";
const BY_LOGIT = "logit, prevalence known";
export const BY_QUADRATURE =
  "Wilson or Clopper–Pearson within each class, added in quadrature on log-odds; prevalence known";
export const BY_SUM = "Wilson or Clopper–Pearson within each class, added in quadrature; prevalence known";

/** @type {Record<Cell, Cell>} */
const SAME_CLASS = { tp: "fn", fn: "tp", fp: "tn", tn: "fp" };

/**
 * Measures that are proportions: their hits and misses, and how they depend on the classes.
 * @type {Record<string, ShareOf>}
 */
export const SHARES = {
  sensitivity: { hits: ["tp"], misses: ["fn"], kind: "within" },
  specificity: { hits: ["tn"], misses: ["fp"], kind: "within" },
  fpr: { hits: ["fp"], misses: ["tn"], kind: "within" },
  fnr: { hits: ["fn"], misses: ["tp"], kind: "within" },
  precision: { hits: ["tp"], misses: ["fp"], kind: "predictive" },
  npv: { hits: ["tn"], misses: ["fn"], kind: "predictive" },
  fdr: { hits: ["fp"], misses: ["tp"], kind: "predictive" },
  false_omission_rate: { hits: ["fn"], misses: ["tn"], kind: "predictive" },
  accuracy: { hits: ["tp", "tn"], misses: ["fp", "fn"], kind: "everybody" },
  error_rate: { hits: ["fp", "fn"], misses: ["tp", "tn"], kind: "everybody" },
  flag_rate: { hits: ["tp", "fp"], misses: ["fn", "tn"], kind: "everybody" },
  pass_rate: { hits: ["fn", "tn"], misses: ["tp", "fp"], kind: "everybody" },
  prevalence: { hits: ["tp", "fn"], misses: ["fp", "tn"], kind: "known" },
  jaccard: { hits: ["tp"], misses: ["fp", "fn"], kind: "other" },
};

/**
 * Wilson's score interval (1927).
 * @param {number} hits
 * @param {number} misses
 * @param {number} z quantile of the normal distribution
 * @returns {Bounds}
 */
export function wilson(hits, misses, z) {
  const trials = hits + misses;
  const middle = (hits + (z * z) / 2) / (trials + z * z);
  const half = (z * Math.sqrt((hits * misses) / trials + (z * z) / 4)) / (trials + z * z);
  // At the ends rounding may leave a trace where the bound is exactly 0 or 1.
  return { low: hits > 0 ? middle - half : 0, high: misses > 0 ? middle + half : 1 };
}

/**
 * Exact interval of Clopper and Pearson (1934), from both tails of the binomial distribution.
 * @param {number} hits
 * @param {number} misses
 * @param {number} level
 * @returns {Bounds}
 */
export function clopperPearson(hits, misses, level) {
  const tail = (1 - level) / 2;
  return {
    low: hits > 0 ? betaQuantile(hits, misses + 1, tail).x : 0,
    high: misses > 0 ? betaQuantile(misses, hits + 1, tail).y : 1,
  };
}

/**
 * Wilson's interval, or the exact one where there are few hits or few misses.
 * @param {Share} share
 * @param {number} level
 * @param {number} z
 * @returns {Interval}
 */
export function proportionInterval({ hits, misses }, level, z) {
  return Math.min(hits, misses) < FEW_ROWS
    ? { ...clopperPearson(hits, misses, level), how: "Clopper–Pearson" }
    : { ...wilson(hits, misses, z), how: "Wilson" };
}

/**
 * Round a number that differs from a whole one by rounding error alone.
 * @param {number} value
 * @returns {number}
 */
function roundIfNear(value) {
  const nearest = Math.round(value);
  return Math.abs(value - nearest) <= 1e-12 * Math.abs(nearest) ? nearest : value;
}

/**
 * Effective numbers of hits and misses: counts with the same variance, from masses and sums of squared weights.
 * @param {number} hits
 * @param {number} misses
 * @param {number} hitSquares
 * @param {number} missSquares
 * @returns {Share}
 */
export function effectiveShare(hits, misses, hitSquares, missSquares) {
  const total = hits + misses;
  const p = hits / total;
  const q = misses / total;
  const spread = q * q * hitSquares + p * p * missSquares;
  const trials = spread > 0 ? (p * q * total * total) / spread : (total * total) / (hitSquares + missSquares);
  // Equal weights are counts: a rounding error below FEW_ROWS must not change the method.
  return { hits: roundIfNear(p * trials), misses: roundIfNear(q * trials) };
}

/**
 * @param {Cells} cells
 * @param {Cell[]} names
 * @returns {number}
 */
function sumCells(cells, names) {
  return names.reduce((sum, name) => sum + cells[name], 0);
}

/**
 * Effective hits and misses of a proportion.
 * @param {Counts} counts
 * @param {{hits: Cell[], misses: Cell[]}} share
 * @returns {Share}
 */
export function shareOf(counts, share) {
  const hits = sumCells(counts, share.hits);
  const misses = sumCells(counts, share.misses);
  return counts.squares === null
    ? { hits, misses }
    : effectiveShare(hits, misses, sumCells(counts.squares, share.hits), sumCells(counts.squares, share.misses));
}

/**
 * The class of a cell, with the cell as its hits; an absent class has none.
 * @param {Counts} counts
 * @param {Cell} cell
 * @returns {Side}
 */
export function sideOf(counts, cell) {
  const other = SAME_CLASS[cell];
  const { hits, misses } = shareOf(counts, { hits: [cell], misses: [other] });
  return { mass: counts[cell] + counts[other], hits: hits || 0, misses: misses || 0 };
}

/**
 * Rate of hits in a class; 0 where the class is absent.
 * @param {Share} side
 * @returns {number}
 */
function rateOf(side) {
  return side.hits / (side.hits + side.misses) || 0; // NaN of 0/0 becomes 0
}

/**
 * Interval of a predictive value on the scale of log-odds, as a function of the masses of both classes: the interval of
 * the log ratio of both rates is computed once, and holds at every prevalence.
 * @param {Share} hit
 * @param {Share} miss
 * @param {number} level
 * @param {number} z
 * @returns {(hitMass: number, missMass: number) => Interval}
 */
export function predictiveInterval(hit, miss, level, z) {
  const few = Math.min(hit.hits, hit.misses, miss.hits, miss.misses) < FEW_ROWS;
  const ratio = few ? quadratureBounds(hit, miss, level, z) : normalBounds(hit, miss, z);
  const how = few ? BY_QUADRATURE : BY_LOGIT;
  return (hitMass, missMass) => {
    // Without one of the classes the log-odds are infinite, and the bounds are 0 or 1.
    const odds = Math.log(hitMass) - Math.log(missMass);
    return { low: 1 / (1 + Math.exp(-odds - ratio.low)), high: 1 / (1 + Math.exp(-odds - ratio.high)), how };
  };
}

/**
 * Normal interval of the log ratio of two rates.
 * @param {Share} hit
 * @param {Share} miss
 * @param {number} z
 * @returns {Bounds}
 */
function normalBounds(hit, miss, z) {
  const [trials, others] = [hit.hits + hit.misses, miss.hits + miss.misses];
  const middle = Math.log(hit.hits / trials) - Math.log(miss.hits / others);
  const half = z * Math.sqrt(1 / hit.hits - 1 / trials + 1 / miss.hits - 1 / others);
  return { low: middle - half, high: middle + half };
}

/**
 * Interval of the log ratio of two rates: distances from the bounds of each rate, added in quadrature.
 * @param {Share} hit
 * @param {Share} miss
 * @param {number} level
 * @param {number} z
 * @returns {Bounds}
 */
function quadratureBounds(hit, miss, level, z) {
  const [first, second] = [proportionInterval(hit, level, z), proportionInterval(miss, level, z)];
  const [rate, least, most] = [rateOf(hit), first.low, first.high].map(Math.log);
  const [other, fewest, greatest] = [rateOf(miss), second.low, second.high].map(Math.log);
  // The logarithm of an empty cell is infinitely far from its bounds: the bounds of the other rate are used instead.
  const low =
    hit.hits === 0
      ? -Infinity
      : miss.hits === 0
        ? least - greatest
        : rate - other - Math.hypot(rate - least, greatest - other);
  const high =
    miss.hits === 0
      ? Infinity
      : hit.hits === 0
        ? most - fewest
        : rate - other + Math.hypot(most - rate, other - fewest);
  return { low, high };
}

/**
 * Interval of a proportion of everybody at a known prevalence: distances within each class, added in quadrature.
 * @param {Side[]} sides
 * @param {number} level
 * @param {number} z
 * @returns {Interval}
 */
function everybodyInterval(sides, level, z) {
  const total = sides.reduce((sum, side) => sum + side.mass, 0);
  const parts = sides.filter(({ mass }) => mass > 0).map((side) => ({ side, factor: side.mass / total }));
  return { ...combineSides(parts, level, z), how: BY_SUM };
}

/**
 * Bounds of a linear combination of rates of both classes: distances within each class, added in quadrature.
 * @param {{side: Side, factor: number}[]} parts
 * @param {number} level
 * @param {number} z
 * @returns {Bounds}
 */
export function combineSides(parts, level, z) {
  let [value, down, up] = [0, 0, 0];
  for (const { side, factor } of parts) {
    const [rate, { low, high }] = [rateOf(side), proportionInterval(side, level, z)];
    const ends = [factor * (low - rate), factor * (high - rate)];
    value += factor * rate;
    down += Math.min(...ends) ** 2;
    up += Math.max(...ends) ** 2;
  }
  return { low: value - Math.sqrt(down), high: value + Math.sqrt(up) };
}

/**
 * Interval of a proportion, before it is clamped around the value.
 * @param {ShareOf} share
 * @param {Counts} counts
 * @param {number} value
 * @param {{level: number, z: number}} confidence
 * @returns {Interval|null}
 */
export function shareInterval(share, counts, value, { level, z }) {
  if (!counts.known || share.kind === "within") {
    return proportionInterval(shareOf(counts, share), level, z);
  }
  if (share.kind === "predictive") {
    const [hit, miss] = [share.hits, share.misses].map(([cell]) => sideOf(counts, cell));
    return predictiveInterval(hit, miss, level, z)(hit.mass, miss.mass);
  }
  if (share.kind === "everybody") {
    return everybodyInterval(
      share.hits.map((cell) => sideOf(counts, cell)),
      level,
      z,
    );
  }
  return share.kind === "known" ? { low: value, high: value, how: KNOWN_SHARE } : null;
}
