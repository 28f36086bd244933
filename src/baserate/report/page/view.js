/**
 * Payload and state -> view: everything that panels show. What is dear to derive is kept until what it depends on
 * changes.
 */

import { scaledBins } from "./bins.js";
import { expand, factorsFor, measureAlong, place, readNumber, scaledRows, sumCounts, tableAt } from "./core.js";
import { choose, hull } from "./rules.js";
import { strategy } from "./fair.js";
import { percent, short } from "./format.js";

/** Measures that no prevalence changes. */
export const WITHIN_CLASSES = ["sensitivity", "specificity", "fpr"];

/** @typedef {import("./core.js").Counts} Counts */
/** @typedef {import("./core.js").Part} Part */
/** @typedef {import("./core.js").Factors} Factors */
/** @typedef {import("./fair.js").Treatment} Treatment */
/** @typedef {Record<string, any>} Json */
/**
 * @typedef {object} State
 * @property {number} model
 * @property {number} who         -1 for everybody, otherwise the place of a group
 * @property {number} threshold
 * @property {number | null} prevalence   null: as the rows are
 * @property {number} fp
 * @property {number} fn
 * @property {string} parity
 */
/**
 * A model in the sample; `deployed` is the same with the prevalences stated for groups, where some are.
 * @typedef {{entry: Json, threshold: Float64Array, everybody: Part, groups: Part[], deployed: Model | null}} Model
 */
/**
 * @typedef {object} Book
 * @property {Json} payload
 * @property {Model[]} models
 * @property {Map<string, Json>} numbers  of the report, but for differences of models
 * @property {Map<string, {key: string, value: any}>} kept  what was derived
 */
/** @typedef {{name: string, part: Part, counts: Counts | null, treatment: Treatment | null}} Group */
/**
 * @typedef {object} View
 * @property {Book} book
 * @property {Json} payload
 * @property {State} state
 * @property {Model} model
 * @property {Part} part            of those whom the panels show
 * @property {Factors} factors
 * @property {Factors} adjustment   from the sample to the prevalence in use, by which scores are adjusted
 * @property {number} prevalence    of everybody, in use
 * @property {import("./core.js").Costs} costs
 * @property {number} index         of the cut-off
 * @property {number} cheapest      cut-off of least cost, of those whom the panels show
 * @property {Counts} counts        what is done with them
 * @property {Counts} everybody     what is done with everybody
 * @property {Group[]} groups
 * @property {number} lots          share of everybody who draw lots
 * @property {boolean} single       whether one cut-off is for all
 * @property {boolean} counted      whether tables are of rows that were counted, not of what lots are expected to do
 * @property {boolean} planned      whether all is as in the plan
 */

/**
 * Unpack what the page was told, once.
 * @param {Json} payload
 * @returns {Book}
 */
export function openBook(payload) {
  const models = payload.models.map((/** @type {Json} */ entry) => ({
    entry,
    ...expand(/** @type {any} */ (entry)),
    deployed: entry.group_factors ? deployedModel(entry) : null,
  }));
  const numbers = new Map(payload.numbers.map((/** @type {Json} */ row) => [numberKey(row), row]));
  return { payload, models, numbers, kept: new Map() };
}

/**
 * A model with the prevalences stated for groups: masses, histograms and bins weigh what their group and class do.
 * @param {Json} entry
 * @returns {Model}
 */
function deployedModel(entry) {
  const factors = entry.group_factors;
  const [positive, negative] = scaledRows([entry.scores.positive, entry.scores.negative], factors, 1);
  const scaled = {
    ...entry,
    scores: { ...entry.scores, positive, negative },
    reliability: scaledBins(entry.reliability, factors),
    band: null, // it is of the sample's mixture of groups
  };
  return { entry: scaled, ...expand(/** @type {any} */ (entry), factors), deployed: null };
}

/**
 * A model as it is at a prevalence: in the sample, or in deployment.
 * @param {Book} book
 * @param {number} at
 * @param {number | null} prevalence
 * @returns {Model}
 */
export function modelAt(book, at, prevalence) {
  const model = book.models[at];
  return prevalence === null ? model : (model.deployed ?? model);
}

/**
 * Keep what was derived until its key changes, so that the same arrays come back.
 * @template Value
 * @param {Book} book
 * @param {string} slot
 * @param {string} key
 * @param {() => Value} make
 * @returns {Value}
 */
export function remembered(book, slot, key, make) {
  const found = book.kept.get(slot);
  if (found?.key === key) return found.value;
  const value = make();
  book.kept.set(slot, { key, value });
  return value;
}

/**
 * The state in which a model is shown first: as planned.
 * @param {Book} book
 * @param {number} model
 * @returns {State}
 */
export function plannedState(book, model) {
  const { use, models } = book.payload;
  const { cut } = models[model];
  const { fp, fn } = use.costs;
  const shared = { model, who: -1, prevalence: use.prevalence, fp, fn };
  if (cut.threshold !== null) return { ...shared, threshold: readNumber(cut.threshold), parity: "single" };
  const { everybody, threshold } = modelAt(book, model, use.prevalence);
  const index = Math.max(0, choose.youden(everybody, use.costs, factorsFor(everybody, use.prevalence)));
  return { ...shared, threshold: threshold[index], parity: "planned" };
}

/**
 * Everything that follows from a state; its cut-off is the laxest kept one that is no laxer than what is asked for.
 * @param {Book} book
 * @param {State} asked
 * @returns {View}
 */
export function makeView(book, asked) {
  const { payload } = book;
  const model = modelAt(book, asked.model, asked.prevalence);
  const index = place(model.threshold, asked.threshold);
  // Of a plan's policy that is no cut-off, another model may know nothing: labels are decided already.
  const parity = asked.parity === "planned" && !model.entry.cut.planned ? "single" : asked.parity;
  const state = { ...asked, parity, threshold: model.threshold[index] };
  const factors = factorsFor(model.everybody, state.prevalence);
  const adjustment = factorsFor(book.models[state.model].everybody, state.prevalence);
  const { tp, tn } = payload.use.costs;
  const costs = { tp, fp: state.fp, fn: state.fn, tn };
  const part = state.who < 0 ? model.everybody : model.groups[state.who];
  const whole = tableAt(model.everybody, model.everybody.tp.length - 1, factors);
  const cheapest = remembered(book, "cheapest", [partKey(state), state.prevalence, state.fp, state.fn].join(), () =>
    choose.cost(part, costs, factors),
  );
  const done = whatIsDone(book, state, { model, factors, costs, index });
  return {
    book,
    payload,
    state,
    model,
    part,
    factors,
    adjustment,
    costs,
    index,
    cheapest,
    prevalence: whole.tp / (whole.tp + whole.fp),
    ...done,
    counts: state.who < 0 ? done.everybody : (done.groups[state.who].counts ?? tableAt(part, index, factors)),
    single: state.parity === "single",
    counted: state.parity !== "planned" && !done.lots,
    planned: isPlanned(book, state),
  };
}

/**
 * What is done with everybody and with each group.
 * @param {Book} book
 * @param {State} state
 * @param {{model: Model, factors: Factors, costs: import("./core.js").Costs, index: number}} at
 * @returns {{everybody: Counts, groups: Group[], lots: number}}
 */
function whatIsDone(book, state, { model, factors, costs, index }) {
  const { entry, groups, everybody } = model;
  const treatment = { thresholds: [model.threshold[index]] };
  if (state.parity === "single") {
    const told = groups.map((part, at) => ({
      name: entry.names[at],
      part,
      counts: tableAt(part, index, factors),
      treatment,
    }));
    return { everybody: tableAt(everybody, index, factors), groups: told, lots: 0 };
  }
  if (state.parity === "planned") return plannedTables(model, factors);
  const key = [state.model, state.prevalence, state.fp, state.fn, state.parity].join();
  const chosen = remembered(book, "strategy", key, () =>
    strategy(state.parity, { threshold: model.threshold, groups, factors, costs, index }),
  );
  const told = groups.map((part, at) => ({
    name: entry.names[at],
    part,
    counts: chosen.counts[at],
    treatment: chosen.treatments[at],
  }));
  const all = /** @type {Counts[]} */ (told.map((each) => each.counts).filter(Boolean));
  return { everybody: sumCounts(all), groups: told, lots: chosen.lots };
}

/**
 * Tables of a plan's policy that is no single cut-off.
 * @param {Model} model
 * @param {Factors} factors
 * @returns {{everybody: Counts, groups: Group[], lots: number}}
 */
function plannedTables({ entry, groups }, factors) {
  const { planned } = entry.cut;
  const own = factors.known ? entry.group_factors : null;
  /** @param {Json} cells @param {[number, number]} by */
  const reweighted = (cells, [positive, negative]) => ({
    tp: cells.tp * factors.positive * positive,
    fn: cells.fn * factors.positive * positive,
    fp: cells.fp * factors.negative * negative,
    tn: cells.tn * factors.negative * negative,
    squares: null,
    known: factors.known,
  });
  const told = groups.map((part, at) => ({
    name: entry.names[at],
    part,
    treatment: null,
    counts: reweighted(planned.groups[at] ?? planned.everybody, own ? own[at] : [1, 1]),
  }));
  const everybody = own ? sumCounts(told.map(({ counts }) => counts)) : reweighted(planned.everybody, [1, 1]);
  return { everybody, groups: told, lots: 0 };
}

/**
 * What the plan's policy does with everybody, where it is no single threshold.
 * @param {Model} model
 * @param {Factors} factors
 * @returns {Counts}
 */
export function plannedCounts(model, factors) {
  return plannedTables(model, factors).everybody;
}

/**
 * Whether a state is that of the plan, but for who is looked at.
 * @param {Book} book
 * @param {State} state
 * @returns {boolean}
 */
function isPlanned(book, state) {
  const plan = plannedState(book, state.model);
  const { threshold } = book.models[state.model];
  const same = /** @type {const} */ (["prevalence", "fp", "fn", "parity"]).every((name) => plan[name] === state[name]);
  return same && place(threshold, plan.threshold) === place(threshold, state.threshold);
}

/**
 * The cut-off as a line, where one is in use for all, and on an axis that ends there.
 * @param {View} view
 * @param {number} end
 * @returns {import("./kit.js").Mark[]}
 */
export function cutRule(view, end) {
  return view.single && view.state.threshold <= end
    ? [{ kind: "rule", key: "cut", x: view.state.threshold, look: "accent", label: "cut-off" }]
    : [];
}

/**
 * What tells those whom the panels show from others: in deployment, groups may have prevalences of their own.
 * @param {State} state
 * @returns {string}
 */
export function partKey(state) {
  return `${state.model}/${state.who}/${state.prevalence === null ? "sample" : "deployment"}`;
}

/**
 * A measure at every cut-off, of those whom the panels show.
 * @param {View} view
 * @param {string} measure
 * @returns {Float64Array}
 */
export function along(view, measure) {
  const key = `${partKey(view.state)} ${WITHIN_CLASSES.includes(measure) ? "" : view.state.prevalence}`;
  return remembered(view.book, `along ${measure}`, key, () => measureAlong(view.part, view.factors, measure));
}

/**
 * A rule in the payload: its name in Python, the text of its button, and the name of its function in `choose`.
 * @typedef {{id: string, label: string, hint: string, function: string}} Rule
 */

/**
 * The cut-off that a rule chooses for everybody; −1 where a class is not there that it needs.
 * @param {View} view
 * @param {Rule} rule
 * @returns {number}
 */
export function ruledIndex({ book, state, model, costs, factors }, rule) {
  const key = [state.model, state.prevalence, state.fp, state.fn].join();
  return remembered(book, `rule ${rule.id}`, key, () => choose[rule.function](model.everybody, costs, factors));
}

/**
 * Points of the hull of those whom the panels show.
 * @param {View} view
 * @returns {{places: Int32Array, fpr: Float64Array, sensitivity: Float64Array}}
 */
export function hullOf(view) {
  return remembered(view.book, "hull", partKey(view.state), () => {
    const places = hull(view.part);
    const { tp, fp, positives, negatives } = view.part;
    return {
      places,
      fpr: Float64Array.from(places, (at) => fp[at] / negatives),
      sensitivity: Float64Array.from(places, (at) => tp[at] / positives),
    };
  });
}

/** Measures that the ranks within both classes decide, whatever one prevalence of everybody is. */
const OF_RANKS = ["auc"];

/**
 * A number of scores at the prevalence that is chosen; nothing where the report does not hold it there.
 * @param {View} view
 * @param {string} measure
 * @param {Json} [wanted]
 * @returns {Json | undefined}
 */
export function reportedNow(view, measure, wanted = {}) {
  const { prevalence } = view.state;
  const planned = prevalence === view.payload.use.prevalence;
  const anywhere = OF_RANKS.includes(measure) && !view.book.models.some((model) => model.deployed);
  if (prevalence !== null && !planned && !anywhere) return undefined;
  const where = prevalence !== null && planned ? "there" : "here";
  return ["ranks", "probabilities"].map((part) => reported(view, { part, measure, where, ...wanted })).find(Boolean);
}

/**
 * At which prevalence numbers hold, in words.
 * @param {View} view
 * @returns {string}
 */
export function prevalenceInWords({ state, prevalence }) {
  return state.prevalence === null ? `in the sample (${percent(prevalence)})` : `at ${percent(prevalence)} prevalence`;
}

/**
 * A number of the report, at the settings of the plan.
 * @param {View} view
 * @param {Json} wanted
 * @returns {Json | undefined}
 */
export function reported(view, wanted) {
  const { model, who } = view.state;
  return view.book.numbers.get(numberKey({ model, group: who < 0 ? undefined : who, ...wanted }));
}

/**
 * What a number of the report is found by. A gap between groups is one of everybody.
 * @param {Json} row
 * @returns {string}
 */
function numberKey({ part, measure, model, group, where }) {
  return [part, measure, model, part === "gaps" ? undefined : group, where].join(" ");
}

/**
 * A number of scores at the chosen prevalence in words, with its interval and that prevalence; nothing where the report
 * does not hold it there.
 * @param {View} view
 * @param {string} name
 * @param {string} measure
 * @returns {string}
 */
export function toldNow(view, name, measure) {
  const row = reportedNow(view, measure);
  if (row?.value === undefined) return "";
  const between = row.low === undefined ? "" : ` (${short(readNumber(row.low))} – ${short(readNumber(row.high))})`;
  const at = OF_RANKS.includes(measure) ? "" : ` ${prevalenceInWords(view)}`;
  return `${name} ${short(readNumber(row.value))}${between}${at}`;
}

/**
 * Thresholds that an axis can show: beyond the strictest score there is nothing to see.
 * @param {View} view
 * @returns {{domain: [number, number], x: Float64Array}}
 */
export function scoreAxis(view) {
  return remembered(view.book, "scores", String(view.state.model), () => {
    const { edges } = view.model.entry.scores;
    const domain = /** @type {[number, number]} */ ([edges[0], edges[edges.length - 1]]);
    return { domain, x: view.model.threshold.map((at) => Math.min(domain[1], Math.max(domain[0], at))) };
  });
}
