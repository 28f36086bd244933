/** Calibration: predicted and observed risk in bins, with a histogram below, and measures of calibration. */

import { calibrationError, observedExpected, reliabilityBins } from "../bins.js";
import { isotonic } from "../curves.js";
import { element, numberAttributes, updateChildren } from "../dom.js";
import { formatCount, formatEstimate, formatLevel, formatPercent } from "../format.js";
import { seriesLook } from "../paths.js";
import { modelName, otherModels, placeOf, summariesOf } from "../summary.js";
import { describePrevalence, thresholdLine, partKey, memoize } from "../view.js";

const DEPTH = 0.22;
const DIAGONAL = [0, 1];
const TICKS = [0, 0.2, 0.4, 0.6, 0.8, 1].map((at) => ({ at, text: formatPercent(at).replace(".0", "") }));
/** Measures below the chart: their names in Python, and on the page. @type {[string, string][]} */
const MEASURES = [
  ["calibration_slope", "Slope"],
  ["calibration_in_the_large", "Intercept"],
  ["observed_expected", "O/E"],
  ["ece", "ECE"],
];

/** @typedef {import("../chart.js").Summary} Summary */
/** @typedef {import("../view.js").View} View */
/** @typedef {import("../bins.js").ReliabilityBin} ReliabilityBin */

/**
 * @param {View} view
 * @returns {import("../chart.js").Spec | null} null where scores are not probabilities
 */
export function reliabilitySpec(view) {
  if (!view.model.entry.reliability) return null;
  const { bins, steps, columns, counts } = deriveCurves(view);
  const look = seriesLook(view.state.model);
  const where = describePrevalence(view);
  return {
    x: { label: "Predicted risk", domain: [0, 1], ticks: TICKS, format: "percent" },
    y: { label: "Observed share", name: where, domain: [-DEPTH, 1], ticks: TICKS, format: "percent" },
    height: 440,
    marks: [
      ...thresholdLine(view, 1),
      { kind: "line", key: "right", x: DIAGONAL, y: DIAGONAL, look: "faint", label: "perfect calibration" },
      {
        kind: "bars",
        key: "counts",
        edges: counts.edges,
        heights: counts.heights,
        look: "quiet",
        label: `people per bin (downwards), up to ${formatCount(counts.most)} of 1,000`,
      },
      ...otherLines(view),
      { kind: "step", key: "isotonic", x: steps.edges, y: steps.share, look: "quiet dash-5", label: "isotonic fit" },
      {
        kind: "dots",
        key: "bins",
        ...columns,
        look: `${look} solid`,
        label: `${modelLabel(view)}, bins with ${formatLevel(view.payload.level)} CI`,
      },
    ],
    probe: { x: columns.x, y: columns.y, upright: true, describe: (at) => describeBin(bins[at]) },
    description: `Calibration plot ${where}. ${bins.map(describeBin).join("; ")}.`,
    numbers: [
      ...calibrationSummaries(view),
      ...otherModels(view).flatMap(({ at, model }) => (model.entry.reliability ? errorsOf(view, at) : [])),
    ],
    table: {
      columns: ["from", "to", "predicted", "observed", "low", "high", "people per 1,000"],
      rows: () => bins.map((bin) => [bin.lower, bin.upper, bin.predicted, bin.share, bin.low, bin.high, bin.people]),
    },
  };
}

/**
 * Draw the measures of calibration below the chart.
 * @param {HTMLElement} body
 * @param {View} view
 */
export function drawCalibration(body, view) {
  const summaries = calibrationSummaries(view);
  const lines = summaries.map(({ measure, value, low, high }) => {
    const bounds = low === undefined || high === undefined ? null : { low, high };
    const text = formatEstimate(value, bounds, view.payload.measures[measure].format);
    const { hint } = view.payload.measures[measure];
    return element(
      "div",
      { title: hint },
      element("dt", {}, MEASURES.find(([name]) => name === measure)?.[1]),
      element("dd", numberAttributes(measure, value, bounds), text),
    );
  });
  const missing = summaries.length < MEASURES.length;
  updateChildren(body, [
    element(
      "p",
      { class: "quiet" },
      `Calibration ${describePrevalence(view)}, 95% CI`.replace("95%", formatLevel(view.payload.level)),
    ),
    element("dl", { class: "figures" }, ...lines),
    ...(missing && view.state.prevalence !== null
      ? [
          element(
            "p",
            { class: "quiet" },
            "Other measures are known in the sample and at the deployment prevalence only.",
          ),
        ]
      : []),
  ]);
}

/**
 * Measures of calibration at the selected prevalence, with an interval where the report has them; otherwise those that
 * follow from the bins.
 * @param {View} view
 * @returns {Summary[]}
 */
function calibrationSummaries(view) {
  const { bins } = deriveCurves(view);
  /** @type {Record<string, (bins: ReliabilityBin[]) => number>} */
  const computed = { observed_expected: observedExpected, ece: calibrationError };
  return MEASURES.flatMap(([measure]) => {
    const stored = summariesOf(view, measure);
    const compute = computed[measure];
    return stored.length || !compute ? stored : [{ measure, ...placeOf(view), value: compute(bins) }];
  });
}

/**
 * The calibration error of another model.
 * @param {View} view
 * @param {number} at
 * @returns {Summary[]}
 */
function errorsOf(view, at) {
  const stored = summariesOf(view, "ece", at);
  return stored.length ? stored : [{ measure: "ece", ...placeOf(view, at), value: calibrationError(binsOf(view, at)) }];
}

/**
 * The name of a model with its calibration error.
 * @param {View} view
 * @param {number} [at]
 * @returns {string}
 */
function modelLabel(view, at = view.state.model) {
  const [{ value }] = errorsOf(view, at);
  return `${modelName(view, at)}: ECE ${formatPercent(value)} ${describePrevalence(view)}`;
}

/**
 * Bins of a model at the selected prevalence.
 * @param {View} view
 * @param {number} at
 * @returns {(ReliabilityBin & {people: number})[]}
 */
function binsOf(view, at) {
  const { report, state, payload } = view;
  return memoize(report, `bins ${at}`, `${partKey(state)} ${state.prevalence}`, () => {
    const { model, factors } =
      at === state.model
        ? view
        : /** @type {import("../summary.js").Other} */ (otherModels(view).find((each) => each.at === at));
    const who = state.who < 0 ? model.groups.map((_, group) => group) : [state.who];
    const bins = reliabilityBins(model.entry.reliability, who, factors, payload.z);
    const total = bins.reduce((sum, { mass }) => sum + mass, 0);
    return bins.map((bin) => ({ ...bin, people: (1000 * bin.mass) / total }));
  });
}

/**
 * Bins of the other models, as lines.
 * @param {View} view
 * @returns {import("../chart.js").Mark[]}
 */
function otherLines(view) {
  return otherModels(view).flatMap(({ at, model, look }) => {
    if (!model.entry.reliability) return [];
    const [x, y] = memoize(view.report, `bin line ${at}`, `${partKey(view.state)} ${view.state.prevalence}`, () => {
      const bins = binsOf(view, at);
      return [bins.map(({ predicted }) => predicted), bins.map(({ share }) => share)];
    });
    return [{ kind: /** @type {const} */ ("line"), key: `other ${at}`, x, y, look, label: modelLabel(view, at) }];
  });
}

/**
 * @param {View} view
 */
function deriveCurves(view) {
  const { state, model, factors } = view;
  return memoize(view.report, "reliability", `${partKey(state)} ${state.prevalence}`, () => {
    const bins = binsOf(view, state.model);
    const most = Math.max(...bins.map(({ people }) => people), 1e-300);
    const columns = {
      x: bins.map((bin) => bin.predicted),
      y: bins.map((bin) => bin.share),
      low: bins.map((bin) => bin.low),
      high: bins.map((bin) => bin.high),
    };
    const edges = bins.length ? [bins[0].lower, ...bins.map((bin) => bin.upper)] : [];
    const counts = { edges, most, heights: bins.map(({ people }) => (-DEPTH * people) / most) };
    const { edges: ends, share } = isotonic(model.threshold, view.part, factors);
    // A step begins at its edge; the last one extends to the highest score.
    return { bins, columns, counts, steps: { edges: ends, share: [...share, share[share.length - 1]] } };
  });
}

/**
 * One bin in words.
 * @param {{predicted: number, share: number, low: number, high: number, people: number}} bin
 * @returns {string}
 */
function describeBin({ predicted, share, low, high, people }) {
  const observed = formatEstimate(share, { low, high }, "percent");
  return `predicted ${formatPercent(predicted)}, observed ${observed}, ${formatCount(people)} of 1,000 people`;
}
