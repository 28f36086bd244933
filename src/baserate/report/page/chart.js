/** Charts: a spec, which is plain data, becomes an SVG. Only parts that differ from the last spec are drawn again. */

import { Interaction } from "./interaction.js";
import { endLabels, legendItem, markElements, shape, textElement, textWidth } from "./marks.js";
import { fitText, scaleOf } from "./paths.js";

/**
 * @typedef {object} Axis
 * @property {string} label
 * @property {string} [name]  unit or synonym, in parentheses
 * @property {[number, number]} domain
 * @property {"linear" | "log" | "logit"} [scale]
 * @property {"percent" | "number"} [format]
 * @property {{at: number, text: string}[]} [ticks]  in place of the default ones
 * @property {boolean} [categorical]  whether the ticks are names; see categoryAxis
 * @property {string[]} [notes]       text to the right of each name of the vertical axis
 */
/** @typedef {ArrayLike<number>} Numbers */
/**
 * The color scale of cells. Values from the lowest to the highest become darker; from a middle they do so on both sides.
 * @typedef {object} Colors
 * @property {[number, number]} domain
 * @property {number} [middle]
 * @property {"percent" | "number" | "count"} [format]
 */
/**
 * What a chart draws. By kind:
 * line, step: x, y, and perhaps endLabel. band: x, low, high. bars: edges, heights. rule: x or y. text: x, y, text.
 * dots: x, y, and perhaps low, high (upwards) or left, right (across). intervals: x, y, left, right.
 * cells: edgesX, edgesY, colors, and values in rows from the first of edgesY on, NaN for none.
 * @typedef {object} Mark
 * @property {"line" | "step" | "band" | "bars" | "dots" | "intervals" | "cells" | "rule" | "text"} kind
 * @property {string} key
 * @property {string} [look]     classes of the style sheet, such as those of seriesLook
 * @property {string} [label]    text in the legend; of cells, the name of the values
 * @property {string} [endLabel] text at the right end of a line
 * @property {number} [marker]   shape of dots, in place of that of the series
 * @property {Numbers | number} [x]
 * @property {Numbers | number} [y]
 * @property {Numbers} [low]
 * @property {Numbers} [high]
 * @property {Numbers} [left]
 * @property {Numbers} [right]
 * @property {Numbers} [edges]
 * @property {Numbers} [heights]
 * @property {Numbers} [edgesX]
 * @property {Numbers} [edgesY]
 * @property {Numbers} [values]
 * @property {Colors} [colors]
 * @property {string[] | false} [texts]  of cells in place of their numbers; false for none
 * @property {string} [text]
 * @property {[number, number]} [shift]  of text, in pixels to the right and downwards
 * @property {(index: number) => string} [describe]  tooltip of a point, in place of the default one
 */
/**
 * Points with a tooltip. Without a probe or a handle, a chart describes the points of its marks.
 * @typedef {object} Probe
 * @property {Numbers} x
 * @property {Numbers} y
 * @property {boolean} [upright]  whether only the horizontal distance counts; a handle is then a vertical line
 * @property {number} [columns]   points in a row of a grid, which the up and down arrows move by
 * @property {number[]} [starts]  first point of each mark, which the page keys move by
 * @property {boolean} [picks]    whether a click or Enter selects a point, although none is a handle
 * @property {(index: number) => string} describe
 */
/**
 * Points of which one is selected, and can be dragged.
 * @typedef {Probe & {index: number, name: string, idle?: boolean}} Handle
 */
/**
 * @typedef {object} Table
 * @property {string[]} columns
 * @property {() => (number | string)[][]} rows
 */
/**
 * A number that a legend, a title, a body or a description states, so that tests can compare panels with each other and
 * with Python. `window.baserate.numbers()` lists those of all panels, each with the id of its `panel`.
 * @typedef {object} Summary
 * @property {string} measure             its name in Python
 * @property {number | null} prevalence   at which the number holds; null: in the sample
 * @property {number} model               index of the model
 * @property {number} value
 * @property {number} [low]
 * @property {number} [high]
 * @property {number} [group]             index of the group; absent for everybody
 * @property {number} [threshold]         of numbers that have one
 * @property {number} [other]             of differences, index of the model that is subtracted
 */
/**
 * @typedef {object} Spec
 * @property {Axis} x
 * @property {Axis} y
 * @property {Mark[]} marks
 * @property {Handle} [handle]
 * @property {Probe} [probe]  of a chart without a handle
 * @property {number} [shape]  height over width
 * @property {number} [height] greatest height in pixels
 * @property {number} [rows]   in place of a shape: lines of text that the vertical axis has room for
 * @property {string} description  for screen readers
 * @property {Table} table
 * @property {Summary[]} [numbers]  that legend, title or description state
 */
/** @typedef {import("./paths.js").Scale} Scale */
/** @typedef {import("./marks.js").Area} Area */

const [DEFAULT_WIDTH, DEFAULT_SHAPE, LEAST_WIDTH] = [400, 0.84, 240];
/** Distances in pixels: at the top, between a tick and its axis, for the title of an axis, and of one row. */
const [TOP, TICK_GAP, TITLE, ROW] = [10, 5, 19, 24];
/** Width of bold text relative to that of normal text. */
const BOLD = 1.12;
/** Least margins, and the largest part of the width that names or labels take. */
const [LEAST_LEFT, LEAST_RIGHT, MOST_NAMES, MOST_LABELS, MOST_NOTES] = [40, 14, 0.4, 0.3, 0.42];

/** A chart: draws specs, and reports the point that a user selects. */
export class Chart {
  /**
   * @param {HTMLElement} holder
   * @param {string} id
   * @param {(index: number) => void} onPick
   */
  constructor(holder, id, onPick) {
    this.onPick = onPick;
    this.holder = holder;
    this.svg = shape("svg", { class: "chart", role: "group" });
    this.width = DEFAULT_WIDTH;
    this.height = DEFAULT_WIDTH * DEFAULT_SHAPE;
    /** @type {Area} */
    this.area = { left: 0, right: 0, top: 0, bottom: 0 };
    this.axes = shape("g", { class: "axes", "aria-hidden": "true" });
    this.marks = shape("g", { class: "marks", "aria-hidden": "true", "clip-path": `url(#clip-${id})` });
    this.labels = shape("g", { class: "labels", "aria-hidden": "true" });
    this.clip = shape("rect");
    this.legend = document.createElement("ul");
    this.legend.className = "legend";
    const clip = shape("clipPath", { id: `clip-${id}` });
    clip.append(this.clip);
    this.svg.append(clip, this.axes, this.marks, this.labels);
    holder.append(this.svg, this.legend);
    /** @type {Map<string, {element: SVGElement, mark: Mark, scales: string}>} */
    this.elements = new Map();
    /** @type {Spec | undefined} */
    this.spec = undefined;
    this.axesKey = "";
    this.legendKey = "";
    this.interaction = new Interaction(this);
    this.fitWidth();
  }

  /**
   * Give the chart the width of its container, so that its text is never scaled. Reading the width on every draw would
   * force a layout of the page each time.
   */
  fitWidth() {
    new ResizeObserver(([{ contentRect }]) => {
      const width = Math.max(LEAST_WIDTH, Math.round(contentRect.width));
      if (!contentRect.width || width === this.width) return;
      this.width = width;
      if (this.spec) this.draw(this.spec);
    }).observe(this.holder);
  }

  /**
   * Draw the parts that changed.
   * @param {Spec} spec
   */
  draw(spec) {
    this.spec = spec;
    this.layOut(spec);
    const box = `0 0 ${this.width} ${this.height}`;
    // The browser lays out the whole chart again after an attribute is set, even if its value is the same.
    if (this.svg.getAttribute("viewBox") !== box) this.svg.setAttribute("viewBox", box);
    this.svg.setAttribute("aria-label", spec.description);
    this.drawAxes(spec);
    this.drawMarks(spec.marks);
    this.drawEndLabels(spec.marks);
    this.drawLegend(spec.marks);
    this.interaction.draw(spec);
  }

  /**
   * The size of the chart, its margins and its scales. Names and labels get the margins that they need.
   * @param {Spec} spec
   */
  layOut(spec) {
    const { width } = this;
    const ends = spec.marks.flatMap(({ endLabel }) => (endLabel ? [BOLD * textWidth(endLabel) + 10] : []));
    const ticksUp = scaleOf(spec.y, [1, 0]).ticks.map(({ text }) => textWidth(text));
    const ticksAcross = scaleOf(spec.x, [0, 1]).ticks.map(({ text }) => textWidth(text));
    const title = spec.y.label ? TITLE : 3;
    const names = Math.min(Math.max(0, ...ticksUp), MOST_NAMES * width);
    const left = Math.ceil(Math.max(LEAST_LEFT, title + names + TICK_GAP));
    const lastTick = spec.x.categorical ? 0 : (ticksAcross.at(-1) ?? 0) / 2 + 2;
    const notes = (spec.y.notes ?? []).map((text) => textWidth(text) + 10);
    const beside = Math.max(
      Math.min(Math.max(0, ...ends), MOST_LABELS * width),
      Math.min(Math.max(0, ...notes), MOST_NOTES * width),
    );
    const right = Math.ceil(Math.max(LEAST_RIGHT, lastTick, beside));
    const below = spec.x.label ? 42 : 24;
    const tall = spec.rows ? TOP + spec.rows * ROW + below : Math.round(width * (spec.shape ?? DEFAULT_SHAPE));
    this.height = Math.min(tall, spec.height ?? Infinity);
    this.area = { left, right: width - right, top: TOP, bottom: this.height - below };
    this.across = scaleOf(spec.x, [left, width - right]);
    this.up = scaleOf(spec.y, [this.height - below, TOP]);
  }

  /** @param {Spec} spec */
  drawAxes(spec) {
    const [across, up] = this.scales();
    const texts = [
      ...across.ticks.map(({ text }) => text),
      ...up.ticks.map(({ text }) => text),
      ...(spec.y.notes ?? []),
    ];
    const key = [across.key, up.key, spec.x.label, spec.y.label, spec.x.name, spec.y.name, ...texts].join("|");
    if (key === this.axesKey) return;
    this.axesKey = key;
    const { left, right, top, bottom } = this.area;
    const inside = { x: left, y: top - 1, width: right - left + 1, height: bottom - top + 2 };
    for (const [name, value] of Object.entries(inside)) this.clip.setAttribute(name, String(value));
    const middle = (top + bottom) / 2;
    this.axes.replaceChildren(
      ...up.ticks.flatMap((tick) => this.tickUp(tick)),
      ...this.ticksAcross(spec.x),
      ...(spec.y.notes ?? []).map((text, at) => this.note(text, up.ticks[at].at)),
      shape("path", { class: "frame", d: `M${left} ${top}V${bottom}H${right}` }),
      axisTitle(spec.x, { x: (left + right) / 2, y: bottom + 31, "text-anchor": "middle" }),
      axisTitle(spec.y, { x: 11, y: middle, "text-anchor": "middle", transform: `rotate(-90 11 ${middle})` }),
    );
  }

  /**
   * A line of the grid from left to right, and its number or name.
   * @param {{at: number, text: string}} tick
   * @returns {SVGElement[]}
   */
  tickUp({ at, text }) {
    const { left, right } = this.area;
    const place = this.scales()[1].to(at);
    const short = fitText(text, left - TICK_GAP - (this.spec?.y.label ? TITLE : 3) + 1, textWidth);
    return [
      shape("path", { class: "grid", d: `M${left} ${place}H${right}` }),
      textElement(short, { class: "tick", x: left - TICK_GAP, y: place + 3.5, "text-anchor": "end" }, text),
    ];
  }

  /**
   * The text to the right of a name.
   * @param {string} text
   * @param {number} at
   * @returns {SVGElement}
   */
  note(text, at) {
    const { right } = this.area;
    const attributes = { class: "tick", x: right + 8, y: this.scales()[1].to(at) + 3.5 };
    return textElement(fitText(text, this.width - right - 8, textWidth), attributes, text);
  }

  /**
   * Lines of the grid from top to bottom, and their numbers or names. Numbers that would overlap are left out.
   * @param {Axis} axis
   * @returns {SVGElement[]}
   */
  ticksAcross({ categorical }) {
    const [{ ticks, to }] = this.scales();
    const { left, right, top, bottom } = this.area;
    const room = (right - left) / Math.max(1, ticks.length) - 4;
    let free = -Infinity;
    return ticks.flatMap(({ at, text }) => {
      const place = to(at);
      const short = categorical ? fitText(text, room, textWidth) : text;
      const half = textWidth(short) / 2;
      const hidden = place - half < free;
      if (!hidden) free = place + half + 3;
      const attributes = { class: "tick", x: place, y: bottom + 14, "text-anchor": "middle" };
      return [
        shape("path", { class: "grid", d: `M${place} ${top}V${bottom}` }),
        ...(hidden ? [] : [textElement(short, attributes, text)]),
      ];
    });
  }

  /** @param {Mark[]} marks */
  drawMarks(marks) {
    const [across, up] = this.scales();
    const scales = `${across.key}|${up.key}`;
    const keys = new Set(marks.map((mark) => mark.key));
    for (const [key, { element }] of this.elements) {
      if (keys.has(key)) continue;
      element.remove();
      this.elements.delete(key);
    }
    for (const mark of marks) {
      const before = this.elements.get(mark.key);
      if (before && before.scales === scales && isSame(before.mark, mark)) continue;
      const element = before?.element ?? shape("g");
      element.setAttribute("class", `${mark.kind} ${mark.look ?? ""}`);
      element.replaceChildren(...markElements(mark, across, up, this.area));
      this.elements.set(mark.key, { element, mark, scales });
    }
    const order = marks.map((mark) => /** @type {{element: SVGElement}} */ (this.elements.get(mark.key)).element);
    if (order.some((element, at) => this.marks.children[at] !== element)) this.marks.replaceChildren(...order);
  }

  /** @param {Mark[]} marks */
  drawEndLabels(marks) {
    const labeled = marks.filter((mark) => mark.endLabel);
    if (!labeled.length && !this.labels.firstChild) return;
    const [across, up] = this.scales();
    const room = (this.width - this.area.right - 8) / BOLD;
    const fitted = labeled.map((mark) => ({ ...mark, endLabel: fitText(mark.endLabel ?? "", room, textWidth) }));
    this.labels.replaceChildren(...endLabels(fitted, across, up, this.area));
  }

  /** @param {Mark[]} marks */
  drawLegend(marks) {
    const entries = marks.filter((mark) => mark.label);
    const key = entries.map(({ kind, look, label, colors }) => `${kind} ${look} ${label} ${colors?.domain}`).join("|");
    if (key === this.legendKey) return;
    this.legendKey = key;
    this.legend.replaceChildren(...entries.map(legendItem));
  }

  /** The matrix from the coordinates of the chart to those of the window. @returns {DOMMatrix | null} */
  toWindow() {
    return /** @type {SVGSVGElement} */ (/** @type {unknown} */ (this.svg)).getScreenCTM();
  }

  /** @returns {[Scale, Scale]} */
  scales() {
    return [/** @type {Scale} */ (this.across), /** @type {Scale} */ (this.up)];
  }
}

/** Properties that a mark is drawn by. */
const DRAWN = /** @type {(keyof Mark)[]} */ ([
  ...["kind", "look", "marker", "x", "y", "low", "high", "left", "right"],
  ...["edges", "heights", "edgesX", "edgesY", "values", "texts", "text"],
]);

/**
 * Whether a mark is unchanged: identical arrays and equal text.
 * @param {Mark} before
 * @param {Mark} after
 * @returns {boolean}
 */
function isSame(before, after) {
  const [colors, others] = [before, after].map((mark) => JSON.stringify(mark.colors));
  return colors === others && DRAWN.every((name) => before[name] === after[name]);
}

/**
 * The title of an axis, with its unit or synonym in parentheses.
 * @param {Axis} axis
 * @param {Record<string, string | number>} attributes
 * @returns {SVGElement}
 */
function axisTitle(axis, attributes) {
  const element = textElement(axis.label, { class: "axis", ...attributes });
  if (axis.name) {
    const technical = shape("tspan", { class: "technical" });
    technical.textContent = ` (${axis.name})`;
    element.append(technical);
  }
  return element;
}
