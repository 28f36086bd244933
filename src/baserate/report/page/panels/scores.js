/** How the scores of both classes are spread, with the line that cuts them. */

import { cutOff, percent } from "../format.js";
import { CLASSES } from "../words.js";
import { along, partKey, remembered, scoreAxis } from "../view.js";

/** So far the axis goes on both sides of 0. */
const TOP = 1.06;

/**
 * @param {import("../view.js").View} view
 * @returns {import("../kit.js").Spec}
 */
export function scoresSpec(view) {
  const { domain, x } = scoreAxis(view);
  const { edges, positive, negative, level, most, heights } = bars(view);
  const at = x[view.index];
  const flagged = remembered(view.book, "flagged", `${view.state.model} ${at}`, () => [
    [at, domain[1]],
    [-TOP, -TOP],
    [TOP, TOP],
  ]);
  return {
    x: { label: "score", domain },
    shape: 1.12,
    y: {
      label: "share of its class in each bin",
      domain: [-TOP, TOP],
      ticks: [
        { at: 1, text: percent(most.positive) },
        { at: 0, text: "0" },
        { at: -1, text: percent(most.negative) },
      ],
    },
    marks: [
      ...(view.single
        ? [
            {
              kind: /** @type {const} */ ("band"),
              key: "flagged",
              x: flagged[0],
              low: flagged[1],
              high: flagged[2],
              look: "chosen",
            },
          ]
        : []),
      { kind: "bars", key: "positive", edges, heights: heights.positive, look: "positive", label: CLASSES.positive },
      {
        kind: "bars",
        key: "negative",
        edges,
        heights: heights.negative,
        look: "negative",
        label: `${CLASSES.negative}, downwards`,
      },
      { kind: "rule", key: "ground", y: 0, look: "quiet" },
    ],
    handle: {
      x,
      y: level,
      index: view.index,
      upright: true,
      idle: !view.single,
      name: "Cut-off",
      told: (index) => toldAt(view, index),
    },
    told: `Scores of both classes. ${toldAt(view, view.index)}.`,
    table: {
      columns: ["from", "to", "share of positives", "share of negatives"],
      rows: () => Array.from(positive, (share, bin) => [edges[bin], edges[bin + 1], share, negative[bin]]),
    },
  };
}

/**
 * Shares of both classes in each bin, and their heights: each class is as high as its tallest bar, since one bar of the
 * commoner scores would leave nothing to see of the others.
 * @param {import("../view.js").View} view
 */
function bars(view) {
  const { state, model } = view;
  return remembered(view.book, "bars", partKey(state), () => {
    const { scores } = model.entry;
    const [positive, negative] = [shares(scores.positive, state.who), shares(scores.negative, state.who)];
    const most = { positive: Math.max(...positive) || 1, negative: Math.max(...negative) || 1 };
    const heights = {
      positive: positive.map((share) => share / most.positive),
      negative: negative.map((share) => -share / most.negative),
    };
    return { edges: scores.edges, positive, negative, most, heights, level: new Float64Array(model.threshold.length) };
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
