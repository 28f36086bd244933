/** Reliability diagram, with a histogram of the bins below. */

import { reliabilityBins } from "../bins.js";
import { isotonic } from "../curves.js";
import { formatPercent, formatLevel, formatCount } from "../format.js";
import { thresholdLine, partKey, memoize, describeNumber } from "../view.js";

const DEPTH = 0.22;
const DIAGONAL = [0, 1];

/**
 * @param {import("../view.js").View} view
 * @returns {import("../chart.js").Spec | null} null where scores are not probabilities
 */
export function reliabilitySpec(view) {
  if (!view.model.entry.reliability) return null;
  const { bins, steps, columns, counts } = deriveCurves(view);
  const level = `${formatLevel(view.payload.level)} CI`;
  return {
    x: { label: "predicted probability", domain: [0, 1], format: "percent" },
    y: { label: "observed share of positives", domain: [-DEPTH, 1], format: "percent" },
    marks: [
      ...thresholdLine(view, 1),
      { kind: "line", key: "right", x: DIAGONAL, y: DIAGONAL, look: "faint", label: "perfect calibration" },
      {
        kind: "bars",
        key: "counts",
        edges: counts.edges,
        heights: counts.heights,
        look: "negative",
        label: "people per bin (downwards)",
      },
      {
        kind: "step",
        key: "isotonic",
        x: steps.edges,
        y: steps.share,
        look: "series-1 dash-1",
        label: "isotonic fit",
      },
      {
        kind: "dots",
        key: "bins",
        ...columns,
        look: "series-0",
        label: `bins with ${level}${describeNumber(view, "; ECE", "ece")}`,
      },
    ],
    probe: { x: columns.x, y: columns.y, upright: true, describe: (at) => describeBin(bins[at]) },
    description: `Reliability diagram. ${bins.map(describeBin).join("; ")}.`,
    table: {
      columns: ["from", "to", "predicted", "observed", "low", "high", "people"],
      rows: () => bins.map((bin) => [bin.lower, bin.upper, bin.predicted, bin.share, bin.low, bin.high, bin.mass]),
    },
  };
}

/**
 * @param {import("../view.js").View} view
 */
function deriveCurves(view) {
  const { state, model, payload, factors } = view;
  return memoize(view.report, "reliability", `${partKey(state)} ${state.prevalence}`, () => {
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
    // A step begins at its edge; the last one extends to the highest score.
    return { bins, columns, counts, steps: { edges: ends, share: [...share, share[share.length - 1]] } };
  });
}

/**
 * One bin in words.
 * @param {{predicted: number, share: number, mass: number}} bin
 * @returns {string}
 */
function describeBin(bin) {
  return `predicted ${formatPercent(bin.predicted)}, observed ${formatPercent(bin.share)} of ${formatCount(bin.mass)}`;
}
