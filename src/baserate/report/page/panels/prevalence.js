/** What a flag, and a pass, mean at other prevalences. */

import { predictiveAt } from "../core.js";
import { percent } from "../format.js";
import { remembered } from "../view.js";

const LEAST = -4;
const FINE = 97;
/** From one in ten thousand to 99 %, evenly on a logarithmic scale. */
const GRID = Float64Array.from({ length: FINE }, (_, at) => Math.min(0.99, 10 ** (LEAST - (LEAST * at) / (FINE - 1))));

/**
 * @param {import("../view.js").View} view
 * @returns {import("../kit.js").Spec}
 */
export function prevalenceSpec(view) {
  const { precision, npv } = derived(view);
  const total = view.counts.tp + view.counts.fn + view.counts.fp + view.counts.tn;
  const share = (view.counts.tp + view.counts.fn) / total;
  const { everybody, groups } = view.book.models[view.state.model]; // in the sample, whatever is stated for groups
  const rows = view.state.who < 0 ? everybody : groups[view.state.who];
  const own = rows.positives / (rows.positives + rows.negatives);
  const moved = Math.abs(share - own) > 1e-12;
  return {
    x: {
      label: "everybody who is positive",
      name: "prevalence, log scale",
      domain: [1e-4, 1],
      scale: "log",
      format: "percent",
    },
    y: { label: "share of those with that result", domain: [0, 1], format: "percent" },
    marks: [
      { kind: "band", key: "precision band", x: GRID, low: precision.low, high: precision.high, look: "series-1" },
      { kind: "band", key: "npv band", x: GRID, low: npv.low, high: npv.high, look: "series-0" },
      {
        kind: "line",
        key: "precision",
        x: GRID,
        y: precision.value,
        look: "series-1 strong",
        label: "flagged who are positive (PPV)",
      },
      {
        kind: "line",
        key: "npv",
        x: GRID,
        y: npv.value,
        look: "series-0 strong dash-1",
        label: "passed who are negative (NPV)",
      },
      { kind: "rule", key: "rows", x: own, look: "faint", label: `sample: ${percent(own)}` },
      ...(moved
        ? [
            {
              kind: /** @type {const} */ ("rule"),
              key: "chosen",
              x: share,
              look: "quiet dashed",
              label: `chosen: ${percent(share)}`,
            },
          ]
        : []),
    ],
    probe: {
      x: GRID,
      y: precision.value,
      upright: true,
      told: (at) =>
        `prevalence ${percent(GRID[at])}: ${percent(precision.value[at])} of the flagged are positive, ${percent(npv.value[at])} of the passed negative`,
    },
    told: `PPV and NPV against the prevalence. ${[24, 48, 72].map((at) => `At ${percent(GRID[at])} PPV is ${percent(precision.value[at])} and NPV ${percent(npv.value[at])}`).join(". ")}.`,
    table: {
      columns: ["prevalence", "precision", "precision low", "precision high", "npv", "npv low", "npv high"],
      rows: () =>
        Array.from(GRID, (at, index) => [
          at,
          precision.value[index],
          precision.low[index],
          precision.high[index],
          npv.value[index],
          npv.low[index],
          npv.high[index],
        ]),
    },
  };
}

/**
 * Both against the prevalence, in columns.
 * @param {import("../view.js").View} view
 */
function derived(view) {
  const { counts, payload } = view;
  const key = [counts.tp, counts.fp, counts.fn, counts.tn, view.state.model, view.state.who].join();
  return remembered(view.book, "predictive", key, () => {
    const found = predictiveAt(counts, GRID, payload.level, payload.z);
    /** @param {{value: number, low: number, high: number}[]} several */
    const columns = (several) => ({
      value: several.map((each) => each.value),
      low: several.map((each) => each.low),
      high: several.map((each) => each.high),
    });
    return { precision: columns(found.precision), npv: columns(found.npv) };
  });
}
