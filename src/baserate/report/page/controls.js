/** Controls: sliders, boxes for exact numbers, lists and buttons. */

import { MEASURES } from "./core.js";
import { capacityIndex } from "./rules.js";
import { byId, element } from "./dom.js";
import { shorten, formatPercent } from "./format.js";
import { planState, ruleIndex } from "./view.js";
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
 * @property {(view: View) => string} describe
 * @property {string} domain   valid numbers, in words
 * @property {boolean} [silent]  whether no text stands below the slider
 */

const STEPS = 1000;
/** The slider of the prevalence is logarithmic from 10^−5 to 0.01, and linear above. */
const [FINE, LEAST, BEND] = [300, -5, 0.01];
const MOST = 0.99;
/** Steps of a cost for each factor of 10, so that two digits distinguish them. */
const DECADE = 20;

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
 * A slider for the cost of an error: logarithmic from 0.01 to 10,000.
 * @param {"fp" | "fn"} cell
 * @returns {Knob}
 */
function costKnob(cell) {
  return {
    id: cell,
    number: (view) => view.state[cell],
    position: (_, cost) => (cost > 0 ? DECADE * (Math.log10(cost) + 2) : 0),
    value: (_, position) => Number((10 ** (position / DECADE - 2)).toPrecision(2)),
    steps: () => 6 * DECADE,
    change: (_, cost) => (cost >= 0 && Number.isFinite(cost) ? { [cell]: cost } : null),
    describe: (view) => `${view.state[cell]}`,
    domain: "a cost, 0 or more",
    silent: true,
  };
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
    change: (_, threshold) => (Number.isNaN(threshold) ? null : { threshold, parity: "single" }),
    steps: (view) => view.model.threshold.length - 1,
    describe: (view) =>
      view.single
        ? `flags ${formatPercent(MEASURES.flag_rate(view.everybody))} of all people`
        : `not in use: ${view.state.parity === "planned" ? "the policy of the plan decides" : "thresholds by group"}`,
  },
  {
    id: "flag-rate",
    number: (view) => MEASURES.flag_rate(view.everybody),
    position: (_, share) => STEPS * share,
    value: (_, position) => position / STEPS,
    domain: "a share from 0 to 1, such as 0.1",
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
    domain: "a share between 0 and 1, such as 0.02",
    change: (_, share) => (share > 0 && share < 1 ? { prevalence: share } : null),
    describe: (view) => `${formatPercent(view.prevalence)}${view.state.prevalence === null ? " (sample)" : ""}`,
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
    byId("rules").append(...buttons.values());
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
      const text = box.value;
      const output = byId(`${knob.id}-output`);
      if (text === "" || !setNumber(Number(text))) {
        box.setAttribute("aria-invalid", "true");
        output.textContent = `${text || "An empty box"} is not valid. Enter ${knob.domain}.`;
        output.hidden = false;
        return;
      }
      const number = knob.number(this.current());
      box.value = inputText(number);
      if (number !== Number(text))
        output.textContent = `${text} becomes ${inputText(number) || "none"}: ${knob.describe(this.current())}`;
    });
  }

  /** Fill the lists of models and groups. */
  fillLists() {
    const model = /** @type {HTMLSelectElement} */ (byId("model"));
    model.append(...this.report.models.map(({ entry }, at) => element("option", { value: at }, shorten(entry.name))));
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
    const { prevalence, fp, fn, who } = this.current().state;
    return { prevalence, fp, fn, who };
  }

  /** Return to the settings of the plan; the selected group stays. */
  reset() {
    const { model, who } = this.current().state;
    this.set({ ...planState(this.report, model), who });
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
    for (const [rule, button] of this.rules) {
      button.setAttribute("aria-pressed", String(view.single && ruleIndex(view, rule) === view.index));
    }
    byId("planned").setAttribute("aria-pressed", String(view.planned));
    for (const button of document.querySelectorAll("[data-parity]")) {
      button.setAttribute("aria-pressed", String(button.getAttribute("data-parity") === view.state.parity));
    }
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
    slider.value = String(Math.round(knob.position(view, number)));
    slider.setAttribute("aria-valuetext", knob.describe(view));
    // Text that somebody is typing is not replaced.
    if (document.activeElement !== box) box.value = inputText(number);
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
 * The text of a number in a box; infinite numbers leave it empty.
 * @param {number} number
 * @returns {string}
 */
function inputText(number) {
  return Number.isFinite(number) ? String(number) : "";
}
