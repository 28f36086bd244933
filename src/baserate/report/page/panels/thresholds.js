/** What each cut-off would give. */

import { cutOff, percent } from "../format.js";
import { SPOKEN, technicalName } from "../words.js";
import { WITHIN_CLASSES, along, prevalenceInWords, scoreAxis } from "../view.js";

const SHOWN = ["sensitivity", "specificity", "precision", "flag_rate"];

/**
 * @param {import("../view.js").View} view
 * @returns {import("../kit.js").Spec}
 */
export function thresholdsSpec(view) {
  const { domain, x } = scoreAxis(view);
  const lines = SHOWN.map((name) => along(view, name));
  /** @param {number} index */
  const told = (index) => {
    const values = SHOWN.map((name, at) => `${technicalName(name)} ${percent(lines[at][index])}`);
    return `cut-off ${cutOff(view.model.threshold[index])}: ${values.join(", ")}`;
  };
  return {
    x: { label: "cut-off", name: "threshold", domain },
    y: { label: "share", domain: [0, 1], format: "percent" },
    marks: SHOWN.map((name, at) => ({
      kind: /** @type {const} */ ("step"),
      key: name,
      x,
      y: lines[at],
      look: `series-${at} dash-${at}`,
      label: `${SPOKEN[name].plain.toLowerCase()} (${technicalName(name)})${holds(view, name)}`,
    })),
    handle: { x, y: lines[0], index: view.index, upright: true, idle: !view.single, name: "Cut-off", told },
    told: `Measures against the cut-off, ${prevalenceInWords(view)}. ${told(view.index)}.`,
    table: {
      columns: ["threshold", ...SHOWN],
      rows: () => Array.from(view.model.threshold, (at, index) => [at, ...lines.map((line) => line[index])]),
    },
  };
}

/**
 * At which prevalence a measure holds, where that matters to it.
 * @param {import("../view.js").View} view
 * @param {string} name
 * @returns {string}
 */
function holds(view, name) {
  return WITHIN_CLASSES.includes(name) ? "" : `, ${prevalenceInWords(view)}`;
}
