/** Performance by threshold. */

import { formatThreshold, formatPercent } from "../format.js";
import { describeBoth, pinnedLine } from "../pin.js";
import { CLASS_RATES, describePrevalence, measureCurve, scoreAxis, termOf } from "../view.js";

const CURVES = ["sensitivity", "specificity", "precision", "flag_rate"];

/**
 * @param {import("../view.js").View} view
 * @returns {import("../chart.js").Spec | null} null for predicted labels, which have no threshold
 */
export function thresholdsSpec(view) {
  if (view.model.entry.labels) return null;
  const { domain, x } = scoreAxis(view);
  const lines = CURVES.map((name) => measureCurve(view, name));
  /** @param {number} index */
  const describe = (index) => {
    const values = CURVES.map((name, at) => `${termOf(view, name)} ${formatPercent(lines[at][index])}`);
    return `threshold ${formatThreshold(view.model.threshold[index])}: ${values.join(", ")}`;
  };
  return {
    x: { label: "Threshold", domain },
    y: { label: "Rate", domain: [0, 1], format: "percent" },
    marks: [
      ...CURVES.map((name, at) => ({
        kind: /** @type {const} */ ("step"),
        key: name,
        x,
        y: lines[at],
        look: `series-${at} dash-${at}`,
        label: `${termOf(view, name)}${prevalenceNote(view, name)}`,
      })),
      ...pinnedLine(view, x, { domain, top: 1 }),
    ],
    handle: { x, y: lines[0], index: view.index, upright: true, idle: !view.single, name: "Threshold", describe },
    description: `Performance by threshold, ${describePrevalence(view)}. ${describeBoth(view, describe)}.`,
    table: {
      columns: ["threshold", ...CURVES],
      rows: () => Array.from(view.model.threshold, (at, index) => [at, ...lines.map((line) => line[index])]),
    },
  };
}

/**
 * The prevalence of a measure that depends on it.
 * @param {import("../view.js").View} view
 * @param {string} name
 * @returns {string}
 */
function prevalenceNote(view, name) {
  return CLASS_RATES.includes(name) ? "" : `, ${describePrevalence(view)}`;
}
