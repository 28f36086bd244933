/** Interaction with a chart: a handle that is dragged, and a tooltip at the marked point, by pointer, touch and keyboard. */

import { shape } from "./marks.js";
import { defaultProbe } from "./probe.js";
import { hideTip, showTip } from "./tip.js";

/** @typedef {import("./chart.js").Chart} Chart */
/** @typedef {import("./chart.js").Handle} Handle */
/** @typedef {import("./chart.js").Probe} Probe */
/** @typedef {import("./chart.js").Spec} Spec */

const PAGE_STEP = 20;
/** Half the width of a fingertip in pixels. */
const FINGER = 28;

/** The part of a chart that reacts to a user: each chart is one tab stop. */
export class Interaction {
  /** @param {Chart} chart */
  constructor(chart) {
    this.chart = chart;
    this.ring = shape("circle", { class: "ring", r: 8, visibility: "hidden" });
    this.grip = shape("g", { class: "grip", role: "slider", tabindex: "0", "aria-valuemin": "0" });
    this.grip.append(
      shape("path", { class: "stem" }),
      shape("circle", { class: "halo", r: 16 }),
      shape("circle", { class: "knob", r: 6 }),
    );
    chart.svg.append(this.ring, this.grip);
    /** Point at which the keyboard is, in a chart without a handle. */
    this.cursor = 0;
    /** Point that the tooltip describes; −1 for none. */
    this.described = -1;
    this.dragging = false;
    /** @type {Probe | undefined} */
    this.derived = undefined;
    this.listen();
  }

  /**
   * Show the handle of a spec, and update the tooltip.
   * @param {Spec} spec
   */
  draw(spec) {
    const { handle } = spec;
    this.derived = undefined;
    this.chart.svg.classList.toggle("picks", Boolean(handle ?? spec.probe?.picks));
    this.grip.classList.toggle("reads", !handle);
    this.grip.classList.toggle("idle", Boolean(handle?.idle));
    if (handle) this.drawHandle(handle);
    else this.drawCursor();
    if (this.described < 0) return;
    const last = (this.probe()?.x.length ?? 0) - 1;
    const moves = handle && (this.dragging || this.isFocused());
    if (last < 0) this.hide();
    else this.describe(moves ? handle.index : Math.min(this.described, last));
  }

  /** @param {Handle} handle */
  drawHandle(handle) {
    const [right, above] = this.position(handle, handle.index);
    const { top, bottom } = this.chart.area;
    this.grip.querySelector(".stem")?.setAttribute("d", handle.upright ? `M${right.toFixed(2)} ${bottom}V${top}` : "");
    this.moveGrip(right, above);
    this.grip.removeAttribute("aria-readonly");
    this.nameGrip(handle.name, handle.index, handle.x.length - 1, handle.describe(handle.index));
  }

  /** The keyboard's place in a chart without a handle. Its text is derived only when it is read. */
  drawCursor() {
    this.grip.querySelector(".stem")?.setAttribute("d", "");
    this.grip.setAttribute("aria-readonly", "true");
    const probe = this.isFocused() ? this.probe() : undefined;
    const last = probe ? probe.x.length - 1 : Infinity;
    this.cursor = Math.min(this.cursor, Math.max(0, last));
    const keys = `The arrow keys move from point to point${this.chart.spec?.probe?.picks ? ", and Enter selects one" : ""}.`;
    const text = probe ? probe.describe(this.cursor) : keys;
    this.nameGrip("Points of the chart", this.cursor, probe ? last : this.cursor, text);
    if (probe) this.moveGrip(...this.position(probe, this.cursor));
    else this.moveGrip((this.chart.area.left + this.chart.area.right) / 2, this.chart.area.top + 16);
  }

  /**
   * @param {number} right
   * @param {number} above
   */
  moveGrip(right, above) {
    for (const circle of this.grip.querySelectorAll("circle")) {
      circle.setAttribute("cx", right.toFixed(2));
      circle.setAttribute("cy", above.toFixed(2));
    }
  }

  /**
   * What screen readers say.
   * @param {string} name
   * @param {number} index
   * @param {number} last
   * @param {string} text
   */
  nameGrip(name, index, last, text) {
    const attributes = { label: name, valuemax: String(last), valuenow: String(index), valuetext: text };
    for (const [key, value] of Object.entries(attributes)) this.grip.setAttribute(`aria-${key}`, value);
  }

  /** Listen to pointer, keys and focus. */
  listen() {
    const { svg } = this.chart;
    svg.addEventListener("pointerdown", (event) => this.press(event));
    svg.addEventListener("pointermove", (event) => {
      const probe = this.probe();
      if (!probe) return;
      const index = this.nearest(event, probe);
      if (this.dragging) this.pick(index);
      this.describe(index);
    });
    svg.addEventListener("click", (event) => {
      const probe = this.probe();
      if (probe?.picks) this.chart.onPick(this.nearest(event, probe));
    });
    for (const end of ["pointerup", "pointercancel"]) svg.addEventListener(end, () => (this.dragging = false));
    // A finger leaves the chart when it is lifted; its tooltip stays until something else is touched.
    svg.addEventListener("pointerleave", (event) => {
      if (event.pointerType !== "touch") this.leave();
    });
    document.addEventListener("pointerdown", (event) => {
      if (this.described >= 0 && !svg.contains(/** @type {Node} */ (event.target))) this.hide();
    });
    this.grip.addEventListener("focus", () => {
      this.scrollToChart();
      this.enter();
    });
    this.grip.addEventListener("blur", () => this.hide());
    this.grip.addEventListener("keydown", (event) => this.key(/** @type {KeyboardEvent} */ (event)));
  }

  /** @param {PointerEvent} event */
  press(event) {
    const { handle } = this.chart.spec ?? {};
    if (event.button) return;
    if (!handle || this.isScrolling(event, handle)) {
      const probe = this.probe();
      if (probe && event.pointerType === "touch") this.describe(this.nearest(event, probe));
      return;
    }
    this.dragging = true;
    this.chart.svg.setPointerCapture(event.pointerId);
    this.pick(this.nearest(event, handle));
    this.grip.focus({ preventScroll: true });
    event.preventDefault();
  }

  /** Describe the point at which the keyboard is. */
  enter() {
    const { handle } = this.chart.spec ?? {};
    if (!handle) this.drawCursor();
    if (this.probe()) this.describe(handle ? handle.index : this.cursor);
  }

  /** Scroll to the chart if the keyboard moved there: browsers do not scroll to a part of an SVG that gets the focus. */
  scrollToChart() {
    if (this.dragging || !this.grip.matches(":focus-visible")) return;
    this.chart.svg.scrollIntoView({ block: "nearest", behavior: "instant" });
  }

  /** The pointer left: describe the point at which the keyboard is, or none. */
  leave() {
    if (this.isFocused()) this.enter();
    else this.hide();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.key === "Escape") {
      this.hide();
      return;
    }
    const probe = this.probe();
    const { handle } = this.chart.spec ?? {};
    if (probe?.picks && event.key === "Enter") {
      event.preventDefault();
      this.chart.onPick(this.cursor);
      return;
    }
    const to = probe && (handle ? this.handleTarget(event.key, handle) : this.cursorTarget(event.key, probe));
    if (to === undefined || !probe) return;
    event.preventDefault();
    const index = Math.min(probe.x.length - 1, Math.max(0, to));
    if (handle) {
      this.pick(index);
      this.enter();
      return;
    }
    this.cursor = index;
    this.enter();
  }

  /**
   * The point to which a key moves a handle.
   * @param {string} key
   * @param {Handle} handle
   * @returns {number | undefined}
   */
  handleTarget(key, { x, index }) {
    const last = x.length - 1;
    const [across] = this.chart.scales();
    // The right arrow moves to the right of the axis, although thresholds may run from right to left.
    const right = across.within(x[last]) < across.within(x[0]) ? -1 : 1;
    /** @type {Record<string, number>} */
    const places = {
      ArrowRight: index + right,
      ArrowLeft: index - right,
      ArrowUp: index + 1,
      ArrowDown: index - 1,
      PageUp: index + PAGE_STEP,
      PageDown: index - PAGE_STEP,
      Home: 0,
      End: last,
    };
    return places[key];
  }

  /**
   * The point to which a key moves the cursor: the next point, in a grid also that above, or the next mark.
   * @param {string} key
   * @param {Probe} probe
   * @returns {number | undefined}
   */
  cursorTarget(key, { x, columns, starts = [] }) {
    const { cursor } = this;
    const step = columns ?? 1;
    // In a grid the rows run upwards; points of other marks run downwards, as lines of a text do.
    const down = columns === undefined ? step : -step;
    const next = starts.find((start) => start > cursor);
    const before = starts.filter((start) => start < cursor).at(-1);
    /** @type {Record<string, number>} */
    const places = {
      ArrowRight: cursor + 1,
      ArrowLeft: cursor - 1,
      ArrowDown: cursor + down,
      ArrowUp: cursor - down,
      PageDown: starts.length > 1 ? (next ?? cursor) : cursor + PAGE_STEP,
      PageUp: starts.length > 1 ? (before ?? cursor) : cursor - PAGE_STEP,
      Home: 0,
      End: x.length - 1,
    };
    const to = places[key];
    // Beyond the first and the last row of a grid there is none.
    return columns !== undefined && (to < 0 || to >= x.length) ? cursor : to;
  }

  /** @param {number} index */
  pick(index) {
    if (index !== this.chart.spec?.handle?.index) this.chart.onPick(index);
  }

  /**
   * The points that are described.
   * @returns {Probe | undefined}
   */
  probe() {
    const { spec } = this.chart;
    if (!spec) return undefined;
    return spec.handle ?? spec.probe ?? (this.derived ??= defaultProbe(spec));
  }

  /**
   * Index of the point nearest to the pointer.
   * @param {MouseEvent} event
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
   * @param {MouseEvent} event
   * @returns {DOMPoint}
   */
  pointAt(event) {
    return new DOMPoint(event.clientX, event.clientY).matrixTransform(this.chart.toWindow()?.inverse());
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
   * @param {Probe} probe
   * @param {number} index
   * @returns {[number, number]}
   */
  position(probe, index) {
    const [across, up] = this.chart.scales();
    const { left, bottom } = this.chart.area;
    const [right, above] = [across.within(probe.x[index]), up.within(probe.y[index])];
    return [Number.isNaN(right) ? left : right, Number.isNaN(above) ? bottom : above];
  }

  /**
   * Mark a point, and show its tooltip there.
   * @param {number} index
   */
  describe(index) {
    const probe = /** @type {Probe} */ (this.probe());
    this.described = index;
    const [right, above] = this.position(probe, index);
    this.ring.setAttribute("cx", right.toFixed(2));
    this.ring.setAttribute("cy", above.toFixed(2));
    this.ring.setAttribute("visibility", "visible");
    showTip(this, probe.describe(index), () =>
      new DOMPoint(right, above).matrixTransform(this.chart.toWindow() ?? undefined),
    );
  }

  /** Hide tooltip and ring. */
  hide() {
    this.described = -1;
    this.ring.setAttribute("visibility", "hidden");
    hideTip(this);
  }

  /** @returns {boolean} */
  isFocused() {
    return document.activeElement === this.grip;
  }
}
