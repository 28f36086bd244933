/** Score distributions of both classes on one scale, with the threshold. */

import { formatCount, formatPercent, formatThreshold, formatTicks } from "../format.js";
import { CLASSES } from "../labels.js";
import { ticksOf } from "../paths.js";
import { currentName, describeBoth, pinnedLine } from "../pin.js";
import { describePrevalence, measureCurve, partKey, memoize, scoreAxis } from "../view.js";

/** Bars above this multiple of the third highest one are cut, if there are as many bars as this. */
const [CUT, MANY] = [2.5, 8];
/** Least part of the axis for each class, and the room above the highest bar. */
const [LEAST, ROOM] = [0.12, 1.06];
/** Bars that leave no room for a text at the end of the axis, and part of the axis from which on texts stand to the left. */
const [TALL, FAR] = [0.9, 0.8];

/** @typedef {import("../chart.js").Mark} Mark */
/** @typedef {import("../view.js").View} View */
/** @typedef {{edges: number[], positive: number[], negative: number[], top: number, bottom: number, level: Float64Array}} Bars */

/**
 * @param {View} view
 * @returns {import("../chart.js").Spec | null} null for predicted labels, which have no threshold
 */
export function scoresSpec(view) {
  if (view.model.entry.labels) return null;
  const { domain, x } = scoreAxis(view);
  const bars = deriveBars(view);
  const { edges, top, bottom } = bars;
  const classes = view.state.scale === "classes";
  const format = classes ? "percent" : "number";
  /** @param {number} index */
  const describe = (index) => describeThreshold(view, index);
  const sizes = ticksOf([bottom, top], 6);
  const texts = formatTicks(sizes.map(Math.abs), format);
  const unit = classes ? "Share of each class" : "People per 1,000";
  const where = classes ? "" : `, ${describePrevalence(view)}`;
  return {
    x: { label: "Score", domain },
    y: {
      label: unit,
      name: "per bin",
      domain: [bottom, top],
      ticks: sizes.map((at, tick) => ({ at, text: texts[tick] })),
    },
    shape: 0.9,
    height: 380,
    marks: [
      ...flaggedArea(view, x[view.index], domain[1], bars),
      { kind: "bars", key: "positive", edges, heights: bars.positive, look: "positive", label: CLASSES.positive },
      {
        kind: "bars",
        key: "negative",
        edges,
        heights: bars.negative,
        look: "negative",
        label: `${CLASSES.negative} (downwards)`,
      },
      { kind: "rule", key: "ground", y: 0, look: "quiet" },
      ...cutTexts(bars, format),
      ...pinnedLine(view, x, { domain, top }),
    ],
    handle: { x, y: bars.level, index: view.index, upright: true, idle: !view.single, name: "Threshold", describe },
    description: `Score distributions of both classes, ${unit.toLowerCase()} per bin${where}. ${describeBoth(view, describe)}.`,
    table: scoresTable(view),
  };
}

/**
 * The scores that are flagged, as an area.
 * @param {View} view
 * @param {number} from
 * @param {number} to
 * @param {Bars} bars
 * @returns {Mark[]}
 */
function flaggedArea(view, from, to, { top, bottom }) {
  if (!view.single) return [];
  const key = [view.state.model, from, top, bottom].join();
  const [x, low, high] = memoize(view.report, "flagged", key, () => [
    [from, to],
    [bottom, bottom],
    [top, top],
  ]);
  return [{ kind: "band", key: "flagged", x, low, high, look: "flagged", label: currentName(view, "flagged") }];
}

/**
 * Numbers of the bars that the axis cuts, beside them where the next bars leave room.
 * @param {Bars} bars
 * @param {string} format
 * @returns {Mark[]}
 */
function cutTexts({ edges, positive, negative, top, bottom }, format) {
  return [positive, negative].flatMap((heights, side) => {
    const end = side ? bottom : top;
    const parts = heights.map((height) => height / end);
    const numbers = heights.filter((_, at) => parts[at] > 1).map(Math.abs);
    if (!numbers.length) return [];
    const last = parts.map((part) => part > 1).lastIndexOf(true);
    const low = parts.map((part) => part < TALL);
    const free = low.indexOf(true, last);
    const right = free >= 0 && free < parts.length * FAR;
    const before = low.lastIndexOf(true, last);
    const text = numbers.map((each) => (format === "percent" ? formatPercent(each) : formatCount(each))).join(", ");
    return {
      kind: /** @type {const} */ ("text"),
      key: `cut ${side}`,
      x: edges[right ? free : before + 1],
      y: end,
      shift: /** @type {[number, number]} */ ([right ? 4 : -4, side ? -5 : 12]),
      look: right ? "" : "end",
      text: `${side ? "↓" : "↑"} cut: ${text}`,
    };
  });
}

/**
 * Heights of bars on a scale that both classes share: positives upwards, negatives downwards. A bin or two that tower
 * above all others are cut, so that the others can be seen.
 * @param {View} view
 * @returns {Bars}
 */
function deriveBars(view) {
  const { state, model } = view;
  const key = `${partKey(state)} ${state.scale === "classes" || state.prevalence}`;
  return memoize(view.report, "bars", key, () => {
    const { edges } = model.entry.scores;
    const [positive, negative] = state.scale === "classes" ? classShares(view) : peoplePerBin(view);
    const sorted = [...positive, ...negative].sort((one, other) => other - one);
    const [most, , third = 0] = sorted;
    const many = sorted.filter((height) => height > 0).length >= MANY;
    const limit = many && most > CUT * third ? 1.2 * third : most;
    const highest = [positive, negative].map((heights) => Math.min(limit, Math.max(...heights)));
    const [top, bottom] = highest.map((height) => ROOM * Math.max(height, LEAST * Math.max(...highest)) || 1);
    return {
      edges,
      positive,
      negative: negative.map((height) => -height),
      top,
      bottom: -bottom,
      level: new Float64Array(model.threshold.length),
    };
  });
}

/**
 * People of each class in each bin, of 1,000 people at the selected prevalence.
 * @param {View} view
 * @returns {number[][]}
 */
export function peoplePerBin({ state, model, part, factors }) {
  const { positive, negative } = model.entry.scores;
  const total = part.positives * factors.positive + part.negatives * factors.negative;
  const [ups, downs] = [positive, negative].map((masses) => binMasses(masses, state.who));
  /** @param {number} factor */
  const scale = (factor) => (/** @type {number} */ mass) => (total ? (1000 * factor * mass) / total : 0);
  return [ups.map(scale(factors.positive)), downs.map(scale(factors.negative))];
}

/**
 * Shares of each class in each bin.
 * @param {View} view
 * @returns {number[][]}
 */
export function classShares({ state, model, part }) {
  const { positive, negative } = model.entry.scores;
  /** @param {number[][]} masses @param {number} total */
  const share = (masses, total) => binMasses(masses, state.who).map((mass) => (total ? mass / total : 0));
  return [share(positive, part.positives), share(negative, part.negatives)];
}

/**
 * Masses of a group, or of all groups.
 * @param {number[][]} masses
 * @param {number} who
 * @returns {number[]}
 */
function binMasses(masses, who) {
  return who < 0 ? masses[0].map((_, bin) => masses.reduce((sum, row) => sum + row[bin], 0)) : masses[who];
}

/**
 * @param {View} view
 * @returns {import("../chart.js").Table}
 */
function scoresTable(view) {
  const { edges } = view.model.entry.scores;
  return {
    columns: [
      ...["from", "to", "positives per 1,000 people", "negatives per 1,000 people"],
      ...["share of positives", "share of negatives"],
    ],
    rows: () => {
      const columns = [...peoplePerBin(view), ...classShares(view)];
      return columns[0].map((_, bin) => [edges[bin], edges[bin + 1], ...columns.map((column) => column[bin])]);
    },
  };
}

/**
 * A threshold with its sensitivity and false positive rate.
 * @param {View} view
 * @param {number} index
 * @returns {string}
 */
export function describeThreshold(view, index) {
  const [tpr, fpr] = [measureCurve(view, "sensitivity")[index], measureCurve(view, "fpr")[index]];
  const rates = [
    ...(Number.isNaN(tpr) ? [] : [`sensitivity ${formatPercent(tpr)}`]),
    ...(Number.isNaN(fpr) ? [] : [`false positive rate ${formatPercent(fpr)}`]),
  ].join(", ");
  return `threshold ${formatThreshold(view.model.threshold[index])}: ${rates || "no rows"}`;
}
