/** What leaves the page: files of a chart, a policy, and what one types to get the same. */

import { policyText } from "./policy.js";
import { RULES, ruledIndex } from "./view.js";

/** @typedef {import("./view.js").View} View */

/** What makes an SVG look the same without the style sheet. */
const LOOKS = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-linecap",
  "stroke-linejoin",
  "opacity",
  "font-family",
  "font-size",
  "font-weight",
  "text-anchor",
];
const [LINE, MARGIN] = [16, 10];

/**
 * Hand a file over, without asking anybody.
 * @param {string} name
 * @param {string} type
 * @param {string} text
 */
export function save(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/**
 * A table as CSV, with numbers in full.
 * @param {import("./kit.js").Table} table
 * @returns {string}
 */
export function csvText(table) {
  /** @param {string | number} cell */
  const written = (cell) => {
    if (typeof cell === "number")
      return Number.isNaN(cell) ? "" : cell === Infinity ? "inf" : cell === -Infinity ? "-inf" : String(cell);
    return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
  };
  return `${[table.columns, ...table.rows()].map((row) => row.map(written).join(",")).join("\r\n")}\r\n`;
}

/**
 * A drawn chart as a file of its own: looks written out, the legend below it.
 * @param {SVGElement} svg
 * @param {string} title
 * @returns {string}
 */
export function svgText(svg, title) {
  const copy = /** @type {SVGElement} */ (svg.cloneNode(true));
  const [from, to] = [svg.querySelectorAll("*"), copy.querySelectorAll("*")];
  from.forEach((element, at) => copyLooks(element, to[at]));
  const [, , width, height] = (svg.getAttribute("viewBox") ?? "0 0 400 300").split(" ").map(Number);
  const legend = [...(svg.parentElement?.querySelectorAll(".legend li") ?? [])];
  copy.append(...legend.map((item, at) => legendLine(item, MARGIN, height + LINE * (at + 0.8))));
  const all = height + LINE * legend.length + MARGIN;
  const fixed = {
    xmlns: "http://www.w3.org/2000/svg",
    viewBox: `0 0 ${width} ${all}`,
    width,
    height: all,
    role: "img",
    "aria-label": title,
  };
  for (const [name, value] of Object.entries(fixed)) copy.setAttribute(name, String(value));
  copy.querySelector(".grip .halo")?.remove();
  return `${new XMLSerializer().serializeToString(copy)}\n`;
}

/**
 * @param {Element} from
 * @param {Element} to
 */
function copyLooks(from, to) {
  const looks = getComputedStyle(from);
  for (const name of LOOKS) to.setAttribute(name, looks.getPropertyValue(name));
}

/**
 * A line of the legend: its sample, and its words.
 * @param {Element} item
 * @param {number} x
 * @param {number} y
 * @returns {SVGElement}
 */
function legendLine(item, x, y) {
  const line = /** @type {SVGElement} */ (document.createElementNS("http://www.w3.org/2000/svg", "g"));
  const sample = item.querySelector("svg > g");
  if (sample) {
    const drawn = /** @type {Element} */ (sample.cloneNode(true));
    copyLooks(sample, drawn);
    sample.querySelectorAll("*").forEach((element, at) => copyLooks(element, drawn.querySelectorAll("*")[at]));
    drawn.setAttribute("transform", `translate(${x} ${y - 5})`);
    line.append(drawn);
  }
  const text = document.createElementNS("http://www.w3.org/2000/svg", "text");
  copyLooks(item, text);
  for (const [name, value] of Object.entries({
    x: x + 28,
    y: y + 4,
    fill: getComputedStyle(item).color,
    "font-size": "11",
  }))
    text.setAttribute(name, String(value));
  text.textContent = item.textContent;
  line.append(text);
  return line;
}

/**
 * The policy that does what the page shows, sealed as the library seals it.
 * @param {View} view
 * @returns {string}
 */
export function policyOf(view) {
  const { state, model, costs, prevalence } = view;
  if (state.parity === "planned") return model.entry.cut.planned.policy;
  const share = state.prevalence === null ? {} : { prevalence: state.prevalence };
  const priced = { costs: { tp: costs.tp, fp: costs.fp, fn: costs.fn, tn: costs.tn }, ...share };
  const told = { model: /** @type {any} */ (model.entry), prevalence };
  if (view.single) {
    const threshold = model.threshold[view.index];
    const rule = chosenBy(view);
    /** @type {Record<string, object>} */
    const settings = { fixed: { threshold }, "by-hand": { threshold }, cost: priced };
    const notes = rule === "by-hand" ? ["a person chose it on the page of a report, looking at these rows"] : [];
    return policyText({ ...told, rule, settings: settings[rule] ?? share, threshold, notes });
  }
  const treatments = view.groups.map((group) => group.treatment);
  const parity = state.parity === "own" ? [] : [state.parity];
  return policyText({ ...told, rule: "equalized", settings: { parity, ...priced }, treatments });
}

/**
 * The rule that chooses the cut-off which is in use; a person, if none does.
 * @param {View} view
 * @returns {string}
 */
function chosenBy(view) {
  const { rule } = view.model.entry.cut;
  if (view.planned && (rule === "fixed" || rule in RULES)) return rule;
  const rules = /** @type {import("./view.js").Rule[]} */ (Object.keys(RULES));
  return rules.find((each) => ruledIndex(view, each) === view.index) ?? "by-hand";
}

/** Where a policy of the plan that cannot be typed is expected. */
const POLICY = "policy.json";
/** What is called parity in Python: own cut-offs keep none. */
const UNBOUND = "equalized-odds";

/**
 * What one types in a shell to get the same numbers.
 * @param {View} view
 * @returns {string}
 */
export function commandOf(view) {
  const { shell, id } = view.model.entry.spell;
  const rows = shell.length && view.model.entry.spell.file ? shell : ["FILE", ...shell];
  return [
    "baserate",
    isPlain(view) ? "report" : "equalize",
    ...rows,
    ...(isPlain(view) ? id : []),
    ...used(view),
    ...done(view),
  ].join(" ");
}

/**
 * Whether a report tells it: of one cut-off, of labels, or of a policy that is there.
 * @param {View} view
 * @returns {boolean}
 */
function isPlain({ single, state }) {
  return single || state.parity === "planned";
}

/**
 * What is done with scores, as flags.
 * @param {View} view
 * @returns {string[]}
 */
function done({ single, state, model }) {
  if (single) return model.entry.labels ? [] : [`--threshold=${shelled(state.threshold)}`];
  if (state.parity === "planned") return ["--policy", POLICY];
  const parity = state.parity === "own" ? [UNBOUND, "--within", "inf"] : [state.parity];
  return ["--parity", ...parity, "-o", "by-group.json"];
}

/**
 * Prevalence and costs as flags.
 * @param {View} view
 * @returns {string[]}
 */
function used({ state, costs }) {
  const share = state.prevalence === null ? [] : ["--prevalence", String(state.prevalence)];
  return [...share, ...priced(costs).map(([cell, cost]) => `--${cell}=${cost}`)];
}

/**
 * Costs of errors, and of the rest where it is not free.
 * @param {import("./view.js").Json} costs
 * @returns {[string, number][]}
 */
function priced(costs) {
  return ["fp", "fn", "tp", "tn"]
    .filter((cell) => costs[cell] || cell === "fp" || cell === "fn")
    .map((cell) => [cell, costs[cell]]);
}

/**
 * @param {number} threshold
 * @returns {string}
 */
function shelled(threshold) {
  return threshold === Infinity ? "inf" : String(threshold);
}

/**
 * What one types in Python to get the same numbers.
 * @param {View} view
 * @returns {string}
 */
export function pythonOf(view) {
  const { spell } = view.model.entry;
  const { state, costs } = view;
  const price = `costs=baserate.Costs(${priced(costs)
    .map(([cell, cost]) => `${cell}=${cost}`)
    .join(", ")})`;
  const use = [...(state.prevalence === null ? [] : [`prevalence=${state.prevalence}`]), price];
  const rows = spell.file ? spell.files : "table";
  if (isPlain(view)) {
    const files = spell.file ? [`files=${spell.files}`] : [];
    const plan = [...files, spell.read, ...(spell.more ? [spell.more] : []), ...use, ...pythonCut(view)].join(", ");
    return program(
      `plan = baserate.Plan(${plan})`,
      `report = baserate.run(plan${spell.file ? "" : ", table"})`,
      "print(report.text())",
    );
  }
  const goal = [
    ...(state.parity === "own" ? [`"${UNBOUND}"`, 'within=float("inf")'] : [`"${state.parity}"`]),
    ...use,
  ].join(", ");
  return program(
    `tallies = baserate.read.tallies(${rows}, ${spell.read})`,
    `policy = baserate.equalize.optimum(tallies, baserate.equalize.Goal(${goal}))`,
    'policy.save("by-group.json")',
  );
}

/**
 * @param {...string} lines
 * @returns {string}
 */
function program(...lines) {
  return `${["import baserate", "", ...lines].join("\n")}\n`;
}

/**
 * What is done with scores, as a keyword.
 * @param {View} view
 * @returns {string[]}
 */
function pythonCut({ single, state, model }) {
  if (!single) return [`policy=baserate.Policy.load("${POLICY}")`];
  if (model.entry.labels) return [];
  return [`threshold=${state.threshold === Infinity ? 'float("inf")' : state.threshold}`];
}
