/** Marks of a chart as SVG: paths in the chart, and their symbols in the legend. */

import { formatValue } from "./format.js";
import { bandPath, barsPath, cellPaths, dotsPaths, isLightCell, markerPath, pathOf, seriesOf } from "./paths.js";

/** @typedef {import("./chart.js").Mark} Mark */
/** @typedef {import("./chart.js").Numbers} Numbers */
/** @typedef {import("./paths.js").Scale} Scale */
/**
 * The area of a chart within its axes.
 * @typedef {object} Area
 * @property {number} left
 * @property {number} right
 * @property {number} top
 * @property {number} bottom
 */

const SVG = "http://www.w3.org/2000/svg";
/** Distance between two lines of text in pixels. */
const LINE = 13;
/** Size of the text of ticks and labels, as in the style sheet. */
const TEXT_SIZE = 11;
/** Steps of the color scale of cells. */
const STEPS = 10;
/** Width of a symbol in the legend, enough for each pattern of dashes. */
const SAMPLE = 34;

/**
 * An SVG element with attributes.
 * @param {string} name
 * @param {Record<string, string | number>} [attributes]
 * @returns {SVGElement}
 */
export function shape(name, attributes = {}) {
  const element = /** @type {SVGElement} */ (document.createElementNS(SVG, name));
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}

/**
 * A text element; text that is shortened has the whole in its title.
 * @param {string} text
 * @param {Record<string, string | number>} attributes
 * @param {string} [whole]
 * @returns {SVGElement}
 */
export function textElement(text, attributes, whole = text) {
  const element = shape("text", attributes);
  element.textContent = text;
  if (whole !== text) {
    const title = shape("title");
    title.textContent = whole;
    element.append(title);
  }
  return element;
}

/** Widths of texts in pixels. @type {Map<string, number>} */
const widths = new Map();
/** @type {CanvasRenderingContext2D | null | undefined} */
let canvas;

/**
 * The width of a text in the size of ticks and labels. A canvas measures it without a layout of the page.
 * @param {string} text
 * @returns {number}
 */
export function textWidth(text) {
  const known = widths.get(text);
  if (known !== undefined) return known;
  if (canvas === undefined) {
    canvas = document.createElement("canvas").getContext("2d");
    if (canvas) canvas.font = `${TEXT_SIZE}px ${getComputedStyle(document.body).fontFamily}`;
  }
  const width = canvas ? canvas.measureText(text).width : 0.6 * TEXT_SIZE * text.length;
  widths.set(text, width);
  return width;
}

/**
 * The elements of a mark.
 * @param {Mark} mark
 * @param {Scale} across
 * @param {Scale} up
 * @param {Area} area
 * @returns {SVGElement[]}
 */
export function markElements(mark, across, up, area) {
  const { x, y } = /** @type {{x: Numbers, y: Numbers}} */ (mark);
  const dots = () => {
    const [points, lines] = dotsPaths(mark, across, up);
    return [shape("path", { class: "interval", d: lines }), shape("path", { class: "dot", d: points })];
  };
  /** @type {Record<string, () => SVGElement[]>} */
  const makers = {
    line: () => [shape("path", { d: pathOf(x, y, across, up, false) })],
    step: () => [shape("path", { d: pathOf(x, y, across, up, true) })],
    band: () => [shape("path", { d: bandPath(mark, across, up) })],
    bars: () => [shape("path", { d: barsPath(mark, across, up) })],
    dots,
    intervals: dots,
    cells: () => cellElements(mark, across, up),
    rule: () => [shape("path", { d: rulePath(mark, across, up, area) })],
    text: () => {
      const [right, down] = mark.shift ?? [0, 0];
      const [left, top] = [across.to(Number(x)) + right, up.to(Number(y)) + down];
      const defined = Number.isFinite(left) && Number.isFinite(top);
      return defined ? [textElement(mark.text ?? "", { x: left, y: top, class: "note" })] : [];
    },
  };
  return makers[mark.kind]();
}

/**
 * A line across the whole chart, at a place of one axis.
 * @param {Mark} mark
 * @param {Scale} across
 * @param {Scale} up
 * @param {Area} area
 * @returns {string}
 */
function rulePath(mark, across, up, { left, right, top, bottom }) {
  if (mark.x !== undefined) {
    const place = across.to(Number(mark.x));
    return Number.isFinite(place) ? `M${place.toFixed(2)} ${bottom}V${top}` : "";
  }
  const place = up.to(Number(mark.y));
  return Number.isFinite(place) ? `M${left} ${place.toFixed(2)}H${right}` : "";
}

/**
 * Cells by the step of their value on a ground that hides the grid, and their numbers if there is room.
 * @param {Mark} mark
 * @param {Scale} across
 * @param {Scale} up
 * @returns {SVGElement[]}
 */
function cellElements(mark, across, up) {
  const cells = cellPaths(mark, across, up, STEPS).map(([look, d]) => shape("path", { class: look, d }));
  const ground = shape("path", { class: "ground", d: cells.map((cell) => cell.getAttribute("d")).join("") });
  return [ground, ...cells, ...(mark.texts === false ? [] : cellTexts(mark, across, up))];
}

/**
 * The numbers of cells; none if one has no room in its cell.
 * @param {Mark} mark
 * @param {Scale} across
 * @param {Scale} up
 * @returns {SVGElement[]}
 */
function cellTexts(mark, across, up) {
  const [edgesX, edgesY, values] = [mark.edgesX ?? [], mark.edgesY ?? [], mark.values ?? []];
  const columns = edgesX.length - 1;
  const numbers = Array.from(values, (value, at) => {
    const [column, row] = [at % columns, Math.floor(at / columns)];
    const [left, right] = [across.to(edgesX[column]), across.to(edgesX[column + 1])];
    const [bottom, top] = [up.to(edgesY[row]), up.to(edgesY[row + 1])];
    const text = mark.texts ? mark.texts[at] : formatValue(value, mark.colors?.format);
    const fits = textWidth(text) < Math.abs(right - left) - 2 && Math.abs(bottom - top) > LINE;
    return { value, text, fits, x: (left + right) / 2, y: (bottom + top) / 2 + 4 };
  }).filter(({ value }) => !Number.isNaN(value));
  if (!numbers.every(({ fits }) => fits)) return [];
  return numbers.map(({ value, text, x, y }) => {
    const look = isLightCell(mark, value, STEPS) ? "cell-text" : "cell-text inverse";
    return textElement(text, { class: look, x: x.toFixed(1), y: y.toFixed(1), "text-anchor": "middle" });
  });
}

/**
 * Labels at the ends of lines, moved apart where they would overlap, each with a line to its end if it was moved.
 * @param {Mark[]} marks
 * @param {Scale} across
 * @param {Scale} up
 * @param {Area} area
 * @returns {SVGElement[]}
 */
export function endLabels(marks, across, up, area) {
  const labels = marks.flatMap((mark) => {
    const end = mark.endLabel ? lineEnd(mark, across, up, area) : null;
    return end ? [{ mark, ...end }] : [];
  });
  const places = spread(
    labels.map(({ y }) => y),
    area.top + 5,
    area.bottom - 2,
  );
  return labels.flatMap(({ mark, x, y }, at) => {
    const [left, place] = [area.right + 6, places[at]];
    const text = textElement(mark.endLabel ?? "", { class: "end-label", x: left, y: (place + 3.5).toFixed(1) });
    const group = shape("g", { class: `line ${mark.look ?? ""}` });
    const moved = Math.abs(place - y) > 3 || left - x > 10;
    const leader = `M${(x + 1).toFixed(1)} ${y.toFixed(1)}L${left - 2} ${place.toFixed(1)}`;
    group.append(...(moved ? [shape("path", { class: "leader", d: leader })] : []), text);
    return [group];
  });
}

/**
 * The rightmost point of a line within the axes; null if there is none.
 * @param {Mark} mark
 * @param {Scale} across
 * @param {Scale} up
 * @param {Area} area
 * @returns {{x: number, y: number} | null}
 */
function lineEnd(mark, across, up, area) {
  const [xs, ys] = [/** @type {Numbers} */ (mark.x), /** @type {Numbers} */ (mark.y)];
  let end = null;
  for (let at = 0; at < xs.length; at++) {
    const [x, y] = [across.to(xs[at]), up.to(ys[at])];
    const inside = x >= area.left - 1 && x <= area.right + 1 && y >= area.top - 1 && y <= area.bottom + 1;
    if (inside && (end === null || x >= end.x)) end = { x, y };
  }
  return end;
}

/**
 * Positions at least a line apart, in the same order, and as close to the wanted ones as that allows.
 * @param {number[]} wanted
 * @param {number} least
 * @param {number} most
 * @returns {number[]}
 */
export function spread(wanted, least, most) {
  const order = wanted.map((_, at) => at).sort((one, other) => wanted[one] - wanted[other] || one - other);
  const gap = Math.min(LINE, (most - least) / Math.max(1, wanted.length - 1));
  const places = wanted.slice();
  let floor = least;
  for (const at of order) {
    places[at] = Math.max(wanted[at], floor);
    floor = places[at] + gap;
  }
  let ceiling = most;
  for (const at of order.reverse()) {
    places[at] = Math.min(places[at], ceiling);
    ceiling = places[at] - gap;
  }
  return places;
}

/**
 * The item of a mark in the legend: its symbol and its label.
 * @param {Mark} mark
 * @returns {HTMLElement}
 */
export function legendItem(mark) {
  const item = document.createElement("li");
  const width = mark.kind === "cells" ? 4 * SAMPLE : SAMPLE;
  const sample = shape("svg", {
    class: "sample",
    viewBox: `0 0 ${width} 10`,
    width,
    height: 10,
    "aria-hidden": "true",
  });
  const symbol = shape("g", { class: `${mark.kind} ${mark.look ?? ""}` });
  symbol.append(...legendSymbol(mark, width));
  sample.append(symbol);
  if (mark.kind === "cells" && mark.colors) {
    const [low, high] = mark.colors.domain.map((value) => formatValue(value, mark.colors?.format));
    item.append(`${mark.label}: ${low}`, sample, high);
  } else item.append(sample, mark.label ?? "");
  return item;
}

/**
 * The symbol of a mark in the legend.
 * @param {Mark} mark
 * @param {number} width
 * @returns {SVGElement[]}
 */
function legendSymbol(mark, width) {
  const middle = width / 2;
  if (mark.kind === "band" || mark.kind === "bars") return [shape("path", { d: `M6 1H${width - 6}V9H6Z` })];
  if (mark.kind === "dots" || mark.kind === "intervals") {
    const line = mark.kind === "dots" ? `M${middle} 0V10` : `M${middle - 11} 5H${middle + 11}`;
    return [
      shape("path", { class: "interval", d: mark.low || mark.left ? line : "" }),
      shape("path", { class: "dot", d: markerPath(middle, 5, mark.marker ?? seriesOf(mark.look)) }),
    ];
  }
  if (mark.kind === "cells") {
    const edgesX = Array.from({ length: STEPS + 1 }, (_, at) => (at * width) / STEPS);
    const [low, high] = mark.colors?.domain ?? [0, 1];
    const values = edgesX.slice(1).map((_, at) => low + ((at + 0.5) / STEPS) * (high - low));
    const same = { to: (/** @type {number} */ value) => value };
    return cellPaths({ ...mark, edgesX, edgesY: [0, 10], values }, same, same, STEPS).map(([look, d]) =>
      shape("path", { class: look, d }),
    );
  }
  return [shape("path", { d: `M0 5H${width}` })];
}
