/** The state of the page in its address, so that links reproduce a view. */

import { readNumber } from "../core.js";
import { MATRIX_MODES, firstState, measureChoices } from "./view.js";

/** @typedef {import("./view.js").State} State */
/** @typedef {import("./view.js").MulticlassReport} MulticlassReport */

/**
 * The fragment of an address: settings that differ from those at first.
 * @param {MulticlassReport} report
 * @param {State} state
 * @returns {string}
 */
export function hashOf(report, state) {
  const first = firstState(report);
  const parts = new URLSearchParams();
  for (const name of /** @type {const} */ (["class", "matrix", "measure", "threshold"])) {
    if (state[name] !== first[name]) parts.set(name, String(state[name]).replace("Infinity", "inf"));
  }
  return parts.toString();
}

/**
 * The state in an address; missing and invalid settings are those at first.
 * @param {MulticlassReport} report
 * @param {string} hash
 * @returns {State}
 */
export function stateOf(report, hash) {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  const state = firstState(report);
  const at = Number(parts.get("class")?.trim() || NaN);
  if (Number.isInteger(at) && at >= 0 && at < report.names.length) state.class = at;
  const mode = parts.get("matrix") ?? "";
  if (mode in MATRIX_MODES) state.matrix = /** @type {import("./view.js").MatrixMode} */ (mode);
  const measure = parts.get("measure") ?? "";
  if (measureChoices(report).includes(measure)) state.measure = measure;
  const threshold = readNumber(parts.get("threshold")?.trim() || null);
  if (!Number.isNaN(threshold)) state.threshold = threshold;
  return state;
}
