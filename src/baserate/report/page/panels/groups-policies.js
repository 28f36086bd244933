/** Strategies for groups: cost, differences and changed decisions of each, and its thresholds and rates in each group. */

import { MEASURES } from "../core.js";
import { element, numberAttributes, placeNumbers, scrollTable, updateChildren } from "../dom.js";
import { shareTabStop } from "../toolbar.js";
import { formatCount, formatPercent, shorten } from "../format.js";
import { rateName, shownGroups } from "../group_rates.js";
import { GAP_RATES, compareStrategies, plannedTreatments } from "../strategies.js";
import { formatCosts } from "../verdict.js";
import { describePrevalence } from "../view.js";
import { describeMixture, everybodyPlace, numberCell } from "./groups-tables.js";

/** @typedef {import("../view.js").View} View */
/** @typedef {import("../dom.js").Child} Child */
/** @typedef {import("../strategies.js").GroupStrategy} GroupStrategy */

const POPULATION = 1000;
/** Differences of costs, relative to the costs, that are rounding. */
const EQUAL = 1e-9;

/**
 * The function that draws the body of the panel, and listens to its buttons.
 * @param {(change: Partial<import("../view.js").State>) => void} set
 * @returns {(body: HTMLElement, view: View) => void}
 */
export function makeGroupPolicies(set) {
  let listens = false;
  /** @param {HTMLElement} body */
  const listen = (body) =>
    body.addEventListener("click", ({ target }) => {
      const button = /** @type {Element} */ (target).closest("[data-parity]");
      if (button) set({ parity: button.getAttribute("data-parity") ?? "single" });
    });
  return (body, view) => {
    if (!listens) listen(body);
    listens = true;
    const strategies = compareStrategies(view);
    updateChildren(body, [
      element("p", { class: "sentence" }, describeCurrent(view, strategies)),
      shareTabStop(summaryTable(view, strategies)),
      element("h4", {}, `Threshold and rates by group, ${describePrevalence(view)}`),
      groupTable(view, strategies),
      element("p", { class: "quiet" }, describeNotes(view, strategies)),
    ]);
  };
}

/**
 * The current strategy in words.
 * @param {View} view
 * @param {GroupStrategy[]} strategies
 * @returns {string}
 */
function describeCurrent({ state }, strategies) {
  return strategies.find(({ id }) => id === state.parity)?.hint ?? "";
}

/**
 * A row for each strategy.
 * @param {View} view
 * @param {GroupStrategy[]} strategies
 * @returns {HTMLElement}
 */
function summaryTable(view, strategies) {
  const costs = formatCosts(strategies.map(({ cost }) => POPULATION * cost));
  const columns = [
    "strategy",
    element("span", {}, "expected cost", element("small", {}, " per 1,000 people")),
    "above group-specific thresholds",
    "above the single threshold",
    ...GAP_RATES.map((rate) =>
      element("span", {}, `difference in ${rateName(view, rate)}`, element("small", {}, " largest")),
    ),
    "decided at random",
    "changed decisions",
  ];
  const rows = strategies.map((strategy, at) =>
    placeNumbers(
      [
        element(
          "button",
          {
            type: "button",
            "data-parity": strategy.id,
            "aria-pressed": String(strategy.id === view.state.parity),
            title: strategy.hint,
          },
          strategy.label,
        ),
        numberCell("expected_cost", strategy.cost, Number.isNaN(strategy.cost) ? "–" : costs[at]),
        costCell("above_own", strategy.aboveFree, strategy.cost),
        costCell("above_single", strategy.aboveSingle, strategy.cost),
        ...GAP_RATES.map((rate) => gapCell(strategy, rate)),
        numberCell("randomized", strategy.randomized, formatPercent(strategy.randomized)),
        numberCell(
          "changed",
          strategy.changed,
          formatPercent(strategy.changed),
          element("small", {}, Number.isNaN(strategy.changed) ? "" : describeThousand(strategy.changed)),
        ),
      ],
      strategyPlace(view, strategy),
    ),
  );
  return scrollTable(`Strategies for groups, ${describePrevalence(view)}`, columns, rows);
}

/**
 * Where the numbers of a strategy hold.
 * @param {View} view
 * @param {GroupStrategy} strategy
 * @returns {import("../dom.js").Place}
 */
function strategyPlace(view, { id }) {
  return { ...everybodyPlace(view), cut: id === "single" ? view.state.threshold : id };
}

/**
 * A cost above another one, per 1,000 people and as a percentage of it.
 * @param {string} name
 * @param {number} above
 * @param {number} cost
 * @returns {HTMLElement}
 */
function costCell(name, above, cost) {
  if (Number.isNaN(above)) return element("td", {}, "–");
  const difference = Math.abs(above) <= EQUAL * Math.abs(cost) ? 0 : above;
  const base = cost - above;
  const [size] = formatCosts([Math.abs(POPULATION * difference)]);
  const sign = difference > 0 ? "+" : difference < 0 ? "−" : "";
  const share = difference && base > 0 ? `${sign}${formatPercent(Math.abs(difference) / base)}` : "";
  return numberCell(name, difference, `${sign}${size}`, element("small", {}, share));
}

/**
 * The largest difference of a rate between two groups; bold where the strategy constrains it.
 * @param {GroupStrategy} strategy
 * @param {string} rate
 * @returns {HTMLElement}
 */
function gapCell({ gaps, rates }, rate) {
  const text = formatPercent(gaps[rate]);
  return element(
    "td",
    { class: "value", ...numberAttributes(`gap ${rate}`, gaps[rate]) },
    rates.includes(rate) ? element("b", {}, text) : text,
  );
}

/**
 * @param {number} share
 * @returns {string}
 */
function describeThousand(share) {
  const people = POPULATION * share;
  return share > 0 && people < 0.5 ? "fewer than 1 per 1,000" : `${formatCount(people)} per 1,000`;
}

/**
 * Thresholds and rates: a row for each highlighted group, a column for each strategy.
 * @param {View} view
 * @param {GroupStrategy[]} strategies
 * @returns {HTMLElement}
 */
function groupTable(view, strategies) {
  const rows = shownGroups(view).map((group) => [
    element("span", { title: view.groups[group].name }, shorten(view.groups[group].name, 40)),
    ...strategies.map((strategy) => strategyCell(view, strategy, group)),
  ]);
  return scrollTable(
    `Threshold and rates by group, ${describePrevalence(view)}`,
    ["group", ...strategies.map(({ label }) => label)],
    rows,
  );
}

/**
 * @param {View} view
 * @param {GroupStrategy} strategy
 * @param {number} group
 * @returns {HTMLElement}
 */
function strategyCell(view, strategy, group) {
  const { treatments, counts } = strategy;
  const [treatment, table] = [treatments[group], counts[group]];
  if (!table) return element("td", {}, "excluded: lacks a class");
  const rates = ["sensitivity", "fpr", "flag_rate"].map((rate) => {
    const value = MEASURES[rate](table);
    return element("small", numberAttributes(rate, value), `${rateName(view, rate)} ${formatPercent(value)}`);
  });
  const place = { ...strategyPlace(view, strategy), group };
  return element(
    "td",
    { class: "strategy" },
    treatment ? describeMixture(treatment) : "policy",
    ...placeNumbers(rates, place),
  );
}

/**
 * What the numbers refer to.
 * @param {View} view
 * @param {GroupStrategy[]} strategies
 * @returns {string}
 */
function describeNotes(view, strategies) {
  const shown = shownGroups(view).length;
  const lacking = strategies.some(({ counts }) => counts.includes(null));
  return [
    view.priced ? "" : "No costs are stated: each error costs 1.",
    "At random: each threshold with its probability. Changed decisions are compared with the plan's; random decisions count with their probability.",
    plannedTreatments(view) ? "" : "The plan's policy has other actions than to flag or not, so they are unknown.",
    lacking ? "A parity excludes groups without a class that it needs; costs are compared in the other groups." : "",
    shown < view.groups.length ? `The second table lists the ${shown} highlighted groups.` : "",
    "Differences are the largest between any two groups, small ones included; bold: constrained by the strategy.",
  ]
    .filter(Boolean)
    .join(" ");
}

/**
 * Rows for a download: each strategy in each group.
 * @param {View} view
 * @returns {import("../chart.js").Table}
 */
export function groupPoliciesTable(view) {
  return {
    columns: ["strategy", "group", "threshold", ...GAP_RATES, "cost", "decided at random", "changed decisions"],
    rows: () =>
      compareStrategies(view).flatMap(({ label, treatments, counts, cost, randomized, changed }) =>
        view.groups.map(({ name }, group) => {
          const [treatment, table] = [treatments[group], counts[group]];
          const rates = GAP_RATES.map((rate) => (table ? MEASURES[rate](table) : NaN));
          return [label, name, treatment ? describeMixture(treatment) : "", ...rates, cost, randomized, changed];
        }),
      ),
  };
}
