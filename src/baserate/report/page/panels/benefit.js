// Whether it is worth acting on the scores, for people who would act from some probability on.

import { decisionCurve } from "../core.js";
import { percent, short } from "../format.js";
import { partKey, remembered } from "../view.js";

const GRID = Float64Array.from({ length: 99 }, (_, at) => (at + 1) / 100);

/**
 * @param {import("../view.js").View} view
 * @returns {import("../kit.js").Spec | null} null where scores are no probabilities
 */
export function benefitSpec(view) {
  if (!view.model.entry.probable || view.model.entry.labels) return null;
  const { model, all, none, top } = derived(view);
  const { costs } = view;
  const acts = (costs.fp - costs.tn) / (costs.fp - costs.tn + costs.fn - costs.tp);
  const nearest = Math.min(98, Math.max(0, Math.round(100 * acts) - 1));
  return {
    x: { label: "probability from which on one would act", domain: [0, 1], format: "percent" },
    y: { label: "net benefit", domain: [-0.25 * top, 1.08 * top] },
    marks: [
      { kind: "line", key: "none", x: GRID, y: none, look: "faint", label: "flag nobody" },
      { kind: "line", key: "all", x: GRID, y: all, look: "series-1 dash-1", label: "flag everybody" },
      { kind: "line", key: "model", x: GRID, y: model, look: `series-0 strong`, label: "flag by the scores" },
      { kind: "rule", key: "costs", x: acts, look: "quiet", label: `chosen costs: act from ${percent(acts)}` },
    ],
    told: `Decision curve. At ${percent(GRID[nearest])} flagging by the scores is worth ${short(model[nearest])}, flagging everybody ${short(all[nearest])}, flagging nobody 0.`,
    table: {
      columns: ["act from", "flag by the scores", "flag everybody", "flag nobody"],
      rows: () => Array.from(GRID, (at, index) => [at, model[index], all[index], 0]),
    },
  };
}

/**
 * @param {import("../view.js").View} view
 */
function derived(view) {
  const { state, part, factors } = view;
  return remembered(view.book, "benefit", `${partKey(state)} ${state.prevalence}`, () => {
    const found = decisionCurve(view.model.threshold, part, GRID, factors);
    const top = Math.max(...found.model, ...found.all.filter((value) => value > 0)) || 1;
    return { ...found, none: new Float64Array(GRID.length), top };
  });
}
