/** The state in the address of the page, so that it can be sent to somebody. */

import { readNumber } from "./core.js";
import { STRATEGIES } from "./fair.js";
import { plannedState } from "./view.js";

/** @typedef {import("./view.js").State} State */
/** @typedef {import("./view.js").Book} Book */

const NAMES = /** @type {const} */ (["model", "who", "threshold", "prevalence", "fp", "fn", "parity"]);
const ROWS = "rows";

/**
 * What differs from the plan, as it stands in an address.
 * @param {Book} book
 * @param {State} state
 * @returns {string}
 */
export function hashOf(book, state) {
  const plan = { ...plannedState(book, state.model), model: 0 };
  const parts = new URLSearchParams();
  for (const name of NAMES) if (state[name] !== plan[name]) parts.set(name, spelled(state[name]));
  return parts.toString();
}

/**
 * The state that an address tells; what it does not tell, or tells wrongly, is as planned.
 * @param {Book} book
 * @param {string} hash
 * @returns {State}
 */
export function stateOf(book, hash) {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  const model = placeIn(parts.get("model"), book.models.length) ?? 0;
  const state = plannedState(book, model);
  const { entry, groups } = book.models[model];
  state.who = placeIn(parts.get("who"), entry.groups[0] === null ? 0 : groups.length) ?? -1;
  const threshold = readNumber(parts.get("threshold"));
  if (!Number.isNaN(threshold)) state.threshold = threshold;
  const prevalence = parts.get("prevalence");
  if (prevalence === ROWS) state.prevalence = null;
  else if (Number(prevalence) > 0 && Number(prevalence) < 1) state.prevalence = Number(prevalence);
  for (const name of /** @type {const} */ (["fp", "fn"])) {
    const cost = readNumber(parts.get(name));
    if (cost >= 0 && Number.isFinite(cost)) state[name] = cost;
  }
  const parity = parts.get("parity");
  if (parity && isParity(parity, entry)) state.parity = parity;
  return state;
}

/**
 * Whether groups of a model can be treated so.
 * @param {string} parity
 * @param {import("./view.js").Json} entry
 * @returns {boolean}
 */
function isParity(parity, entry) {
  if (parity === "single") return true;
  if (parity === "planned") return Boolean(entry.cut.planned);
  return entry.groups[0] !== null && STRATEGIES.includes(parity);
}

/**
 * @param {string | number | null} value
 * @returns {string}
 */
function spelled(value) {
  if (value === null) return ROWS;
  if (value === Infinity) return "inf";
  return value === -Infinity ? "-inf" : String(value);
}

/**
 * @param {string | null} text
 * @param {number} many
 * @returns {number | null}
 */
function placeIn(text, many) {
  const at = Number(text ?? NaN);
  return Number.isInteger(at) && at >= 0 && at < many ? at : null;
}
