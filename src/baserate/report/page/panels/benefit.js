/** Whether it is worth acting on the scores, for people who would act from some probability on. */

import { decisionCurve } from "../curves.js";
import { percent, short } from "../format.js";
import { cutRule, partKey, remembered } from "../view.js";

const FINE = 100;
/** Ends of the axis: the least that shows what is going on. */
const ENDS = [0.02, 0.05, 0.1, 0.2, 0.5, 1];

/**
 * @param {import("../view.js").View} view
 * @returns {import("../kit.js").Spec | null} null where scores are no probabilities
 */
export function benefitSpec(view) {
  if (!view.model.entry.probable || view.model.entry.labels) return null;
  const { costs } = view;
  const acts = (costs.fp - costs.tn) / (costs.fp - costs.tn + costs.fn - costs.tp);
  const end = ENDS.find((each) => each >= Math.max(4 * view.prevalence, 1.5 * acts)) ?? 1;
  const { grid, model, all, none, top } = derived(view, end);
  const nearest = Math.min(FINE - 1, Math.max(0, Math.round((FINE * acts) / end) - 1));
  return {
    x: { label: "probability from which on one would act", domain: [0, end], format: "percent" },
    y: { label: "found, less false alarms", name: "net benefit", domain: [-0.25 * top, 1.08 * top] },
    marks: [
      ...cutRule(view, end),
      { kind: "line", key: "none", x: grid, y: none, look: "faint", label: "flag nobody" },
      { kind: "line", key: "all", x: grid, y: all, look: "series-1 dash-1", label: "flag everybody" },
      { kind: "line", key: "model", x: grid, y: model, look: "series-0 strong", label: "flag by the scores" },
      ...doneNow(view, acts),
      { kind: "rule", key: "costs", x: acts, look: "quiet", label: `chosen costs: act from ${percent(acts)}` },
    ],
    probe: {
      x: grid,
      y: model,
      upright: true,
      told: (at) => `act from ${percent(grid[at])}: by the scores ${short(model[at])}, everybody ${short(all[at])}`,
    },
    told: `Decision curve. At ${percent(grid[nearest])} flagging by the scores is worth ${short(model[nearest])}, flagging everybody ${short(all[nearest])}, flagging nobody 0.`,
    table: {
      columns: ["act from", "flag by the scores", "flag everybody", "flag nobody"],
      rows: () => Array.from(grid, (at, index) => [at, model[index], all[index], 0]),
    },
  };
}

/**
 * What is done now, at the price of a false alarm that the costs imply.
 * @param {import("../view.js").View} view
 * @param {number} acts
 * @returns {import("../kit.js").Mark[]}
 */
function doneNow({ counts }, acts) {
  const { tp, fp, fn, tn } = counts;
  const worth = (tp - (fp * acts) / (1 - acts)) / (tp + fp + fn + tn);
  if (!Number.isFinite(worth)) return [];
  return [
    { kind: "dots", key: "now", x: [acts], y: [worth], look: "accent", label: `what is done now: ${short(worth)}` },
  ];
}

/**
 * What acting from each probability is worth, up to an end.
 * @param {import("../view.js").View} view
 * @param {number} end
 */
function derived(view, end) {
  const { state, part, factors } = view;
  return remembered(view.book, "benefit", `${partKey(state)} ${state.prevalence} ${end}`, () => {
    const grid = Float64Array.from({ length: FINE }, (_, at) => Math.min(0.995, (at + 1) / FINE) * end);
    const found = decisionCurve(view.model.threshold, part, grid, factors);
    const top = Math.max(...found.model, ...found.all.filter((value) => value > 0)) || 1;
    return { grid, ...found, none: new Float64Array(FINE), top };
  });
}
