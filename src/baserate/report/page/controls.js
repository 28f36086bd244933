/** What a person moves: sliders, boxes with the exact number beside them, buttons. */

import { MEASURES } from "./core.js";
import { capacity } from "./rules.js";
import { byId, element } from "./dom.js";
import { clipped, percent } from "./format.js";
import { plannedState, ruledIndex } from "./view.js";
import { PLANNED } from "./words.js";

/** @typedef {import("./view.js").View} View */
/** @typedef {import("./view.js").Book} Book */
/** @typedef {import("./view.js").State} State */
/** @typedef {import("./view.js").Rule} Rule */
/** @typedef {(change: Partial<State>) => void} Setter */
/**
 * One thing that is moved: between the slider's own steps and the number that is meant.
 * @typedef {object} Knob
 * @property {string} id
 * @property {(view: View) => number} number
 * @property {(view: View, number: number) => number} position
 * @property {(view: View, position: number) => number} meant
 * @property {(view: View, number: number) => Partial<State> | null} change
 * @property {(view: View) => number} [steps]
 * @property {(view: View) => string} told
 * @property {string} wants   what can be typed
 * @property {boolean} [silent]  whether the box says it all
 */

const STEPS = 1000;
/** Below one in a hundred the slider of the prevalence is logarithmic, from one in a hundred thousand on. */
const [FINE, LEAST, BEND] = [300, -5, 0.01];
const MOST = 0.99;
/** Steps of a price from 1 to 10, which two digits tell apart. */
const DECADE = 20;

/**
 * Prevalence at a place of its slider.
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
 * Place of a prevalence on its slider.
 * @param {number} share
 * @returns {number}
 */
export function prevalencePlace(share) {
  if (share > BEND) return FINE + ((share - BEND) / (MOST - BEND)) * (STEPS - FINE);
  return (FINE * (Math.log10(share) - LEAST)) / (Math.log10(BEND) - LEAST);
}

/**
 * A knob for what an error costs: logarithmic from 0.01 to 10 000.
 * @param {"fp" | "fn"} cell
 * @returns {Knob}
 */
function priceKnob(cell) {
  return {
    id: cell,
    number: (view) => view.state[cell],
    position: (_, cost) => (cost > 0 ? DECADE * (Math.log10(cost) + 2) : 0),
    meant: (_, position) => Number((10 ** (position / DECADE - 2)).toPrecision(2)),
    steps: () => 6 * DECADE,
    change: (_, cost) => (cost >= 0 && Number.isFinite(cost) ? { [cell]: cost } : null),
    told: (view) => `${view.state[cell]}`,
    wants: "a cost, 0 or more",
    silent: true,
  };
}

/** @type {Knob[]} */
const KNOBS = [
  {
    id: "threshold",
    number: (view) => view.model.threshold[view.index],
    // To the right is stricter, as on the axis of scores.
    position: (view) => view.model.threshold.length - 1 - view.index,
    meant: (view, position) => view.model.threshold[view.model.threshold.length - 1 - position],
    wants: "a number that scores can be compared with",
    change: (_, threshold) => (Number.isNaN(threshold) ? null : { threshold, parity: "single" }),
    steps: (view) => view.model.threshold.length - 1,
    told: (view) =>
      view.single
        ? `flags ${percent(MEASURES.flag_rate(view.everybody))} of everybody`
        : `not in use: ${view.state.parity === "planned" ? "the plan has a policy" : "groups have their own"}`,
  },
  {
    id: "flag-rate",
    number: (view) => MEASURES.flag_rate(view.everybody),
    position: (_, share) => STEPS * share,
    meant: (_, position) => position / STEPS,
    wants: "a share from 0 to 1, such as 0.1",
    change: (view, share) =>
      share >= 0 && share <= 1
        ? { threshold: view.model.threshold[capacity(view.model.everybody, share, view.factors)], parity: "single" }
        : null,
    told: (view) => percent(MEASURES.flag_rate(view.everybody)),
  },
  {
    id: "prevalence",
    number: (view) => view.state.prevalence ?? view.prevalence,
    position: (_, share) => prevalencePlace(share),
    meant: (_, position) => prevalenceAt(position),
    wants: "a share between 0 and 1, such as 0.02",
    change: (_, share) => (share > 0 && share < 1 ? { prevalence: share } : null),
    told: (view) => `${percent(view.prevalence)}${view.state.prevalence === null ? ", as in these rows" : ""}`,
  },
  priceKnob("fp"),
  priceKnob("fn"),
];

/** The controls, bound to the page. */
export class Controls {
  /**
   * @param {Book} book
   * @param {() => View} current
   * @param {Setter} set
   */
  constructor(book, current, set) {
    this.book = book;
    this.current = current;
    this.set = set;
    KNOBS.forEach((knob) => this.listen(knob));
    this.rules = this.ruleButtons();
    const planned = byId("planned");
    planned.title = PLANNED.means;
    planned.textContent = PLANNED.name;
    planned.addEventListener("click", () => this.reset());
    byId("rows-prevalence").addEventListener("click", () => set({ prevalence: null }));
    this.selects();
  }

  /**
   * Make a button for each rule of the payload.
   * @returns {Map<Rule, HTMLElement>}
   */
  ruleButtons() {
    const rules = /** @type {Rule[]} */ (this.book.payload.rules);
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
    const [slider, box] = boxesOf(knob);
    /** @param {number} number */
    const turn = (number) => {
      const change = knob.change(this.current(), number);
      if (change) this.set(change);
      return change !== null;
    };
    slider.addEventListener("input", () => turn(knob.meant(this.current(), Number(slider.value))));
    box.addEventListener("change", () => {
      const typed = box.value;
      const told = byId(`${knob.id}-told`);
      if (typed === "" || !turn(Number(typed))) {
        box.setAttribute("aria-invalid", "true");
        told.textContent = `${typed || "that"} cannot be used: give ${knob.wants}.`;
        told.hidden = false;
        return;
      }
      const used = knob.number(this.current());
      box.value = shownNumber(used);
      if (used !== Number(typed))
        told.textContent = `${typed} becomes ${shownNumber(used) || "none"}: ${knob.told(this.current())}`;
    });
  }

  /** Fill the lists of models and groups, where there is a choice. */
  selects() {
    const model = /** @type {HTMLSelectElement} */ (byId("model"));
    model.append(...this.book.models.map(({ entry }, at) => element("option", { value: at }, clipped(entry.name))));
    model.addEventListener("change", () =>
      this.set({ ...plannedState(this.book, Number(model.value)), ...this.kept() }),
    );
    byId("model-row").hidden = this.book.models.length < 2;
    const who = /** @type {HTMLSelectElement} */ (byId("who"));
    const { names, groups } = this.book.models[0].entry;
    const grouped = groups[0] !== null;
    who.append(
      element("option", { value: -1 }, "everybody"),
      ...(grouped
        ? names.map((/** @type {string} */ name, /** @type {number} */ at) =>
            element("option", { value: at }, clipped(name)),
          )
        : []),
    );
    who.addEventListener("change", () => this.set({ who: Number(who.value) }));
    byId("who-row").hidden = !grouped;
  }

  /** What stays when another model is chosen. */
  kept() {
    const { prevalence, fp, fn, who } = this.current().state;
    return { prevalence, fp, fn, who };
  }

  /** Return to the plan; who is shown stays. */
  reset() {
    const { model, who } = this.current().state;
    this.set({ ...plannedState(this.book, model), who });
  }

  /** @param {Rule} rule */
  apply(rule) {
    const view = this.current();
    const index = ruledIndex(view, rule);
    if (index >= 0) this.set({ threshold: view.model.threshold[index], parity: "single" });
  }

  /**
   * Show a state.
   * @param {View} view
   */
  draw(view) {
    for (const knob of KNOBS) this.drawKnob(knob, view);
    for (const [rule, button] of this.rules) {
      button.setAttribute("aria-pressed", String(view.single && ruledIndex(view, rule) === view.index));
    }
    byId("planned").setAttribute("aria-pressed", String(view.planned));
    for (const button of document.querySelectorAll("[data-parity]")) {
      button.setAttribute("aria-pressed", String(button.getAttribute("data-parity") === view.state.parity));
    }
    /** @type {HTMLSelectElement} */ (byId("model")).value = String(view.state.model);
    /** @type {HTMLSelectElement} */ (byId("who")).value = String(view.state.who);
    byId("rows-prevalence").setAttribute("aria-pressed", String(view.state.prevalence === null));
    const { positives, negatives } = view.model.everybody;
    // Where a class is not there, nothing can be made of it.
    for (const box of boxesOf(KNOBS[2])) box.disabled = !(positives && negatives);
  }

  /**
   * @param {Knob} knob
   * @param {View} view
   */
  drawKnob(knob, view) {
    const [slider, box] = boxesOf(knob);
    const number = knob.number(view);
    slider.max = String(knob.steps?.(view) ?? STEPS);
    slider.value = String(Math.round(knob.position(view, number)));
    slider.setAttribute("aria-valuetext", knob.told(view));
    if (document.activeElement !== box) box.value = shownNumber(number);
    box.removeAttribute("aria-invalid");
    const told = byId(`${knob.id}-told`);
    told.textContent = knob.told(view);
    told.hidden = Boolean(knob.silent);
  }
}

/**
 * Slider and box of a knob.
 * @param {Knob} knob
 * @returns {[HTMLInputElement, HTMLInputElement]}
 */
function boxesOf(knob) {
  return [byId(knob.id), byId(`${knob.id}-number`)];
}

/**
 * A number as a box can hold it; what is infinite is none.
 * @param {number} number
 * @returns {string}
 */
function shownNumber(number) {
  return Number.isFinite(number) ? String(number) : "";
}
