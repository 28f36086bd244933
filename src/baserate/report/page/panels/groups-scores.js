/** Score distributions of groups on one scale, each with a threshold that can be dragged. */

import { Chart } from "../chart.js";
import { MEASURES, tableAt, thresholdIndex } from "../core.js";
import { element } from "../dom.js";
import { formatCount, formatPercent, formatThreshold, shorten } from "../format.js";
import { shownGroups } from "../group_rates.js";
import { CLASSES } from "../labels.js";
import { legendItem } from "../marks.js";
import { mixtureOf, moveCut, plannedTreatments } from "../strategies.js";
import { memoize, partKey, scoreAxis } from "../view.js";

/** @typedef {import("../view.js").View} View */
/** @typedef {import("../chart.js").Mark} Mark */
/** Bars of a group, per 1,000 people of it. @typedef {{positive: number[], negative: number[]}} Bars */
/**
 * The highest bars, per 1,000 people. All groups have the same scale; each class has its own, since positives could not be seen
 * beside negatives where they are rare.
 * @typedef {{up: number, down: number}} Scale
 */

const POPULATION = 1000;
/** Height over width of a chart, and the end of the axis on both sides of 0. */
const [SHAPE, END] = [0.62, 1.08];

/**
 * The function that draws a chart for each highlighted group.
 * @param {(change: Partial<import("../view.js").State>) => void} set
 * @returns {(body: HTMLElement, view: View) => void}
 */
export function makeGroupScores(set) {
  /** @type {View} */
  let current;
  /** @type {Map<number, {node: HTMLElement, title: HTMLElement, chart: Chart}>} */
  const charts = new Map();
  const grid = element("div", { class: "multiples" });
  /** @param {number} group */
  const makeChart = (group) => {
    const [title, holder] = [element("h4", {}), element("div", { class: "holder" })];
    const chart = new Chart(holder, `group-scores-${group}`, (index) =>
      set({ parity: "custom", cuts: moveCut(current, group, current.model.threshold[index]) }),
    );
    return { node: element("div", {}, title, holder), title, chart };
  };
  return (body, view) => {
    current = view;
    if (view.model.entry.labels) return;
    if (!body.firstChild) body.append(makeLegend(), grid);
    const shown = shownGroups(view);
    for (const group of shown) if (!charts.has(group)) charts.set(group, makeChart(group));
    const own = shown.map((group) => ({ group, .../** @type {any} */ (charts.get(group)) }));
    if (own.length !== grid.children.length || own.some(({ node }, at) => grid.children[at] !== node)) {
      grid.replaceChildren(...own.map(({ node }) => node));
    }
    const scale = barScale(view, shown);
    for (const { group, title, chart } of own) {
      title.textContent = shorten(view.groups[group].name, 40);
      chart.draw(groupSpec(view, group, scale));
    }
  };
}

/**
 * One legend for all charts.
 * @returns {HTMLElement}
 */
function makeLegend() {
  /** @param {string} look @param {string} label */
  const bars = (look, label) => legendItem({ kind: "bars", key: look, look, label });
  return element(
    "ul",
    { class: "legend" },
    bars("positive", CLASSES.positive),
    bars("negative", `${CLASSES.negative} (downwards)`),
    legendItem({ kind: "rule", key: "cut", look: "accent", label: "threshold of the group" }),
  );
}

/**
 * Bars of all groups at the selected prevalence.
 * @param {View} view
 * @returns {Bars[]}
 */
function groupBars({ report, model, state, factors }) {
  return memoize(report, "group bars", `${partKey({ ...state, who: -1 })} ${state.prevalence}`, () =>
    model.groups.map(({ positives, negatives }, group) => {
      const total = positives * factors.positive + negatives * factors.negative;
      /** @param {number[]} masses @param {number} factor */
      const bars = (masses, factor) => masses.map((mass) => (total ? (POPULATION * mass * factor) / total : 0));
      return {
        positive: bars(model.entry.scores.positive[group], factors.positive),
        negative: bars(model.entry.scores.negative[group], factors.negative),
      };
    }),
  );
}

/**
 * The highest bars of some groups, upwards and downwards.
 * @param {View} view
 * @param {number[]} shown
 * @returns {Scale}
 */
function barScale(view, shown) {
  const bars = groupBars(view);
  return {
    up: Math.max(...shown.flatMap((group) => bars[group].positive)) || 1,
    down: Math.max(...shown.flatMap((group) => bars[group].negative)) || 1,
  };
}

/**
 * Bars of a group relative to the highest ones.
 * @param {View} view
 * @param {number} group
 * @param {Scale} scale
 * @returns {Bars}
 */
function scaledBars(view, group, { up, down }) {
  const { positive, negative } = groupBars(view)[group];
  return memoize(view.report, `group heights ${group}`, `${partKey(view.state)} ${up} ${down}`, () => ({
    positive: positive.map((people) => people / up),
    negative: negative.map((people) => -people / down),
  }));
}

/**
 * The chart of one group.
 * @param {View} view
 * @param {number} group
 * @param {Scale} scale
 * @returns {import("../chart.js").Spec}
 */
function groupSpec(view, group, scale) {
  const { domain, x } = scoreAxis(view);
  const { edges } = view.model.entry.scores;
  const { positive, negative } = scaledBars(view, group, scale);
  const { name, treatment } = view.groups[group];
  const own = treatment ?? plannedTreatments(view)?.[group] ?? { thresholds: [view.state.threshold] };
  const places = mixtureOf(own).map(({ threshold }) => thresholdIndex(view.model.threshold, threshold));
  const chances = mixtureOf(own).map(({ chance }) => chance);
  const index = places[chances.indexOf(Math.max(...chances))];
  const level = memoize(view.report, "group level", String(view.state.model), () => new Float64Array(x.length));
  /** @type {Mark[]} */
  const lines =
    places.length < 2
      ? []
      : places.map((place, at) => ({ kind: "rule", key: `cut ${at}`, x: x[place], look: "accent dashed" }));
  return {
    x: { label: "Score", domain },
    y: { label: "People per 1,000", domain: [-END, END], ticks: barTicks(scale) },
    shape: SHAPE,
    marks: [
      { kind: "bars", key: "positive", edges, heights: positive, look: "positive" },
      { kind: "bars", key: "negative", edges, heights: negative, look: "negative" },
      { kind: "rule", key: "ground", y: 0, look: "quiet" },
      ...lines,
    ],
    handle: {
      x,
      y: level,
      index,
      upright: true,
      idle: places.length > 1,
      name: `Threshold of ${shorten(name)}`,
      describe: (at) => describeThreshold(view, group, at),
    },
    description: `Scores of ${shorten(name)}, per 1,000 people of the group. ${describeThreshold(view, group, index)}.`,
    table: groupScoresTable(view),
  };
}

/**
 * Ticks at 0 and at a round number on either side.
 * @param {Scale} scale
 * @returns {{at: number, text: string}[]}
 */
function barTicks({ up, down }) {
  /** @param {number} end */
  const round = (end) => {
    const power = 10 ** Math.floor(Math.log10(end));
    return power * ([5, 2, 1].find((factor) => factor * power <= end) ?? 1);
  };
  return [
    { at: round(up) / up, text: shortNumber(round(up)) },
    { at: 0, text: "0" },
    { at: -round(down) / down, text: shortNumber(round(down)) },
  ];
}

/**
 * @param {number} value
 * @returns {string}
 */
function shortNumber(value) {
  return value >= 1 ? formatCount(value) : String(Number(value.toPrecision(1)));
}

/**
 * A threshold with the rates of a group.
 * @param {View} view
 * @param {number} group
 * @param {number} index
 * @returns {string}
 */
function describeThreshold(view, group, index) {
  const table = tableAt(view.model.groups[group], index, view.factors);
  const [tpr, fpr] = [MEASURES.sensitivity(table), MEASURES.fpr(table)];
  const rates = [
    ...(Number.isNaN(tpr) ? [] : [`sensitivity ${formatPercent(tpr)}`]),
    ...(Number.isNaN(fpr) ? [] : [`false positive rate ${formatPercent(fpr)}`]),
  ].join(", ");
  return `threshold ${formatThreshold(view.model.threshold[index])}: ${rates || "no rows"}`;
}

/**
 * Bars of the highlighted groups, for a download.
 * @param {View} view
 * @returns {import("../chart.js").Table}
 */
export function groupScoresTable(view) {
  const { edges } = view.model.entry.scores;
  return {
    columns: ["group", "from", "to", "positives per 1,000", "negatives per 1,000"],
    rows: () =>
      shownGroups(view).flatMap((group) => {
        const { positive, negative } = groupBars(view)[group];
        return positive.map((height, bin) => [
          view.groups[group].name,
          edges[bin],
          edges[bin + 1],
          height,
          0 - negative[bin],
        ]);
      }),
  };
}
