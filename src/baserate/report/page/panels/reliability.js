/** Whether as many turn out positive as predicted; below, how many people each bin holds. */

import { reliabilityBins } from "../bins.js";
import { isotonic } from "../curves.js";
import { percent, sure, whole } from "../format.js";
import { cutRule, partKey, remembered, toldNow } from "../view.js";

const DEPTH = 0.22;
const DIAGONAL = [0, 1];

/**
 * @param {import("../view.js").View} view
 * @returns {import("../kit.js").Spec | null} null where scores are no probabilities
 */
export function reliabilitySpec(view) {
  if (!view.model.entry.reliability) return null;
  const { bins, steps, columns, counts } = derived(view);
  const level = `${sure(view.payload.level)} interval`;
  return {
    x: { label: "predicted probability", domain: [0, 1], format: "percent" },
    y: { label: "share that is positive", name: "observed", domain: [-DEPTH, 1], format: "percent" },
    marks: [
      ...cutRule(view, 1),
      { kind: "line", key: "right", x: DIAGONAL, y: DIAGONAL, look: "faint", label: "as predicted" },
      {
        kind: "bars",
        key: "counts",
        edges: counts.edges,
        heights: counts.heights,
        look: "negative",
        label: "people in each bin, downwards",
      },
      {
        kind: "step",
        key: "isotonic",
        x: steps.edges,
        y: steps.share,
        look: "series-1 dash-1",
        label: "best fit that never falls",
      },
      {
        kind: "dots",
        key: "bins",
        ...columns,
        look: "series-0",
        label: `bins, with ${level}${toldNow(view, "; ECE", "ece")}`,
      },
    ],
    probe: { x: columns.x, y: columns.y, upright: true, told: (at) => sentence(bins[at]) },
    told: `Reliability diagram. ${bins.map(sentence).join("; ")}.`,
    table: {
      columns: ["from", "to", "predicted", "observed", "low", "high", "people"],
      rows: () => bins.map((bin) => [bin.lower, bin.upper, bin.predicted, bin.share, bin.low, bin.high, bin.mass]),
    },
  };
}

/**
 * @param {import("../view.js").View} view
 */
function derived(view) {
  const { state, model, payload, factors } = view;
  return remembered(view.book, "reliability", `${partKey(state)} ${state.prevalence}`, () => {
    const who = state.who < 0 ? model.groups.map((_, at) => at) : [state.who];
    const bins = reliabilityBins(model.entry.reliability, who, factors, payload.z);
    const most = Math.max(...bins.map((bin) => bin.mass), 1e-300);
    const columns = {
      x: bins.map((bin) => bin.predicted),
      y: bins.map((bin) => bin.share),
      low: bins.map((bin) => bin.low),
      high: bins.map((bin) => bin.high),
    };
    const edges = bins.length ? [bins[0].lower, ...bins.map((bin) => bin.upper)] : [];
    const counts = { edges, heights: bins.map((bin) => (-DEPTH * bin.mass) / most) };
    const { edges: ends, share } = isotonic(model.threshold, view.part, factors);
    // A stretch begins at its edge; the last goes on to the highest score.
    return { bins, columns, counts, steps: { edges: ends, share: [...share, share[share.length - 1]] } };
  });
}

/**
 * One bin in words.
 * @param {{predicted: number, share: number, mass: number}} bin
 * @returns {string}
 */
function sentence(bin) {
  return `predicted ${percent(bin.predicted)}, observed ${percent(bin.share)} of ${whole(bin.mass)}`;
}
