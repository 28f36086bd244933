/** Points of a chart with their tooltips, for charts that state none. */

import { formatValue } from "./format.js";

/** @typedef {import("./chart.js").Axis} Axis */
/** @typedef {import("./chart.js").Mark} Mark */
/** @typedef {import("./chart.js").Numbers} Numbers */
/** @typedef {import("./chart.js").Probe} Probe */
/** @typedef {import("./chart.js").Spec} Spec */
/** A point of a mark. @typedef {{x: number, y: number, mark: Mark, at: number}} Point */

/** Points of a line that the keyboard visits. */
const MOST_POINTS = 60;
/** Lines that other lines are compared with. */
const REFERENCE = /\b(?:faint|quiet|hull)\b/;

/**
 * The points of all marks: dots, intervals, cells and bars, and points along lines.
 * @param {Spec} spec
 * @returns {Probe | undefined}
 */
export function defaultProbe(spec) {
  const several = spec.marks.map(pointsOf).filter((points) => points.length);
  const points = several.flat();
  if (!points.length) return undefined;
  const cells = several.length === 1 && points[0].mark.kind === "cells" ? points[0].mark : undefined;
  let start = 0;
  return {
    x: points.map(({ x }) => x),
    y: points.map(({ y }) => y),
    starts: several.map((each) => (start += each.length) - each.length),
    columns: cells && (cells.edgesX ?? []).length - 1,
    describe: (index) => describePoint(spec, points[index]),
  };
}

/**
 * @param {Mark} mark
 * @returns {Point[]}
 */
export function pointsOf(mark) {
  const { kind, look, edges = [], heights = [], edgesX = [], edgesY = [], values = [] } = mark;
  if (kind === "bars") {
    return Array.from(heights, (y, at) => ({ x: (edges[at] + edges[at + 1]) / 2, y, mark, at }));
  }
  if (kind === "cells") {
    const columns = edgesX.length - 1;
    return Array.from(values, (_, at) => {
      const [column, row] = [at % columns, Math.floor(at / columns)];
      return { x: middle(edgesX, column), y: middle(edgesY, row), mark, at };
    });
  }
  if (kind === "dots" || kind === "intervals") return vertices(mark, 1);
  if ((kind !== "line" && kind !== "step") || REFERENCE.test(look ?? "")) return [];
  return vertices(mark, Math.max(1, Math.ceil(/** @type {Numbers} */ (mark.x).length / MOST_POINTS)));
}

/**
 * Each so many points of a line, and the last one.
 * @param {Mark} mark
 * @param {number} step
 * @returns {Point[]}
 */
function vertices(mark, step) {
  const [x, y] = [/** @type {Numbers} */ (mark.x), /** @type {Numbers} */ (mark.y)];
  return Array.from(x, (_, at) => ({ x: x[at], y: y[at], mark, at })).filter(
    ({ x: right, y: above, at }) =>
      (at % step === 0 || at === x.length - 1) && Number.isFinite(right) && Number.isFinite(above),
  );
}

/**
 * The middle between two edges.
 * @param {Numbers} edges
 * @param {number} at
 * @returns {number}
 */
function middle(edges, at) {
  return (edges[at] + edges[at + 1]) / 2;
}

/**
 * The mark of a point, and both of its coordinates.
 * @param {Spec} spec
 * @param {Point} point
 * @returns {string}
 */
export function describePoint(spec, { x, y, mark, at }) {
  if (mark.describe) return mark.describe(at);
  const { kind, label, colors, values = [] } = mark;
  if (kind === "cells") {
    return [
      coordinate(spec.x, x),
      coordinate(spec.y, y),
      `${label ?? "value"}: ${formatValue(values[at], colors?.format)}`,
    ]
      .filter(Boolean)
      .join("\n");
  }
  const [across, up] = [
    coordinate(spec.x, x) + bounds(spec.x, mark.left, mark.right, at),
    coordinate(spec.y, y) + bounds(spec.y, mark.low, mark.high, at),
  ];
  return [label, ...(spec.y.categorical ? [up, across] : [across, up])].filter(Boolean).join("\n");
}

/**
 * The label of an axis and a place on it; a name stands alone.
 * @param {Axis} axis
 * @param {number} value
 * @returns {string}
 */
function coordinate({ label, format, categorical, ticks = [] }, value) {
  const text = ticks.find(({ at }) => at === value)?.text ?? formatValue(value, format);
  return categorical ? text : `${label}: ${text}`;
}

/**
 * An interval in parentheses.
 * @param {Axis} axis
 * @param {Numbers | undefined} low
 * @param {Numbers | undefined} high
 * @param {number} at
 * @returns {string}
 */
function bounds({ format }, low, high, at) {
  if (!low || !high || !Number.isFinite(low[at]) || !Number.isFinite(high[at])) return "";
  const [from, to] = [low[at], high[at]].map((value) => formatValue(value, format).replace("%", ""));
  return ` (${from} to ${to})`;
}
