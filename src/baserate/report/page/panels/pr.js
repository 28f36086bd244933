/** What is found against how many of the flagged are positive. */

import { percent } from "../format.js";
import { along, remembered, toldNow } from "../view.js";
import { toldAt } from "./scores.js";

const ISO = [0.2, 0.4, 0.6, 0.8];
const FINE = 60;

/**
 * @param {import("../view.js").View} view
 * @returns {import("../kit.js").Spec}
 */
export function prSpec(view) {
  const [recall, precision] = [along(view, "sensitivity"), along(view, "precision")];
  const share = along(view, "prevalence")[0];
  return {
    x: { label: "positives who are flagged", name: "recall", domain: [0, 1], format: "percent" },
    y: { label: "flagged who are positive", name: "precision", domain: [0, 1], format: "percent" },
    marks: [
      ...isoF1(view),
      { kind: "rule", key: "chance", y: share, look: "quiet dashed", label: `prevalence ${percent(share)}` },
      {
        kind: "line",
        key: "curve",
        x: recall,
        y: precision,
        look: `series-${view.state.model % 7} strong`,
        label: named(view),
      },
    ],
    handle: {
      x: recall,
      y: precision,
      index: view.index,
      idle: !view.single,
      name: "Cut-off on the precision–recall curve",
      told: (index) => `${toldAt(view, index)}; of the flagged ${percent(precision[index])} are positive`,
    },
    told: `Precision–recall curve at a prevalence of ${percent(share)}. ${toldAt(view, view.index)}.`,
    table: {
      columns: ["threshold", "recall", "precision"],
      rows: () => Array.from(view.model.threshold, (at, index) => [at, recall[index], precision[index]]),
    },
  };
}

/**
 * The curve's name, with its average precision where that was measured.
 * @param {import("../view.js").View} view
 * @returns {string}
 */
function named(view) {
  return `at each cut-off${toldNow(view, "; average precision", "average_precision")}`;
}

/**
 * Curves along which F1 is the same, with their value at the right end.
 * @param {import("../view.js").View} view
 * @returns {import("../kit.js").Mark[]}
 */
function isoF1(view) {
  const lines = remembered(view.book, "iso F1", "", () =>
    ISO.map((value) => {
      const x = Float64Array.from(
        { length: FINE },
        (_, at) => value / (2 - value) + (at / (FINE - 1)) * (1 - value / (2 - value)),
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
      ...(at ? {} : { label: "equal F1" }),
    },
    {
      kind: /** @type {const} */ ("text"),
      key: `iso text ${value}`,
      x: 0.995,
      y: y[FINE - 1] + 0.02,
      text: `F1 ${value}`,
      look: "faint end",
    },
  ]);
}
