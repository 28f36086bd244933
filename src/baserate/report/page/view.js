/** Payload and state -> view: everything that panels show. Slow computations are cached until their inputs change. */

import { scaleBins } from "./bins.js";
import { expand, factorsFor, measureAlong, thresholdIndex, readNumber, scaleRows, sumCounts, tableAt } from "./core.js";
import { choose, hull } from "./rules.js";
import { SHARES } from "./intervals.js";
import { solveStrategy } from "./fairness.js";
import { formatPercent, formatSetting } from "./format.js";

/** Rates within one class, which do not depend on the prevalence. */
export const CLASS_RATES = Object.keys(SHARES).filter((measure) => SHARES[measure].kind === "within");

/** @typedef {import("./core.js").Counts} Counts */
/** @typedef {import("./core.js").Part} Part */
/** @typedef {import("./core.js").Factors} Factors */
/** @typedef {import("./fairness.js").Treatment} Treatment */
/** @typedef {Record<string, any>} Json */
/**
 * @typedef {object} State
 * @property {number} model
 * @property {number} who         -1 for everybody, otherwise the index of a group
 * @property {number} threshold
 * @property {number | null} prevalence   null: that of the sample
 * @property {number | null} fp           cost of a false positive; null where no costs are stated
 * @property {number | null} fn
 * @property {string} parity
 * @property {number | null} pin    a threshold to compare with, A; null: none
 * @property {"people" | "classes"} scale  of the score distributions: per 1,000 people, or shares of each class
 * @property {number[] | null} cuts  threshold of each group, for the parity "custom"
 * @property {number} reference      index of the group that others are compared with
 * @property {number[] | null} shown  indices of highlighted groups; null: the largest
 * @property {string[] | null} rates  measures of the chart of groups; null: the default ones
 * @property {string | null} frontier  parity of the frontier; null: the current one
 */
/**
 * A model in the sample; `deployed` is the model reweighted to the prevalences stated for groups, if any.
 * @typedef {{entry: Json, threshold: Float64Array, everybody: Part, groups: Part[], deployed: Model | null}} Model
 */
/**
 * @typedef {object} Report
 * @property {Json} payload
 * @property {Model[]} models
 * @property {Map<string, Json>} numbers  of the report, without differences between models
 * @property {Map<string, {key: string, value: any}>} cache
 */
/** @typedef {{name: string, part: Part, counts: Counts | null, treatment: Treatment | null}} Group */
/**
 * @typedef {object} View
 * @property {Report} report
 * @property {Json} payload
 * @property {State} state
 * @property {Model} model
 * @property {Part} part            everybody or the selected group
 * @property {Factors} factors
 * @property {Factors} adjustment   of scores, from the sample to the selected prevalence
 * @property {number} prevalence    selected, of everybody
 * @property {import("./core.js").Costs} costs  1 for both errors where none are stated
 * @property {boolean} priced       whether costs are stated
 * @property {number} index         of the threshold
 * @property {number} cheapest      index of the threshold of lowest cost in `part`
 * @property {Counts} counts        confusion matrix of `part`
 * @property {Counts} everybody     confusion matrix of everybody
 * @property {Group[]} groups
 * @property {number} randomized    share of everybody who are decided at random
 * @property {boolean} single       whether all groups have one threshold
 * @property {boolean} exact        whether tables count rows; tables of randomized policies are expectations
 * @property {{index: number, counts: Counts} | null} pinned  threshold A, and the confusion matrix of `part` at it
 * @property {boolean} planned      whether threshold, prevalence, costs and parity are those of the plan
 */

/**
 * Unpack the payload, once.
 * @param {Json} payload
 * @returns {Report}
 */
export function loadReport(payload) {
  const models = payload.models.map((/** @type {Json} */ entry) => ({
    entry,
    ...expand(/** @type {any} */ (entry)),
    deployed: entry.group_factors ? deployedModel(entry) : null,
  }));
  const numbers = new Map(payload.numbers.map((/** @type {Json} */ row) => [numberKey(row), row]));
  return { payload, models, numbers, cache: new Map() };
}

/**
 * A model reweighted to the prevalences stated for groups: masses, histograms and bins.
 * @param {Json} entry
 * @returns {Model}
 */
function deployedModel(entry) {
  const factors = entry.group_factors;
  const [positive, negative] = scaleRows([entry.scores.positive, entry.scores.negative], factors, 1);
  const scaled = {
    ...entry,
    scores: { ...entry.scores, positive, negative },
    reliability: scaleBins(entry.reliability, factors),
    band: null, // the band holds for the sample's mixture of groups
  };
  return { entry: scaled, ...expand(/** @type {any} */ (entry), factors), deployed: null };
}

/**
 * A model in the sample, or reweighted to deployment.
 * @param {Report} report
 * @param {number} at
 * @param {number | null} prevalence
 * @returns {Model}
 */
export function modelAt(report, at, prevalence) {
  const model = report.models[at];
  return prevalence === null ? model : (model.deployed ?? model);
}

/**
 * Cache a result until its key changes. Charts compare arrays by identity, so equal keys must return the same arrays.
 * @template Value
 * @param {Report} report
 * @param {string} slot
 * @param {string} key
 * @param {() => Value} make
 * @returns {Value}
 */
export function memoize(report, slot, key, make) {
  const cached = report.cache.get(slot);
  if (cached?.key === key) return cached.value;
  const value = make();
  report.cache.set(slot, { key, value });
  return value;
}

/**
 * The state of the plan, in which a model is shown first.
 * @param {Report} report
 * @param {number} model
 * @returns {State}
 */
export function planState(report, model) {
  const { use, models } = report.payload;
  const { cut } = models[model];
  const { fp, fn } = use.priced ? use.costs : { fp: null, fn: null };
  const scale = /** @type {const} */ ("people");
  const ofGroups = { cuts: null, reference: referenceOf(report, model), shown: null, rates: null, frontier: null };
  const shared = { model, who: -1, prevalence: use.prevalence, fp, fn, pin: null, scale, ...ofGroups };
  if (cut.threshold !== null) return { ...shared, threshold: readNumber(cut.threshold), parity: "single" };
  const { everybody, threshold } = modelAt(report, model, use.prevalence);
  const index = Math.max(0, choose.youden(everybody, use.costs, factorsFor(everybody, use.prevalence)));
  return { ...shared, threshold: threshold[index], parity: "planned" };
}

/**
 * The reference group of the plan; without differences of groups the group with the most rows.
 * @param {Report} report
 * @param {number} model
 * @returns {number}
 */
function referenceOf(report, model) {
  const { entry, groups } = report.models[model];
  const sizes = groups.map(({ positives, negatives }) => positives + negatives);
  return entry.group_differences?.reference ?? sizes.indexOf(Math.max(...sizes));
}

/**
 * The view of a state. Its threshold becomes the laxest one in the payload that is at least the requested threshold.
 * @param {Report} report
 * @param {State} request
 * @returns {View}
 */
export function makeView(report, request) {
  const { payload } = report;
  const model = modelAt(report, request.model, request.prevalence);
  const index = thresholdIndex(model.threshold, request.threshold);
  const state = { ...request, ...groupState(request, model), threshold: model.threshold[index] };
  const factors = factorsFor(model.everybody, state.prevalence);
  const adjustment = factorsFor(report.models[state.model].everybody, state.prevalence);
  const { tp, tn } = payload.use.costs;
  const costs = { tp, fp: state.fp ?? 1, fn: state.fn ?? 1, tn };
  const part = state.who < 0 ? model.everybody : model.groups[state.who];
  const whole = tableAt(model.everybody, model.everybody.tp.length - 1, factors);
  const cheapest = memoize(report, "cheapest", [partKey(state), state.prevalence, state.fp, state.fn].join(), () =>
    choose.cost(part, costs, factors),
  );
  const decisions = decideGroups(report, state, { model, factors, costs, index });
  const pin = typeof state.pin !== "number" || model.entry.labels ? -1 : thresholdIndex(model.threshold, state.pin);
  return {
    report,
    payload,
    state,
    model,
    part,
    factors,
    adjustment,
    costs,
    priced: state.fp !== null && state.fn !== null,
    index,
    cheapest,
    prevalence: whole.tp / (whole.tp + whole.fp),
    ...decisions,
    counts: state.who < 0 ? decisions.everybody : (decisions.groups[state.who].counts ?? tableAt(part, index, factors)),
    pinned: pin < 0 ? null : { index: pin, counts: tableAt(part, pin, factors) },
    single: state.parity === "single",
    exact: state.parity !== "planned" && !decisions.randomized,
    planned: isPlanned(report, state),
  };
}

/**
 * Settings of groups that apply to a model.
 * @param {State} request
 * @param {Model} model
 * @returns {Partial<State>}
 */
function groupState({ parity, cuts, shown, reference }, { entry, groups, threshold }) {
  const isCustom = parity === "custom" && cuts?.length === groups.length;
  // The policy of the plan may not apply to every model: predicted labels have no policy.
  const isMissing = (parity === "planned" && !entry.cut.planned) || (parity === "custom" && !isCustom);
  return {
    parity: isMissing ? "single" : parity,
    cuts: isCustom ? cuts.map((each) => threshold[thresholdIndex(threshold, each)]) : null,
    shown: shown && shown.filter((each) => each < groups.length),
    reference: reference < groups.length ? reference : 0,
  };
}

/**
 * Decisions on everybody and on each group.
 * @param {Report} report
 * @param {State} state
 * @param {{model: Model, factors: Factors, costs: import("./core.js").Costs, index: number}} at
 * @returns {{everybody: Counts, groups: Group[], randomized: number}}
 */
function decideGroups(report, state, { model, factors, costs, index }) {
  const { entry, groups, everybody } = model;
  /** @param {(Counts | null)[]} counts @param {(Treatment | null)[]} treatments */
  const groupViews = (counts, treatments) =>
    groups.map((part, at) => ({ name: entry.names[at], part, counts: counts[at], treatment: treatments[at] }));
  if (state.parity === "single") {
    const treatments = groups.map(() => ({ thresholds: [model.threshold[index]] }));
    const counts = groups.map((part) => tableAt(part, index, factors));
    // The table of everybody is read off the pooled curve: a sum over groups would differ in the last digits.
    return { everybody: tableAt(everybody, index, factors), groups: groupViews(counts, treatments), randomized: 0 };
  }
  if (state.parity === "planned") return policyTables(model, factors);
  if (state.cuts) {
    const places = state.cuts.map((cut) => thresholdIndex(model.threshold, cut));
    const treatments = places.map((place) => ({ thresholds: [model.threshold[place]] }));
    const counts = groups.map((part, at) => tableAt(part, places[at], factors));
    return { everybody: sumCounts(counts), groups: groupViews(counts, treatments), randomized: 0 };
  }
  const { counts, treatments, randomized } = strategyOf(report, state, { model, factors, costs });
  const all = /** @type {Counts[]} */ (counts.filter(Boolean));
  return { everybody: sumCounts(all), groups: groupViews(counts, treatments), randomized };
}

/**
 * The strategy of a parity, or that of group-specific thresholds, in the setting of a state.
 * @param {Report} report
 * @param {State} state
 * @param {{model: Model, factors: Factors, costs: import("./core.js").Costs}} at
 * @param {string} [parity]
 * @returns {import("./fairness.js").Strategy}
 */
export function strategyOf(report, state, { model, factors, costs }, parity = state.parity) {
  const { threshold, groups } = model;
  return memoize(report, `strategy ${parity}`, settingKey(state), () =>
    solveStrategy(constraintOf(report, parity), { threshold, groups, factors, costs }),
  );
}

/**
 * Cache key of model, prevalence and costs.
 * @param {State} state
 * @returns {string}
 */
export function settingKey({ model, prevalence, fp, fn }) {
  return [model, prevalence, fp, fn].join();
}

/**
 * The parity constraint with an id; none for group-specific thresholds.
 * @param {Report} report
 * @param {string} id
 * @returns {import("./fairness.js").Constraint}
 */
export function constraintOf(report, id) {
  const parities = /** @type {Parity[]} */ (report.payload.parities);
  return parities.find((parity) => parity.id === id) ?? { rates: [] };
}

/**
 * Tables of the plan's policy, where it is not a single threshold.
 * @param {Model} model
 * @param {Factors} factors
 * @returns {{everybody: Counts, groups: Group[], randomized: number}}
 */
export function policyTables({ entry, groups }, factors) {
  const { planned } = entry.cut;
  const own = factors.known ? entry.group_factors : null;
  /** @param {Json} cells @param {[number, number]} by */
  const reweigh = (cells, [positive, negative]) => ({
    tp: cells.tp * factors.positive * positive,
    fn: cells.fn * factors.positive * positive,
    fp: cells.fp * factors.negative * negative,
    tn: cells.tn * factors.negative * negative,
    squares: null,
    known: factors.known,
  });
  const views = groups.map((part, at) => ({
    name: entry.names[at],
    part,
    treatment: null,
    counts: reweigh(planned.groups[at] ?? planned.everybody, own ? own[at] : [1, 1]),
  }));
  const everybody = own ? sumCounts(views.map(({ counts }) => counts)) : reweigh(planned.everybody, [1, 1]);
  return { everybody, groups: views, randomized: 0 };
}

/**
 * Table of the plan's policy on everybody, where it is not a single threshold.
 * @param {Model} model
 * @param {Factors} factors
 * @returns {Counts}
 */
export function policyCounts(model, factors) {
  return policyTables(model, factors).everybody;
}

/**
 * Whether a state is that of the plan, whatever group is selected.
 * @param {Report} report
 * @param {State} state
 * @returns {boolean}
 */
function isPlanned(report, state) {
  const plan = planState(report, state.model);
  const { threshold } = report.models[state.model];
  const same = /** @type {const} */ (["prevalence", "fp", "fn", "parity"]).every((name) => plan[name] === state[name]);
  return same && thresholdIndex(threshold, plan.threshold) === thresholdIndex(threshold, state.threshold);
}

/**
 * The threshold as a vertical line, where all groups have one that is within the axis.
 * @param {View} view
 * @param {number} end
 * @returns {import("./chart.js").Mark[]}
 */
export function thresholdLine(view, end) {
  return view.single && view.state.threshold <= end
    ? [{ kind: "rule", key: "cut", x: view.state.threshold, look: "accent", label: "threshold" }]
    : [];
}

/**
 * Whether the decisions are those of the plan, whatever the prevalence and the costs are.
 * @param {View} view
 * @returns {boolean}
 */
export function hasPlannedDecisions({ report, state }) {
  const plan = planState(report, state.model);
  const { threshold } = report.models[state.model];
  if (plan.parity !== state.parity) return false;
  return (
    plan.parity === "planned" ||
    thresholdIndex(threshold, plan.threshold) === thresholdIndex(threshold, state.threshold)
  );
}

/**
 * Cache key of `view.part`: in deployment, groups may have prevalences of their own.
 * @param {State} state
 * @returns {string}
 */
export function partKey(state) {
  return `${state.model}/${state.who}/${state.prevalence === null ? "sample" : "deployment"}`;
}

/**
 * A measure at every threshold, in everybody or in the selected group.
 * @param {View} view
 * @param {string} measure
 * @returns {Float64Array}
 */
export function measureCurve(view, measure) {
  const key = `${partKey(view.state)} ${CLASS_RATES.includes(measure) ? "" : view.state.prevalence}`;
  return memoize(view.report, `curve ${measure}`, key, () => measureAlong(view.part, view.factors, measure));
}

/**
 * A rule in the payload: its name in Python, the text of its button, and the name of its function in `choose`.
 * @typedef {{id: string, label: string, hint: string, function: string}} Rule
 */
/**
 * A parity in the payload: its name in Python, the text of its button, and the rates that must be equal.
 * @typedef {{id: string, label: string, hint: string} & import("./fairness.js").Constraint} Parity
 */
/**
 * A measure in the payload: text, format, and whether it depends on the scores alone, without a threshold.
 * `unit`: whether it lies between 0 and 1.
 * @typedef {{label: string, hint: string, format: "percent" | "number", unit: boolean, of_scores: boolean}} Measure
 */

/**
 * The short name of a measure for running text: "Sensitivity (recall)" -> "sensitivity", "PPV (precision)" -> "PPV".
 * @param {View} view
 * @param {string} measure
 * @returns {string}
 */
export function termOf({ payload }, measure) {
  const term = payload.measures[measure].label.replace(/ \(.*\)$/, "");
  return /^[A-Z][a-z]/.test(term) ? term[0].toLowerCase() + term.slice(1) : term;
}

/**
 * Rules that apply: without stated costs none is the cheapest.
 * @param {View} view
 * @returns {Rule[]}
 */
export function applicableRules({ payload, priced }) {
  const rules = /** @type {Rule[]} */ (payload.rules);
  return rules.filter((rule) => priced || rule.function !== "cost");
}

/**
 * Index of the threshold that a rule chooses for everybody; −1 where a class that it needs is absent.
 * @param {View} view
 * @param {Rule} rule
 * @returns {number}
 */
export function ruleIndex({ report, state, model, costs, factors }, rule) {
  const key = [state.model, state.prevalence, state.fp, state.fn].join();
  return memoize(report, `rule ${rule.id}`, key, () => choose[rule.function](model.everybody, costs, factors));
}

/**
 * Vertices of the ROC convex hull.
 * @param {View} view
 * @returns {{places: Int32Array, fpr: Float64Array, sensitivity: Float64Array}}
 */
export function hullOf(view) {
  return memoize(view.report, "hull", partKey(view.state), () => {
    const places = hull(view.part);
    const { tp, fp, positives, negatives } = view.part;
    return {
      places,
      fpr: Float64Array.from(places, (at) => fp[at] / negatives),
      sensitivity: Float64Array.from(places, (at) => tp[at] / positives),
    };
  });
}

/**
 * A measure of the scores at the selected prevalence; undefined where the report does not contain it.
 * @param {View} view
 * @param {string} measure
 * @param {Json} [filter]
 * @returns {Json | undefined}
 */
export function currentNumber(view, measure, filter = {}) {
  const { prevalence } = view.state;
  const planned = prevalence === view.payload.use.prevalence;
  // Prevalences of groups change the mixture of groups within each class, and so the AUC.
  const invariant = isInvariant(view, measure) && !view.report.models.some((model) => model.deployed);
  if (prevalence !== null && !planned && !invariant) return undefined;
  const where = prevalence !== null && planned ? "there" : "here";
  return ["ranks", "probabilities"]
    .map((part) => reportNumber(view, { part, measure, where, ...filter }))
    .find(Boolean);
}

/**
 * Whether a measure of the scores is the same at every prevalence.
 * @param {View} view
 * @param {string} measure
 * @returns {boolean}
 */
export function isInvariant({ payload }, measure) {
  return payload.invariant_measures.includes(measure);
}

/**
 * The prevalence at which numbers hold, in words.
 * @param {View} view
 * @returns {string}
 */
export function describePrevalence({ state, prevalence }) {
  return state.prevalence === null
    ? `in the sample (${formatPercent(prevalence)})`
    : `at ${formatSetting(prevalence)} prevalence`;
}

/**
 * What decides in a view: the threshold of everybody, or the name of a policy for groups.
 * @param {View} view
 * @returns {number | string}
 */
export function cutOf({ single, state }) {
  return single ? state.threshold : state.parity;
}

/**
 * The prevalence of everybody or of the selected group; NaN without rows.
 * @param {Part} part
 * @param {Factors} factors
 * @returns {number}
 */
export function prevalenceOf({ positives, negatives }, { positive, negative }) {
  return (positives * positive) / (positives * positive + negatives * negative);
}

/**
 * A number of the report, at the settings of the plan.
 * @param {View} view
 * @param {Json} filter
 * @returns {Json | undefined}
 */
export function reportNumber(view, filter) {
  const { model, who } = view.state;
  return view.report.numbers.get(numberKey({ model, group: who < 0 ? undefined : who, ...filter }));
}

/**
 * Key of a number of the report. Differences between groups are numbers of everybody.
 * @param {Json} row
 * @returns {string}
 */
function numberKey({ part, measure, model, group, where }) {
  return [part, measure, model, part === "gaps" ? undefined : group, where].join(" ");
}

/**
 * Domain of an axis of scores, and thresholds clipped to it.
 * @param {View} view
 * @returns {{domain: [number, number], x: Float64Array}}
 */
export function scoreAxis(view) {
  return memoize(view.report, "scores", String(view.state.model), () => {
    const { edges } = view.model.entry.scores;
    const domain = /** @type {[number, number]} */ ([edges[0], edges[edges.length - 1]]);
    return { domain, x: view.model.threshold.map((at) => Math.min(domain[1], Math.max(domain[0], at))) };
  });
}
