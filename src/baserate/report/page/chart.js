/** Charts: a spec, which is plain data, becomes an SVG. Only parts that differ from the last spec are drawn again. */

import { bandPath, barsPath, dotsPaths, pathOf, scaleOf } from "./paths.js";

/**
 * @typedef {object} Axis
 * @property {string} label
 * @property {string} [name]  unit or synonym, in parentheses
 * @property {[number, number]} domain
 * @property {"linear" | "log"} [scale]
 * @property {"percent" | "number"} [format]
 * @property {{at: number, text: string}[]} [ticks]  in place of the default ones
 */
/** @typedef {ArrayLike<number>} Numbers */
/**
 * @typedef {object} Mark
 * @property {"line" | "step" | "band" | "bars" | "dots" | "rule" | "text"} kind
 * @property {string} key
 * @property {string} [look]     classes of the style sheet
 * @property {string} [label]    text in the legend
 * @property {Numbers | number} [x]
 * @property {Numbers | number} [y]
 * @property {Numbers} [low]
 * @property {Numbers} [high]
 * @property {Numbers} [edges]
 * @property {Numbers} [heights]
 * @property {string} [text]
 */
/**
 * Points with a tooltip.
 * @typedef {object} Probe
 * @property {Numbers} x
 * @property {Numbers} y
 * @property {boolean} [upright]  whether only the horizontal distance counts; a handle is then a vertical line
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
 * @typedef {object} Spec
 * @property {Axis} x
 * @property {Axis} y
 * @property {Mark[]} marks
 * @property {Handle} [handle]
 * @property {Probe} [probe]  of a chart without a handle
 * @property {number} [shape]  height over width
 * @property {string} description  for screen readers
 * @property {Table} table
 */
/** @typedef {import("./paths.js").Scale} Scale */

const SPACE = { left: 56, right: 20, top: 10, bottom: 42 };
const [DEFAULT_WIDTH, DEFAULT_SHAPE, LEAST_WIDTH] = [400, 0.84, 240];
const SVG = "http://www.w3.org/2000/svg";
const PAGE_STEP = 20;
/** Half the width of a fingertip in pixels. */
const FINGER = 28;

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
    this.axes = shape("g", { class: "axes", "aria-hidden": "true" });
    this.marks = shape("g", { class: "marks", "aria-hidden": "true", "clip-path": `url(#clip-${id})` });
    this.clip = shape("rect");
    this.grip = shape("g", { class: "grip" });
    this.tip = document.createElement("p");
    this.tip.className = "tip";
    this.tip.hidden = true;
    this.legend = document.createElement("ul");
    this.legend.className = "legend";
    const clip = shape("clipPath", { id: `clip-${id}` });
    clip.append(this.clip);
    this.svg.append(clip, this.axes, this.marks, this.grip);
    holder.append(this.svg, this.tip, this.legend);
    /** @type {Map<string, {element: SVGElement, mark: Mark, scales: string}>} */
    this.elements = new Map();
    /** @type {Spec | undefined} */
    this.spec = undefined;
    this.axesKey = "";
    this.legendKey = "";
    this.dragging = false;
    this.listen();
  }

  /**
   * Draw the parts that changed.
   * @param {Spec} spec
   */
  draw(spec) {
    this.spec = spec;
    this.height = Math.round(this.width * (spec.shape ?? DEFAULT_SHAPE));
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
    this.svg.setAttribute("aria-label", spec.description);
    this.across = scaleOf(spec.x, [SPACE.left, this.width - SPACE.right]);
    this.up = scaleOf(spec.y, [this.height - SPACE.bottom, SPACE.top]);
    this.drawAxes(spec);
    this.drawMarks(spec.marks);
    this.drawLegend(spec.marks);
    this.drawGrip(spec);
  }

  /** @param {Spec} spec */
  drawAxes(spec) {
    const [across, up] = this.scales();
    const texts = [...across.ticks, ...up.ticks].map((tick) => tick.text);
    const key = [across.key, up.key, spec.x.label, spec.y.label, spec.x.name, spec.y.name, ...texts].join("|");
    if (key === this.axesKey) return;
    this.axesKey = key;
    const [right, bottom] = [this.width - SPACE.right, this.height - SPACE.bottom];
    const { left, top } = SPACE;
    const inside = { x: left, y: top - 1, width: right - left + 1, height: bottom - top + 2 };
    for (const [name, value] of Object.entries(inside)) this.clip.setAttribute(name, String(value));
    const middle = (top + bottom) / 2;
    this.axes.replaceChildren(
      ...up.ticks.flatMap((tick) => this.tickUp(tick)),
      ...across.ticks.flatMap((tick) => this.tickAcross(tick)),
      shape("path", { class: "frame", d: `M${left} ${top}V${bottom}H${right}` }),
      axisTitle(spec.x, { x: (left + right) / 2, y: bottom + 31, "text-anchor": "middle" }),
      axisTitle(spec.y, { x: 11, y: middle, "text-anchor": "middle", transform: `rotate(-90 11 ${middle})` }),
    );
  }

  /**
   * A line of the grid from left to right, and its number.
   * @param {{at: number, text: string}} tick
   * @returns {SVGElement[]}
   */
  tickUp({ at, text }) {
    const place = this.scales()[1].to(at);
    return [
      shape("path", { class: "grid", d: `M${SPACE.left} ${place}H${this.width - SPACE.right}` }),
      textElement(text, { class: "tick", x: SPACE.left - 5, y: place + 3.5, "text-anchor": "end" }),
    ];
  }

  /**
   * A line of the grid from top to bottom, and its number.
   * @param {{at: number, text: string}} tick
   * @returns {SVGElement[]}
   */
  tickAcross({ at, text }) {
    const [place, bottom] = [this.scales()[0].to(at), this.height - SPACE.bottom];
    return [
      shape("path", { class: "grid", d: `M${place} ${SPACE.top}V${bottom}` }),
      textElement(text, { class: "tick", x: place, y: bottom + 14, "text-anchor": "middle" }),
    ];
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
      this.drawMark(element, mark);
      this.elements.set(mark.key, { element, mark, scales });
    }
    const order = marks.map((mark) => /** @type {{element: SVGElement}} */ (this.elements.get(mark.key)).element);
    if (order.some((element, at) => this.marks.children[at] !== element)) this.marks.replaceChildren(...order);
  }

  /**
   * @param {SVGElement} element
   * @param {Mark} mark
   */
  drawMark(element, mark) {
    const [across, up] = this.scales();
    element.setAttribute("class", `${mark.kind} ${mark.look ?? ""}`);
    const numbers = /** @type {{x: Numbers, y: Numbers}} */ (mark);
    /** @type {Record<string, () => SVGElement[]>} */
    const makers = {
      line: () => [shape("path", { d: pathOf(numbers.x, numbers.y, across, up, false) })],
      step: () => [shape("path", { d: pathOf(numbers.x, numbers.y, across, up, true) })],
      band: () => [shape("path", { d: bandPath(mark, across, up) })],
      bars: () => [shape("path", { d: barsPath(mark, across, up) })],
      dots: () => {
        const [dots, lines] = dotsPaths(mark, across, up);
        return [shape("path", { class: "interval", d: lines }), shape("path", { class: "dot", d: dots })];
      },
      rule: () => [shape("path", { d: this.rulePath(mark) })],
      text: () => [
        textElement(mark.text ?? "", { x: across.to(Number(mark.x)), y: up.to(Number(mark.y)), class: "note" }),
      ],
    };
    element.replaceChildren(...makers[mark.kind]());
  }

  /**
   * A line across the whole chart, at a place of one axis.
   * @param {Mark} mark
   * @returns {string}
   */
  rulePath(mark) {
    const [across, up] = this.scales();
    const [low, high] = /** @type {Spec} */ (this.spec).y.domain;
    if (mark.x !== undefined) {
      const right = across.to(Number(mark.x));
      return Number.isFinite(right) ? `M${right.toFixed(1)} ${up.to(low)}V${up.to(high)}` : "";
    }
    return `M${SPACE.left} ${up.to(Number(mark.y)).toFixed(1)}H${this.width - SPACE.right}`;
  }

  /** @param {Mark[]} marks */
  drawLegend(marks) {
    const entries = marks.filter((mark) => mark.label);
    const key = entries.map((mark) => `${mark.kind} ${mark.look} ${mark.label}`).join("|");
    if (key === this.legendKey) return;
    this.legendKey = key;
    this.legend.replaceChildren(
      ...entries.map((mark) => {
        const item = document.createElement("li");
        const sample = shape("svg", { class: "sample", viewBox: "0 0 22 10", "aria-hidden": "true" });
        const symbol = shape("g", { class: `${mark.kind} ${mark.look ?? ""}` });
        symbol.append(...legendSample(mark));
        sample.append(symbol);
        item.append(sample, mark.label ?? "");
        return item;
      }),
    );
  }

  /** @param {Spec} spec */
  drawGrip(spec) {
    const { handle } = spec;
    this.svg.classList.toggle("picks", Boolean(handle));
    if (!handle) {
      this.grip.replaceChildren();
      return;
    }
    if (!this.grip.firstChild) this.makeGrip();
    this.grip.classList.toggle("idle", Boolean(handle.idle));
    const [right, above] = this.position(handle, handle.index);
    const [low, high] = spec.y.domain;
    const [, up] = this.scales();
    const line = handle.upright ? `M${right.toFixed(1)} ${up.to(low)}V${up.to(high)}` : "";
    this.grip.querySelector(".stem")?.setAttribute("d", line);
    for (const ring of this.grip.querySelectorAll("circle")) {
      ring.setAttribute("cx", right.toFixed(1));
      ring.setAttribute("cy", above.toFixed(1));
    }
    const attributes = {
      "aria-label": handle.name,
      "aria-valuemax": String(handle.x.length - 1),
      "aria-valuetext": handle.describe(handle.index),
    };
    for (const [name, text] of Object.entries({ ...attributes, "aria-valuenow": String(handle.index) })) {
      this.grip.setAttribute(name, text);
    }
    if (!this.tip.hidden) this.showTip(handle.index, handle);
  }

  /** Make the handle. */
  makeGrip() {
    for (const [name, text] of Object.entries({ role: "slider", tabindex: "0", "aria-valuemin": "0" })) {
      this.grip.setAttribute(name, text);
    }
    this.grip.append(
      shape("path", { class: "stem" }),
      shape("circle", { class: "halo", r: 16 }),
      shape("circle", { class: "knob", r: 6 }),
    );
  }

  /** Listen to pointer, keys, focus and resizing. */
  listen() {
    // A chart has the width of its container, so that its text is never scaled. Reading the width on every draw would
    // force a layout of the page each time.
    new ResizeObserver(([{ contentRect }]) => {
      const width = Math.max(LEAST_WIDTH, Math.round(contentRect.width));
      if (!contentRect.width || width === this.width) return;
      this.width = width;
      if (this.spec) this.draw(this.spec);
    }).observe(this.holder);
    this.svg.addEventListener("pointerdown", (event) => {
      if (!this.spec?.handle || event.button || this.isScrolling(event, this.spec.handle)) return;
      this.dragging = true;
      this.svg.setPointerCapture(event.pointerId);
      this.pick(this.nearest(event, this.spec.handle));
      this.grip.focus({ preventScroll: true });
      event.preventDefault();
    });
    this.svg.addEventListener("pointermove", (event) => {
      const probe = this.spec?.handle ?? this.spec?.probe;
      if (!probe) return;
      const index = this.nearest(event, probe);
      if (this.dragging) this.pick(index);
      this.showTip(index, probe);
    });
    for (const end of ["pointerup", "pointercancel"]) this.svg.addEventListener(end, () => (this.dragging = false));
    this.svg.addEventListener("pointerleave", () => this.hideTip());
    this.grip.addEventListener(
      "focus",
      () => this.spec?.handle && this.showTip(this.spec.handle.index, this.spec.handle),
    );
    this.grip.addEventListener("blur", () => this.hideTip());
    this.grip.addEventListener("keydown", (event) => this.key(/** @type {KeyboardEvent} */ (event)));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const handle = this.spec?.handle;
    if (!handle) return;
    const last = handle.x.length - 1;
    // The right arrow moves to the right of the axis, although thresholds may run from right to left.
    const right = this.across && this.across.within(handle.x[last]) < this.across.within(handle.x[0]) ? -1 : 1;
    /** @type {Record<string, number>} */
    const places = {
      ArrowRight: handle.index + right,
      ArrowLeft: handle.index - right,
      ArrowUp: handle.index + 1,
      ArrowDown: handle.index - 1,
      PageUp: handle.index + PAGE_STEP,
      PageDown: handle.index - PAGE_STEP,
      Home: 0,
      End: last,
    };
    if (!(event.key in places)) return;
    event.preventDefault();
    this.pick(Math.min(last, Math.max(0, places[event.key])));
  }

  /** @param {number} index */
  pick(index) {
    if (index !== this.spec?.handle?.index) this.onPick(index);
  }

  /**
   * Index of the point nearest to the pointer.
   * @param {PointerEvent} event
   * @param {Probe} probe
   * @returns {number}
   */
  nearest(event, probe) {
    const point = this.pointAt(event);
    let best = 0;
    let least = Infinity;
    for (let at = 0; at < probe.x.length; at++) {
      const [right, above] = this.position(probe, at);
      const away = (right - point.x) ** 2 + (probe.upright ? 0 : (above - point.y) ** 2);
      if (away < least) [best, least] = [at, away];
    }
    return best;
  }

  /**
   * Position of the pointer in the coordinates of the chart.
   * @param {PointerEvent} event
   * @returns {DOMPoint}
   */
  pointAt(event) {
    const matrix = /** @type {SVGSVGElement} */ (/** @type {unknown} */ (this.svg)).getScreenCTM();
    return new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix?.inverse());
  }

  /**
   * Whether a touch scrolls the page: a finger drags the handle only if it starts on it.
   * @param {PointerEvent} event
   * @param {Handle} handle
   * @returns {boolean}
   */
  isScrolling(event, handle) {
    if (event.pointerType !== "touch") return false;
    const { x, y } = this.pointAt(event);
    const [right, above] = this.position(handle, handle.index);
    return Math.hypot(right - x, handle.upright ? 0 : above - y) > FINGER;
  }

  /**
   * Position of a point; undefined coordinates are at the lower left.
   * @param {Probe} handle
   * @param {number} index
   * @returns {[number, number]}
   */
  position(handle, index) {
    const [across, up] = this.scales();
    const [right, above] = [across.within(handle.x[index]), up.within(handle.y[index])];
    return [Number.isNaN(right) ? SPACE.left : right, Number.isNaN(above) ? up.within(-Infinity) : above];
  }

  /**
   * @param {number} index
   * @param {Probe} probe
   */
  showTip(index, probe) {
    const [right, above] = this.position(probe, index);
    this.tip.textContent = probe.describe(index);
    this.tip.hidden = false;
    this.tip.classList.toggle("left", right > this.width / 2);
    this.tip.classList.toggle("below", above < this.height / 2);
    this.tip.style.setProperty("--x", `${(100 * right) / this.width}%`);
    this.tip.style.setProperty("--y", `${this.height - above}px`);
  }

  /** Hide the tooltip, unless the handle has the focus. */
  hideTip() {
    if (document.activeElement === this.grip && this.spec?.handle)
      this.showTip(this.spec.handle.index, this.spec.handle);
    else this.tip.hidden = true;
  }

  /** @returns {[Scale, Scale]} */
  scales() {
    return [/** @type {Scale} */ (this.across), /** @type {Scale} */ (this.up)];
  }
}

/**
 * Whether a mark is unchanged: identical arrays and equal text.
 * @param {Mark} before
 * @param {Mark} after
 * @returns {boolean}
 */
function isSame(before, after) {
  const names = /** @type {(keyof Mark)[]} */ (["kind", "look", "x", "y", "low", "high", "edges", "heights", "text"]);
  return names.every((name) => before[name] === after[name]);
}

/**
 * A text element.
 * @param {string} text
 * @param {Record<string, string | number>} attributes
 * @returns {SVGElement}
 */
function textElement(text, attributes) {
  const element = shape("text", attributes);
  element.textContent = text;
  return element;
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

/**
 * The symbol of a mark in the legend.
 * @param {Mark} mark
 * @returns {SVGElement[]}
 */
function legendSample(mark) {
  if (mark.kind === "band" || mark.kind === "bars") return [shape("path", { d: "M1 1H21V9H1Z" })];
  if (mark.kind === "dots") {
    return [
      shape("path", { class: "interval", d: "M11 0V10" }),
      shape("path", { class: "dot", d: "M7.5 5a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0Z" }),
    ];
  }
  return [shape("path", { d: "M0 5H22" })];
}
