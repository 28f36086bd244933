/** Curves of classes against the rest: ROC, precision–recall, and score distributions of the selected class. */

import { formatPercent, formatThreshold, shorten } from "../format.js";
import { SERIES, seriesLook } from "../paths.js";
import { classCurve, numberOf, remember } from "./view.js";

/** @typedef {import("./view.js").MulticlassView} MulticlassView */
/** @typedef {import("../chart.js").Spec} Spec */
/** @typedef {import("../chart.js").Mark} Mark */

const DIAGONAL = [0, 1];
/** Height of the highest bar on its axis. */
const TOP = 1.06;

/**
 * @param {MulticlassView} view
 * @returns {Spec | null} null without scores
 */
export function rocSpec(view) {
  const { curve, names, state, report } = view;
  if (!curve) return null;
  const others = names.map((_, at) => at).filter((at) => at !== state.class);
  return {
    x: { label: "False positive rate", name: "1 − specificity", domain: [0, 1], format: "percent" },
    y: { label: "Recall", name: "sensitivity", domain: [0, 1], format: "percent" },
    marks: [
      { kind: "line", key: "chance", x: DIAGONAL, y: DIAGONAL, look: "faint", label: "chance" },
      ...others.map((at, place) => otherCurve(view, at, place)),
      {
        kind: "line",
        key: "selected",
        x: curve.fpr,
        y: curve.recall,
        look: `${selectedLook(view)} strong`,
        label: labelOf(view, state.class),
      },
    ],
    handle: {
      x: curve.fpr,
      y: curve.recall,
      index: view.index,
      name: "Threshold on the ROC curve",
      describe: (index) => describeThreshold(view, index),
    },
    description: `ROC curves of ${names.length} classes. ${shorten(names[state.class], 40)}: AUC ${formatPercentArea(numberOf(report, "classes", "auc", { at: state.class }).value)}; ${describeThreshold(view, view.index)}.`,
    table: curveTable(view),
  };
}

/**
 * The curve of another class; of many classes all others are gray.
 * @param {MulticlassView} view
 * @param {number} at
 * @param {number} place  among the others
 * @returns {Mark}
 */
function otherCurve(view, at, place) {
  const { fpr, recall } = classCurve(view.report, at);
  const few = view.names.length <= SERIES;
  const label = few ? labelOf(view, at) : place === 0 ? "other classes" : undefined;
  return { kind: "line", key: `class ${at}`, x: fpr, y: recall, look: few ? seriesLook(at) : "other", label };
}

/**
 * @param {MulticlassView} view
 * @returns {string}
 */
function selectedLook({ names, state }) {
  return names.length <= SERIES ? `series-${state.class}` : "series-0";
}

/**
 * A class with its AUC.
 * @param {MulticlassView} view
 * @param {number} at
 * @returns {string}
 */
function labelOf({ report, names }, at) {
  const area = numberOf(report, "classes", "auc", { at }).value;
  return `${shorten(names[at], 30)}${Number.isNaN(area) ? "" : `: AUC ${formatPercentArea(area)}`}`;
}

/**
 * An area with three decimals.
 * @param {number} area
 * @returns {string}
 */
function formatPercentArea(area) {
  return Number.isNaN(area) ? "–" : area === 1 ? "1" : area.toFixed(3);
}

/**
 * @param {MulticlassView} view
 * @returns {Spec | null}
 */
export function prSpec(view) {
  const { curve, names, state, report } = view;
  if (!curve) return null;
  const share = numberOf(report, "classes", "prevalence", { at: state.class }).value;
  const average = numberOf(report, "classes", "average_precision", { at: state.class }).value;
  return {
    x: { label: "Recall", name: "sensitivity", domain: [0, 1], format: "percent" },
    y: { label: "Precision", name: "PPV", domain: [0, 1], format: "percent" },
    marks: [
      {
        kind: "rule",
        key: "share",
        y: share,
        look: "quiet dashed",
        label: `share in the sample ${formatPercent(share)}`,
      },
      {
        kind: "line",
        key: "curve",
        x: curve.recall,
        y: curve.precision,
        look: `${selectedLook(view)} strong`,
        label: `${shorten(names[state.class], 30)}: average precision ${formatPercent(average)}`,
      },
    ],
    handle: {
      x: curve.recall,
      y: curve.precision,
      index: view.index,
      name: "Threshold on the precision–recall curve",
      describe: (index) => describeThreshold(view, index),
    },
    description: `Precision–recall curve of ${shorten(names[state.class], 40)}. ${describeThreshold(view, view.index)}.`,
    table: curveTable(view),
  };
}

/**
 * @param {MulticlassView} view
 * @returns {Spec | null}
 */
export function scoresSpec(view) {
  const { curve, names, state } = view;
  if (!curve) return null;
  const bars = barsOf(view);
  const name = shorten(names[state.class], 30);
  const [least, most] = [bars.edges[0], bars.edges[bars.edges.length - 1]];
  return {
    x: { label: `Score of ${name}`, domain: [least, most] },
    y: {
      label: "Share per bin",
      domain: [-TOP, TOP],
      ticks: [-1, -0.5, 0, 0.5, 1].map((at) => ({ at, text: formatPercent(Math.abs(at) * bars.most) })),
    },
    marks: [
      { kind: "bars", key: "class", edges: bars.edges, heights: bars.up, look: "positive", label: name },
      {
        kind: "bars",
        key: "rest",
        edges: bars.edges,
        heights: bars.down,
        look: "negative",
        label: "all others (downwards)",
      },
      { kind: "rule", key: "ground", y: 0, look: "quiet" },
    ],
    handle: {
      x: bars.places,
      y: bars.ground,
      index: view.index,
      upright: true,
      name: "Threshold",
      describe: (index) => describeThreshold(view, index),
    },
    description: `Distribution of the score of ${name}, for this class and all others. ${describeThreshold(view, view.index)}.`,
    table: {
      columns: ["from", "to", "share of the class", "share of all others"],
      rows: () => bars.shares[0].map((share, at) => [bars.edges[at], bars.edges[at + 1], share, bars.shares[1][at]]),
    },
  };
}

/**
 * Shares of both kinds of rows in each bin, as heights on one scale, and the places of thresholds.
 * @param {MulticlassView} view
 */
function barsOf({ report, state, payload, curve }) {
  return remember(report, `bars ${state.class}`, () => {
    const { edges, positive, negative } = payload.curves[state.class];
    const shares = [positive, negative].map((/** @type {number[]} */ masses) => {
      const total = masses.reduce((sum, mass) => sum + mass, 0);
      return masses.map((mass) => (total ? mass / total : 0));
    });
    const most = Math.max(...shares.flat()) || 1;
    const [up, down] = [shares[0].map((share) => share / most), shares[1].map((share) => -share / most)];
    const places = Array.from(curve?.threshold ?? [], (at) => (at === Infinity ? edges[edges.length - 1] : at));
    return { edges, shares, most, up, down, places, ground: places.map(() => 0) };
  });
}

/**
 * A threshold on the score of the selected class, with its rates.
 * @param {MulticlassView} view
 * @param {number} index
 * @returns {string}
 */
export function describeThreshold({ curve, names, state }, index) {
  if (!curve) return "";
  const at = curve.threshold[index];
  const rates = [
    `recall ${formatPercent(curve.recall[index])}`,
    `precision ${formatPercent(curve.precision[index])}`,
    `false positive rate ${formatPercent(curve.fpr[index])}`,
  ].join(", ");
  const threshold = at === Infinity ? "none" : formatThreshold(at);
  return `${shorten(names[state.class], 40)}, threshold ${threshold}: ${rates}`;
}

/**
 * @param {MulticlassView} view
 * @returns {import("../chart.js").Table}
 */
function curveTable({ curve, payload, state }) {
  const columns = ["threshold", "false positive rate", "recall", "precision"];
  if (!curve) return { columns, rows: () => [] };
  const { threshold, fpr, recall, precision } = curve;
  return {
    columns: [...columns, "class"],
    rows: () =>
      Array.from(threshold, (at, index) => [
        at,
        fpr[index],
        recall[index],
        precision[index],
        payload.classes[state.class],
      ]),
  };
}
