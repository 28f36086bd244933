/** Precision–recall curve. */

import { formatPercent } from "../format.js";
import { measureCurve, memoize, describeNumber } from "../view.js";
import { describeThreshold } from "./scores.js";

const ISO = [0.2, 0.4, 0.6, 0.8];
const POINTS = 60;

/**
 * @param {import("../view.js").View} view
 * @returns {import("../chart.js").Spec}
 */
export function prSpec(view) {
  const [recall, precision] = [measureCurve(view, "sensitivity"), measureCurve(view, "precision")];
  const share = measureCurve(view, "prevalence")[0];
  return {
    x: { label: "recall", name: "sensitivity", domain: [0, 1], format: "percent" },
    y: { label: "precision", name: "PPV", domain: [0, 1], format: "percent" },
    marks: [
      ...isoF1Curves(view),
      { kind: "rule", key: "chance", y: share, look: "quiet dashed", label: `prevalence ${formatPercent(share)}` },
      {
        kind: "line",
        key: "curve",
        x: recall,
        y: precision,
        look: `series-${view.state.model % 7} strong`,
        label: curveName(view),
      },
    ],
    handle: {
      x: recall,
      y: precision,
      index: view.index,
      idle: !view.single,
      name: "Threshold on the precision–recall curve",
      describe: (index) => `${describeThreshold(view, index)}; PPV ${formatPercent(precision[index])}`,
    },
    description: `Precision–recall curve at a prevalence of ${formatPercent(share)}. ${describeThreshold(view, view.index)}.`,
    table: {
      columns: ["threshold", "recall", "precision"],
      rows: () => Array.from(view.model.threshold, (at, index) => [at, recall[index], precision[index]]),
    },
  };
}

/**
 * The curve's name, with its average precision if the report has it.
 * @param {import("../view.js").View} view
 * @returns {string}
 */
function curveName(view) {
  return `all thresholds${describeNumber(view, "; average precision", "average_precision")}`;
}

/**
 * Curves of constant F1, with its value at the right end.
 * @param {import("../view.js").View} view
 * @returns {import("../chart.js").Mark[]}
 */
function isoF1Curves(view) {
  const lines = memoize(view.report, "iso F1", "", () =>
    ISO.map((value) => {
      const x = Float64Array.from(
        { length: POINTS },
        (_, at) => value / (2 - value) + (at / (POINTS - 1)) * (1 - value / (2 - value)),
      );
      return { value, x, y: x.map((recall) => (value * recall) / (2 * recall - value)) };
    }),
  );
  return lines.flatMap(({ value, x, y }, at) => [
    {
      kind: /** @type {const} */ ("line"),
      key: `iso ${value}`,
      x,
      y,
      look: "faint",
      ...(at ? {} : { label: "constant F1" }),
    },
    {
      kind: /** @type {const} */ ("text"),
      key: `iso text ${value}`,
      x: 0.995,
      y: y[POINTS - 1] + 0.02,
      text: `F1 ${value}`,
      look: "faint end",
    },
  ]);
}
