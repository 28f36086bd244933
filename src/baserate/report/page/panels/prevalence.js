/** PPV and NPV against the prevalence. */

import { predictiveValues } from "../core.js";
import { formatPercent } from "../format.js";
import { memoize } from "../view.js";

const LEAST = -4;
const POINTS = 97;
/** From 0.0001 to 0.99, evenly on a logarithmic scale. */
const GRID = Float64Array.from({ length: POINTS }, (_, at) =>
  Math.min(0.99, 10 ** (LEAST - (LEAST * at) / (POINTS - 1))),
);

/**
 * @param {import("../view.js").View} view
 * @returns {import("../chart.js").Spec}
 */
export function prevalenceSpec(view) {
  const { precision, npv } = deriveCurves(view);
  const total = view.counts.tp + view.counts.fn + view.counts.fp + view.counts.tn;
  const share = (view.counts.tp + view.counts.fn) / total;
  const { everybody, groups } = view.report.models[view.state.model]; // in the sample, not reweighted to prevalences of groups
  const rows = view.state.who < 0 ? everybody : groups[view.state.who];
  const own = rows.positives / (rows.positives + rows.negatives);
  const differs = Math.abs(share - own) > 1e-12;
  return {
    x: {
      label: "prevalence",
      name: "log scale",
      domain: [1e-4, 1],
      scale: "log",
      format: "percent",
    },
    y: { label: "PPV, NPV", domain: [0, 1], format: "percent" },
    marks: [
      { kind: "band", key: "precision band", x: GRID, low: precision.low, high: precision.high, look: "series-1" },
      { kind: "band", key: "npv band", x: GRID, low: npv.low, high: npv.high, look: "series-0" },
      {
        kind: "line",
        key: "precision",
        x: GRID,
        y: precision.value,
        look: "series-1 strong",
        label: "PPV (precision)",
      },
      {
        kind: "line",
        key: "npv",
        x: GRID,
        y: npv.value,
        look: "series-0 strong dash-1",
        label: "NPV",
      },
      { kind: "rule", key: "rows", x: own, look: "faint", label: `sample: ${formatPercent(own)}` },
      ...(differs
        ? [
            {
              kind: /** @type {const} */ ("rule"),
              key: "selected",
              x: share,
              look: "quiet dashed",
              label: `selected: ${formatPercent(share)}`,
            },
          ]
        : []),
    ],
    probe: {
      x: GRID,
      y: precision.value,
      upright: true,
      describe: (at) =>
        `prevalence ${formatPercent(GRID[at])}: PPV ${formatPercent(precision.value[at])}, NPV ${formatPercent(npv.value[at])}`,
    },
    description: `PPV and NPV against the prevalence. ${[24, 48, 72].map((at) => `At ${formatPercent(GRID[at])} PPV is ${formatPercent(precision.value[at])} and NPV ${formatPercent(npv.value[at])}`).join(". ")}.`,
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
 * PPV and NPV with their intervals, in columns.
 * @param {import("../view.js").View} view
 */
function deriveCurves(view) {
  const { counts, payload } = view;
  const key = [counts.tp, counts.fp, counts.fn, counts.tn, view.state.model, view.state.who].join();
  return memoize(view.report, "predictive", key, () => {
    const values = predictiveValues(counts, GRID, payload.level, payload.z);
    /** @param {{value: number, low: number, high: number}[]} several */
    const columns = (several) => ({
      value: several.map((each) => each.value),
      low: several.map((each) => each.low),
      high: several.map((each) => each.high),
    });
    return { precision: columns(values.precision), npv: columns(values.npv) };
  });
}
