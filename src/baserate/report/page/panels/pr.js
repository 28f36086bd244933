/** Precision–recall curves of all models. */

import { formatPercent } from "../format.js";
import { seriesLook } from "../paths.js";
import { describeBoth, pinnedPoint } from "../pin.js";
import { modelLabel, placeOf, summariesOf } from "../summary.js";
import { describePrevalence, measureCurve, memoize } from "../view.js";
import { currentPoint, otherCurves } from "./roc.js";
import { describeThreshold } from "./scores.js";

const ISO = [0.2, 0.4, 0.6, 0.8];
const POINTS = 60;
/** @type {[string, string]} */
const AP = ["AP", "average_precision"];

/**
 * @param {import("../view.js").View} view
 * @returns {import("../chart.js").Spec}
 */
export function prSpec(view) {
  const { state } = view;
  const [recall, precision] = [measureCurve(view, "sensitivity"), measureCurve(view, "precision")];
  const share = measureCurve(view, "prevalence")[0];
  /** @param {number} index */
  const describe = (index) => `${describeThreshold(view, index)}; PPV ${formatPercent(precision[index])}`;
  const look = `${seriesLook(state.model)} strong`;
  return {
    x: { label: "Sensitivity", name: "recall", domain: [0, 1], format: "percent" },
    y: { label: "PPV", name: "precision", domain: [0, 1], format: "percent" },
    shape: 0.96,
    height: 480,
    marks: [
      ...isoF1Curves(view),
      {
        kind: "rule",
        key: "chance",
        y: share,
        look: "quiet dashed",
        label: `chance: prevalence ${formatPercent(share)}`,
      },
      ...otherCurves(view, { x: "sensitivity", y: "precision", number: AP }),
      { kind: "line", key: "curve", x: recall, y: precision, look, label: modelLabel(view, state.model, AP) },
      ...currentPoint(view, "sensitivity", "precision"),
      ...pinnedPoint(view, recall, precision),
    ],
    handle: {
      x: recall,
      y: precision,
      index: view.index,
      idle: !view.single,
      name: "Threshold on the precision–recall curve",
      describe,
    },
    description: `Precision–recall curve ${describePrevalence(view)}. ${describeBoth(view, describe)}.`,
    numbers: [
      { measure: "prevalence", ...placeOf(view), value: share },
      ...view.report.models.flatMap((_, at) => summariesOf(view, "average_precision", at)),
    ],
    table: {
      columns: ["threshold", "sensitivity", "PPV"],
      rows: () => Array.from(view.model.threshold, (at, index) => [at, recall[index], precision[index]]),
    },
  };
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
