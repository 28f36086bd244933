/** Confusion matrix as a heat map. */

import { formatPercent, formatValue, shorten } from "../format.js";
import { axisAcross, axisUp, isNumbered, rowsFor } from "./axes.js";
import { MATRIX_MODES, matrixCells, remember } from "./view.js";

/** Classes beyond which cells have no numbers. */
const MOST_TEXTS = 20;

/**
 * @param {import("./view.js").MulticlassView} view
 * @returns {import("../chart.js").Spec}
 */
export function confusionSpec(view) {
  const { report, state, names } = view;
  const { values, texts, edges, colors } = heatMap(view);
  const many = names.length;
  const numbered = isNumbered(names);
  const box = remember(report, `box ${state.class}`, () => selectionBoxes(state.class, many));
  return {
    x: axisAcross(names, "Predicted class"),
    y: axisUp(names, "True class", numbered),
    rows: Math.max(12, rowsFor(many, 1.5)),
    marks: [
      {
        kind: "cells",
        key: "cells",
        edgesX: edges,
        edgesY: edges,
        values,
        texts: many > MOST_TEXTS ? false : texts,
        colors,
        label: MATRIX_MODES[state.matrix].toLowerCase(),
      },
      {
        kind: "line",
        key: "row",
        ...box.row,
        look: "accent strong",
        label: `selected: ${shorten(names[state.class], 30)}`,
      },
      { kind: "line", key: "column", ...box.column, look: "accent dashed" },
    ],
    probe: cellProbe(view),
    description: `Confusion matrix of ${many} classes, true classes in rows. ${describeCell(view, state.class, state.class)}.`,
    table: {
      columns: ["true class", ...names],
      rows: () => matrixCells(report, state.matrix).map((row, at) => [names[at], ...row]),
    },
  };
}

/**
 * Colors and texts of the cells, row by row.
 * @param {import("./view.js").MulticlassView} view
 */
function heatMap({ report, state, names }) {
  return remember(report, `heat map ${state.matrix}`, () => {
    const shares = state.matrix !== "count";
    const values = matrixCells(report, state.matrix).flat();
    const most = Math.max(...values.filter((value) => !Number.isNaN(value)), 1e-300);
    const text = (/** @type {number} */ value) =>
      shares ? `${(100 * value).toFixed(0)}%` : formatValue(value, "count");
    const edges = Array.from({ length: names.length + 1 }, (_, at) => at - 0.5);
    /** @type {import("../chart.js").Colors} */
    const colors = { domain: [0, shares ? 1 : most], format: shares ? "percent" : "count" };
    return { values, texts: values.map((value) => (value > 0 ? text(value) : "")), edges, colors };
  });
}

/**
 * Outlines of the row and of the column of a class.
 * @param {number} at
 * @param {number} many
 */
function selectionBoxes(at, many) {
  const [low, high] = [at - 0.5, at + 0.5];
  const [first, last] = [-0.5, many - 0.5];
  return {
    row: { x: [first, last, last, first, first], y: [low, low, high, high, low] },
    column: { x: [low, low, high, high, low], y: [first, last, last, first, first] },
  };
}

/**
 * The cells in the order of the keyboard: from the lowest row upwards.
 * @param {import("./view.js").MulticlassView} view
 * @returns {import("../chart.js").Probe}
 */
function cellProbe(view) {
  const many = view.names.length;
  const places = remember(view.report, "places", () => ({
    x: Array.from({ length: many * many }, (_, at) => at % many),
    y: Array.from({ length: many * many }, (_, at) => many - 1 - Math.floor(at / many)),
  }));
  return { ...places, columns: many, describe: (at) => describeCell(view, places.y[at], places.x[at]) };
}

/**
 * The true class of a point of the probe.
 * @param {import("./view.js").MulticlassView} view
 * @param {number} at
 * @returns {number}
 */
export function classOfCell({ names }, at) {
  return names.length - 1 - Math.floor(at / names.length);
}

/**
 * A cell in words.
 * @param {import("./view.js").MulticlassView} view
 * @param {number} row
 * @param {number} column
 * @returns {string}
 */
function describeCell({ report, names, payload }, row, column) {
  const [count, ofTrue, ofPredicted] = /** @type {import("./view.js").MatrixMode[]} */ (["count", "row", "column"]).map(
    (mode) => matrixCells(report, mode)[row][column],
  );
  return [
    `true ${shorten(names[row], 40)}, predicted ${shorten(names[column], 40)}`,
    `${formatValue(count, "count")} ${payload.data.weighted ? "by weight" : count === 1 ? "row" : "rows"}`,
    `${formatPercent(ofTrue)} of the true class`,
    `${formatPercent(ofPredicted)} of the predicted class`,
  ].join("\n");
}
