/** Axes of classes: names where they fit, numbers where they do not. */

import { categoryAxis } from "../paths.js";
import { shorten } from "../format.js";

/** Letters of all names together that fit across a chart. */
const MOST_LETTERS = 44;
/** Numbers across a chart, beyond which only each fifth is shown. */
const MOST_NUMBERS = 24;

/**
 * Whether the classes are numbered, since their names do not fit across a chart.
 * @param {string[]} names
 * @returns {boolean}
 */
export function isNumbered(names) {
  return names.reduce((sum, name) => sum + Math.min(24, name.length) + 1, 0) > MOST_LETTERS;
}

/**
 * @param {string[]} names
 * @param {string} label
 * @returns {import("../chart.js").Axis}
 */
export function axisAcross(names, label) {
  if (!isNumbered(names)) return categoryAxis(names, "across", label);
  const step = names.length > MOST_NUMBERS ? 5 : 1;
  const axis = categoryAxis(
    names.map((_, at) => String(at + 1)),
    "across",
    label,
  );
  const ticks = (axis.ticks ?? []).filter((_, at) => (at + 1) % step === 0 || at === 0);
  return { ...axis, categorical: false, ticks, name: "by number" };
}

/**
 * @param {string[]} names
 * @param {string} label
 * @param {boolean} [numbered]
 * @returns {import("../chart.js").Axis}
 */
export function axisUp(names, label, numbered = false) {
  const texts = names.map((name, at) => (numbered ? `${at + 1}. ${shorten(name, 40)}` : shorten(name, 40)));
  return categoryAxis(texts, "up", label);
}

/**
 * Height of a chart with a row for each class, in lines of text; rows of many classes are narrower.
 * @param {number} classes
 * @param {number} each
 * @returns {number}
 */
export function rowsFor(classes, each) {
  return classes <= 16 ? each * classes : Math.max(16 * each, 0.62 * classes);
}
