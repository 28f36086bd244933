/** Score distributions of both classes, with the threshold. */

import { formatThreshold, formatPercent } from "../format.js";
import { CLASSES } from "../labels.js";
import { measureCurve, partKey, memoize, scoreAxis } from "../view.js";

/** Ends of the axis on both sides of 0. */
const TOP = 1.06;

/**
 * @param {import("../view.js").View} view
 * @returns {import("../chart.js").Spec}
 */
export function scoresSpec(view) {
  const { domain, x } = scoreAxis(view);
  const { edges, positive, negative, level, most, heights } = deriveBars(view);
  const at = x[view.index];
  const flagged = memoize(view.report, "flagged", `${view.state.model} ${at}`, () => [
    [at, domain[1]],
    [-TOP, -TOP],
    [TOP, TOP],
  ]);
  return {
    x: { label: "score", domain },
    shape: 1.12,
    y: {
      label: "share of the class per bin",
      domain: [-TOP, TOP],
      ticks: [
        { at: 1, text: formatPercent(most.positive) },
        { at: 0, text: "0" },
        { at: -1, text: formatPercent(most.negative) },
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
              look: "flagged",
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
        label: `${CLASSES.negative} (downwards)`,
      },
      { kind: "rule", key: "ground", y: 0, look: "quiet" },
    ],
    handle: {
      x,
      y: level,
      index: view.index,
      upright: true,
      idle: !view.single,
      name: "Threshold",
      describe: (index) => describeThreshold(view, index),
    },
    description: `Score distributions of both classes. ${describeThreshold(view, view.index)}.`,
    table: {
      columns: ["from", "to", "share of positives", "share of negatives"],
      rows: () => Array.from(positive, (share, bin) => [edges[bin], edges[bin + 1], share, negative[bin]]),
    },
  };
}

/**
 * Shares of both classes in each bin, and heights of bars. Each class is scaled to its highest bar: on a common scale the
 * flatter distribution could not be seen.
 * @param {import("../view.js").View} view
 */
function deriveBars(view) {
  const { state, model } = view;
  return memoize(view.report, "bars", partKey(state), () => {
    const { scores } = model.entry;
    const [positive, negative] = [classShares(scores.positive, state.who), classShares(scores.negative, state.who)];
    const most = { positive: Math.max(...positive) || 1, negative: Math.max(...negative) || 1 };
    const heights = {
      positive: positive.map((share) => share / most.positive),
      negative: negative.map((share) => -share / most.negative),
    };
    return { edges: scores.edges, positive, negative, most, heights, level: new Float64Array(model.threshold.length) };
  });
}

/**
 * Masses of a group, or of all groups, as shares.
 * @param {number[][]} masses
 * @param {number} who
 * @returns {number[]}
 */
function classShares(masses, who) {
  const sums = who < 0 ? masses[0].map((_, bin) => masses.reduce((sum, row) => sum + row[bin], 0)) : masses[who];
  const total = sums.reduce((sum, mass) => sum + mass, 0);
  return sums.map((mass) => (total ? mass / total : 0));
}

/**
 * A threshold with its sensitivity and false positive rate.
 * @param {import("../view.js").View} view
 * @param {number} index
 * @returns {string}
 */
export function describeThreshold(view, index) {
  const [tpr, fpr] = [measureCurve(view, "sensitivity")[index], measureCurve(view, "fpr")[index]];
  const rates = [
    ...(Number.isNaN(tpr) ? [] : [`sensitivity ${formatPercent(tpr)}`]),
    ...(Number.isNaN(fpr) ? [] : [`false positive rate ${formatPercent(fpr)}`]),
  ].join(", ");
  return `threshold ${formatThreshold(view.model.threshold[index])}: ${rates || "no rows"}`;
}
