/** Scales, ticks and the paths of marks, without access to the page. */

import { formatTicks, shorten } from "./format.js";

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

/** @type {Record<string, (value: number) => number>} */
const TRANSFORMS = {
  linear: (value) => value,
  log: Math.log10,
  logit: (value) => Math.log10(value / (1 - value)),
};

/**
 * The scale of an axis.
 * @param {Axis} axis
 * @param {[number, number]} range  positions of both ends
 * @returns {Scale}
 */
export function scaleOf(axis, [start, end]) {
  const { scale = "linear" } = axis;
  const transform = TRANSFORMS[scale];
  const [low, high] = axis.domain.map(transform);
  const ratio = (end - start) / (high - low || 1);
  const [least, most] = start < end ? [start, end] : [end, start];
  /** @param {number} value */
  const to = (value) => start + (transform(value) - low) * ratio;
  /** @param {number} value */
  const within = (value) => Math.min(most, Math.max(least, to(value)));
  return { to, within, ticks: axis.ticks ?? defaultTicks(axis), key: `${low} ${high} ${scale} ${start} ${end}` };
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
 * Dots and their intervals, which lie upwards (low, high) or across (left, right).
 * @param {Mark} mark
 * @param {Scale} across
 * @param {Scale} up
 * @returns {string[]} the path of dots, and that of intervals
 */
export function dotsPaths(mark, across, up) {
  const [x, y] = [/** @type {Numbers} */ (mark.x), /** @type {Numbers} */ (mark.y)];
  const marker = mark.marker ?? seriesOf(mark.look);
  let dots = "";
  let lines = "";
  for (let at = 0; at < x.length; at++) {
    const [right, above] = [across.to(x[at]), up.to(y[at])];
    if (!Number.isFinite(right) || !Number.isFinite(above)) continue;
    dots += markerPath(right, above, marker);
    if (mark.low && mark.high && !Number.isNaN(mark.low[at])) {
      lines += `M${right.toFixed(1)} ${up.to(mark.low[at]).toFixed(1)}V${up.to(mark.high[at]).toFixed(1)}`;
    }
    if (mark.left && mark.right) lines += acrossPath(mark.left[at], mark.right[at], above, across);
  }
  return [dots, lines];
}

/**
 * An interval that lies across, with its ends marked; ends outside of the axis are arrows.
 * @param {number} low
 * @param {number} high
 * @param {number} above
 * @param {Scale} across
 * @returns {string}
 */
function acrossPath(low, high, above, across) {
  if (!Number.isFinite(across.to(low)) || !Number.isFinite(across.to(high))) return "";
  const [start, end] = [across.within(low), across.within(high)];
  /** @param {number} place @param {number} value @param {number} inwards */
  const cap = (place, value, inwards) =>
    Math.abs(across.to(value) - place) < 0.5
      ? `M${place.toFixed(1)} ${(above - 3).toFixed(1)}v6`
      : `M${(place + inwards).toFixed(1)} ${(above - 4).toFixed(1)}l${-inwards} 4l${inwards} 4`;
  const line = `M${start.toFixed(1)} ${above.toFixed(1)}H${end.toFixed(1)}`;
  return `${line}${cap(start, low, 5)}${cap(end, high, -5)}`;
}

/** Outlines of markers around their center: series differ without color. */
const MARKERS = [
  "m-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0 -7.2 0Z",
  "m-3.3 -3.3h6.6v6.6h-6.6Z",
  "m0 -4.7l4.7 4.7l-4.7 4.7l-4.7 -4.7Z",
  "m0 -4.6l4.5 8h-9Z",
  "m0 4.6l4.5 -8h-9Z",
  "m-1.5 -4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3Z",
  "m-4.4 -2.2l2.2 -2.2l2.2 2.2l2.2 -2.2l2.2 2.2l-2.2 2.2l2.2 2.2l-2.2 2.2l-2.2 -2.2l-2.2 2.2l-2.2 -2.2l2.2 -2.2Z",
  "m-5 0l2.5 -4.3h5l2.5 4.3l-2.5 4.3h-5Z",
];

/**
 * The outline of a marker.
 * @param {number} x
 * @param {number} y
 * @param {number} marker
 * @returns {string}
 */
export function markerPath(x, y, marker) {
  return `M${x.toFixed(1)} ${y.toFixed(1)}${MARKERS[marker % MARKERS.length]}`;
}

/** Series with a color, a dash and a marker of their own; further ones are gray. */
export const SERIES = 8;

/**
 * Classes of a series: color and dashes, or gray.
 * @param {number} at
 * @returns {string}
 */
export function seriesLook(at) {
  return at < SERIES ? `series-${at} dash-${at}` : "other";
}

/**
 * The number of a series by its classes.
 * @param {string} [look]
 * @returns {number}
 */
export function seriesOf(look) {
  return Number(/\bseries-(\d)/.exec(look ?? "")?.[1] ?? 0);
}

/**
 * Cells of a grid: a path for each step of their color. Values are in rows from the first edge upwards.
 * @param {Mark} mark
 * @param {{to: (value: number) => number}} across
 * @param {{to: (value: number) => number}} up
 * @param {number} steps
 * @returns {[string, string][]} classes and path
 */
export function cellPaths(mark, across, up, steps) {
  const [edgesX, edgesY, values] = [mark.edgesX ?? [], mark.edgesY ?? [], mark.values ?? []];
  const columns = edgesX.length - 1;
  /** @type {Map<string, string>} */
  const paths = new Map();
  for (let at = 0; at < values.length; at++) {
    if (Number.isNaN(values[at])) continue;
    const [column, row] = [at % columns, Math.floor(at / columns)];
    const [left, right] = [across.to(edgesX[column]), across.to(edgesX[column + 1])];
    const [bottom, top] = [up.to(edgesY[row]), up.to(edgesY[row + 1])];
    const look = cellLook(mark, values[at], steps);
    const path = `M${left.toFixed(1)} ${bottom.toFixed(1)}H${right.toFixed(1)}V${top.toFixed(1)}H${left.toFixed(1)}Z`;
    paths.set(look, (paths.get(look) ?? "") + path);
  }
  return [...paths].sort(([one], [other]) => (one < other ? -1 : 1));
}

/**
 * Classes of a cell: its step from 0, the palest, to the last one; with a middle also its side.
 * @param {Mark} mark
 * @param {number} value
 * @param {number} steps
 * @returns {string}
 */
function cellLook({ colors }, value, steps) {
  const { domain, middle } = colors ?? { domain: /** @type {[number, number]} */ ([0, 1]) };
  const [low, high] = domain;
  const share =
    middle === undefined
      ? (value - low) / (high - low || 1)
      : Math.abs(value - middle) / (Math.max(high - middle, middle - low) || 1);
  const step = Math.min(steps - 1, Math.max(0, Math.floor(share * steps)));
  const side = middle === undefined || value >= middle ? "above" : "below";
  return `${side} shade-${step}`;
}

/**
 * Whether dark text is legible on a cell.
 * @param {Mark} mark
 * @param {number} value
 * @param {number} steps
 * @returns {boolean}
 */
export function isLightCell(mark, value, steps) {
  return Number(cellLook(mark, value, steps).split("-")[1]) < steps * 0.6;
}

/**
 * An axis of names. On the vertical axis the first is at the top.
 * @param {string[]} names
 * @param {"across" | "up"} direction
 * @param {string} [label]
 * @returns {Axis}
 */
export function categoryAxis(names, direction, label = "") {
  const ends = /** @type {[number, number]} */ ([-0.5, names.length - 0.5]);
  return {
    label,
    domain: direction === "up" ? [ends[1], ends[0]] : ends,
    ticks: names.map((text, at) => ({ at, text })),
    categorical: true,
  };
}

/**
 * A text that is cut to a width.
 * @param {string} text
 * @param {number} width  in pixels
 * @param {(text: string) => number} measure
 * @returns {string}
 */
export function fitText(text, width, measure) {
  if (measure(text) <= width) return text;
  let [low, high] = [1, Array.from(text).length];
  while (low < high) {
    const length = Math.ceil((low + high) / 2);
    if (measure(shorten(text, length)) <= width) low = length;
    else high = length - 1;
  }
  return shorten(text, low);
}
