/** Intervals for shares: of counted or weighted rows, and at known shares of the classes. As in baserate.infer. */

import { betaQuantile } from "./beta.js";

/** @typedef {"tp"|"fp"|"fn"|"tn"} Cell */
/** @typedef {{tp: number, fp: number, fn: number, tn: number}} Cells */
/**
 * A 2×2 table: masses, sums of squared weights where they differ from these, and whether the shares of the classes are
 * known.
 * @typedef {{tp: number, fp: number, fn: number, tn: number, squares: null|Cells, known: boolean}} Counts
 */
/** @typedef {{low: number, high: number}} Bounds */
/** @typedef {{low: number, high: number, how: string}} Interval */
/** @typedef {{hits: number, misses: number}} Share */
/**
 * A class: its mass, and hits and misses as plain counts that would be as sure.
 * @typedef {Share & {mass: number}} Side
 */
/** @typedef {{hits: Cell[], misses: Cell[], kind: "within"|"predictive"|"everybody"|"known"|"other"}} ShareOf */

/** Hits or misses below which only the exact interval keeps its promise. */
const FEW_ROWS = 13;
const KNOWN_SHARE = "known";
const BY_LOGIT = "logit, prevalence known";
const BY_QUADRATURE = "Wilson or Clopper–Pearson within each class, added in quadrature on log-odds; prevalence known";
const BY_SUM = "Wilson or Clopper–Pearson within each class, added in quadrature; prevalence known";

/** @type {Record<Cell, Cell>} */
const SAME_CLASS = { tp: "fn", fn: "tp", fp: "tn", tn: "fp" };

/**
 * Measures that are shares: what counts as a hit and as a miss, and of what they are shares.
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
 * Shares whose own standard error would explain what was seen (Wilson 1927).
 * @param {number} hits
 * @param {number} misses
 * @param {number} z how many standard errors it reaches to both sides
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
 * Shares that neither tail of the binomial distribution rejects: never covers less than it says (Clopper and Pearson
 * 1934).
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
 * Wilson's interval, but the exact one of Clopper and Pearson where there are few hits or few misses.
 * @param {Share} share
 * @param {number} level
 * @param {number} z
 * @returns {Interval}
 */
function usualInterval({ hits, misses }, level, z) {
  return Math.min(hits, misses) < FEW_ROWS
    ? { ...clopperPearson(hits, misses, level), how: "Clopper–Pearson" }
    : { ...wilson(hits, misses, z), how: "Wilson" };
}

/**
 * What is whole but for rounding, as a whole number.
 * @param {number} value
 * @returns {number}
 */
function wholeIfNear(value) {
  const nearest = Math.round(value);
  return Math.abs(value - nearest) <= 1e-12 * Math.abs(nearest) ? nearest : value;
}

/**
 * Hits and misses that a plain count would need to have to be as sure, from masses and sums of squared weights.
 * @param {number} hits
 * @param {number} misses
 * @param {number} hitSquares
 * @param {number} missSquares
 * @returns {Share}
 */
function effectiveShare(hits, misses, hitSquares, missSquares) {
  const total = hits + misses;
  const p = hits / total;
  const q = misses / total;
  const spread = q * q * hitSquares + p * p * missSquares;
  const trials = spread > 0 ? (p * q * total * total) / spread : (total * total) / (hitSquares + missSquares);
  // Rows that all weigh the same are counted rows: rounding must not make them one of few.
  return { hits: wholeIfNear(p * trials), misses: wholeIfNear(q * trials) };
}

/**
 * @param {Cells} cells
 * @param {Cell[]} names
 * @returns {number}
 */
function addedCells(cells, names) {
  return names.reduce((sum, name) => sum + cells[name], 0);
}

/**
 * Effective hits and misses of a measure that is a share.
 * @param {Counts} counts
 * @param {{hits: Cell[], misses: Cell[]}} share
 * @returns {Share}
 */
function shareOf(counts, share) {
  const hits = addedCells(counts, share.hits);
  const misses = addedCells(counts, share.misses);
  return counts.squares === null
    ? { hits, misses }
    : effectiveShare(hits, misses, addedCells(counts.squares, share.hits), addedCells(counts.squares, share.misses));
}

/**
 * The class of a cell, which is its hit; of a class that is not there, nothing.
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
 * Share of a class that is a hit; 0 where there is nothing of it.
 * @param {Share} side
 * @returns {number}
 */
function rateOf(side) {
  return side.hits / (side.hits + side.misses) || 0;
}

/**
 * A function from masses of two classes to bounds of the share that hits of the first are of all hits: its log-odds
 * with the bounds of both rates. Rates are known once; masses may be many.
 * @param {Share} hit
 * @param {Share} miss
 * @param {number} level
 * @param {number} z
 * @returns {(hitMass: number, missMass: number) => Interval}
 */
export function predictiveInterval(hit, miss, level, z) {
  const few = Math.min(hit.hits, hit.misses, miss.hits, miss.misses) < FEW_ROWS;
  const reach = few ? crossedReach(hit, miss, level, z) : normalReach(hit, miss, z);
  const how = few ? BY_QUADRATURE : BY_LOGIT;
  return (hitMass, missMass) => {
    // Where a class is not there these are infinite, and nothing is left to chance.
    const odds = Math.log(hitMass) - Math.log(missMass);
    return { low: 1 / (1 + Math.exp(-odds - reach.low)), high: 1 / (1 + Math.exp(-odds - reach.high)), how };
  };
}

/**
 * Normal interval of the logarithm of two rates' ratio.
 * @param {Share} hit
 * @param {Share} miss
 * @param {number} z
 * @returns {Bounds}
 */
function normalReach(hit, miss, z) {
  const [trials, others] = [hit.hits + hit.misses, miss.hits + miss.misses];
  const middle = Math.log(hit.hits / trials) - Math.log(miss.hits / others);
  const half = z * Math.sqrt(1 / hit.hits - 1 / trials + 1 / miss.hits - 1 / others);
  return { low: middle - half, high: middle + half };
}

/**
 * Bounds of the logarithm of two rates' ratio: the distances of their own bounds, in quadrature.
 * @param {Share} hit
 * @param {Share} miss
 * @param {number} level
 * @param {number} z
 * @returns {Bounds}
 */
function crossedReach(hit, miss, level, z) {
  const [first, second] = [usualInterval(hit, level, z), usualInterval(miss, level, z)];
  const [rate, least, most] = [rateOf(hit), first.low, first.high].map(Math.log);
  const [other, fewest, greatest] = [rateOf(miss), second.low, second.high].map(Math.log);
  // An empty cell is infinitely far from its bounds: then these meet the other's directly.
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
 * Bounds of a share of everybody at known shares of the classes: those of each class's own share, in quadrature.
 * @param {Side[]} sides
 * @param {number} level
 * @param {number} z
 * @returns {Interval}
 */
function everybodyInterval(sides, level, z) {
  const total = sides.reduce((sum, side) => sum + side.mass, 0);
  let [value, down, up] = [0, 0, 0];
  for (const side of sides.filter(({ mass }) => mass > 0)) {
    const [part, rate, { low, high }] = [side.mass / total, rateOf(side), usualInterval(side, level, z)];
    value += part * rate;
    down += (part * (rate - low)) ** 2;
    up += (part * (high - rate)) ** 2;
  }
  return { low: value - Math.sqrt(down), high: value + Math.sqrt(up), how: BY_SUM };
}

/**
 * Interval of a share of a table, before it is put around the value.
 * @param {ShareOf} share
 * @param {Counts} counts
 * @param {number} value
 * @param {{level: number, z: number}} sure
 * @returns {Interval|null}
 */
export function shareInterval(share, counts, value, { level, z }) {
  if (!counts.known || share.kind === "within") {
    return usualInterval(shareOf(counts, share), level, z);
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
