/** Exports of the current view: policy file, shell command and Python program. */

import { policyText } from "./policy.js";
import { applicableRules, ruleIndex } from "./view.js";

/** @typedef {import("./view.js").View} View */

/** File name of the plan's policy in commands, where its file is unknown. */
const POLICY = "policy.json";
/** The confidence level of plans that state none. */
const USUAL_LEVEL = 0.95;
/** Rule of thresholds that a user set on the page. */
const BY_HAND = "by-hand";
/** The parity of group-specific thresholds, with an infinite tolerance: Python requires one. */
const UNCONSTRAINED_PARITY = "equalized-odds";

/**
 * The policy file of the current decisions.
 * @param {View} view
 * @returns {string}
 */
export function policyOf(view) {
  const { state, model, costs, prevalence } = view;
  if (state.parity === "planned") return model.entry.cut.planned.policy;
  const share = state.prevalence === null ? {} : { prevalence: state.prevalence };
  const stated = view.single ? null : groupPrevalences(view);
  const setting = { costs, ...(stated ? { prevalences: stated.map(prevalenceEntry) } : share) };
  const base = { model: /** @type {any} */ (model.entry), prevalence };
  if (view.single) {
    const threshold = model.threshold[view.index];
    const rule = activeRule(view);
    /** @type {Record<string, object>} */
    const settings = { fixed: { threshold }, [BY_HAND]: { threshold }, cost: setting };
    return policyText({ ...base, rule, settings: settings[rule] ?? share, threshold, notes: notesOf(view, rule) });
  }
  const treatments = view.groups.map((group) => group.treatment);
  if (state.cuts)
    return policyText({ ...base, rule: BY_HAND, settings: {}, treatments, notes: notesOf(view, BY_HAND) });
  const parity = state.parity === "own" ? [] : [state.parity];
  const rule = "equalized";
  return policyText({ ...base, rule, settings: { parity, ...setting }, treatments, notes: notesOf(view, rule) });
}

/**
 * A group and its prevalence, in the form of policy settings.
 * @param {{labels: (string|number|boolean)[], prevalence: number}} stated
 */
function prevalenceEntry({ labels, prevalence }) {
  return { group: labels, prevalence };
}

/**
 * Prevalences of groups at the selected overall prevalence; null where the plan states none for groups.
 * @param {View} view
 * @returns {{labels: (string|number|boolean)[], prevalence: number}[] | null}
 */
function groupPrevalences({ state, model, factors }) {
  if (state.prevalence === null || !model.entry.group_factors) return null;
  return model.groups.map((part, at) => {
    const [positives, negatives] = [part.positives * factors.positive, part.negatives * factors.negative];
    return { labels: Object.values(model.entry.groups[at]), prevalence: positives / (positives + negatives) };
  });
}

/**
 * Notes for users of a policy.
 * @param {View} view
 * @param {string} rule
 * @returns {string[]}
 */
function notesOf({ model, payload, state }, rule) {
  const { name, labels } = model.entry;
  const what = state.cuts ? "thresholds" : "threshold";
  const labelNote = `${name} holds labels: hand the policy 1 where it says ${payload.data.positive}, else 0.`;
  return [
    ...(rule === BY_HAND ? [`${what} set by hand on the page of a report, on these rows.`] : []),
    ...(labels ? [labelNote] : []),
  ];
}

/**
 * The rule that chooses the current threshold; that of thresholds set by hand if none does.
 * @param {View} view
 * @returns {string}
 */
function activeRule(view) {
  const { rule } = view.model.entry.cut;
  const rules = applicableRules(view);
  if (view.planned && (rule === "fixed" || rules.some(({ id }) => id === rule))) return rule;
  return rules.find((each) => ruleIndex(view, each) === view.index)?.id ?? BY_HAND;
}

/**
 * The shell command that gives the same numbers.
 * @param {View} view
 * @returns {string}
 */
export function commandOf(view) {
  const { shell, id } = view.model.entry.spell;
  const rows = shell.length && view.model.entry.spell.file ? shell : ["FILE", ...shell];
  return [
    "baserate",
    isReport(view) ? "report" : "equalize",
    ...rows,
    ...(isReport(view) ? id : []),
    ...settingFlags(view),
    ...decisionFlags(view),
  ].join(" ");
}

/**
 * Whether `report` evaluates the decisions: one threshold, labels, the policy of the plan, or that of custom thresholds,
 * which the page exports. Others need `equalize`.
 * @param {View} view
 * @returns {boolean}
 */
function isReport({ single, state }) {
  return single || state.parity === "planned" || state.cuts !== null;
}

/**
 * Options of the decision.
 * @param {View} view
 * @returns {string[]}
 */
function decisionFlags({ single, state, model }) {
  if (single) return model.entry.labels ? [] : [`--threshold=${thresholdWord(state.threshold)}`];
  if (state.cuts) return ["--policy", POLICY];
  if (state.parity === "planned") return ["--policy", model.entry.spell.policy ?? POLICY];
  const parity = state.parity === "own" ? [UNCONSTRAINED_PARITY, "--within", "inf"] : [state.parity];
  return ["--parity", ...parity, "-o", "by-group.json"];
}

/**
 * Options of prevalence and costs.
 * @param {View} view
 * @returns {string[]}
 */
function settingFlags(view) {
  const { state } = view;
  const stated = groupPrevalences(view)?.filter(({ prevalence }) => prevalence > 0 && prevalence < 1);
  const each = stated?.map(({ labels, prevalence }) => `${labels.join("/")}=${prevalence}`).join(",");
  const share = state.prevalence === null ? [] : ["--prevalence", each ? quoteWord(each) : String(state.prevalence)];
  return [...share, ...costEntries(view).map(([cell, cost]) => `--${cell}=${cost}`)];
}

/**
 * Quote a word for a shell.
 * @param {string} text
 * @returns {string}
 */
function quoteWord(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\"'\"'")}'`;
}

/**
 * Stated costs of errors, and other costs that are not zero.
 * @param {View} view
 * @returns {[string, number][]}
 */
function costEntries({ costs, priced }) {
  if (!priced) return [];
  const entries = /** @type {["fp" | "fn" | "tp" | "tn", number][]} */ ([
    ["fp", costs.fp],
    ["fn", costs.fn],
    ["tp", costs.tp],
    ["tn", costs.tn],
  ]);
  return entries.filter(([cell, cost]) => cost || cell === "fp" || cell === "fn");
}

/**
 * @param {number} threshold
 * @returns {string}
 */
function thresholdWord(threshold) {
  return threshold === Infinity ? "inf" : String(threshold);
}

/**
 * The Python program that gives the same numbers.
 * @param {View} view
 * @returns {string}
 */
export function pythonOf(view) {
  const { spell } = view.model.entry;
  const { state } = view;
  const costs = costEntries(view).map(([cell, cost]) => `${cell}=${cost}`);
  const use = [...(state.prevalence === null ? [] : [`prevalence=${pythonPrevalence(view)}`]), ...costs];
  const rows = spell.file ? spell.files : "table";
  if (isReport(view)) {
    const options = [rows, spell.read, ...reportOptions(view), ...use, ...pythonDecision(view)];
    return joinProgram(
      ...policyLines(view),
      `report = baserate.evaluate(${options.join(", ")})`,
      "print(report.text())",
    );
  }
  const goal = state.parity === "own" ? [`"${UNCONSTRAINED_PARITY}"`, 'within=float("inf")'] : [`"${state.parity}"`];
  const [parity, ...within] = goal;
  return joinProgram(
    `policy = baserate.equalize(${[rows, parity, spell.read, ...within, ...use].join(", ")})`,
    'policy.save("by-group.json")',
  );
}

/**
 * Options of a report that do not select the rows, where they differ from the defaults.
 * @param {View} view
 * @returns {string[]}
 */
function reportOptions({ payload }) {
  const { id, level, method, seed } = payload.plan;
  return [
    ...(id === null ? [] : [`id=${JSON.stringify(id)}`]),
    ...(level === USUAL_LEVEL ? [] : [`level=${level}`]),
    ...(method === null ? [] : [`method=${JSON.stringify(method)}`]),
    ...(seed === 0 ? [] : [`seed=${seed}`]),
  ];
}

/**
 * Lines that make the policy of custom thresholds.
 * @param {View} view
 * @returns {string[]}
 */
function policyLines({ state, model, groups }) {
  if (!state.cuts) return [];
  const { attributes } = model.entry;
  const cuts = groups.map(({ treatment }, at) => {
    const labels = attributes.map((/** @type {string} */ name) => pythonLiteral(model.entry.groups[at][name]));
    const threshold = treatment && !("lottery" in treatment) ? treatment.thresholds[0] : Infinity;
    return `    (${labels.join(", ")},): baserate.Cut((${pythonNumber(threshold)},)),`;
  });
  const names = attributes.map((/** @type {string} */ name) => `${JSON.stringify(name)}, `).join("");
  return [
    "cuts = {",
    ...cuts,
    "}",
    `policy = baserate.Policy(by_group=cuts, otherwise="refuse", attributes=(${names.trim()}))`,
  ];
}

/**
 * A label in Python.
 * @param {string | number | boolean} label
 * @returns {string}
 */
function pythonLiteral(label) {
  if (typeof label === "boolean") return label ? "True" : "False";
  return typeof label === "number" ? pythonNumber(label) : JSON.stringify(label);
}

/**
 * @param {number} number
 * @returns {string}
 */
function pythonNumber(number) {
  return Number.isFinite(number) ? String(number) : `float("${number > 0 ? "inf" : "-inf"}")`;
}

/**
 * The prevalence in Python: a number, or a mapping from groups to prevalences.
 * @param {View} view
 * @returns {string}
 */
function pythonPrevalence(view) {
  const stated = groupPrevalences(view)?.filter(({ prevalence }) => prevalence > 0 && prevalence < 1);
  if (!stated) return String(view.state.prevalence);
  const each = stated.map(({ labels, prevalence }) => `${JSON.stringify(labels.join("/"))}: ${prevalence}`);
  return `{${each.join(", ")}}`;
}

/**
 * @param {...string} lines
 * @returns {string}
 */
function joinProgram(...lines) {
  const comment = lines.some((line) => /\btable\b/.test(line))
    ? ["# table: the rows, as a frame or a mapping of columns"]
    : [];
  return `${["import baserate", "", ...comment, ...lines].join("\n")}\n`;
}

/**
 * The decision as a keyword argument.
 * @param {View} view
 * @returns {string[]}
 */
function pythonDecision({ single, state, model }) {
  if (state.cuts) return ["policy=policy"];
  if (!single) return [`policy=baserate.load_policy(${model.entry.spell.policy_file ?? JSON.stringify(POLICY)})`];
  if (model.entry.labels) return [];
  return [`threshold=${pythonNumber(state.threshold)}`];
}
