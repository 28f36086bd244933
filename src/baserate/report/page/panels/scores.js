// How the scores of both classes are spread, with the line that cuts them.

import { cutOff, percent } from "../format.js";
import { CLASSES } from "../words.js";
import { along, remembered, scoreAxis } from "../view.js";

/**
 * @param {import("../view.js").View} view
 * @returns {import("../kit.js").Spec}
 */
export function scoresSpec(view) {
  const { domain, x } = scoreAxis(view);
  const { edges, positive, negative, top, level } = bars(view);
  const at = x[view.index];
  const flagged = remembered(view.book, "flagged", `${view.state.model} ${at} ${top}`, () => [[at, domain[1]], [-top, -top], [top, top]]);
  return {
    x: { label: "score", domain },
    y: { label: "share of its class in each bin", domain: [-top, top], format: "percent" },
    marks: [
      { kind: "band", key: "flagged", x: flagged[0], low: flagged[1], high: flagged[2], look: "chosen" },
      { kind: "bars", key: "positive", edges, heights: positive, look: "positive", label: CLASSES.positive },
      { kind: "bars", key: "negative", edges, heights: negative, look: "negative", label: `${CLASSES.negative}, downwards` },
      { kind: "rule", key: "ground", y: 0, look: "quiet" },
    ],
    handle: { x, y: level, index: view.index, upright: true, name: "Cut-off", told: (index) => toldAt(view, index) },
    told: `Scores of both classes. ${toldAt(view, view.index)}.`,
    table: {
      columns: ["from", "to", "share of positives", "share of negatives"],
      rows: () => Array.from(positive, (share, bin) => [edges[bin], edges[bin + 1], share, -negative[bin]]),
    },
  };
}

/**
 * Shares of both classes in each bin; those of negatives downwards.
 * @param {import("../view.js").View} view
 */
function bars(view) {
  const { state, model } = view;
  return remembered(view.book, "bars", `${state.model}/${state.who}`, () => {
    const { scores } = model.entry;
    const positive = shares(scores.positive, state.who);
    const negative = shares(scores.negative, state.who).map((share) => -share);
    const top = 1.05 * (Math.max(...positive, ...negative.map((share) => -share)) || 1);
    return { edges: scores.edges, positive, negative, top, level: new Float64Array(model.threshold.length) };
  });
}

/**
 * Masses of a group, or of all together, as shares.
 * @param {number[][]} masses
 * @param {number} who
 * @returns {number[]}
 */
function shares(masses, who) {
  const sums = who < 0 ? masses[0].map((_, bin) => masses.reduce((sum, row) => sum + row[bin], 0)) : masses[who];
  const total = sums.reduce((sum, mass) => sum + mass, 0);
  return sums.map((mass) => (total ? mass / total : 0));
}

/**
 * A cut-off, and what it flags of both classes.
 * @param {import("../view.js").View} view
 * @param {number} index
 * @returns {string}
 */
export function toldAt(view, index) {
  const [found, vain] = [along(view, "sensitivity")[index], along(view, "fpr")[index]];
  const flags = [
    ...(Number.isNaN(found) ? [] : [`${percent(found)} of positives`]),
    ...(Number.isNaN(vain) ? [] : [`${percent(vain)} of negatives`]),
  ].join(", ");
  return `cut-off ${cutOff(view.model.threshold[index])}: flags ${flags || "nobody"}`;
}
