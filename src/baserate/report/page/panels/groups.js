/** Performance by group: a chart of rates with intervals, their table, and differences from a reference group. */

import { makeToolbar } from "../toolbar.js";
import { element } from "../dom.js";
import { formatLevel, formatPercent, shorten } from "../format.js";
import { RATE_CHOICES, chosenRates, groupLook, rateOf } from "../group_rates.js";
import { categoryAxis } from "../paths.js";
import { describePrevalence, termOf } from "../view.js";

/** @typedef {import("../view.js").View} View */
/** @typedef {import("../chart.js").Mark} Mark */
/** @typedef {import("../group_rates.js").GroupRate} GroupRate */
/**
 * A column of the chart, or a block of its rows where the window is narrow: a measure, its scale, and where it begins.
 * @typedef {{measure: string, title: string, most: number, left: number, top: number, rates: GroupRate[]}} Facet
 */

/** Ends of the scale of a measure: the first that contains all intervals. */
const ENDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1];
/** Distance between two columns, and width of the window up to which measures stand below each other. */
const [GAP, NARROW] = [0.12, "(max-width: 700px)"];

/**
 * The chart: groups are rows, measures are columns.
 * @param {View} view
 * @returns {import("../chart.js").Spec | null}
 */
export function groupsSpec(view) {
  const stacked = typeof matchMedia === "function" && matchMedia(NARROW).matches;
  const facets = makeFacets(view, stacked);
  if (!facets.length) return null;
  const names = view.groups.map(({ name }) => name);
  const lines = stacked ? facets.flatMap(() => ["", ...names]) : ["", ...names];
  const across = stacked ? 1 : facets.length * (1 + GAP) - GAP;
  return {
    x: {
      label: "Estimate",
      name: `${formatLevel(view.payload.level)} CI, ${describePrevalence(view)}`,
      domain: [-0.01, across + 0.01],
      ticks: facets.filter((_, at) => at === 0 || !stacked).flatMap(facetTicks),
    },
    y: categoryAxis(lines, "up"),
    rows: lines.length,
    marks: [
      ...facets.flatMap((facet, at) => facetMarks(view, facet, at)),
      ...view.groups.flatMap((_, group) => groupMarks(view, group, facets)),
      ...legendMarks(view, facets),
    ],
    description: `Rates of ${names.length} groups. ${names
      .map((_, group) => describeGroup(view, group, facets))
      .slice(0, 12)
      .join("; ")}.`,
    table: ratesTable(view),
  };
}

/**
 * Measures with their places and scales. Blocks of rows share one scale.
 * @param {View} view
 * @param {boolean} stacked
 * @returns {Facet[]}
 */
function makeFacets(view, stacked) {
  const facets = chosenRates(view).map((measure, at) => {
    const rates = view.groups.map((_, group) => rateOf(view, group, measure));
    const highest = Math.max(
      0,
      ...rates.flatMap(({ value, high }) => [value, high]).filter((each) => !Number.isNaN(each)),
    );
    const most = ENDS.find((end) => highest <= end * (1 + 1e-9)) ?? 1;
    const term = termOf(view, measure);
    const title = term[0].toUpperCase() + term.slice(1);
    const place = { left: stacked ? 0 : at * (1 + GAP), top: stacked ? at * (view.groups.length + 1) : 0 };
    return { measure, title, most, rates, ...place };
  });
  const common = Math.max(...facets.map(({ most }) => most));
  return stacked ? facets.map((facet) => ({ ...facet, most: common })) : facets;
}

/**
 * Ticks at both ends of a scale and in the middle.
 * @param {Facet} facet
 * @returns {{at: number, text: string}[]}
 */
function facetTicks({ most, left }) {
  return [0, 0.5, 1].map((part) => ({ at: left + part, text: `${Number((100 * part * most).toPrecision(6))}%` }));
}

/**
 * The title of a measure, and the line of the reference group.
 * @param {View} view
 * @param {Facet} facet
 * @param {number} at
 * @returns {Mark[]}
 */
function facetMarks({ state, groups }, { title, rates, most, left, top }, at) {
  const { value } = rates[state.reference];
  const place = left + value / most;
  /** @type {Mark} */
  const heading = { kind: "text", key: `title ${at}`, x: left, y: top + 0.2, text: title, look: "facet" };
  const line = Number.isNaN(value)
    ? []
    : [
        {
          kind: /** @type {const} */ ("line"),
          key: `reference ${at}`,
          x: [place, place],
          y: [top + 0.5, top + groups.length + 0.5],
          look: "hull",
          ...(at === 0 ? { label: `reference group: ${shorten(groups[state.reference].name, 40)}` } : {}),
        },
      ];
  return [heading, ...line];
}

/**
 * The marks of a group: filled ones, and hollow ones of rates that rest on few rows.
 * @param {View} view
 * @param {number} group
 * @param {Facet[]} facets
 * @returns {Mark[]}
 */
function groupMarks(view, group, facets) {
  return [false, true].flatMap((few) => {
    const own = facets.filter(({ rates }) => rates[group].few === few && !Number.isNaN(rates[group].value));
    if (!own.length) return [];
    /** @param {(rate: GroupRate) => number} of */
    const places = (of) => own.map(({ rates, left, most }) => left + of(rates[group]) / most);
    return [
      {
        kind: /** @type {const} */ ("intervals"),
        key: `group ${group} ${few}`,
        x: places(({ value }) => value),
        y: own.map(({ top }) => top + group + 1),
        left: places(({ low }) => low),
        right: places(({ high }) => high),
        look: `${groupLook(view, group)}${few ? " hollow" : ""}`,
        describe: (/** @type {number} */ at) => describeRate(view, group, own[at]),
      },
    ];
  });
}

/**
 * The item of the legend for hollow marks, where there are any.
 * @param {View} view
 * @param {Facet[]} facets
 * @returns {Mark[]}
 */
function legendMarks({ payload }, facets) {
  if (!facets.some(({ rates }) => rates.some(({ few, value }) => few && !Number.isNaN(value)))) return [];
  const label = `fewer than ${payload.min_group_size} rows for the rate`;
  return [{ kind: "intervals", key: "few", x: [], y: [], left: [], right: [], look: "other hollow", label }];
}

/**
 * A rate in words.
 * @param {View} view
 * @param {number} group
 * @param {Facet} facet
 * @returns {string}
 */
function describeRate({ groups }, group, { title, rates }) {
  const { value, low, high, trials } = rates[group];
  const bounds = Number.isNaN(low)
    ? ""
    : ` (${formatPercent(low).replace("%", "")} to ${formatPercent(high).replace("%", "")})`;
  return `${shorten(groups[group].name)}\n${title}: ${formatPercent(value)}${bounds}\nof ${Math.round(trials)} rows`;
}

/**
 * @param {View} view
 * @param {number} group
 * @param {Facet[]} facets
 * @returns {string}
 */
function describeGroup({ groups }, group, facets) {
  const { name, counts } = groups[group];
  if (!counts) return `${shorten(name)} lacks a class`;
  return `${shorten(name)}: ${facets.map(({ title, rates }) => `${title} ${formatPercent(rates[group].value)}`).join(", ")}`;
}

/**
 * All rates of all groups, for a download.
 * @param {View} view
 * @returns {import("../chart.js").Table}
 */
function ratesTable(view) {
  const columns = RATE_CHOICES.flatMap((measure) => [measure, `${measure} low`, `${measure} high`, `${measure} rows`]);
  return {
    columns: ["group", ...columns],
    rows: () =>
      view.groups.map(({ name }, group) => [
        name,
        ...RATE_CHOICES.flatMap((measure) => {
          const { value, low, high, trials } = rateOf(view, group, measure);
          return [value, low, high, trials];
        }),
      ]),
  };
}

/**
 * Buttons of the measures in the chart, and the list of highlighted groups where there are more groups than styles.
 * @param {View} view
 * @returns {HTMLElement}
 */
export function rateButtons(view) {
  const chosen = chosenRates(view);
  const buttons = RATE_CHOICES.map((measure) =>
    element(
      "button",
      {
        type: "button",
        "data-rate": measure,
        "aria-pressed": String(chosen.includes(measure)),
        title: view.payload.measures[measure].hint,
      },
      view.payload.measures[measure].label,
    ),
  );
  return makeToolbar(element("div", { class: "buttons" }, ...buttons), "Measures in the chart");
}

/**
 * The chosen measures after a click on one of them; at least one stays.
 * @param {View} view
 * @param {string} measure
 * @returns {string[]}
 */
export function toggleRate(view, measure) {
  const chosen = chosenRates(view);
  const others = chosen.filter((each) => each !== measure);
  if (!chosen.includes(measure)) return [...chosen, measure];
  return others.length ? others : chosen;
}
