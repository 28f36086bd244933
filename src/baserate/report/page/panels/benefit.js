/** Whether it is worth acting on the scores, for people who would act from some probability on. */

import { decisionCurve, fixedBenefit } from "../curves.js";
import { percent, short } from "../format.js";
import { partKey, remembered } from "../view.js";

const FINE = 100;
/** Ends of the axis: the least that shows what is going on. */
const ENDS = [0.02, 0.05, 0.1, 0.2, 0.5, 1];

/** @typedef {import("../kit.js").Mark} Mark */
/** @typedef {import("../view.js").View} View */

/**
 * @param {View} view
 * @returns {import("../kit.js").Spec | null} null where scores are no probabilities
 */
export function benefitSpec(view) {
  if (!view.model.entry.probable || view.model.entry.labels) return null;
  const { costs } = view;
  const acts = (costs.fp - costs.tn) / (costs.fp - costs.tn + costs.fn - costs.tp);
  const end = ENDS.find((each) => each >= Math.max(4 * view.prevalence, 1.5 * acts)) ?? 1;
  const { grid, model, kept, all, none, top } = derived(view, end);
  const current = currentLine(view, grid, end);
  const [worth] = fixedBenefit(view.counts, [acts]);
  const nearest = Math.min(FINE - 1, Math.max(0, Math.round((FINE * acts) / end) - 1));
  const scores = isAdjusted(view) ? `, adjusted to ${percent(view.prevalence)} prevalence` : "";
  return {
    x: { label: "probability from which on one would act", domain: [0, end], format: "percent" },
    y: { label: "found, less false alarms", name: "net benefit", domain: [lowest(worth, top), 1.08 * top] },
    marks: [
      { kind: "line", key: "none", x: grid, y: none, look: "faint", label: "flag nobody" },
      { kind: "line", key: "all", x: grid, y: all, look: "series-1 dash-1", label: "flag everybody" },
      ...keptLine(view, grid, kept),
      { kind: "line", key: "current", x: grid, y: current, look: "accent dash-3", label: `${nowName(view)}, fixed` },
      { kind: "line", key: "model", x: grid, y: model, look: "series-0 strong", label: `flag by the scores${scores}` },
      ...nowDot(view, acts, worth),
      { kind: "rule", key: "costs", x: acts, look: "quiet", label: `chosen costs: act from ${percent(acts)}` },
    ],
    probe: {
      x: grid,
      y: model,
      upright: true,
      told: (at) =>
        `act from ${percent(grid[at])}: by the scores ${short(model[at])}, everybody ${short(all[at])}, ${nowName(view)} ${short(current[at])}`,
    },
    told: `Decision curve. Scores are ${scores ? scores.slice(2) : "not adjusted to another prevalence"}. At ${percent(grid[nearest])} flagging by the scores is worth ${short(model[nearest])}, flagging everybody ${short(all[nearest])}, flagging nobody 0; the ${nowName(view)} is worth ${short(current[nearest])}.`,
    table: {
      columns: [
        "act from",
        `flag by the scores${scores}`,
        "scores not adjusted",
        "flag everybody",
        "flag nobody",
        `${nowName(view)}, fixed`,
      ],
      rows: () => Array.from(grid, (at, index) => [at, model[index], kept[index], all[index], 0, current[index]]),
    },
  };
}

/**
 * Whether another prevalence than that of the rows is in use, so that scores are adjusted to it.
 * @param {View} view
 * @returns {boolean}
 */
function isAdjusted({ adjustment }) {
  return Math.abs(adjustment.negative / adjustment.positive - 1) > 1e-9;
}

/**
 * What is done now, in words.
 * @param {View} view
 * @returns {string}
 */
function nowName(view) {
  return view.single ? `current threshold ${short(view.state.threshold)}` : "current policy";
}

/**
 * Net benefit of what is done now: decisions that stay the same from whatever probability on one would act.
 * @param {View} view
 * @param {Float64Array} grid
 * @param {number} end
 * @returns {Float64Array}
 */
function currentLine({ book, counts }, grid, end) {
  const { tp, fp, fn, tn } = counts;
  return remembered(book, "benefit now", [tp, fp, fn, tn, end].join(), () => fixedBenefit(counts, grid));
}

/**
 * Flagging by scores as they are, where they are adjusted otherwise.
 * @param {View} view
 * @param {Float64Array} grid
 * @param {Float64Array} kept
 * @returns {Mark[]}
 */
function keptLine(view, grid, kept) {
  if (!isAdjusted(view)) return [];
  return [{ kind: "line", key: "kept", x: grid, y: kept, look: "quiet dash-2", label: "scores not adjusted" }];
}

/**
 * What is done now at the chosen costs: a point of its line.
 * @param {View} view
 * @param {number} acts
 * @param {number} worth
 * @returns {Mark[]}
 */
function nowDot(view, acts, worth) {
  if (!Number.isFinite(worth)) return [];
  const label = `${nowName(view)} at the chosen costs: ${short(worth)}`;
  return [{ kind: "dots", key: "now", x: [acts], y: [worth], look: "accent", label }];
}

/**
 * Where the axis begins: low enough for the dot, unless it lies far below all that is worth looking at.
 * @param {number} worth
 * @param {number} top
 * @returns {number}
 */
function lowest(worth, top) {
  return Number.isFinite(worth) ? Math.max(-top, Math.min(-0.25 * top, 1.1 * worth)) : -0.25 * top;
}

/**
 * What acting from each probability is worth, up to an end.
 * @param {View} view
 * @param {number} end
 */
function derived(view, end) {
  const { state, part, factors, adjustment } = view;
  return remembered(view.book, "benefit", `${partKey(state)} ${state.prevalence} ${end}`, () => {
    const grid = Float64Array.from({ length: FINE }, (_, at) => Math.min(0.995, (at + 1) / FINE) * end);
    const found = decisionCurve(view.model.threshold, part, grid, factors, adjustment);
    const top = Math.max(...found.model, ...found.all.filter((value) => value > 0)) || 1;
    return { grid, ...found, none: new Float64Array(FINE), top };
  });
}
