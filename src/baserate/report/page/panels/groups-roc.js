/** ROC curves of groups, each with its current decision. */

import { MEASURES } from "../core.js";
import { formatPercent, shorten } from "../format.js";
import { groupLook, shownGroups } from "../group_rates.js";
import { memoize, partKey } from "../view.js";
import { ROC_AXES } from "./roc.js";

/** @typedef {import("../view.js").View} View */
/** @typedef {import("../chart.js").Mark} Mark */

const DIAGONAL = [0, 1];
/** Characters of a name at the end of its line. */
const LABEL = 24;

/**
 * @param {View} view
 * @returns {import("../chart.js").Spec | null}
 */
export function groupRocSpec(view) {
  if (view.model.entry.labels) return null;
  const curves = memoize(view.report, "group curves", partKey({ ...view.state, who: -1 }), () =>
    view.model.groups.map(({ fp, tp, negatives, positives }) => ({
      x: fp.map((mass) => mass / negatives),
      y: tp.map((mass) => mass / positives),
    })),
  );
  const shown = shownGroups(view);
  const others = curves.map((_, at) => at).filter((at) => !shown.includes(at));
  const drawn = [...others, ...shown].filter(
    (at) => view.model.groups[at].positives && view.model.groups[at].negatives,
  );
  return {
    ...ROC_AXES,
    shape: 0.74,
    marks: [
      { kind: "line", key: "chance", x: DIAGONAL, y: DIAGONAL, look: "faint", label: "chance" },
      ...drawn.map((at) => ({
        kind: /** @type {const} */ ("line"),
        key: `curve ${at}`,
        ...curves[at],
        look: groupLook(view, at),
        ...labelOf(view, at, others),
      })),
      ...drawn.flatMap((at) => currentPoint(view, at)),
    ],
    description: `ROC curves of ${curves.length} groups. ${view.groups.slice(0, 12).map(describeGroup).join("; ")}.`,
    table: {
      columns: ["group", "threshold", "false positive rate", "sensitivity"],
      rows: () =>
        curves.flatMap(({ x, y }, at) =>
          Array.from(x, (rate, index) => [view.groups[at].name, view.model.threshold[index], rate, y[index]]),
        ),
    },
  };
}

/**
 * The item of a group in the legend; groups in gray share one.
 * @param {View} view
 * @param {number} group
 * @param {number[]} others
 * @returns {{label?: string}}
 */
function labelOf({ groups }, group, others) {
  if (!others.includes(group)) return { label: shorten(groups[group].name, 40) };
  return group === others[0] ? { label: `${others.length} other group${others.length === 1 ? "" : "s"}` } : {};
}

/**
 * The current decision of a group, with its name at the right of the chart.
 * @param {View} view
 * @param {number} group
 * @returns {Mark[]}
 */
function currentPoint(view, group) {
  const { counts, name } = view.groups[group];
  if (!counts) return [];
  const [x, y] = [[MEASURES.fpr(counts)], [MEASURES.sensitivity(counts)]];
  const look = groupLook(view, group);
  /** @type {Mark[]} */
  const label =
    look === "other" ? [] : [{ kind: "line", key: `label ${group}`, x, y, look, endLabel: shorten(name, LABEL) }];
  return [
    ...label,
    {
      kind: "dots",
      key: `point ${group}`,
      x,
      y,
      look,
      describe: () => describeGroup(view.groups[group]).replace(": ", ":\n"),
    },
  ];
}

/**
 * @param {import("../view.js").Group} group
 * @returns {string}
 */
function describeGroup({ name, counts }) {
  if (!counts) return `${shorten(name)} lacks a class`;
  return `${shorten(name)}: sensitivity ${formatPercent(MEASURES.sensitivity(counts))}, false positive rate ${formatPercent(MEASURES.fpr(counts))}`;
}
