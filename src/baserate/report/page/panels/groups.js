/** Who is treated how: groups at their cut-offs, and choices that make rates alike. */

import { MEASURES, expectedCost, interval, readNumber } from "../core.js";
import { element, headed, numbered, refresh, tableOf } from "../dom.js";
import { STRATEGIES } from "../fair.js";
import { clipped, cutOff, percent, short } from "../format.js";
import { WITHIN_CLASSES, prevalenceInWords, remembered, reported } from "../view.js";
import { PARITY_WORDS, SPOKEN, technicalName } from "../words.js";
import { ROC_AXES } from "./roc.js";

const RATES = ["prevalence", "flag_rate", "sensitivity", "fpr", "precision"];
/** Those of which differences between groups are told. */
const COMPARED = RATES.slice(1);
/** So many curves can be told apart. */
const MOST_CURVES = 7;

/**
 * Buttons that choose a parity.
 * @param {import("../view.js").View} view
 * @param {(change: Partial<import("../view.js").State>) => void} set
 * @returns {HTMLElement}
 */
export function parityButtons(view, set) {
  const names = view.model.entry.cut.planned ? ["planned", ...STRATEGIES] : STRATEGIES;
  const buttons = names.map((name) => {
    const button = element(
      "button",
      { type: "button", "data-parity": name, title: PARITY_WORDS[name].means },
      PARITY_WORDS[name].name,
    );
    button.addEventListener("click", () => set({ parity: name }));
    return button;
  });
  return element("div", { class: "buttons", role: "group", "aria-label": "How groups are treated" }, ...buttons);
}

/**
 * Curves of the groups, each with where it is now.
 * @param {import("../view.js").View} view
 * @returns {import("../kit.js").Spec}
 */
export function groupsSpec(view) {
  const curves = remembered(view.book, "group curves", String(view.state.model), () =>
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
        ...(many ? {} : { label: clipped(view.groups[at].name, 40) }),
      })),
      ...points(view, many),
    ],
    told: `ROC curves of ${curves.length} groups. ${view.groups.slice(0, 12).map(sentence).join("; ")}.`,
    table: {
      columns: ["group", "prevalence", "false positive rate", "sensitivity", "flag rate", "precision"],
      rows: () =>
        view.groups.map(({ name, counts }) => [
          name,
          ...["prevalence", "fpr", "sensitivity", "flag_rate", "precision"].map((measure) =>
            counts ? MEASURES[measure](counts) : NaN,
          ),
        ]),
    },
  };
}

/**
 * Where each group is now.
 * @param {import("../view.js").View} view
 * @param {boolean} many
 * @returns {import("../kit.js").Mark[]}
 */
function points(view, many) {
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
function sentence({ name, counts }) {
  if (!counts) return `${clipped(name)} takes no part`;
  return `${clipped(name)}: ${percent(MEASURES.sensitivity(counts))} of positives and ${percent(MEASURES.fpr(counts))} of negatives are flagged`;
}

/**
 * Draw the table and what is told of the whole.
 * @param {HTMLElement} body
 * @param {import("../view.js").View} view
 */
export function drawGroups(body, view) {
  const columns = ["group", "cut-off", ...RATES.map((name) => headed(SPOKEN[name], technicalName(name)))];
  const rows = view.groups.map((_, at) => row(view, at));
  refresh(body, [
    element("p", { class: "sentence" }, whole(view)),
    element(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Groups" },
      tableOf("Groups, and what is done with them", columns, rows),
    ),
    element("p", { class: "quiet" }, gapsTold(view)),
  ]);
}

/**
 * What is done, and what it costs.
 * @param {import("../view.js").View} view
 * @returns {string}
 */
function whole(view) {
  const cost = expectedCost(view.everybody, view.costs);
  const lots = view.lots ? ` ${percent(view.lots)} of everybody draw lots.` : "";
  const left = view.groups.filter((group) => !group.counts).length;
  const apart = left ? ` ${left} group${left === 1 ? " takes" : "s take"} no part, for want of a class.` : "";
  const where = `Groups ${prevalenceInWords(view)} overall${sharesInWords(view)}.`;
  return `${PARITY_WORDS[view.state.parity].means} A case of everybody costs ${short(cost)}.${lots}${apart} ${where}`;
}

/**
 * Where the prevalences of groups come from.
 * @param {import("../view.js").View} view
 * @returns {string}
 */
function sharesInWords({ state, payload, model }) {
  if (state.prevalence === null) return "";
  if (!model.entry.group_factors) return "; the odds of being positive change by the same factor in every group";
  if (state.prevalence === payload.use.prevalence) return "; each group at the prevalence stated for it";
  return "; from the prevalences stated for groups, odds change by the same factor in every group";
}

/**
 * How far groups lie apart now, and what the report found.
 * @param {import("../view.js").View} view
 * @returns {string}
 */
function gapsTold(view) {
  const told = COMPARED.map((measure) => {
    const values = view.groups
      .flatMap(({ counts }, at) => (counts && isLarge(view, measure, at) ? [MEASURES[measure](counts)] : []))
      .filter((value) => !Number.isNaN(value));
    const gap = values.length > 1 ? Math.max(...values) - Math.min(...values) : NaN;
    const found = reported(view, { part: "gaps", measure, where: "here" });
    const same = view.state.prevalence === null || WITHIN_CLASSES.includes(measure);
    const chance =
      view.planned && same && found?.floor_high !== undefined
        ? ` (chance alone: up to ${percent(readNumber(found.floor_high))})`
        : "";
    return `${technicalName(measure)} ${percent(gap)}${chance}`;
  });
  const few = COMPARED.some((measure) => view.groups.some((_, at) => !isLarge(view, measure, at)));
  const least = few ? ` with at least ${view.book.payload.min_group_size} rows on which a rate rests` : "";
  const where = prevalenceInWords(view);
  return `Largest difference between two groups${least}, ${where}: ${told.join(", ")}.${sampleGaps(view)}`;
}

/**
 * Differences of the report, which are of the sample, where another prevalence makes them others.
 * @param {import("../view.js").View} view
 * @returns {string}
 */
function sampleGaps(view) {
  if (view.state.prevalence === null || !view.planned) return "";
  const told = COMPARED.filter((measure) => !WITHIN_CLASSES.includes(measure)).flatMap((measure) => {
    const found = reported(view, { part: "gaps", measure, where: "here" });
    return found?.value === undefined ? [] : [`${technicalName(measure)} ${percent(readNumber(found.value))}`];
  });
  return told.length ? ` In the sample, as in the findings: ${told.join(", ")}.` : "";
}

/**
 * Whether the rate of a group rests on enough rows, at the plan's decisions.
 * @param {import("../view.js").View} view
 * @param {string} measure
 * @param {number} group
 * @returns {boolean}
 */
function isLarge(view, measure, group) {
  const found = reported(view, { part: "support", measure, group, where: "here" });
  return found === undefined || readNumber(found.value) >= view.book.payload.min_group_size;
}

/**
 * @param {import("../view.js").View} view
 * @param {number} at
 * @returns {import("../dom.js").Child[]}
 */
function row(view, at) {
  const { name, counts, treatment } = view.groups[at];
  const first = element("span", { title: name }, clipped(name));
  if (!counts) return [first, "takes no part", ...RATES.map(() => "–")];
  return [
    first,
    treated(treatment),
    ...RATES.map((measure) => {
      const value = MEASURES[measure](counts);
      const bounds = measure === "prevalence" ? null : boundsOf(view, at, measure);
      const between = bounds && !Number.isNaN(bounds.low) ? `${percent(bounds.low)} – ${percent(bounds.high)}` : "";
      return element(
        "td",
        { class: "value", ...numbered(measure, value, bounds) },
        percent(value),
        element("small", {}, between),
      );
    }),
  ];
}

/**
 * The interval of a rate: of counted rows its own; of what lots are expected to do, that of the report.
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
  const found = view.planned ? reported(view, { part: "decisions", measure, group: at, where }) : undefined;
  return found?.low === undefined ? null : { low: readNumber(found.low), high: readNumber(found.high) };
}

/**
 * What is done with a group, in words.
 * @param {import("../fair.js").Treatment | null} treatment
 * @returns {string}
 */
function treated(treatment) {
  if (!treatment) return "as planned";
  if ("lottery" in treatment) {
    return treatment.lottery
      .map(({ chance, threshold }) => `${cutOff(threshold)} with chance ${percent(chance)}`)
      .join(", ");
  }
  return cutOff(treatment.thresholds[0]);
}
