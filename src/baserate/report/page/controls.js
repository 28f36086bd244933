/** Controls: sliders, boxes for exact numbers, lists and buttons. */

import { MEASURES } from "./core.js";
import { capacityIndex } from "./rules.js";
import { makeToolbar } from "./toolbar.js";
import { byId, element } from "./dom.js";
import { formatPercent, parseNumber, parseShare, shorten } from "./format.js";
import { applicableRules, planState, ruleIndex } from "./view.js";
import { RESET } from "./labels.js";

/** @typedef {import("./view.js").View} View */
/** @typedef {import("./view.js").Report} Report */
/** @typedef {import("./view.js").State} State */
/** @typedef {import("./view.js").Rule} Rule */
/** @typedef {(change: Partial<State>) => void} Setter */
/**
 * A slider with a box: conversion between steps of the slider and numbers.
 * @typedef {object} Knob
 * @property {string} id
 * @property {(view: View) => number} number
 * @property {(view: View, number: number) => number} position
 * @property {(view: View, position: number) => number} value
 * @property {(view: View, number: number) => Partial<State> | null} change
 * @property {(view: View) => number} [steps]
 * @property {(view: View) => string} describe  beside the label, and for screen readers
 * @property {(text: string) => number} parse  of the box; NaN for what is no number
 * @property {(number: number) => string} [text]  in the box
 * @property {string} domain   valid numbers, in words
 * @property {boolean} [silent]  whether no text stands below the slider
 */

const STEPS = 1000;
/** The slider of the prevalence is logarithmic from 10^−5 to 0.01, and linear above. */
const [FINE, LEAST, BEND] = [300, -5, 0.01];
const MOST = 0.99;
/** Steps of a cost for each factor of 10, so that two digits distinguish them. */
const DECADE = 20;
/** Relative difference of two numbers that is rounding. */
const NEAR = 1e-9;

/**
 * Prevalence at a position of its slider.
 * @param {number} position
 * @returns {number}
 */
export function prevalenceAt(position) {
  const share =
    position <= FINE
      ? 10 ** (LEAST + ((Math.log10(BEND) - LEAST) * position) / FINE)
      : BEND + ((MOST - BEND) * (position - FINE)) / (STEPS - FINE);
  return Number(share.toPrecision(3));
}

/**
 * Position of a prevalence on its slider.
 * @param {number} share
 * @returns {number}
 */
export function prevalencePosition(share) {
  if (share > BEND) return FINE + ((share - BEND) / (MOST - BEND)) * (STEPS - FINE);
  return (FINE * (Math.log10(share) - LEAST)) / (Math.log10(BEND) - LEAST);
}

/**
 * Position of a positive number on a logarithmic slider from 10^low.
 * @param {number} number
 * @param {number} low
 * @returns {number}
 */
function decadePosition(number, low) {
  return number > 0 ? DECADE * (Math.log10(number) - low) : 0;
}

/**
 * A slider for the cost of an error: logarithmic from 0.01 to 10,000.
 * @param {"fp" | "fn"} cell
 * @returns {Knob}
 */
function costKnob(cell) {
  return {
    id: cell,
    number: (view) => (view.priced ? view.costs[cell] : NaN),
    position: (_, cost) => decadePosition(cost, -2),
    value: (_, position) => Number((10 ** (position / DECADE - 2)).toPrecision(2)),
    steps: () => 6 * DECADE,
    change: ({ costs }, cost) =>
      cost >= 0 && Number.isFinite(cost) ? { fp: costs.fp, fn: costs.fn, [cell]: cost } : null,
    parse: parseNumber,
    describe: (view) => (view.priced ? `${view.state[cell]}` : "not stated"),
    domain: "a cost, 0 or more",
    silent: true,
  };
}

/**
 * How many false positives one false negative is worth.
 * @param {import("./core.js").Costs} costs
 * @returns {number}
 */
export function costRatio({ tp, fp, fn, tn }) {
  return (fn - tp) / (fp - tn);
}

/**
 * Costs of errors with a ratio: the cost of a false positive stays.
 * @param {View} view
 * @param {number} ratio
 * @returns {Partial<State> | null}
 */
export function changeRatio({ costs }, ratio) {
  if (!(ratio > 0) || !Number.isFinite(ratio)) return null;
  const fp = costs.fp > costs.tn ? costs.fp : costs.tn + 1;
  return { fp, fn: costs.tp + ratio * (fp - costs.tn) };
}

/**
 * Read a ratio such as 20, "20 : 1" or "1:5".
 * @param {string} text
 * @returns {number}
 */
export function parseRatio(text) {
  const parts = text.split(":");
  return parts.length === 2 ? parseNumber(parts[0]) / parseNumber(parts[1]) : parseNumber(text);
}

/**
 * A ratio of costs with 1 on one of its sides.
 * @param {number} ratio
 * @returns {string}
 */
export function formatRatio(ratio) {
  /** @param {number} side */
  const text = (side) => String(Number(side.toPrecision(4)));
  return ratio >= 1 || !ratio ? `${text(ratio)} : 1` : `1 : ${text(1 / ratio)}`;
}

/** @type {Knob[]} */
const KNOBS = [
  {
    id: "threshold",
    number: (view) => view.model.threshold[view.index],
    // Stricter thresholds are on the right, as on the axis of scores.
    position: (view) => view.model.threshold.length - 1 - view.index,
    value: (view, position) => view.model.threshold[view.model.threshold.length - 1 - position],
    domain: "a number that scores can be compared with",
    parse: parseNumber,
    change: (_, threshold) => (Number.isNaN(threshold) ? null : { threshold, parity: "single" }),
    steps: (view) => view.model.threshold.length - 1,
    describe: (view) =>
      view.single
        ? `flags ${formatPercent(MEASURES.flag_rate(view.everybody))}`
        : `not in use: ${view.state.parity === "planned" ? "the policy of the plan decides" : "thresholds by group"}`,
  },
  {
    id: "flag-rate",
    number: (view) => MEASURES.flag_rate(view.everybody),
    position: (_, share) => STEPS * share,
    value: (_, position) => position / STEPS,
    text: percentText,
    parse: parseShare,
    domain: "a share from 0 to 1, such as 10% or 0.1",
    change: (view, share) =>
      share >= 0 && share <= 1
        ? {
            threshold: view.model.threshold[capacityIndex(view.model.everybody, share, view.factors)],
            parity: "single",
          }
        : null,
    describe: (view) => formatPercent(MEASURES.flag_rate(view.everybody)),
  },
  {
    id: "prevalence",
    number: (view) => view.state.prevalence ?? view.prevalence,
    position: (_, share) => prevalencePosition(share),
    value: (_, position) => prevalenceAt(position),
    text: percentText,
    parse: parseShare,
    domain: "a share between 0 and 1, such as 2% or 0.02",
    change: (_, share) => (share > 0 && share < 1 ? { prevalence: share } : null),
    describe: (view) =>
      view.state.prevalence === null ? "that of the sample" : `sample: ${formatPercent(view.payload.data.prevalence)}`,
  },
  {
    id: "ratio",
    number: (view) => (view.priced ? costRatio(view.costs) : NaN),
    position: (_, ratio) => decadePosition(ratio, -3),
    value: (_, position) => Number((10 ** (position / DECADE - 3)).toPrecision(2)),
    steps: () => 6 * DECADE,
    text: formatRatio,
    parse: parseRatio,
    change: changeRatio,
    domain: "a ratio above 0, such as 20 or 20 : 1",
    describe: (view) =>
      view.priced ? `threshold probability ${formatPercent(1 / (1 + costRatio(view.costs)))}` : "no costs stated",
  },
  costKnob("fp"),
  costKnob("fn"),
];

/** The controls, bound to the page. */
export class Controls {
  /**
   * @param {Report} report
   * @param {() => View} current
   * @param {Setter} set
   */
  constructor(report, current, set) {
    this.report = report;
    this.current = current;
    this.set = set;
    KNOBS.forEach((knob) => this.listen(knob));
    this.rules = this.ruleButtons();
    const reset = byId("planned");
    reset.title = RESET.hint;
    reset.textContent = RESET.label;
    reset.addEventListener("click", () => this.reset());
    byId("sample-prevalence").addEventListener("click", () => set({ prevalence: null }));
    this.listenToButtons();
    this.fillLists();
  }

  /**
   * Make a button for each rule of the payload.
   * @returns {Map<Rule, HTMLElement>}
   */
  ruleButtons() {
    const rules = /** @type {Rule[]} */ (this.report.payload.rules);
    const buttons = new Map(
      rules.map((rule) => [
        rule,
        element("button", { type: "button", "data-rule": rule.id, title: rule.hint }, rule.label),
      ]),
    );
    for (const [rule, button] of buttons) button.addEventListener("click", () => this.apply(rule));
    makeToolbar(byId("bar-buttons"), "Reset, and more controls");
    makeToolbar(byId("rules"), "Threshold by rule").append(...buttons.values());
    return buttons;
  }

  /** @param {Knob} knob */
  listen(knob) {
    const [slider, box] = inputsOf(knob);
    /** @param {number} number */
    const setNumber = (number) => {
      const change = knob.change(this.current(), number);
      if (change) this.set(change);
      return change !== null;
    };
    slider.addEventListener("input", () => setNumber(knob.value(this.current(), Number(slider.value))));
    box.addEventListener("change", () => {
      const text = box.value.trim();
      const wanted = knob.parse(text);
      const output = byId(`${knob.id}-output`);
      if (Number.isNaN(wanted) || !setNumber(wanted)) {
        box.setAttribute("aria-invalid", "true");
        output.textContent = `${text || "An empty box"} is not valid. Enter ${knob.domain}.`;
        output.hidden = false;
        return;
      }
      const number = knob.number(this.current());
      box.value = boxText(knob, number);
      if (Math.abs(number - wanted) > NEAR * Math.abs(wanted))
        output.textContent = `${text} becomes ${boxText(knob, number) || "none"}: ${knob.describe(this.current())}`;
    });
  }

  /** Listen to the buttons that show more controls and pin the threshold. */
  listenToButtons() {
    const more = byId("more");
    more.addEventListener("click", () => {
      const open = more.getAttribute("aria-expanded") !== "true";
      more.setAttribute("aria-expanded", String(open));
      more.textContent = open ? "Less" : "More";
      byId("more-controls").hidden = !open;
    });
    byId("pin").addEventListener("click", () => {
      const { state } = this.current();
      this.set({ pin: state.pin === null ? state.threshold : null });
    });
  }

  /** Fill the lists of models and groups. */
  fillLists() {
    const model = /** @type {HTMLSelectElement} */ (byId("model"));
    model.append(...this.report.models.map(({ entry }, at) => element("option", { value: at }, shorten(entry.label))));
    model.addEventListener("change", () =>
      this.set({ ...planState(this.report, Number(model.value)), ...this.settings() }),
    );
    byId("model-row").hidden = this.report.models.length < 2;
    const who = /** @type {HTMLSelectElement} */ (byId("who"));
    const { names, groups } = this.report.models[0].entry;
    const grouped = groups[0] !== null;
    who.append(
      element("option", { value: -1 }, "everybody"),
      ...(grouped
        ? names.map((/** @type {string} */ name, /** @type {number} */ at) =>
            element("option", { value: at }, shorten(name)),
          )
        : []),
    );
    who.addEventListener("change", () => this.set({ who: Number(who.value) }));
    byId("who-row").hidden = !grouped;
  }

  /** Settings that stay when another model is selected. */
  settings() {
    const { prevalence, fp, fn, who, scale } = this.current().state;
    return { prevalence, fp, fn, who, scale };
  }

  /** Return to the settings of the plan; the selected group stays. */
  reset() {
    const { model, who, scale } = this.current().state;
    this.set({ ...planState(this.report, model), who, scale });
  }

  /** @param {Rule} rule */
  apply(rule) {
    const view = this.current();
    const index = ruleIndex(view, rule);
    if (index >= 0) this.set({ threshold: view.model.threshold[index], parity: "single" });
  }

  /**
   * Show a state.
   * @param {View} view
   */
  draw(view) {
    for (const knob of KNOBS) this.drawKnob(knob, view);
    const applicable = applicableRules(view);
    for (const [rule, button] of this.rules) {
      button.hidden = !applicable.includes(rule);
      button.setAttribute("aria-pressed", String(view.single && ruleIndex(view, rule) === view.index));
    }
    byId("pin").setAttribute("aria-pressed", String(view.state.pin !== null));
    // Predicted labels have no threshold to choose.
    for (const id of ["threshold-knob", "choice"]) byId(id).hidden = view.model.entry.labels;
    byId("planned").setAttribute("aria-disabled", String(view.planned));
    /** @type {HTMLSelectElement} */ (byId("model")).value = String(view.state.model);
    /** @type {HTMLSelectElement} */ (byId("who")).value = String(view.state.who);
    byId("sample-prevalence").setAttribute("aria-pressed", String(view.state.prevalence === null));
    const { positives, negatives } = view.model.everybody;
    // Without rows of both classes there is no other prevalence.
    for (const box of inputsOf(KNOBS[2])) box.disabled = !(positives && negatives);
  }

  /**
   * @param {Knob} knob
   * @param {View} view
   */
  drawKnob(knob, view) {
    const [slider, box] = inputsOf(knob);
    const number = knob.number(view);
    slider.max = String(knob.steps?.(view) ?? STEPS);
    slider.value = String(Math.round(Number.isNaN(number) ? knob.position(view, 1) : knob.position(view, number)));
    slider.setAttribute("aria-valuetext", [boxText(knob, number), knob.describe(view)].filter(Boolean).join(", "));
    // Text that somebody is typing is not replaced.
    if (document.activeElement !== box) box.value = boxText(knob, number);
    box.removeAttribute("aria-invalid");
    const output = byId(`${knob.id}-output`);
    output.textContent = knob.describe(view);
    output.hidden = Boolean(knob.silent);
  }
}

/**
 * Slider and box of a control.
 * @param {Knob} knob
 * @returns {[HTMLInputElement, HTMLInputElement]}
 */
function inputsOf(knob) {
  return [byId(knob.id), byId(`${knob.id}-number`)];
}

/**
 * The text of a number in its box; infinite and undefined numbers leave it empty.
 * @param {Knob} knob
 * @param {number} number
 * @returns {string}
 */
function boxText(knob, number) {
  return Number.isFinite(number) ? (knob.text ?? String)(number) : "";
}

/**
 * A share as a percentage at full precision.
 * @param {number} share
 * @returns {string}
 */
function percentText(share) {
  return `${Number((100 * share).toPrecision(12))}%`;
}
