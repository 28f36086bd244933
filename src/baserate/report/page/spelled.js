/** What one hands to `baserate apply`, or types, to get what the page shows. */

import { policyText } from "./policy.js";
import { ruledIndex } from "./view.js";

/** @typedef {import("./view.js").View} View */

/** Where a policy of the plan that cannot be typed is expected, unless a file is known to hold it. */
const POLICY = "policy.json";
/** What is called parity in Python: own cut-offs keep none. */
const UNBOUND = "equalized-odds";

/**
 * The policy that does what the page shows, sealed as the library seals it.
 * @param {View} view
 * @returns {string}
 */
export function policyOf(view) {
  const { state, model, costs, prevalence } = view;
  if (state.parity === "planned") return model.entry.cut.planned.policy;
  const share = state.prevalence === null ? {} : { prevalence: state.prevalence };
  const stated = view.single ? null : groupPrevalences(view);
  const priced = { costs, ...(stated ? { prevalences: stated.map(listedPrevalence) } : share) };
  const told = { model: /** @type {any} */ (model.entry), prevalence };
  if (view.single) {
    const threshold = model.threshold[view.index];
    const rule = chosenBy(view);
    /** @type {Record<string, object>} */
    const settings = { fixed: { threshold }, "by-hand": { threshold }, cost: priced };
    return policyText({ ...told, rule, settings: settings[rule] ?? share, threshold, notes: notesOf(view, rule) });
  }
  const treatments = view.groups.map((group) => group.treatment);
  const parity = state.parity === "own" ? [] : [state.parity];
  const rule = "equalized";
  return policyText({ ...told, rule, settings: { parity, ...priced }, treatments, notes: notesOf(view, rule) });
}

/**
 * A group and its prevalence, as settings of a policy list them.
 * @param {{labels: (string|number|boolean)[], prevalence: number}} stated
 */
function listedPrevalence({ labels, prevalence }) {
  return { group: labels, prevalence };
}

/**
 * Prevalences of groups at the chosen prevalence of everybody, where the plan states some; null where it does not.
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
 * What whoever uses a policy should know.
 * @param {View} view
 * @param {string} rule
 * @returns {string[]}
 */
function notesOf({ model, payload }, rule) {
  const { name, labels } = model.entry;
  const meant = `${name} holds labels: hand the policy 1 where it says ${payload.data.positive}, else 0.`;
  return [
    ...(rule === "by-hand" ? ["a person chose it on the page of a report, looking at these rows."] : []),
    ...(labels ? [meant] : []),
  ];
}

/**
 * The rule that chooses the cut-off which is in use; a person, if none does.
 * @param {View} view
 * @returns {string}
 */
function chosenBy(view) {
  const { rule } = view.model.entry.cut;
  const rules = /** @type {import("./view.js").Rule[]} */ (view.payload.rules);
  if (view.planned && (rule === "fixed" || rules.some(({ id }) => id === rule))) return rule;
  return rules.find((each) => ruledIndex(view, each) === view.index)?.id ?? "by-hand";
}

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
  if (state.parity === "planned") return ["--policy", model.entry.spell.policy ?? POLICY];
  const parity = state.parity === "own" ? [UNBOUND, "--within", "inf"] : [state.parity];
  return ["--parity", ...parity, "-o", "by-group.json"];
}

/**
 * Prevalence and costs as flags.
 * @param {View} view
 * @returns {string[]}
 */
function used(view) {
  const { state, costs } = view;
  const stated = groupPrevalences(view)?.filter(({ prevalence }) => prevalence > 0 && prevalence < 1);
  const each = stated?.map(({ labels, prevalence }) => `${labels.join("/")}=${prevalence}`).join(",");
  const share = state.prevalence === null ? [] : ["--prevalence", each ? quoted(each) : String(state.prevalence)];
  return [...share, ...priced(costs).map(([cell, cost]) => `--${cell}=${cost}`)];
}

/**
 * Text as one word of a shell.
 * @param {string} text
 * @returns {string}
 */
function quoted(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\"'\"'")}'`;
}

/**
 * Costs of errors, and of the rest where it is not free.
 * @param {import("./core.js").Costs} costs
 * @returns {[string, number][]}
 */
function priced(costs) {
  const every = /** @type {["fp" | "fn" | "tp" | "tn", number][]} */ ([
    ["fp", costs.fp],
    ["fn", costs.fn],
    ["tp", costs.tp],
    ["tn", costs.tn],
  ]);
  return every.filter(([cell, cost]) => cost || cell === "fp" || cell === "fn");
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
  const use = [...(state.prevalence === null ? [] : [`prevalence=${pythonPrevalence(view)}`]), price];
  const rows = spell.file ? spell.files : "table";
  if (isPlain(view)) {
    const files = spell.file ? [`files=${spell.files}`] : [];
    const plan = [...files, spell.plan, ...use, ...pythonCut(view)].join(", ");
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
    `policy = baserate.equalize.optimal_policy(tallies, baserate.equalize.Goal(${goal}))`,
    'policy.save("by-group.json")',
  );
}

/**
 * The prevalence as Python writes it: a number, or a mapping from groups to theirs.
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
function program(...lines) {
  const handed = lines.some((line) => /\btable\b/.test(line))
    ? ["# table: the rows, as a frame or a mapping of columns"]
    : [];
  return `${["import baserate", "", ...handed, ...lines].join("\n")}\n`;
}

/**
 * What is done with scores, as a keyword.
 * @param {View} view
 * @returns {string[]}
 */
function pythonCut({ single, state, model }) {
  if (!single) return [`policy=baserate.Policy.load(${model.entry.spell.policy_file ?? JSON.stringify(POLICY)})`];
  if (model.entry.labels) return [];
  return [`threshold=${state.threshold === Infinity ? 'float("inf")' : state.threshold}`];
}
