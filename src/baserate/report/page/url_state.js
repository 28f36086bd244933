/** The state of the page in its address, so that links reproduce a view. */

import { readNumber } from "./core.js";
import { planState } from "./view.js";

/** @typedef {import("./view.js").State} State */
/** @typedef {import("./view.js").Report} Report */

const NAMES = /** @type {const} */ ([
  ...["model", "who", "threshold", "prevalence", "fp", "fn", "parity", "pin", "scale"],
  ...["cuts", "reference", "shown", "rates", "frontier"],
]);
/** The prevalence of the sample; without the setting it is that of the plan. */
const ROWS = "rows";

/**
 * The fragment of an address: settings that differ from the plan.
 * @param {Report} report
 * @param {State} state
 * @returns {string}
 */
export function hashOf(report, state) {
  const plan = { ...planState(report, state.model), model: 0 };
  const parts = new URLSearchParams();
  for (const name of NAMES) if (state[name] !== plan[name]) parts.set(name, formatSetting(state[name]));
  return parts.toString();
}

/**
 * The state in an address; missing and invalid settings are those of the plan.
 * @param {Report} report
 * @param {string} hash
 * @returns {State}
 */
export function stateOf(report, hash) {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  const model = parseIndex(parts.get("model"), report.models.length) ?? 0;
  const state = planState(report, model);
  const { entry, groups } = report.models[model];
  state.who = parseIndex(parts.get("who"), entry.groups[0] === null ? 0 : groups.length) ?? -1;
  const threshold = parseSetting(parts.get("threshold"));
  if (!Number.isNaN(threshold)) state.threshold = threshold;
  const prevalence = parts.get("prevalence");
  if (prevalence === ROWS) state.prevalence = null;
  else if (Number(prevalence) > 0 && Number(prevalence) < 1) state.prevalence = Number(prevalence);
  for (const name of /** @type {const} */ (["fp", "fn"])) {
    const cost = parseSetting(parts.get(name));
    if (cost >= 0 && Number.isFinite(cost)) state[name] = cost;
  }
  const pin = parseSetting(parts.get("pin"));
  if (!Number.isNaN(pin)) state.pin = pin;
  if (parts.get("scale") === "classes") state.scale = "classes";
  const parity = parts.get("parity");
  if (parity && isParity(report, parity, entry)) state.parity = parity;
  return { ...state, ...groupSettings(report, parts, groups.length) };
}

/**
 * Settings of groups in an address.
 * @param {Report} report
 * @param {URLSearchParams} parts
 * @param {number} count  of groups
 * @returns {Partial<State>}
 */
function groupSettings({ payload }, parts, count) {
  /** @type {Partial<State>} */
  const settings = {};
  /** @param {string} name */
  const several = (name) => parts.get(name)?.split(",") ?? [];
  const cuts = several("cuts").map(parseSetting);
  if (cuts.length === count && count > 1 && !cuts.some(Number.isNaN)) {
    Object.assign(settings, { cuts, ...(parts.get("parity") === "custom" ? { parity: "custom" } : {}) });
  }
  const reference = parseIndex(parts.get("reference"), count);
  if (reference !== null) settings.reference = reference;
  const shown = several("shown").map((each) => parseIndex(each, count));
  if (shown.length && !shown.includes(null)) settings.shown = /** @type {number[]} */ (shown);
  const rates = several("rates").filter((each) => payload.measures[each]?.format === "percent");
  if (rates.length) settings.rates = rates;
  const frontier = parts.get("frontier");
  const parities = /** @type {import("./view.js").Parity[]} */ (payload.parities);
  if (parities.some(({ id }) => id === frontier)) settings.frontier = frontier;
  return settings;
}

/**
 * Whether a parity applies to a model.
 * @param {Report} report
 * @param {string} parity
 * @param {import("./view.js").Json} entry
 * @returns {boolean}
 */
function isParity(report, parity, entry) {
  if (parity === "single") return true;
  if (parity === "planned") return Boolean(entry.cut.planned);
  const parities = /** @type {import("./view.js").Parity[]} */ (report.payload.parities);
  return entry.groups[0] !== null && (parity === "own" || parities.some(({ id }) => id === parity));
}

/**
 * @param {string | number | (string | number)[] | null} value
 * @returns {string}
 */
function formatSetting(value) {
  if (Array.isArray(value)) return value.map(formatSetting).join(",");
  if (value === null) return ROWS;
  if (value === Infinity) return "inf";
  return value === -Infinity ? "-inf" : String(value);
}

/**
 * The number of a setting; NaN where it is missing, invalid or empty, which JavaScript would convert to 0.
 * @param {string | null} text
 * @returns {number}
 */
function parseSetting(text) {
  return readNumber(text?.trim() ? text : null);
}

/**
 * @param {string | null} text
 * @param {number} length
 * @returns {number | null}
 */
function parseIndex(text, length) {
  const at = parseSetting(text);
  return Number.isInteger(at) && at >= 0 && at < length ? at : null;
}
