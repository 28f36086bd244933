/** Strategies for groups side by side: their decisions, costs and differences, and how many decisions they change. */

import { expectedCost, readNumber, tableAt, thresholdIndex } from "./core.js";
import { gapOf } from "./frontier.js";
import { GROUP_POLICIES } from "./labels.js";
import { memoize, policyTables, settingKey, strategyOf } from "./view.js";

/** @typedef {import("./core.js").Counts} Counts */
/** @typedef {import("./core.js").Part} Part */
/** @typedef {import("./fairness.js").Treatment} Treatment */
/** @typedef {import("./view.js").View} View */
/** @typedef {import("./view.js").Model} Model */
/** @typedef {import("./labels.js").Choice} Choice */
/**
 * A strategy: what it decides in each group, null for an excluded group or an unknown treatment, and numbers of the whole.
 * `aboveFree` and `aboveSingle` are costs above those of group-specific thresholds and of the single threshold, in the same
 * groups. `changed` is the share of people whose decision differs from that of the plan.
 * @typedef {{id: string, label: string, hint: string, rates: string[], treatments: (Treatment | null)[],
 *   counts: (Counts | null)[], cost: number, aboveFree: number, aboveSingle: number, gaps: Record<string, number>,
 *   randomized: number, changed: number}} GroupStrategy
 */

/** Rates whose differences between groups are listed. */
export const GAP_RATES = ["flag_rate", "sensitivity", "fpr"];

/**
 * Choices of a policy for groups by id: parity constraints come from the payload.
 * @param {View} view
 * @returns {Record<string, Choice & {rates?: string[]}>}
 */
export function policiesOf({ payload, model, state }) {
  const { planned, custom, ...others } = GROUP_POLICIES;
  const parities = /** @type {import("./view.js").Parity[]} */ (payload.parities);
  const constraints = Object.fromEntries(parities.map((parity) => [parity.id, parity]));
  return {
    ...(model.entry.cut.planned ? { planned } : {}),
    ...others,
    ...constraints,
    ...(state.parity === "custom" ? { custom } : {}),
  };
}

/**
 * All strategies at the settings of a view.
 * @param {View} view
 * @returns {GroupStrategy[]}
 */
export function compareStrategies(view) {
  const { report, state, index } = view;
  const key = [settingKey(state), index, state.parity, state.cuts].join("/");
  return memoize(report, "strategies", key, () => {
    const decisions = Object.entries(policiesOf(view)).map(([id, choice]) => ({ id, choice, ...decide(view, id) }));
    const free = strategyOf(report, state, view, "own").counts;
    const single = decide(view, "single").counts;
    const before = plannedTreatments(view);
    return decisions.map(({ id, choice, counts, treatments, randomized }) => ({
      id,
      label: choice.label,
      hint: choice.hint,
      rates: choice.rates ?? [],
      treatments,
      counts,
      randomized,
      cost: costIn(counts, counts, view.costs),
      aboveFree: costIn(counts, counts, view.costs) - costIn(free, counts, view.costs),
      aboveSingle: costIn(counts, counts, view.costs) - costIn(single, counts, view.costs),
      gaps: Object.fromEntries(GAP_RATES.map((rate) => [rate, gapOf(rate, counts)])),
      changed: before ? changedShare(view, before, treatments) : NaN,
    }));
  });
}

/**
 * Decisions of one strategy.
 * @param {View} view
 * @param {string} id
 * @returns {{counts: (Counts | null)[], treatments: (Treatment | null)[], randomized: number}}
 */
function decide(view, id) {
  const { report, state, model, factors, index, groups, randomized } = view;
  if (id === "single") {
    const treatments = groups.map(() => ({ thresholds: [model.threshold[index]] }));
    return { counts: groups.map(({ part }) => tableAt(part, index, factors)), treatments, randomized: 0 };
  }
  if (id === "planned") {
    return {
      counts: policyTables(model, factors).groups.map(({ counts }) => counts),
      treatments: plannedTreatments(view) ?? groups.map(() => null),
      randomized: 0,
    };
  }
  if (id === "custom") {
    return {
      counts: groups.map(({ counts }) => counts),
      treatments: groups.map(({ treatment }) => treatment),
      randomized,
    };
  }
  return strategyOf(report, state, view, id);
}

/**
 * The cost per person of some decisions, in the groups that others decide.
 * @param {(Counts | null)[]} counts
 * @param {(Counts | null)[]} others
 * @param {import("./core.js").Costs} costs
 * @returns {number}
 */
export function costIn(counts, others, costs) {
  let [cost, total] = [0, 0];
  counts.forEach((each, at) => {
    if (!each || !others[at]) return;
    const mass = each.tp + each.fp + each.fn + each.tn;
    if (!mass) return;
    cost += expectedCost(each, costs) * mass;
    total += mass;
  });
  return cost / total;
}

/**
 * Treatments of the plan: its threshold, or those of its policy. Null where a policy has other actions than pass and flag.
 * @param {View} view
 * @returns {(Treatment | null)[] | null}
 */
export function plannedTreatments({ model }) {
  const { cut, groups } = model.entry;
  if (cut.threshold !== null) return model.groups.map(() => ({ thresholds: [readNumber(cut.threshold)] }));
  if (!cut.planned) return null;
  const entries = /** @type {import("./view.js").Json[]} */ (JSON.parse(cut.planned.policy).groups);
  const own = new Map(entries.map((entry) => [groupKey(entry.group), readTreatment(entry)]));
  const treatments = groups.map(
    (/** @type {import("./view.js").Json} */ group) => own.get(groupKey(group)) ?? own.get(""),
  );
  return treatments.every(Boolean) ? treatments : null;
}

/**
 * @param {import("./view.js").Json | null} group
 * @returns {string}
 */
function groupKey(group) {
  return group ? JSON.stringify(Object.values(group)) : "";
}

/**
 * A treatment of a policy file; null for one with other actions, or with several thresholds at once.
 * @param {import("./view.js").Json} entry
 * @returns {Treatment | null}
 */
function readTreatment(entry) {
  /** @param {import("./view.js").Json} cut */
  const isPlain = ({ thresholds, actions }) => thresholds.length === 1 && actions.join() === "pass,flag";
  if (entry.lottery) {
    if (!entry.lottery.every(isPlain)) return null;
    const lottery = entry.lottery.map((/** @type {import("./view.js").Json} */ cut) => ({
      chance: cut.chance,
      threshold: readNumber(cut.thresholds[0]),
    }));
    return { lottery };
  }
  return isPlain(entry) ? { thresholds: [readNumber(entry.thresholds[0])] } : null;
}

/**
 * Thresholds of a treatment with their probabilities.
 * @param {Treatment} treatment
 * @returns {{chance: number, threshold: number}[]}
 */
export function mixtureOf(treatment) {
  return "lottery" in treatment ? treatment.lottery : [{ chance: 1, threshold: treatment.thresholds[0] }];
}

/**
 * Share of people whom two policies decide differently, expected where decisions are random; random decisions of both are
 * independent. NaN where no group has both treatments.
 * @param {View} view
 * @param {(Treatment | null)[]} before
 * @param {(Treatment | null)[]} after
 * @returns {number}
 */
export function changedShare({ model, factors }, before, after) {
  let [changed, total] = [0, 0];
  model.groups.forEach((part, at) => {
    const [one, other] = [before[at], after[at]];
    if (!one || !other) return;
    changed += changedMass(model, part, factors, one, other);
    total += part.positives * factors.positive + part.negatives * factors.negative;
  });
  return changed / total;
}

/**
 * Mass of a group that two treatments decide differently.
 * @param {Model} model
 * @param {Part} part
 * @param {import("./core.js").Factors} factors
 * @param {Treatment} before
 * @param {Treatment} after
 * @returns {number}
 */
function changedMass(model, part, factors, before, after) {
  const [one, other] = [before, after].map((treatment) =>
    mixtureOf(treatment).map(({ chance, threshold }) => ({
      chance,
      place: thresholdIndex(model.threshold, threshold),
    })),
  );
  /** @param {{chance: number, place: number}[]} mixture @param {number} place */
  const flagged = (mixture, place) => mixture.reduce((sum, each) => (each.place >= place ? sum + each.chance : sum), 0);
  /** @param {number} place */
  const mass = (place) => part.tp[place] * factors.positive + part.fp[place] * factors.negative;
  const ends = [...new Set([...one, ...other].map(({ place }) => place))].sort((first, second) => first - second);
  let changed = 0;
  for (let at = 1; at < ends.length; at += 1) {
    const [p, q] = [flagged(one, ends[at]), flagged(other, ends[at])];
    changed += (mass(ends[at]) - mass(ends[at - 1])) * (p * (1 - q) + q * (1 - p));
  }
  return changed;
}

/**
 * Thresholds of all groups when one of them is moved: randomized groups take the more probable of their thresholds.
 * @param {View} view
 * @param {number} group
 * @param {number} threshold
 * @returns {number[]}
 */
export function moveCut(view, group, threshold) {
  const known = view.state.parity === "planned" ? (plannedTreatments(view) ?? []) : [];
  return view.groups.map(({ treatment }, at) => {
    if (at === group) return threshold;
    const own = treatment ?? known[at];
    if (!own) return view.model.threshold[view.index];
    return mixtureOf(own).reduce((best, each) => (each.chance > best.chance ? each : best)).threshold;
  });
}
