/** Measures of all classes together, and averages over classes. */

import { element, makeTable } from "../dom.js";
import { formatLevel } from "../format.js";
import { valueCell } from "./per_class.js";
import { measureChoices, numberOf } from "./view.js";

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
  const averages = measureChoices(report).map((name) => [
    element("span", { title: measures[name].hint }, measures[name].label),
    ...["macro", "weighted"].map((average) =>
      valueCell(`${average} ${name}`, numberOf(report, "averages", name, { average }), measures[name].format),
    ),
  ]);
  body.replaceChildren(
    makeTable("Measures of all classes together", ["measure", `value, ${level}`], overall),
    makeTable("Averages over classes", ["average over classes", "macro", "weighted"], averages),
  );
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
    columns: ["measure", "average", "value", "low", "high"],
    rows: () => [
      ...overallMeasures(view).map((name) => lineOf(name, "", numberOf(report, "overall", name))),
      ...measureChoices(report).flatMap((name) =>
        ["macro", "weighted"].map((average) => lineOf(name, average, numberOf(report, "averages", name, { average }))),
      ),
    ],
  };
}

/**
 * @param {string} name
 * @param {string} average
 * @param {import("./view.js").Estimate} estimate
 * @returns {(string | number)[]}
 */
function lineOf(name, average, { value, low, high }) {
  return [name, average, value, low, high];
}
