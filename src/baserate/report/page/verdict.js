/** The verdict at the top of the page, as in baserate.report._verdict: decision, people, costs, measures and warnings. */

import { MEASURES, expectedCost, naturalFrequencies, readNumber } from "./core.js";
import { byId, element, numberAttributes, updateChildren } from "./dom.js";
import { formatCount, shorten } from "./format.js";
import { placeOf } from "./summary.js";
import { currentNumber, cutOf, prevalenceOf } from "./view.js";

/** @typedef {import("./view.js").View} View */
/** @typedef {{decision: string, people: string, costs: string}} Sentences */

/** @type {Record<string, string>} */
const RATES = { Sensitivity: "sensitivity", Specificity: "specificity", PPV: "precision", NPV: "npv" };
const POPULATION = 1000;
const [MOST_COST_DECIMALS, USUAL_COST_DECIMALS] = [6, 4];
const EQUAL_COSTS = 1e-9;

/**
 * Show the verdict of a view.
 * @param {View} view
 */
export function drawVerdict(view) {
  drawBanner(view.model.entry.verdict.banner);
  const { decision, people, costs } = sentences(view);
  const subject = byId("verdict-subject");
  subject.textContent = describeSubject(view);
  subject.hidden = subject.textContent === "";
  byId("verdict-decision").textContent = `${decision} ${people}`;
  const cost = byId("verdict-cost");
  cost.hidden = costs === "";
  cost.textContent = costs;
  updateChildren(byId("verdict-figures"), figures(view));
  const warnings = byId("verdict-warnings");
  const { verdict } = view.model.entry;
  warnings.hidden = verdict.warnings.length === 0;
  const note = view.planned ? [] : [element("li", { class: "quiet" }, "at the settings of the plan")];
  updateChildren(warnings, [
    ...verdict.warnings.map((/** @type {{severity: string, text: string}} */ { severity, text }) =>
      element("li", { class: severity }, text),
    ),
    ...note,
  ]);
}

/**
 * Show the warning about few rows, if there is one.
 * @param {{severity: string, text: string} | null} banner
 */
function drawBanner(banner) {
  const node = byId("banner");
  node.hidden = !banner;
  node.className = banner?.severity ?? "";
  node.textContent = banner ? `${banner.text}.` : "";
}

/**
 * The selected model and group, where there are several.
 * @param {View} view
 * @returns {string}
 */
function describeSubject({ report, model, state }) {
  const { label, names } = model.entry;
  return [
    ...(report.models.length > 1 ? [`Model ${shorten(label)}`] : []),
    ...(state.who >= 0 ? [shorten(names[state.who])] : []),
  ].join(" · ");
}

/**
 * The sentences of a view. Of a policy that refers people, the page knows the sentences of the plan alone.
 * @param {View} view
 * @returns {Sentences}
 */
export function sentences(view) {
  const { verdict } = view.model.entry;
  if (view.planned && view.state.parity === "planned" && view.state.who < 0) return verdict;
  return { decision: describeDecision(view), people: describePeople(view), costs: describeCosts(view) };
}

/**
 * @param {View} view
 * @returns {string}
 */
function describeDecision(view) {
  const { entry } = view.model;
  const { threshold, parity } = view.state;
  if (entry.labels) return entry.verdict.decision;
  if (parity === "planned") return entry.verdict.decision;
  if (!view.single) return `Flag by group-specific thresholds${view.randomized ? ", partly at random" : ""}.`;
  if (!Number.isFinite(threshold)) return threshold > 0 ? "Flag nobody." : "Flag everybody.";
  return `Flag scores ≥ ${significant(threshold, 6)}.`;
}

/**
 * The outcome for 1,000 people.
 * @param {View} view
 * @returns {string}
 */
function describePeople(view) {
  const { plan } = view.payload;
  const [outcome, flag] = [plan.outcome_name ?? "positive", plan.flag_name ?? "flagged"];
  const people = naturalFrequencies(view.counts);
  /** @param {("tp" | "fp" | "fn")[]} cells */
  const occurs = (cells) => cells.some((cell) => view.counts[cell] > 0);
  /** @param {("tp" | "fp" | "fn")[]} cells */
  const count = (cells) => {
    const whole = cells.reduce((sum, cell) => sum + people[cell], 0);
    return whole === 0 && occurs(cells) ? "fewer than 1" : formatCount(whole);
  };
  const flagged = occurs(["tp", "fp"])
    ? `${count(["tp", "fp"])} ${flag}, ${count(["tp"])} of them ${outcome}`
    : `nobody ${flag}`;
  const missed = occurs(["fn"]) ? `${count(["fn"])} ${outcome} but not ${flag} (missed)` : "nobody missed";
  return `Per 1,000 people ${describeSetting(view)}: ${flagged}; ${missed}.`;
}

/**
 * The prevalence of the numbers.
 * @param {View} view
 * @returns {string}
 */
function describeSetting({ state, part, factors, prevalence, model }) {
  if (state.who >= 0) {
    const group = shorten(model.entry.names[state.who]);
    return `with ${group} (prevalence ${briefPercent(prevalenceOf(part, factors))})`;
  }
  if (state.prevalence === null) return `at the sample prevalence (${briefPercent(prevalence)})`;
  return `at ${significant(100 * state.prevalence, 4)}% prevalence`;
}

/**
 * Costs of the decision, of flagging nobody and of flagging everybody; empty where none are stated.
 * @param {View} view
 * @returns {string}
 */
function describeCosts({ counts, costs, priced }) {
  if (!priced) return "";
  const { tp, fp, fn, tn } = counts;
  const [positives, negatives] = [tp + fn, fp + tn];
  const all = [
    expectedCost(counts, costs),
    expectedCost({ tp: 0, fp: 0, fn: positives, tn: negatives }, costs),
    expectedCost({ tp: positives, fp: negatives, fn: 0, tn: 0 }, costs),
  ].map((cost) => POPULATION * cost);
  if (!all.every(Number.isFinite)) return "";
  const [decision, nobody, everybody] = formatCosts(all);
  return `Cost ${decision} (flag nobody ${nobody}, flag everybody ${everybody}).`;
}

/**
 * Costs with one number of decimals, which tells those apart that differ.
 * @param {number[]} costs
 * @returns {string[]}
 */
export function formatCosts(costs) {
  const largest = Math.max(...costs.map(Math.abs));
  let decimals = 0;
  if (largest) while (decimals < USUAL_COST_DECIMALS && largest * 10 ** decimals < 100) decimals += 1;
  for (; ; decimals += 1) {
    const texts = costs.map((cost) => fixed(cost, decimals));
    const hides = costs.some((one, at) =>
      costs.some((other, to) => texts[at] === texts[to] && Math.abs(one - other) > EQUAL_COSTS * largest),
    );
    if (!hides || decimals === MOST_COST_DECIMALS) return texts;
  }
}

/**
 * Key measures, each a term with its value.
 * @param {View} view
 * @returns {HTMLElement[]}
 */
function figures(view) {
  const rates = Object.entries(RATES).map(([label, name]) => {
    const value = MEASURES[name](view.counts);
    const attributes = numberAttributes(name, value, null, { ...placeOf(view), cut: cutOf(view) });
    return figure(label, attributes, briefPercent(value));
  });
  if (view.model.entry.labels) return rates;
  const value = readNumber(currentNumber(view, "auc")?.value ?? null);
  return [...rates, figure("AUC", numberAttributes("auc", value, null, placeOf(view)), briefArea(value))];
}

/**
 * @param {string} label
 * @param {Record<string, string | number | null>} attributes
 * @param {string} text
 * @returns {HTMLElement}
 */
function figure(label, attributes, text) {
  return element("div", {}, element("dt", {}, label), element("dd", attributes, text));
}

/**
 * A share as a whole percentage; below 10% and above 99% with one decimal.
 * @param {number} share
 * @returns {string}
 */
export function briefPercent(share) {
  if (Number.isNaN(share)) return "–";
  if (share === 0 || share === 1) return `${100 * share}%`;
  const whole = Number((100 * share).toFixed(0));
  if (whole >= 10 && whole <= 99) return `${whole}%`;
  const text = (100 * share).toFixed(1);
  if (text === "0.0") return "< 0.1%";
  return text === "100.0" ? "> 99.9%" : `${text}%`;
}

/**
 * An area below a curve with two decimals; above 0.995 with three.
 * @param {number} area
 * @returns {string}
 */
export function briefArea(area) {
  if (Number.isNaN(area)) return "–";
  if (area === 0 || area === 1) return String(area);
  if (area.toFixed(2) !== "1.00") return area.toFixed(2);
  return area.toFixed(3) === "1.000" ? "> 0.999" : area.toFixed(3);
}

/**
 * A number with a number of significant digits at most.
 * @param {number} value
 * @param {number} digits
 * @returns {string}
 */
function significant(value, digits) {
  return String(Number(value.toPrecision(digits))).replaceAll("-", "−");
}

/**
 * A number with a fixed number of decimals, and commas between thousands.
 * @param {number} value
 * @param {number} decimals
 * @returns {string}
 */
function fixed(value, decimals) {
  const [whole, rest] = value.toFixed(decimals).split(".");
  const separated = whole.replace(/\B(?=(\d{3})+$)/g, ",").replace("-", "−");
  return rest === undefined ? separated : `${separated}.${rest}`;
}
