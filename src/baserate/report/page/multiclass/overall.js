/** Measures of all classes together. */

import { element, makeTable } from "../dom.js";
import { formatLevel } from "../format.js";
import { valueCell } from "./per_class.js";
import { numberOf } from "./view.js";

/** @typedef {import("./view.js").MulticlassView} MulticlassView */

/**
 * @param {HTMLElement} body
 * @param {MulticlassView} view
 */
export function drawOverall(body, view) {
  if (body.firstChild) return;
  const { report, payload } = view;
  const { measures } = payload;
  const level = `${formatLevel(payload.options.level)} CI`;
  const overall = overallMeasures(view).map((name) => [
    element("span", { title: measures[name].hint }, measures[name].label),
    valueCell(name, numberOf(report, "overall", name), measures[name].format),
  ]);
  body.replaceChildren(makeTable("Measures of all classes together", ["measure", `value, ${level}`], overall));
}

/**
 * @param {MulticlassView} view
 * @returns {string[]}
 */
function overallMeasures({ payload }) {
  return payload.numbers
    .filter((/** @type {import("./view.js").Json} */ number) => number.part === "overall")
    .map((/** @type {import("./view.js").Json} */ number) => number.measure);
}

/**
 * @param {MulticlassView} view
 * @returns {import("../chart.js").Table}
 */
export function overallTable(view) {
  const { report } = view;
  return {
    columns: ["measure", "value", "low", "high"],
    rows: () =>
      overallMeasures(view).map((name) => {
        const { value, low, high } = numberOf(report, "overall", name);
        return [name, value, low, high];
      }),
  };
}
