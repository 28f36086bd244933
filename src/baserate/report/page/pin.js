/** Threshold A, which is pinned, beside the current threshold, B. */

import { formatThreshold } from "./format.js";

/** @typedef {import("./chart.js").Mark} Mark */
/** @typedef {import("./chart.js").Numbers} Numbers */
/** @typedef {import("./view.js").View} View */

/** Position of letters relative to their point, and to the top of their line, in pixels. */
const [BESIDE, BELOW] = /** @type {[number, number][]} */ ([
  [9, -7],
  [4, 12],
]);
/** Part of an axis from which on letters stand to the left of their line. */
const FAR = 0.93;

/**
 * The name of threshold A.
 * @param {View} view
 * @returns {string}
 */
export function pinnedName({ model, pinned }) {
  return `A: threshold ${formatThreshold(pinned ? model.threshold[pinned.index] : NaN)}`;
}

/**
 * A text for the current threshold that starts with B where another one is pinned.
 * @param {View} view
 * @param {string} text
 * @returns {string}
 */
export function currentName({ pinned }, text) {
  return pinned ? `B: ${text}` : text;
}

/**
 * A description of the current threshold, and of threshold A.
 * @param {View} view
 * @param {(index: number) => string} describe
 * @returns {string}
 */
export function describeBoth(view, describe) {
  const { index, pinned } = view;
  return pinned ? `B: ${describe(index)}. A: ${describe(pinned.index)}` : describe(index);
}

/**
 * Threshold A as a vertical line on an axis of scores, with letters at the top.
 * @param {View} view
 * @param {Numbers} x
 * @param {{domain: [number, number], top: number}} axes
 * @returns {Mark[]}
 */
export function pinnedLine(view, x, { domain, top }) {
  if (!view.pinned) return [];
  const at = x[view.pinned.index];
  /** @param {number} place */
  const isFar = (place) => (place - domain[0]) / (domain[1] - domain[0]) > FAR;
  const letter = (/** @type {number} */ place) => ({
    x: place,
    y: top,
    shift: /** @type {[number, number]} */ (isFar(place) ? [-BELOW[0], BELOW[1]] : BELOW),
    look: isFar(place) ? "letter end" : "letter",
  });
  return [
    { kind: "rule", key: "pinned", x: at, look: "pinned", label: pinnedName(view) },
    ...letters(view, letter(at), letter(x[view.index])),
  ];
}

/**
 * Threshold A as a hollow point of a curve, with letters beside the points.
 * @param {View} view
 * @param {Numbers} x
 * @param {Numbers} y
 * @returns {Mark[]}
 */
export function pinnedPoint(view, x, y) {
  if (!view.pinned) return [];
  const [a, b] = [view.pinned.index, view.index].map((at) => ({ x: x[at], y: y[at], shift: BESIDE, look: "letter" }));
  return [
    { kind: "dots", key: "pinned", x: [a.x], y: [a.y], look: "pinned", label: pinnedName(view) },
    ...letters(view, a, b),
  ];
}

/**
 * The letters A and B; one text where both thresholds are the same, and no B where groups have thresholds of their own.
 * @param {View} view
 * @param {Partial<Mark>} a
 * @param {Partial<Mark>} b
 * @returns {Mark[]}
 */
function letters({ pinned, index, single }, a, b) {
  const same = single && pinned?.index === index;
  return [
    { ...a, kind: "text", key: "letter A", text: same ? "A = B" : "A" },
    ...(single && !same ? [{ ...b, kind: /** @type {const} */ ("text"), key: "letter B", text: "B" }] : []),
  ];
}
