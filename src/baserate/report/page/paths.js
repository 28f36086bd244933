/** Where things are on a chart: scales, ticks, and the paths of marks. Nothing here knows a page. */

import { written } from "./format.js";

/** @typedef {import("./kit.js").Axis} Axis */
/** @typedef {import("./kit.js").Mark} Mark */
/** @typedef {import("./kit.js").Numbers} Numbers */
/**
 * @typedef {object} Scale
 * @property {(value: number) => number} to      place on the page
 * @property {(value: number) => number} within  the same, no further than the axis goes
 * @property {{at: number, text: string}[]} ticks
 * @property {string} key
 */

/**
 * Ticks at short numbers, about so many.
 * @param {[number, number]} domain
 * @param {number} many
 * @returns {number[]}
 */
export function ticksOf([low, high], many) {
  const rough = (high - low) / many;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999) ?? 10);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) =>
    Number(((first + at) * step).toPrecision(12)),
  );
}

/**
 * Where values of an axis are on the page.
 * @param {Axis} axis
 * @param {[number, number]} room
 * @returns {Scale}
 */
export function scaleOf(axis, [start, end]) {
  const log = axis.scale === "log";
  const bent = log ? Math.log10 : (/** @type {number} */ value) => value;
  const [low, high] = axis.domain.map(bent);
  const ratio = (end - start) / (high - low || 1);
  const [least, most] = start < end ? [start, end] : [end, start];
  /** @param {number} value */
  const to = (value) => start + (bent(value) - low) * ratio;
  /** @param {number} value */
  const within = (value) => Math.min(most, Math.max(least, to(value)));
  return { to, within, ticks: axis.ticks ?? usualTicks(axis), key: `${low} ${high} ${log} ${start} ${end}` };
}

/**
 * Ticks of an axis: at short numbers, or at powers of ten.
 * @param {Axis} axis
 * @returns {{at: number, text: string}[]}
 */
function usualTicks({ domain, scale, format }) {
  const [low, high] = domain.map(Math.log10);
  const first = Math.ceil(low - 1e-9);
  const places =
    scale === "log"
      ? Array.from({ length: Math.floor(high + 1e-9) - first + 1 }, (_, at) => 10 ** (first + at))
      : ticksOf(domain, 5);
  return places.map((at) => ({ at, text: written(at, format) }));
}

/**
 * The path of a line; a point that is undefined breaks it, one that would not be seen is left out.
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
  const known = Array.from(x, (_, at) => at).filter((at) => !Number.isNaN(low[at]) && !Number.isNaN(high[at]));
  /** @param {Numbers} heights @param {number[]} places */
  const edge = (heights, places) => {
    const [xs, ys] = [places.map((at) => x[at]), places.map((at) => heights[at])];
    return pathOf(xs, ys, across, up, false);
  };
  const [there, back] = [edge(high, known), edge(low, [...known].reverse())];
  return there && back ? `${there}${back.replace("M", "L")}Z` : "";
}

/**
 * Bars from 0, one for each stretch between edges.
 * @param {Mark} mark
 * @param {Scale} across
 * @param {Scale} up
 * @returns {string}
 */
export function barsPath(mark, across, up) {
  const [edges, heights] = [mark.edges ?? [], mark.heights ?? []];
  const ground = up.to(0);
  return Array.from(heights, (height, at) => {
    const [left, right] = [across.to(edges[at]) + 0.4, across.to(edges[at + 1]) - 0.4];
    const top = up.to(height);
    if (!(right > left) || !height || !Number.isFinite(top)) return "";
    return `M${left.toFixed(1)} ${ground.toFixed(1)}V${top.toFixed(1)}H${right.toFixed(1)}V${ground.toFixed(1)}Z`;
  }).join("");
}

/**
 * Dots, and their intervals.
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
