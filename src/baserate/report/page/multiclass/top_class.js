/** Calibration of the probability of the predicted class: bins, and their numbers of rows. */

import { element, numberAttributes } from "../dom.js";
import { formatCount, formatEstimate, formatLevel, formatPercent } from "../format.js";
import { numberOf, remember } from "./view.js";

/** @typedef {import("./view.js").MulticlassView} MulticlassView */
/** @typedef {{lower: number, upper: number, probability: number, share: number, low: number, high: number, mass: number}} Bin */

const DIAGONAL = [0, 1];
/** Ends of the vertical axis: bars lie below 0, and a marker at 1 needs room. */
const [DEPTH, TOP] = [0.22, 1.03];

/**
 * @param {MulticlassView} view
 * @returns {import("../chart.js").Spec | null} null without probabilities
 */
export function topClassSpec(view) {
  if (!view.payload.bins.length) return null;
  const { bins, columns, counts } = binsOf(view);
  const level = formatLevel(view.payload.options.level);
  return {
    x: { label: "Probability of the predicted class", domain: [0, 1], format: "percent" },
    y: { label: "Accuracy", domain: [-DEPTH, TOP], format: "percent", ticks: percentTicks() },
    shape: 0.7,
    marks: [
      { kind: "line", key: "right", x: DIAGONAL, y: DIAGONAL, look: "faint", label: "perfect calibration" },
      { kind: "bars", key: "counts", ...counts, look: "negative", label: "rows per bin (downwards)" },
      { kind: "dots", key: "bins", ...columns, look: "series-1", label: `bins with ${level} CI` },
    ],
    probe: { x: columns.x, y: columns.y, upright: true, describe: (at) => describeBin(bins[at]) },
    description: `Calibration of the predicted class. ${bins.map(describeBin).join("; ")}.`,
    table: {
      columns: ["from", "to", "probability", "accuracy", "low", "high", "rows"],
      rows: () => bins.map((bin) => [bin.lower, bin.upper, bin.probability, bin.share, bin.low, bin.high, bin.mass]),
    },
  };
}

/** Ticks of shares; below 0 there are bars. */
function percentTicks() {
  return [0, 0.2, 0.4, 0.6, 0.8, 1].map((at) => ({ at, text: `${(100 * at).toFixed(0)}%` }));
}

/**
 * @param {MulticlassView} view
 */
function binsOf({ report, payload }) {
  return remember(report, "bins", () => {
    /** @type {Bin[]} */
    const bins = payload.bins.map((/** @type {number[]} */ bin) => {
      const [lower, upper, probability, share, low, high, mass] = bin;
      return { lower, upper, probability, share, low, high, mass };
    });
    const most = Math.max(...bins.map(({ mass }) => mass), 1e-300);
    const columns = {
      x: bins.map(({ probability }) => probability),
      y: bins.map(({ share }) => share),
      low: bins.map(({ low }) => low),
      high: bins.map(({ high }) => high),
    };
    // Empty bins are left out, so that the edges between two bins may differ.
    const edges = bins.flatMap(({ lower, upper }) => [lower, upper]);
    const heights = bins.flatMap(({ mass }, at) => [...(at ? [0] : []), (-DEPTH * mass) / most]);
    return { bins, columns, counts: { edges, heights } };
  });
}

/**
 * The numbers of calibration in a sentence.
 * @param {HTMLElement} body
 * @param {MulticlassView} view
 */
export function drawTopClass(body, { report, payload }) {
  if (body.firstChild || !payload.bins.length) return;
  const parts = ["mean_probability", "ece", "mce", "rmsce_debiased", "observed_expected"].map((name) => {
    const { label, format, hint } = payload.measures[name];
    const number = numberOf(report, "calibration", name);
    const floor = payload.numbers.find(
      (/** @type {import("./view.js").Json} */ each) => each.part === "calibration" && each.measure === name,
    )?.floor;
    const shown = name === "observed_expected" ? "number" : format === "number" ? "percent" : format;
    return element(
      "div",
      { title: hint },
      element("dt", {}, label),
      element(
        "dd",
        numberAttributes(name, number.value, number),
        formatEstimate(number.value, number, shown),
        floor === undefined ? null : element("small", {}, ` if calibrated ${formatPercent(floor)}`),
      ),
    );
  });
  body.replaceChildren(element("dl", { class: "figures" }, ...parts));
}

/**
 * @param {Bin} bin
 * @returns {string}
 */
function describeBin({ probability, share, mass, low, high }) {
  const accuracy = formatEstimate(share, { low, high }, "percent");
  return `probability ${formatPercent(probability)}, accuracy ${accuracy} of ${formatCount(mass)} rows`;
}
