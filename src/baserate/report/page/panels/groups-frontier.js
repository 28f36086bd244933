/** The least expected cost at each allowed difference between groups, with all strategies as points. */

import { element, updateChildren } from "../dom.js";
import { makeToolbar } from "../toolbar.js";
import { isEligible } from "../fairness.js";
import { formatNumber, formatPercent } from "../format.js";
import { greatestGap, singleFrontier, solveFrontier } from "../frontier.js";
import { rateName } from "../group_rates.js";
import { seriesLook } from "../paths.js";
import { compareStrategies, costIn } from "../strategies.js";
import { constraintOf, describePrevalence, memoize, settingKey } from "../view.js";

/** @typedef {import("../view.js").View} View */
/** @typedef {import("../view.js").Parity} Parity */
/** @typedef {import("../frontier.js").Frontier} Frontier */
/** A strategy as a point. @typedef {{id: string, label: string, within: number, cost: number}} Point */

const POPULATION = 1000;
/** Space around the points, relative to their range. */
const MARGIN = 0.08;

/**
 * The parity whose frontier is shown: the chosen one, or that of the current strategy, or the last one.
 * @param {View} view
 * @returns {Parity}
 */
function frontierParity({ payload, state }) {
  const parities = /** @type {Parity[]} */ (payload.parities);
  const known = [state.frontier, state.parity].map((id) => parities.find((parity) => parity.id === id)).find(Boolean);
  return known ?? parities[parities.length - 1];
}

/**
 * Both curves, and the strategies as points.
 * @param {View} view
 * @returns {{parity: Parity, frontier: Frontier, single: Frontier, points: Point[], end: number}}
 */
function deriveFrontier(view) {
  const { report, state, model, factors, costs } = view;
  const parity = frontierParity(view);
  const constraint = constraintOf(report, parity.id);
  const problem = { threshold: model.threshold, groups: model.groups, factors, costs };
  const key = `${settingKey(state)}/${parity.id}`;
  const { frontier, single } = memoize(report, "frontier", key, () => ({
    frontier: solveFrontier(constraint, problem),
    single: singleFrontier(constraint, problem),
  }));
  const takesPart = model.groups.map((part) => isEligible(part, constraint));
  const points = compareStrategies(view).map(({ id, label, counts }) => {
    const own = counts.map((table, at) => (takesPart[at] ? table : null));
    return { id, label, within: greatestGap(constraint, own), cost: costIn(own, own, costs) };
  });
  const gaps = [...points.map(({ within }) => within), frontier.within[frontier.within.length - 1] ?? 0];
  return { parity, frontier, single, points, end: Math.min(1, Math.max(0.01, ...gaps) * (1 + MARGIN)) };
}

/**
 * @param {View} view
 * @returns {import("../chart.js").Spec | null}
 */
export function groupFrontierSpec(view) {
  if (view.model.entry.labels) return null;
  const { parity, frontier, single, points, end } = deriveFrontier(view);
  if (!frontier.cost.length) return null;
  const rates = parity.rates.map((rate) => (rate === "fpr" ? "FPR" : rateName(view, rate))).join(" or ");
  const { curve, steps } = memoize(
    view.report,
    "frontier lines",
    `${settingKey(view.state)}/${parity.id}/${end}`,
    () => ({
      curve: lineOf(frontier, end),
      steps: lineOf(single, end),
    }),
  );
  return {
    x: { label: `Largest difference in ${rates}`, domain: [0, end], format: "percent" },
    y: { label: "Expected cost", name: "per 1,000 people", domain: costDomain(points, curve), format: "number" },
    shape: 0.7,
    marks: [
      { kind: "step", key: "single", ...steps, look: "other", label: "one threshold for all groups" },
      {
        kind: "line",
        key: "frontier",
        ...curve,
        look: "series-0 strong",
        label: `frontier of ${parity.label.toLowerCase()}`,
      },
      ...points.flatMap((point, at) => pointMarks(view, point, at)),
    ],
    description: `Lowest expected cost at each allowed difference in ${rates}, ${describePrevalence(view)}. ${points.map(describePoint).join("; ")}.`,
    table: {
      columns: ["largest difference", "expected cost per person"],
      rows: () => frontier.within.map((within, at) => [within, frontier.cost[at]]),
    },
  };
}

/**
 * A curve per 1,000 people that continues to the end of the axis.
 * @param {Frontier} frontier
 * @param {number} end
 * @returns {{x: number[], y: number[]}}
 */
function lineOf({ within, cost }, end) {
  const y = cost.map((each) => POPULATION * each);
  const last = within[within.length - 1];
  return last < end ? { x: [...within, end], y: [...y, y[y.length - 1]] } : { x: within, y };
}

/**
 * The range of the costs of all points and of the frontier.
 * @param {Point[]} points
 * @param {{y: number[]}} curve
 * @returns {[number, number]}
 */
function costDomain(points, curve) {
  const costs = [...points.map(({ cost }) => POPULATION * cost), ...curve.y].filter(Number.isFinite);
  const [low, high] = [Math.min(...costs), Math.max(...costs)];
  const room = MARGIN * (high - low || Math.abs(high) || 1);
  return [low < 0 ? low - room : Math.max(0, low - room), high + room];
}

/**
 * A strategy as a point, with its name at the right of the chart.
 * @param {View} view
 * @param {Point} point
 * @param {number} at
 * @returns {import("../chart.js").Mark[]}
 */
function pointMarks({ state }, { id, label, within, cost }, at) {
  if (Number.isNaN(cost) || Number.isNaN(within)) return [];
  const [x, y] = [[within], [POPULATION * cost]];
  const isCurrent = id === state.parity;
  const look = seriesLook((at + 1) % 8);
  const text = isCurrent ? `${label} (current)` : label;
  return [
    { kind: "line", key: `label ${id}`, x, y, look, endLabel: text },
    {
      kind: "dots",
      key: `point ${id}`,
      x,
      y,
      look: isCurrent ? `${look} current` : look,
      describe: () => describePoint({ label: text, within, cost }),
    },
  ];
}

/**
 * @param {{label: string, within: number, cost: number}} point
 * @returns {string}
 */
function describePoint({ label, within, cost }) {
  return `${label}\ndifference ${formatPercent(within)}\ncost ${formatNumber(POPULATION * cost)} per 1,000`;
}

/**
 * The function that draws the buttons of the parities below the chart.
 * @param {(change: Partial<import("../view.js").State>) => void} set
 * @returns {(body: HTMLElement, view: View) => void}
 */
export function makeFrontierButtons(set) {
  let listens = false;
  return (body, view) => {
    if (!listens) {
      body.addEventListener("click", ({ target }) => {
        const button = /** @type {Element} */ (target).closest("[data-frontier]");
        if (button) set({ frontier: button.getAttribute("data-frontier") });
      });
    }
    listens = true;
    const { parity, frontier } = deriveFrontier(view);
    const parities = /** @type {Parity[]} */ (view.payload.parities);
    const buttons = parities.map(({ id, label, hint }) =>
      element(
        "button",
        { type: "button", "data-frontier": id, "aria-pressed": String(id === parity.id), title: hint },
        label,
      ),
    );
    updateChildren(body, [
      makeToolbar(element("div", { class: "buttons" }, ...buttons), "Parity of the frontier"),
      element("p", { class: "quiet" }, describeFrontier(view, frontier)),
    ]);
  };
}

/**
 * What equality costs, in words.
 * @param {View} view
 * @param {Frontier} frontier
 * @returns {string}
 */
function describeFrontier(view, { within, cost }) {
  if (!cost.length) return "No group has rows of both classes.";
  const last = cost.length - 1;
  const [equal, least] = [POPULATION * cost[0], POPULATION * cost[last]];
  const priced = view.priced ? "" : " No costs are stated: each error costs 1.";
  if (last === 0) return `Equality costs nothing, ${describePrevalence(view)}.${priced}`;
  return (
    `Equality costs ${formatNumber(equal - least)} per 1,000 people more than the optimum without a constraint, ` +
    `${formatNumber(least)}; from a difference of ${formatPercent(within[last])} on the constraint costs nothing.${priced}`
  );
}
