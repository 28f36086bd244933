/** PPV and NPV against the prevalence. */

import { MEASURES, interval, predictiveValues } from "../core.js";
import { formatEstimate, formatPercent } from "../format.js";
import { currentName, pinnedName } from "../pin.js";
import { placeOf } from "../summary.js";
import { describePrevalence, memoize } from "../view.js";

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
  const { precision, npv } = deriveCurves(view, view.counts, "predictive");
  const total = view.counts.tp + view.counts.fn + view.counts.fp + view.counts.tn;
  const share = (view.counts.tp + view.counts.fn) / total;
  const { everybody, groups } = view.report.models[view.state.model]; // in the sample, not reweighted to prevalences of groups
  const rows = view.state.who < 0 ? everybody : groups[view.state.who];
  const sample = rows.positives / (rows.positives + rows.negatives);
  const differs = Math.abs(share - sample) > 1e-12;
  const [ppv, own] = ["precision", "npv"].map((measure) => summaryAt(view, measure));
  /** @param {string} name @param {import("../chart.js").Summary} summary */
  const label = (name, { value, low, high }) => {
    const bounds = low === undefined || high === undefined ? null : { low, high };
    const where = view.state.who < 0 ? describePrevalence(view) : `at ${formatPercent(share)} prevalence`;
    return currentName(view, `${name} ${formatEstimate(value, bounds, "percent")} ${where}`);
  };
  return {
    x: { label: "Prevalence", name: "log scale", domain: [1e-4, 1], scale: "log", format: "percent" },
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
        label: label("PPV", ppv),
      },
      { kind: "line", key: "npv", x: GRID, y: npv.value, look: "series-0 strong dash-1", label: label("NPV", own) },
      ...pinnedCurves(view),
      {
        kind: "rule",
        key: "rows",
        x: sample,
        look: "faint",
        label: `prevalence in the sample: ${formatPercent(sample)}`,
      },
      ...(differs
        ? [
            {
              kind: /** @type {const} */ ("rule"),
              key: "selected",
              x: share,
              look: "quiet dashed",
              label: `selected prevalence: ${formatPercent(share)}`,
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
    numbers: [ppv, own],
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
 * A predictive value at the selected prevalence.
 * @param {import("../view.js").View} view
 * @param {string} measure
 * @returns {import("../chart.js").Summary}
 */
function summaryAt(view, measure) {
  const { counts, payload, exact } = view;
  const bounds = exact ? interval(measure, counts, payload.level, payload.z) : null;
  const { low, high } = bounds ?? {};
  const threshold = view.single ? { threshold: view.state.threshold } : {};
  return { measure, ...placeOf(view), ...threshold, value: MEASURES[measure](counts), low, high };
}

/**
 * PPV and NPV of threshold A, as thin lines.
 * @param {import("../view.js").View} view
 * @returns {import("../chart.js").Mark[]}
 */
function pinnedCurves(view) {
  if (!view.pinned) return [];
  const values = deriveCurves(view, view.pinned.counts, "predictive A");
  const kind = /** @type {const} */ ("line");
  return [
    { kind, key: "precision A", x: GRID, y: values.precision.value, look: "series-1 thin", label: pinnedName(view) },
    { kind, key: "npv A", x: GRID, y: values.npv.value, look: "series-0 thin dash-1" },
  ];
}

/**
 * PPV and NPV with their intervals, in columns.
 * @param {import("../view.js").View} view
 * @param {import("../core.js").Counts} counts
 * @param {string} slot
 */
function deriveCurves({ report, payload, state }, counts, slot) {
  const key = [counts.tp, counts.fp, counts.fn, counts.tn, state.model, state.who].join();
  return memoize(report, slot, key, () => {
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
