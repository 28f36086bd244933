/** Tables of groups: rates, differences from a reference group, and the largest differences between any two groups. */

import { MEASURES, readNumber } from "../core.js";
import { compareShares } from "../differences.js";
import { element, measureName, numberAttributes, placeNumbers, scrollTable, updateChildren } from "../dom.js";
import {
  formatCount,
  formatLevel,
  formatPValue,
  formatPercent,
  formatPoints,
  formatThreshold,
  shorten,
} from "../format.js";
import { isSmallGroup, rateName, rateOf, rowsOf, shownGroups, trialsOf } from "../group_rates.js";
import { SERIES } from "../paths.js";
import { mixtureOf, plannedTreatments } from "../strategies.js";
import { CLASS_RATES, cutOf, describePrevalence, hasPlannedDecisions, prevalenceOf, reportNumber } from "../view.js";
import { rateButtons, toggleRate } from "./groups.js";

/** @typedef {import("../view.js").View} View */
/** @typedef {import("../view.js").Json} Json */
/** @typedef {import("../dom.js").Child} Child */
/** @typedef {(change: Partial<import("../view.js").State>) => void} Setter */

/** Mark of groups with few rows of a class. */
const SMALL = "†";

/**
 * The function that draws the body of the panel, and listens to its controls.
 * @param {Setter} set
 * @returns {(body: HTMLElement, view: View) => void}
 */
export function makeGroupTables(set) {
  /** @type {View} */
  let current;
  /** @param {HTMLElement} body */
  const listen = (body) => {
    body.addEventListener("click", ({ target }) => {
      const button = /** @type {Element} */ (target).closest("[data-rate]");
      if (button) set({ rates: toggleRate(current, button.getAttribute("data-rate") ?? "") });
    });
    body.addEventListener("change", ({ target }) => {
      if (target instanceof HTMLSelectElement) set({ reference: Number(target.value) });
      if (target instanceof HTMLInputElement) set({ shown: toggleGroup(current, Number(target.value)) });
    });
  };
  return (body, view) => {
    if (!current) listen(body);
    current = view;
    updateChildren(body, [
      rateButtons(view),
      ...groupPicker(view, body.querySelector(".picker")?.hasAttribute("open")),
      element("h4", {}, `Rates, ${describePrevalence(view)}`),
      ratesTable(view),
      ...notes(view),
      ...differences(view),
      ...largestDifferences(view),
    ]);
    for (const option of body.querySelectorAll("select option")) {
      /** @type {HTMLOptionElement} */ (option).selected =
        Number(option.getAttribute("value")) === view.state.reference;
    }
    const shown = shownGroups(view);
    for (const box of /** @type {NodeListOf<HTMLInputElement>} */ (body.querySelectorAll("input[type=checkbox]"))) {
      box.checked = shown.includes(Number(box.value));
      box.disabled = !box.checked && shown.length >= SERIES;
    }
  };
}

/**
 * Highlighted groups after a click on one of them.
 * @param {View} view
 * @param {number} group
 * @returns {number[]}
 */
function toggleGroup(view, group) {
  const shown = shownGroups(view);
  return shown.includes(group) ? shown.filter((each) => each !== group) : [...shown, group].slice(0, SERIES);
}

/**
 * A list of groups to highlight, where there are more than styles. It stays open where it is.
 * @param {View} view
 * @param {boolean} [open]
 * @returns {HTMLElement[]}
 */
function groupPicker(view, open) {
  if (view.groups.length <= SERIES) return [];
  const boxes = view.groups.map(({ name }, at) =>
    element("label", {}, element("input", { type: "checkbox", value: at }), ` ${shorten(name, 40)}`),
  );
  return [
    element(
      "details",
      { class: "picker", open },
      element("summary", {}, `Highlighted groups: ${shownGroups(view).length} of ${view.groups.length}`),
      element("p", {}, `Up to ${SERIES} groups have a color in all charts of groups; the others are gray.`),
      element("div", { role: "group", "aria-label": "Highlighted groups" }, ...boxes),
    ),
  ];
}

/**
 * Columns of rates: those that the report compares.
 * @param {View} view
 * @returns {string[]}
 */
function comparedRates({ payload }) {
  return payload.group_measures;
}

/**
 * The name of a group, with a mark where it has few rows.
 * @param {View} view
 * @param {number} group
 * @returns {HTMLElement}
 */
function groupName(view, group) {
  const { name } = view.groups[group];
  const mark = isSmallGroup(view, group) ? element("abbr", { title: smallText(view) }, ` ${SMALL}`) : null;
  return element("span", { title: name }, shorten(name), mark);
}

/**
 * @param {View} view
 * @returns {string}
 */
function smallText({ payload }) {
  return `fewer than ${payload.min_group_size} positives or negatives`;
}

/**
 * Rows, positives, base rate, threshold and rates of each group, and of everybody.
 * @param {View} view
 * @returns {HTMLElement}
 */
function ratesTable(view) {
  const measures = comparedRates(view);
  const deployed = view.state.prevalence !== null;
  const columns = [
    "group",
    "rows",
    "positives",
    element("span", {}, "base rate", element("small", {}, " in the sample")),
    ...(deployed ? [element("span", {}, "prevalence", element("small", {}, " deployed"))] : []),
    ...(view.model.entry.labels ? [] : ["threshold"]),
    ...measures.map((measure) => measureName(view.payload.measures[measure])),
  ];
  const rows = view.groups.map((_, group) => [
    groupName(view, group),
    ...sizeCells(view, group),
    ...(view.model.entry.labels ? [] : [describeTreatment(view, group)]),
    ...placeNumbers(
      measures.map((measure) => rateCell(view, group, measure)),
      { ...everybodyPlace(view), group, cut: cutOf(view) },
    ),
  ]);
  return scrollTable(`Performance by group, ${describePrevalence(view)}`, columns, [
    ...rows,
    everybodyRow(view, measures),
  ]);
}

/**
 * Where numbers of all groups together hold, whichever group is selected.
 * @param {View} view
 * @returns {import("../dom.js").Place}
 */
export function everybodyPlace({ state }) {
  return { prevalence: state.prevalence, model: state.model };
}

/**
 * Rows, positives and base rate of a group, and its prevalence in deployment.
 * @param {View} view
 * @param {number} group
 * @returns {HTMLElement[]}
 */
function sizeCells(view, group) {
  const { rows, positives } = rowsOf(view, group);
  const part = view.report.models[view.state.model].groups[group];
  const base = part.positives / (part.positives + part.negatives);
  const prevalence = prevalenceOf(view.groups[group].part, view.factors);
  const place = { ...everybodyPlace(view), group };
  const ofSample = [
    numberCell("rows", rows, formatCount(rows)),
    numberCell("positives", positives, formatCount(positives)),
    numberCell("base_rate", base, formatPercent(base)),
  ];
  const deployed =
    view.state.prevalence === null ? [] : [numberCell("prevalence", prevalence, formatPercent(prevalence))];
  return [...placeNumbers(ofSample, { ...place, prevalence: null }), ...placeNumbers(deployed, place)];
}

/**
 * @param {string} name
 * @param {number} value
 * @param {string} text
 * @param {...Child} more
 * @returns {HTMLElement}
 */
export function numberCell(name, value, text, ...more) {
  return element("td", { class: "value", ...numberAttributes(name, value) }, text, ...more);
}

/**
 * @param {View} view
 * @param {number} group
 * @param {string} measure
 * @returns {Child}
 */
function rateCell(view, group, measure) {
  if (!view.groups[group].counts) return "–";
  const { value, low, high } = rateOf(view, group, measure);
  return element(
    "td",
    { class: "value", ...numberAttributes(measure, value, Number.isNaN(low) ? null : { low, high }) },
    formatPercent(value),
    element("small", {}, Number.isNaN(low) ? "" : `${formatPercent(low)} to ${formatPercent(high)}`),
  );
}

/**
 * The row of all groups together.
 * @param {View} view
 * @param {string[]} measures
 * @returns {Child[]}
 */
function everybodyRow(view, measures) {
  const { positives, negatives } = view.report.models[view.state.model].everybody;
  const sizes = view.groups.map((_, group) => rowsOf(view, group));
  const rows = sizes.reduce((sum, each) => sum + each.rows, 0);
  const positive = sizes.reduce((sum, each) => sum + each.positives, 0);
  const base = positives / (positives + negatives);
  const deployed =
    view.state.prevalence === null
      ? []
      : [numberCell("all prevalence", view.prevalence, formatPercent(view.prevalence))];
  const place = everybodyPlace(view);
  const ofSample = [
    numberCell("all rows", rows, formatCount(rows)),
    numberCell("all positives", positive, formatCount(positive)),
    numberCell("all base_rate", base, formatPercent(base)),
  ];
  const rates = measures.map((measure) => {
    const value = MEASURES[measure](view.everybody);
    return numberCell(`all ${measure}`, value, formatPercent(value));
  });
  return [
    "all groups",
    ...placeNumbers(ofSample, { ...place, prevalence: null }),
    ...placeNumbers(deployed, place),
    ...(view.model.entry.labels ? [] : [view.single ? formatThreshold(view.model.threshold[view.index]) : ""]),
    ...placeNumbers(rates, { ...place, cut: cutOf(view) }),
  ];
}

/**
 * The threshold of a group, in words.
 * @param {View} view
 * @param {number} group
 * @returns {string}
 */
function describeTreatment(view, group) {
  const { counts, treatment } = view.groups[group];
  if (!counts) return "excluded: lacks a class";
  const own = treatment ?? plannedTreatments(view)?.[group];
  return own ? describeMixture(own) : "policy";
}

/**
 * Thresholds, with their probabilities where there are several.
 * @param {import("../fairness.js").Treatment} treatment
 * @returns {string}
 */
export function describeMixture(treatment) {
  const parts = mixtureOf(treatment);
  if (parts.length === 1) return formatThreshold(parts[0].threshold);
  const names = parts.map(({ chance, threshold }) => {
    const name = Number.isFinite(threshold) ? formatThreshold(threshold) : threshold > 0 ? "nobody" : "everybody";
    return `${name} (${formatPercent(chance)})`;
  });
  return `at random ${names.join(" or ")}`;
}

/**
 * Notes on the table of rates.
 * @param {View} view
 * @returns {HTMLElement[]}
 */
function notes(view) {
  const { groups, state, payload, model, randomized } = view;
  const excluded = groups.filter((group) => !group.counts).length;
  const texts = [
    groups.some((_, group) => isSmallGroup(view, group))
      ? `${SMALL} ${smallText(view)}: estimates vary widely by chance.`
      : "",
    excluded
      ? `${excluded} group${excluded === 1 ? " lacks" : "s lack"} a class and ${excluded === 1 ? "is" : "are"} excluded.`
      : "",
    randomized ? `${formatPercent(randomized)} of all people are decided at random.` : "",
    state.prevalence === null
      ? ""
      : model.entry.group_factors
        ? state.prevalence === payload.use.prevalence
          ? "Each group has its stated prevalence."
          : "The odds of the stated prevalences are multiplied by the same factor in every group."
        : "Prevalences of groups: the odds of the base rates, multiplied by the same factor in every group.",
  ].filter(Boolean);
  return texts.length ? [element("p", { class: "quiet" }, texts.join(" "))] : [];
}

/**
 * Differences from the reference group, with a list to choose it from.
 * @param {View} view
 * @returns {HTMLElement[]}
 */
function differences(view) {
  const measures = comparedRates(view);
  const { reference } = view.state;
  const select = element(
    "select",
    { "data-reference": true },
    ...view.groups.map(({ name }, at) => element("option", { value: at }, shorten(name, 40))),
  );
  const rows = view.groups.flatMap((_, group) =>
    group === reference
      ? []
      : [[groupName(view, group), ...measures.map((measure) => differenceCell(view, group, measure))]],
  );
  const columns = ["group", ...measures.map((measure) => measureName(view.payload.measures[measure]))];
  return [
    element(
      "h4",
      {},
      element("label", { class: "reference" }, "Differences in percentage points from reference group ", select),
    ),
    scrollTable(`Differences from the reference group, ${describePrevalence(view)}`, columns, rows),
    element("p", { class: "quiet" }, describeTests(view)),
  ];
}

/**
 * The difference of a group from the reference group, with its interval and Holm's p-value.
 * @param {View} view
 * @param {number} group
 * @param {string} measure
 * @returns {Child}
 */
function differenceCell(view, group, measure) {
  const { value, low, high } = differenceOf(view, group, measure);
  if (Number.isNaN(value)) return "–";
  const { p, why } = findTest(view, group, measure);
  const text = formatPValue(p);
  const test = Number.isNaN(p)
    ? element("small", { title: why }, "Holm p —")
    : element(
        "small",
        { "data-number": `p ${measure}`, "data-value": p },
        `Holm p ${text.startsWith("<") ? text : `= ${text}`}`,
      );
  const place = { ...everybodyPlace(view), group, cut: cutOf(view) };
  const bounds = Number.isNaN(low) ? null : { low, high };
  return element(
    "td",
    { class: "value", ...numberAttributes(`difference ${measure}`, value, bounds, place) },
    formatPoints(value),
    element("small", {}, Number.isNaN(low) ? "" : `${formatPoints(low)} to ${formatPoints(high)}`),
    test,
  );
}

/**
 * The difference of a group from the reference group at the current settings; intervals of random decisions are unknown.
 * @param {View} view
 * @param {number} group
 * @param {string} measure
 * @returns {import("../differences.js").Difference}
 */
export function differenceOf(view, group, measure) {
  const [own, other] = [view.groups[group], view.groups[view.state.reference]];
  if (!own.counts || !other.counts) return { value: NaN, low: NaN, high: NaN };
  const entry = view.model.entry.group_differences;
  const row = entry?.measures[measure];
  const isTested =
    hasPlannedDecisions(view) &&
    view.state.prevalence === null &&
    (row?.reference ?? entry?.reference) === view.state.reference;
  if (isTested)
    return { value: readNumber(row.value[group]), low: readNumber(row.low[group]), high: readNumber(row.high[group]) };
  const { level, z } = view.payload;
  const difference = compareShares(measure, own.counts, other.counts, { level, z });
  const known = [own, other].every(({ treatment }) => treatment && !("lottery" in treatment));
  return known ? difference : { value: difference.value, low: NaN, high: NaN };
}

/**
 * Holm's p-value of a difference, or the reason why there is none.
 * @param {View} view
 * @param {number} group
 * @param {string} measure
 * @returns {{p: number, why: string}}
 */
function findTest(view, group, measure) {
  const entry = view.model.entry.group_differences;
  const row = entry?.measures[measure];
  const none = { p: NaN };
  if (!row || (row.reference ?? entry.reference) !== view.state.reference) {
    return { ...none, why: "Tests compare with the reference group of the plan." };
  }
  if (!hasPlannedDecisions(view)) return { ...none, why: "Tests are of the plan's decisions." };
  if (view.state.prevalence !== null && !CLASS_RATES.includes(measure))
    return { ...none, why: "Tests are in the sample." };
  const p = readNumber(row.p[group]);
  const least = Math.min(trialsOf(view, group, measure), trialsOf(view, view.state.reference, measure));
  const few = `Not tested: a rate rests on ${formatCount(least)} rows, fewer than ${entry.min_group}.`;
  return { p, why: Number.isNaN(p) ? few : "" };
}

/**
 * What the p-values refer to, and why some are missing.
 * @param {View} view
 * @returns {string}
 */
function describeTests(view) {
  const { payload, state, model } = view;
  const entry = model.entry.group_differences;
  if (!entry) return "No differences were tested.";
  const tests = Object.values(entry.measures).reduce(
    (sum, /** @type {Json} */ { p }) => sum + p.filter((/** @type {number | null} */ each) => each !== null).length,
    0,
  );
  const level = `Intervals are ${formatLevel(payload.level)} confidence intervals by Newcombe's method, ${describePrevalence(view)}; they are not adjusted for multiplicity.`;
  const holm = `Holm p: decisions of the plan in the sample, adjusted for ${tests} comparisons with ${shorten(model.entry.names[entry.reference], 40)}; groups with fewer than ${entry.min_group} rows for a rate are not tested.`;
  const missing = [
    state.reference === entry.reference ? "" : "There are no p-values for another reference group.",
    hasPlannedDecisions(view) ? "" : "There are no p-values for other decisions than those of the plan.",
    state.prevalence !== null && hasPlannedDecisions(view) && state.reference === entry.reference
      ? "Flag rate and PPV have them at the sample prevalence only, since they depend on it."
      : "",
  ].filter(Boolean);
  return [level, holm, ...missing].join(" ");
}

/**
 * The largest differences between any two groups, with those that chance explains.
 * @param {View} view
 * @returns {HTMLElement[]}
 */
function largestDifferences(view) {
  const measures = comparedRates(view);
  const least = view.payload.min_group_size;
  const isMoved = !hasPlannedDecisions(view);
  const rows = measures.map((measure) => largestRow(view, measure));
  const left = measures.some((measure) => view.groups.some((_, group) => trialsOf(view, group, measure) < least));
  const texts = [
    left ? `Groups with fewer than ${least} rows for a rate are left out.` : "",
    isMoved ? "What is expected by chance is known for the plan's decisions only." : "",
    !isMoved && view.state.prevalence !== null
      ? "What is expected by chance is known in the sample only; it does not depend on the prevalence for sensitivity and false positive rate."
      : "",
    isMoved ? "" : describeSampleGaps(view, measures),
  ].filter(Boolean);
  return [
    element("h4", {}, `Largest difference between two groups, ${describePrevalence(view)}`),
    scrollTable(
      `Largest difference between two groups, ${describePrevalence(view)}`,
      [
        "measure",
        "difference",
        "between",
        "expected by chance",
        `${formatLevel(0.95)} limit if groups were equal`,
        "p",
      ],
      rows,
    ),
    ...(texts.length ? [element("p", { class: "quiet" }, texts.join(" "))] : []),
  ];
}

/**
 * Differences in the sample, where they change with the prevalence.
 * @param {View} view
 * @param {string[]} measures
 * @returns {string}
 */
function describeSampleGaps(view, measures) {
  if (view.state.prevalence === null) return "";
  const gaps = measures.flatMap((measure) => {
    const row = CLASS_RATES.includes(measure) ? null : reportNumber(view, { part: "gaps", measure, where: "here" });
    return row?.value === undefined ? [] : [`${rateName(view, measure)} ${formatPercent(readNumber(row.value))}`];
  });
  return gaps.length ? `In the sample: ${gaps.join(", ")}.` : "";
}

/**
 * @param {View} view
 * @param {string} measure
 * @returns {Child[]}
 */
function largestRow(view, measure) {
  const values = view.groups.flatMap(({ counts, name }, group) => {
    const value = counts ? MEASURES[measure](counts) : NaN;
    const isLarge = trialsOf(view, group, measure) >= view.payload.min_group_size;
    return Number.isNaN(value) || !isLarge ? [] : [{ value, name }];
  });
  values.sort((one, other) => other.value - one.value);
  const [high, low] = [values[0], values[values.length - 1]];
  const gap = values.length > 1 ? high.value - low.value : NaN;
  const row = reportNumber(view, { part: "gaps", measure, where: "here" });
  const isKnown = hasPlannedDecisions(view) && (view.state.prevalence === null || CLASS_RATES.includes(measure));
  /** @param {string} name @param {number | null | undefined} value */
  const chance = (name, value) =>
    isKnown && value !== undefined && value !== null
      ? numberCell(`${name} ${measure}`, readNumber(value), formatPercent(readNumber(value)))
      : element("td", {}, "–");
  return [
    measureName(view.payload.measures[measure]),
    numberCell(`gap ${measure}`, gap, formatPercent(gap)),
    element(
      "td",
      { class: "names" },
      values.length > 1
        ? `${shorten(high.name, 40)} and ${shorten(low.name, 40)}`
        : `fewer than two groups have a ${rateName(view, measure)}`,
    ),
    chance("chance", row?.floor),
    chance("limit", row?.floor_high),
    isKnown && row?.p !== undefined ? formatPValue(readNumber(row.p), row.p_is_bound) : "–",
  ];
}
