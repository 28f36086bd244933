/** Numbers that charts state, each with the prevalence at which it holds; and the other models of a report. */

import { factorsFor, readNumber } from "./core.js";
import { formatEstimate, shorten } from "./format.js";
import { seriesLook } from "./paths.js";
import { currentNumber, describePrevalence, isInvariant, modelAt } from "./view.js";

/** @typedef {import("./chart.js").Summary} Summary */
/** @typedef {import("./view.js").View} View */
/**
 * A model beside the selected one, for the same people and the same prevalence.
 * @typedef {object} Other
 * @property {number} at
 * @property {import("./view.js").Model} model
 * @property {import("./core.js").Part} part
 * @property {import("./core.js").Factors} factors
 * @property {import("./core.js").Factors} adjustment
 * @property {string} look
 * @property {string} name
 */

/** Letters of a name in a legend. */
const LONGEST = 40;

/**
 * Where and for whom a number of the view holds.
 * @param {View} view
 * @param {number} [model]
 * @returns {{prevalence: number | null, model: number, group?: number}}
 */
export function placeOf({ state }, model = state.model) {
  const place = { prevalence: state.prevalence, model };
  return state.who < 0 ? place : { ...place, group: state.who };
}

/**
 * A measure of the scores at the selected prevalence; empty where the report lacks it.
 * @param {View} view
 * @param {string} measure
 * @param {number} [model]
 * @returns {Summary[]}
 */
export function summariesOf(view, measure, model = view.state.model) {
  const row = currentNumber(view, measure, { model });
  if (row?.value === undefined || row.value === null) return [];
  const bounds = row.low === undefined ? {} : { low: readNumber(row.low), high: readNumber(row.high) };
  return [{ measure, ...placeOf(view, model), value: readNumber(row.value), ...bounds }];
}

/**
 * Numbers in words: name, value, interval, and the prevalence unless they are the same at every one.
 * @param {View} view
 * @param {string} name
 * @param {Summary[]} summaries
 * @returns {string}
 */
export function describeSummaries(view, name, summaries) {
  return summaries
    .map(({ measure, value, low, high }) => {
      const bounds = low === undefined || high === undefined ? null : { low, high };
      const at = isInvariant(view, measure) ? "" : ` ${describePrevalence(view)}`;
      return `${name} ${formatEstimate(value, bounds, view.payload.measures[measure].format)}${at}`;
    })
    .join(", ");
}

/**
 * The label of a model in a legend, with a measure of its scores.
 * @param {View} view
 * @param {number} at
 * @param {[string, string]} number  name and measure
 * @returns {string}
 */
export function modelLabel(view, at, [name, measure]) {
  return [modelName(view, at), describeSummaries(view, name, summariesOf(view, measure, at))]
    .filter(Boolean)
    .join(": ");
}

/**
 * The name of a model, or of the selected group.
 * @param {View} view
 * @param {number} [at]
 * @returns {string}
 */
export function modelName({ report, state }, at = state.model) {
  const { entry } = report.models[at];
  const group = state.who < 0 ? [] : [entry.names[state.who]];
  return [...(report.models.length > 1 || !group.length ? [entry.label] : []), ...group]
    .map((name) => shorten(name, LONGEST))
    .join(", ");
}

/**
 * The models that are not selected.
 * @param {View} view
 * @returns {Other[]}
 */
export function otherModels(view) {
  const { report, state } = view;
  return report.models.flatMap((sample, at) => {
    if (at === state.model) return [];
    const model = modelAt(report, at, state.prevalence);
    return [
      {
        at,
        model,
        part: state.who < 0 ? model.everybody : model.groups[state.who],
        factors: factorsFor(model.everybody, state.prevalence),
        adjustment: factorsFor(sample.everybody, state.prevalence),
        look: seriesLook(at),
        name: modelName(view, at),
      },
    ];
  });
}
