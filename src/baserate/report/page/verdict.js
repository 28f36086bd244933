/** The verdict at the top of the page: the decision, its outcome per 1,000 people, cost, key measures and warnings. */

import { MEASURES, expectedCost, naturalFrequencies, readNumber } from "./core.js";
import { byId, element, numberAttributes, updateChildren } from "./dom.js";
import { formatCount, formatPercent, formatThreshold } from "./format.js";
import { currentNumber, termOf } from "./view.js";

/** @typedef {import("./view.js").View} View */

const KEY_MEASURES = ["sensitivity", "specificity", "precision", "npv"];

/**
 * Show the verdict of a view.
 * @param {View} view
 */
export function drawVerdict(view) {
  byId("verdict-decision").textContent = `${describeDecision(view)} ${describeOutcome(view)}`;
  const cost = byId("verdict-cost");
  cost.hidden = !view.priced;
  cost.textContent = view.priced ? describeCost(view) : "";
  updateChildren(byId("verdict-figures"), figures(view));
}

/**
 * @param {View} view
 * @returns {string}
 */
function describeDecision(view) {
  if (view.model.entry.labels) return "Flag the predicted positives.";
  if (!view.single) return "Flag by the thresholds of groups.";
  return `Flag scores ≥ ${formatThreshold(view.state.threshold)}.`;
}

/**
 * @param {View} view
 * @returns {string}
 */
function describeOutcome(view) {
  const { tp, fp, fn } = naturalFrequencies(view.counts);
  return `Per 1,000 people: ${tp + fp} flagged, ${tp} of them true positives; ${fn} positives missed.`;
}

/**
 * @param {View} view
 * @returns {string}
 */
function describeCost({ counts, costs }) {
  const { tp, fp, fn, tn } = counts;
  const [positives, negatives] = [tp + fn, fp + tn];
  const [now, nobody, everybody] = [
    expectedCost(counts, costs),
    expectedCost({ tp: 0, fp: 0, fn: positives, tn: negatives }, costs),
    expectedCost({ tp: positives, fp: negatives, fn: 0, tn: 0 }, costs),
  ].map((cost) => formatCount(1000 * cost));
  return `Cost ${now} (flag nobody ${nobody}, flag everybody ${everybody}).`;
}

/**
 * @param {View} view
 * @returns {HTMLElement[]}
 */
function figures(view) {
  const rates = KEY_MEASURES.map((name) => {
    const value = MEASURES[name](view.counts);
    return figure(termOf(view, name), name, value, Number.isNaN(value) ? "–" : formatPercent(value));
  });
  const auc = currentNumber(view, "auc");
  if (auc?.value !== undefined) {
    const value = readNumber(auc.value);
    rates.push(figure("AUC", "auc", value, value.toFixed(2)));
  }
  return rates;
}

/**
 * @param {string} term
 * @param {string} name
 * @param {number} value
 * @param {string} text
 * @returns {HTMLElement}
 */
function figure(term, name, value, text) {
  const label = term[0].toUpperCase() + term.slice(1);
  return element("div", {}, element("dt", {}, label), element("dd", numberAttributes(name, value), text));
}
