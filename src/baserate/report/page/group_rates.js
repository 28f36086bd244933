/** Rates of groups: values with intervals and the rows that they rest on; and which groups and measures are shown. */

import { MEASURES, interval, readNumber, thresholdIndex } from "./core.js";
import { SERIES, seriesLook } from "./paths.js";
import { mixtureOf } from "./strategies.js";
import { memoize, reportNumber, termOf } from "./view.js";

/** @typedef {import("./view.js").View} View */
/** @typedef {{rows: number, positives: number, negatives: number}} Rows */
/**
 * A rate of a group. Bounds are NaN where there are none; `few` states whether it rests on fewer rows than tests require.
 * @typedef {{value: number, low: number, high: number, trials: number, few: boolean}} GroupRate
 */

/** Measures that the chart of groups offers; the first ones are shown at first. */
export const RATE_CHOICES = ["sensitivity", "fpr", "precision", "flag_rate", "specificity", "npv", "prevalence"];
const DEFAULT_RATES = RATE_CHOICES.slice(0, 4);

/**
 * The name of a rate in a phrase such as "difference in …".
 * @param {View} view
 * @param {string} measure
 * @returns {string}
 */
export function rateName(view, measure) {
  return measure === "flag_rate" ? "flag rate" : termOf(view, measure);
}

/**
 * The measures that the chart shows, in a fixed order.
 * @param {View} view
 * @returns {string[]}
 */
export function chosenRates({ state }) {
  return state.rates ? RATE_CHOICES.filter((each) => state.rates?.includes(each)) : DEFAULT_RATES;
}

/**
 * Indices of the highlighted groups, at most as many as there are styles: the largest ones unless a user chose others.
 * @param {View} view
 * @returns {number[]}
 */
export function shownGroups({ report, state, model }) {
  return memoize(report, "shown groups", `${state.model} ${state.shown}`, () => {
    const sizes = model.groups.map(({ positives, negatives }) => positives + negatives);
    const order = sizes.map((_, at) => at).sort((one, other) => sizes[other] - sizes[one] || one - other);
    return (state.shown ?? order).slice(0, SERIES).sort((one, other) => one - other);
  });
}

/**
 * Classes of a group: one of eight styles, or gray.
 * @param {View} view
 * @param {number} group
 * @returns {string}
 */
export function groupLook(view, group) {
  const at = shownGroups(view).indexOf(group);
  return at < 0 ? "other" : seriesLook(at);
}

/**
 * Rows of a group in the sample.
 * @param {View} view
 * @param {number} group
 * @returns {Rows}
 */
export function rowsOf(view, group) {
  const all = memoize(view.report, "group rows", String(view.state.model), () =>
    view.groups.map((_, at) => countRows(view, at)),
  );
  return all[group];
}

/**
 * @param {View} view
 * @param {number} group
 * @returns {Rows}
 */
function countRows(view, group) {
  const { positives, negatives } = view.report.models[view.state.model].groups[group];
  /** @param {string} measure @param {number} mass */
  const rows = (measure, mass) => {
    const number = reportNumber(view, { part: "data", measure, group, where: "here" });
    return number?.value === undefined ? mass : readNumber(number.value);
  };
  return {
    rows: rows("rows", positives + negatives),
    positives: rows("positives", positives),
    negatives: rows("negatives", negatives),
  };
}

/**
 * Whether a group has fewer rows of one of the classes than tests require.
 * @param {View} view
 * @param {number} group
 * @returns {boolean}
 */
export function isSmallGroup(view, group) {
  const { positives, negatives } = rowsOf(view, group);
  return Math.min(positives, negatives) < view.payload.min_group_size;
}

/** Rates of a view, which chart and tables share. @type {WeakMap<View, Map<string, GroupRate>>} */
const rates = new WeakMap();

/**
 * A rate of a group at the current decisions. Expected rates of random decisions have no interval, except in the report.
 * @param {View} view
 * @param {number} group
 * @param {string} measure
 * @returns {GroupRate}
 */
export function rateOf(view, group, measure) {
  const known = rates.get(view) ?? new Map();
  rates.set(view, known);
  const key = `${group} ${measure}`;
  const rate = known.get(key) ?? computeRate(view, group, measure);
  known.set(key, rate);
  return rate;
}

/**
 * @param {View} view
 * @param {number} group
 * @param {string} measure
 * @returns {GroupRate}
 */
function computeRate(view, group, measure) {
  const { counts } = view.groups[group];
  const trials = trialsOf(view, group, measure);
  const few = trials < view.payload.min_group_size;
  if (!counts) return { value: NaN, low: NaN, high: NaN, trials, few };
  const bounds = boundsOf(view, group, measure);
  return { value: MEASURES[measure](counts), low: bounds?.low ?? NaN, high: bounds?.high ?? NaN, trials, few };
}

/**
 * @param {View} view
 * @param {number} group
 * @param {string} measure
 * @returns {{low: number, high: number} | null}
 */
function boundsOf(view, group, measure) {
  const { counts, treatment } = view.groups[group];
  const { payload, state } = view;
  if (counts && treatment && !("lottery" in treatment)) {
    // A prevalence that is stated counts as known.
    return counts.known && measure === "prevalence" ? null : interval(measure, counts, payload.level, payload.z);
  }
  const where = state.prevalence === null ? "here" : "there";
  const row = view.planned ? reportNumber(view, { part: "decisions", measure, group, where }) : undefined;
  return row?.low === undefined ? null : { low: readNumber(row.low), high: readNumber(row.high) };
}

/**
 * Rows that a rate of a group rests on, in the sample. Of weighted rows those that are flagged are counted for the plan alone.
 * @param {View} view
 * @param {number} group
 * @param {string} measure
 * @returns {number}
 */
export function trialsOf(view, group, measure) {
  const { rows, positives, negatives } = rowsOf(view, group);
  if (measure === "sensitivity") return positives;
  if (measure === "fpr" || measure === "specificity") return negatives;
  if (measure !== "precision" && measure !== "npv") return rows;
  const planned = reportNumber(view, { part: "support", measure: "precision", group, where: "here" });
  const part = view.report.models[view.state.model].groups[group];
  const isWeighted = Boolean(part.squares);
  const flagged = isWeighted && planned ? readNumber(planned.value) : flaggedRows(view, group);
  return measure === "precision" ? flagged : rows - flagged;
}

/**
 * Rows of a group that are flagged in the sample, expected where decisions are random.
 * @param {View} view
 * @param {number} group
 * @returns {number}
 */
function flaggedRows({ report, state, model, groups }, group) {
  const { treatment } = groups[group];
  const { tp, fp } = report.models[state.model].groups[group];
  if (treatment) {
    return mixtureOf(treatment).reduce((sum, { chance, threshold }) => {
      const at = thresholdIndex(model.threshold, threshold);
      return sum + chance * (tp[at] + fp[at]);
    }, 0);
  }
  const table = model.entry.cut.planned?.groups[group];
  return state.parity === "planned" && table ? table.tp + table.fp : 0;
}
