/** Scales, ticks and the paths of marks, without access to the page. */

import { formatTicks } from "./format.js";

/** @typedef {import("./chart.js").Axis} Axis */
/** @typedef {import("./chart.js").Mark} Mark */
/** @typedef {import("./chart.js").Numbers} Numbers */
/**
 * @typedef {object} Scale
 * @property {(value: number) => number} to      position in the chart
 * @property {(value: number) => number} within  position, clamped to the axis
 * @property {{at: number, text: string}[]} ticks
 * @property {string} key
 */

/**
 * Ticks at round numbers.
 * @param {[number, number]} domain
 * @param {number} target  approximate number of ticks
 * @returns {number[]}
 */
export function ticksOf([low, high], target) {
  const rough = (high - low) / target;
  const power = 10 ** Math.floor(Math.log10(rough));
  // Tolerances, since quotients such as 0.3/0.1 are not exactly whole.
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999) ?? 10);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) =>
    Number(((first + at) * step).toPrecision(12)),
  );
}

/**
 * The scale of an axis.
 * @param {Axis} axis
 * @param {[number, number]} range  positions of both ends
 * @returns {Scale}
 */
export function scaleOf(axis, [start, end]) {
  const log = axis.scale === "log";
  const transform = log ? Math.log10 : (/** @type {number} */ value) => value;
  const [low, high] = axis.domain.map(transform);
  const ratio = (end - start) / (high - low || 1);
  const [least, most] = start < end ? [start, end] : [end, start];
  /** @param {number} value */
  const to = (value) => start + (transform(value) - low) * ratio;
  /** @param {number} value */
  const within = (value) => Math.min(most, Math.max(least, to(value)));
  return { to, within, ticks: axis.ticks ?? defaultTicks(axis), key: `${low} ${high} ${log} ${start} ${end}` };
}

/**
 * Ticks at round numbers, or at powers of ten.
 * @param {Axis} axis
 * @returns {{at: number, text: string}[]}
 */
function defaultTicks({ domain, scale, format }) {
  const [low, high] = domain.map(Math.log10);
  const first = Math.ceil(low - 1e-9);
  const places =
    scale === "log"
      ? Array.from({ length: Math.floor(high + 1e-9) - first + 1 }, (_, at) => 10 ** (first + at))
      : ticksOf(domain, 5);
  const texts = formatTicks(places, format);
  return places.map((at, index) => ({ at, text: texts[index] }));
}

/**
 * The path of a line. Undefined points break it; points that coincide after rounding are left out.
 * @param {Numbers} x
 * @param {Numbers} y
 * @param {Scale} across
 * @param {Scale} up
 * @param {boolean} steps
 * @returns {string}
 */
export function pathOf(x, y, across, up, steps) {
  let path = "";
  let pen = "M";
  let lastX = NaN;
  let lastY = NaN;
  for (let at = 0; at < x.length; at++) {
    const right = Math.round(across.to(x[at]) * 10) / 10;
    const above = Math.round(up.to(y[at]) * 10) / 10;
    if (!Number.isFinite(right) || !Number.isFinite(above)) {
      pen = "M";
      continue;
    }
    if (pen === "L" && right === lastX && above === lastY) continue;
    path += pen === "L" && steps ? `H${right}V${above}` : `${pen}${right} ${above}`;
    pen = "L";
    [lastX, lastY] = [right, above];
  }
  return path;
}

/**
 * The outline of a band.
 * @param {Mark} mark
 * @param {Scale} across
 * @param {Scale} up
 * @returns {string}
 */
export function bandPath(mark, across, up) {
  const x = /** @type {Numbers} */ (mark.x);
  const [low, high] = [mark.low ?? [], mark.high ?? []];
  const defined = Array.from(x, (_, at) => at).filter((at) => !Number.isNaN(low[at]) && !Number.isNaN(high[at]));
  /** @param {Numbers} heights @param {number[]} places */
  const edge = (heights, places) => {
    const [xs, ys] = [places.map((at) => x[at]), places.map((at) => heights[at])];
    return pathOf(xs, ys, across, up, false);
  };
  const [upper, lower] = [edge(high, defined), edge(low, [...defined].reverse())];
  return upper && lower ? `${upper}${lower.replace("M", "L")}Z` : "";
}

/**
 * Bars from 0, one between each two edges.
 * @param {Mark} mark
 * @param {Scale} across
 * @param {Scale} up
 * @returns {string}
 */
export function barsPath(mark, across, up) {
  const [edges, heights] = [mark.edges ?? [], mark.heights ?? []];
  const base = up.to(0);
  return Array.from(heights, (height, at) => {
    const [left, right] = [across.to(edges[at]) + 0.4, across.to(edges[at + 1]) - 0.4];
    const top = up.to(height);
    if (!(right > left) || !height || !Number.isFinite(top)) return "";
    return `M${left.toFixed(1)} ${base.toFixed(1)}V${top.toFixed(1)}H${right.toFixed(1)}V${base.toFixed(1)}Z`;
  }).join("");
}

/**
 * Dots and their intervals.
 * @param {Mark} mark
 * @param {Scale} across
 * @param {Scale} up
 * @returns {string[]} the path of dots, and that of intervals
 */
export function dotsPaths(mark, across, up) {
  const [x, y] = [/** @type {Numbers} */ (mark.x), /** @type {Numbers} */ (mark.y)];
  let dots = "";
  let lines = "";
  for (let at = 0; at < x.length; at++) {
    const [right, above] = [across.to(x[at]), up.to(y[at])];
    if (!Number.isFinite(right) || !Number.isFinite(above)) continue;
    dots += `M${(right - 3.5).toFixed(1)} ${above.toFixed(1)}a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0Z`;
    if (mark.low && mark.high && !Number.isNaN(mark.low[at])) {
      lines += `M${right.toFixed(1)} ${up.to(mark.low[at]).toFixed(1)}V${up.to(mark.high[at]).toFixed(1)}`;
    }
  }
  return [dots, lines];
}
