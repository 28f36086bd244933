/** Performance by group, and policies under parity constraints. */

import { MEASURES, expectedCost, interval, readNumber } from "../core.js";
import { element, measureName, numberAttributes, updateChildren, makeTable } from "../dom.js";
import { shorten, formatThreshold, formatPercent, formatNumber } from "../format.js";
import { placeOf } from "../summary.js";
import { CLASS_RATES, cutOf, describePrevalence, memoize, reportNumber, termOf } from "../view.js";
import { GROUP_POLICIES } from "../labels.js";
import { ROC_AXES } from "./roc.js";

/** Curves that can be distinguished; with more groups all are gray. */
const MOST_CURVES = 7;

/**
 * Columns of the table: the prevalence, and the rates that the report compares between groups.
 * @param {import("../view.js").View} view
 * @returns {string[]}
 */
function columnsOf({ payload }) {
  return ["prevalence", ...payload.group_measures];
}

/**
 * Policies for groups by id: parity constraints come from the payload.
 * @param {import("../view.js").View} view
 * @returns {Record<string, import("../labels.js").Choice>}
 */
function policiesOf({ payload, model }) {
  const { planned, ...others } = GROUP_POLICIES;
  const parities = /** @type {import("../view.js").Parity[]} */ (payload.parities);
  const constraints = Object.fromEntries(parities.map((parity) => [parity.id, parity]));
  return { ...(model.entry.cut.planned ? { planned } : {}), ...others, ...constraints };
}

/**
 * Buttons of the policies.
 * @param {import("../view.js").View} view
 * @param {(change: Partial<import("../view.js").State>) => void} set
 * @returns {HTMLElement}
 */
export function parityButtons(view, set) {
  const buttons = Object.entries(policiesOf(view)).map(([id, { label, hint }]) => {
    const button = element("button", { type: "button", "data-parity": id, title: hint }, label);
    button.addEventListener("click", () => set({ parity: id }));
    return button;
  });
  return element("div", { class: "buttons", role: "group", "aria-label": "Policy for groups" }, ...buttons);
}

/**
 * ROC curves of the groups, each with its current point.
 * @param {import("../view.js").View} view
 * @returns {import("../chart.js").Spec}
 */
export function groupsSpec(view) {
  const curves = memoize(view.report, "group curves", String(view.state.model), () =>
    view.groups.map(({ part }) => ({
      x: part.fp.map((mass) => mass / part.negatives),
      y: part.tp.map((mass) => mass / part.positives),
    })),
  );
  const many = curves.length > MOST_CURVES;
  return {
    ...ROC_AXES,
    marks: [
      ...curves.map((curve, at) => ({
        kind: /** @type {const} */ ("line"),
        key: `curve ${at}`,
        ...curve,
        look: many ? "faint" : `series-${at % 7} dash-${at % 4}`,
        ...(many ? {} : { label: shorten(view.groups[at].name, 40) }),
      })),
      ...currentPoints(view, many),
    ],
    description: `ROC curves of ${curves.length} groups. ${view.groups.slice(0, 12).map(describeGroup).join("; ")}.`,
    table: {
      columns: ["group", ...columnsOf(view).map((measure) => termOf(view, measure))],
      rows: () =>
        view.groups.map(({ name, counts }) => [
          name,
          ...columnsOf(view).map((measure) => (counts ? MEASURES[measure](counts) : NaN)),
        ]),
    },
  };
}

/**
 * Current points of the groups.
 * @param {import("../view.js").View} view
 * @param {boolean} many
 * @returns {import("../chart.js").Mark[]}
 */
function currentPoints(view, many) {
  return view.groups.flatMap(({ counts }, at) =>
    counts
      ? [
          {
            kind: /** @type {const} */ ("dots"),
            key: `point ${at}`,
            x: [MEASURES.fpr(counts)],
            y: [MEASURES.sensitivity(counts)],
            look: many ? "series-0" : `series-${at % 7}`,
          },
        ]
      : [],
  );
}

/**
 * @param {import("../view.js").Group} group
 * @returns {string}
 */
function describeGroup({ name, counts }) {
  if (!counts) return `${shorten(name)} lacks a class`;
  return `${shorten(name)}: ${formatPercent(MEASURES.sensitivity(counts))} of positives and ${formatPercent(MEASURES.fpr(counts))} of negatives are flagged`;
}

/**
 * Draw the table, and sentences on policy and differences.
 * @param {HTMLElement} body
 * @param {import("../view.js").View} view
 */
export function drawGroups(body, view) {
  const columns = [
    "group",
    "threshold",
    ...columnsOf(view).map((measure) => measureName(view.payload.measures[measure])),
  ];
  const rows = view.groups.map((_, at) => groupRow(view, at));
  updateChildren(body, [
    element("p", { class: "sentence" }, describePolicy(view)),
    element(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Groups" },
      makeTable("Performance by group", columns, rows),
    ),
    element("p", { class: "quiet" }, describeGaps(view)),
  ]);
}

/**
 * The policy and its cost, in words.
 * @param {import("../view.js").View} view
 * @returns {string}
 */
function describePolicy(view) {
  const cost = expectedCost(view.everybody, view.costs);
  const random = view.randomized ? ` ${formatPercent(view.randomized)} of all people are decided at random.` : "";
  const ineligible = view.groups.filter((group) => !group.counts).length;
  const excluded = ineligible
    ? ` ${ineligible} group${ineligible === 1 ? " lacks" : "s lack"} a class and ${ineligible === 1 ? "is" : "are"} excluded.`
    : "";
  const where = `Prevalence of groups: ${describePrevalence(view)} overall${describeGroupPrevalences(view)}.`;
  return `${policiesOf(view)[view.state.parity].hint} Expected cost per person: ${formatNumber(cost)}.${random}${excluded} ${where}`;
}

/**
 * How prevalences of groups follow from the overall one.
 * @param {import("../view.js").View} view
 * @returns {string}
 */
function describeGroupPrevalences({ state, payload, model }) {
  if (state.prevalence === null) return "";
  if (!model.entry.group_factors) return ", with the odds multiplied by the same factor in every group";
  if (state.prevalence === payload.use.prevalence) return ", each group at its stated prevalence";
  return ", with the odds of the stated prevalences multiplied by the same factor in every group";
}

/**
 * Greatest differences between groups, with those that chance explains.
 * @param {import("../view.js").View} view
 * @returns {string}
 */
function describeGaps(view) {
  const measures = /** @type {string[]} */ (view.payload.group_measures);
  const gaps = measures.map((measure) => {
    const values = view.groups
      .flatMap(({ counts }, at) => (counts && isLarge(view, measure, at) ? [MEASURES[measure](counts)] : []))
      .filter((value) => !Number.isNaN(value));
    const gap = values.length > 1 ? Math.max(...values) - Math.min(...values) : NaN;
    const row = reportNumber(view, { part: "gaps", measure, where: "here" });
    const comparable = view.state.prevalence === null || CLASS_RATES.includes(measure);
    const chance =
      view.planned && comparable && row?.floor_high !== undefined
        ? ` (null reference: up to ${formatPercent(readNumber(row.floor_high))})`
        : "";
    return `${termOf(view, measure)} ${formatPercent(gap)}${chance}`;
  });
  const few = measures.some((measure) => view.groups.some((_, at) => !isLarge(view, measure, at)));
  const least = few ? ` with at least ${view.payload.min_group_size} rows for a rate` : "";
  const where = describePrevalence(view);
  return `Largest difference between two groups${least}, ${where}: ${gaps.join(", ")}.${describeSampleGaps(view)}`;
}

/**
 * Differences in the sample, where they change with the prevalence.
 * @param {import("../view.js").View} view
 * @returns {string}
 */
function describeSampleGaps(view) {
  if (view.state.prevalence === null || !view.planned) return "";
  const measures = /** @type {string[]} */ (view.payload.group_measures);
  const gaps = measures.flatMap((measure) => {
    const row = CLASS_RATES.includes(measure) ? null : reportNumber(view, { part: "gaps", measure, where: "here" });
    return row?.value === undefined ? [] : [`${termOf(view, measure)} ${formatPercent(readNumber(row.value))}`];
  });
  return gaps.length ? ` In the sample, as in the findings: ${gaps.join(", ")}.` : "";
}

/**
 * Whether the rate of a group has enough rows, at the decisions of the plan.
 * @param {import("../view.js").View} view
 * @param {string} measure
 * @param {number} group
 * @returns {boolean}
 */
function isLarge(view, measure, group) {
  const row = reportNumber(view, { part: "support", measure, group, where: "here" });
  return row === undefined || readNumber(row.value) >= view.payload.min_group_size;
}

/**
 * @param {import("../view.js").View} view
 * @param {number} at
 * @returns {import("../dom.js").Child[]}
 */
function groupRow(view, at) {
  const { name, counts, treatment } = view.groups[at];
  const first = element("span", { title: name }, shorten(name));
  if (!counts) return [first, "excluded: lacks a class", ...columnsOf(view).map(() => "–")];
  return [
    first,
    describeTreatment(treatment),
    ...columnsOf(view).map((measure) => {
      const value = MEASURES[measure](counts);
      const bounds = measure === "prevalence" ? null : boundsOf(view, at, measure);
      const text =
        bounds && !Number.isNaN(bounds.low) ? `${formatPercent(bounds.low)} to ${formatPercent(bounds.high)}` : "";
      return element(
        "td",
        {
          class: "value",
          ...numberAttributes(measure, value, bounds, { ...placeOf(view), group: at, cut: cutOf(view) }),
        },
        formatPercent(value),
        element("small", {}, text),
      );
    }),
  ];
}

/**
 * The interval of a rate. Expected rates of randomized decisions have none except in the report.
 * @param {import("../view.js").View} view
 * @param {number} at
 * @param {string} measure
 * @returns {{low: number, high: number} | null}
 */
function boundsOf(view, at, measure) {
  const { counts, treatment } = view.groups[at];
  const { payload, state } = view;
  if (counts && treatment && !("lottery" in treatment)) return interval(measure, counts, payload.level, payload.z);
  const where = state.prevalence === null ? "here" : "there";
  const row = view.planned ? reportNumber(view, { part: "decisions", measure, group: at, where }) : undefined;
  return row?.low === undefined ? null : { low: readNumber(row.low), high: readNumber(row.high) };
}

/**
 * The threshold of a group, in words.
 * @param {import("../fairness.js").Treatment | null} treatment
 * @returns {string}
 */
function describeTreatment(treatment) {
  if (!treatment) return "policy";
  if ("lottery" in treatment) {
    return treatment.lottery
      .map(({ chance, threshold }) => `${formatThreshold(threshold)} with probability ${formatPercent(chance)}`)
      .join(", ");
  }
  return formatThreshold(treatment.thresholds[0]);
}
