/** Natural frequencies: 1000 people as squares, and as a confusion matrix. Elements are made once. */

import { MEASURES, naturalFrequencies } from "../core.js";
import { element, numberAttributes, setAttributes, setText } from "../dom.js";
import { formatPercent } from "../format.js";
import { shape } from "../marks.js";
import { placeOf } from "../summary.js";
import { cutOf, describePrevalence } from "../view.js";

const [COLUMNS, SIZE, GAP] = [50, 8, 1.4];
/** Shares below this are rounding. */
const NEGLIGIBLE = 1e-9;
/** In the order of the squares. */
const CELLS = /** @type {const} */ (["tp", "fn", "fp", "tn"]);
/** @type {Record<string, string>} */
const NAMES = { tp: "true positive", fn: "false negative", fp: "false positive", tn: "true negative" };
/** The rate of each cell, and the class that it is a share of. @type {Record<string, [string, "positives" | "negatives"]>} */
const RATES = {
  tp: ["sensitivity", "positives"],
  fn: ["fnr", "positives"],
  fp: ["fpr", "negatives"],
  tn: ["specificity", "negatives"],
};

/** @typedef {import("../view.js").View} View */
/** A number of people, and the share of its class. @typedef {{cell: HTMLElement, count: HTMLElement, rate: HTMLElement}} Cell */
/**
 * @typedef {object} Frame
 * @property {Element} people
 * @property {Element[]} squares
 * @property {HTMLElement} sentence
 * @property {HTMLElement} caption
 * @property {Record<string, Cell>} cells
 * @property {HTMLElement[]} sums  positives, negatives, flagged and not flagged
 */

/** @type {WeakMap<HTMLElement, Frame>} */
const frames = new WeakMap();

/**
 * Draw squares, sentence and table into the body of the panel.
 * @param {HTMLElement} body
 * @param {View} view
 */
export function drawThousand(body, view) {
  const people = naturalFrequencies(view.counts);
  const summary = describePeople(view, people);
  const frame = frames.get(body) ?? makeFrame(body, view);
  let first = 0;
  CELLS.forEach((cell, at) => {
    setAttributes(frame.squares[at], { d: squaresPath(first, people[cell]) });
    first += people[cell];
  });
  setAttributes(frame.people, { "aria-label": summary });
  setText(frame.sentence, summary);
  setText(frame.caption, `Confusion matrix per 1,000 people ${describePrevalence(view)}`);
  drawCells(frame, view, people);
}

/**
 * Rows for a download.
 * @param {View} view
 * @returns {import("../chart.js").Table}
 */
export function thousandTable({ counts }) {
  const people = naturalFrequencies(counts);
  const total = CELLS.reduce((sum, cell) => sum + counts[cell], 0);
  return {
    columns: ["cell", "per 1000 people", "share of all"],
    rows: () => CELLS.map((cell) => [`${NAMES[cell]} (${cell.toUpperCase()})`, people[cell], counts[cell] / total]),
  };
}

/**
 * The reader's names of both outcomes and both decisions.
 * @param {View} view
 * @returns {{positive: string, negative: string, flagged: string, passed: string}}
 */
function namesOf({ payload }) {
  const { outcome_name: outcome, flag_name: flag } = payload.plan;
  return {
    positive: outcome ?? "positive",
    negative: outcome ? `not ${outcome}` : "negative",
    flagged: flag ?? "flagged",
    passed: `not ${flag ?? "flagged"}`,
  };
}

/**
 * Squares, sentence and table, without numbers.
 * @param {HTMLElement} body
 * @param {View} view
 * @returns {Frame}
 */
function makeFrame(body, view) {
  const people = shape("svg", {
    class: "people",
    role: "img",
    viewBox: `0 0 ${COLUMNS * SIZE} ${(1000 / COLUMNS) * SIZE}`,
  });
  const squares = CELLS.map((cell) => shape("path", { class: cell }));
  people.append(...squares);
  const [sentence, caption] = [element("p", { class: "sentence" }), element("caption")];
  const cells = Object.fromEntries(CELLS.map((cell) => [cell, makeCell(cell)]));
  const sums = [0, 1, 2, 3].map(() => element("b"));
  body.append(people, sentence, makeMatrix(view, caption, cells, sums));
  const frame = { people, squares, sentence, caption, cells, sums };
  frames.set(body, frame);
  return frame;
}

/**
 * @param {string} cell
 * @returns {Cell}
 */
function makeCell(cell) {
  const [count, rate] = [element("b"), element("small")];
  const name = element("span", {}, `${NAMES[cell]} (${cell.toUpperCase()})`);
  return { cell: element("td", { class: cell }, count, name, rate), count, rate };
}

/**
 * @param {View} view
 * @param {HTMLElement} caption
 * @param {Record<string, Cell>} cells
 * @param {HTMLElement[]} sums
 * @returns {HTMLElement}
 */
function makeMatrix(view, caption, cells, sums) {
  const names = namesOf(view);
  const { positive, negative } = view.payload.data;
  const [positives, negatives, flagged, passed] = sums.map((sum) => element("td", { class: "sum" }, sum));
  /** @param {string} name @param {unknown} label @param {HTMLElement[]} row */
  const rowOf = (name, label, row) =>
    element("tr", {}, element("th", { scope: "row" }, name, classLabel(name, label)), ...row);
  const heads = [names.flagged, names.passed, "all"].map((name) => element("th", { scope: "col" }, name));
  return element(
    "table",
    { class: "cells" },
    caption,
    element("thead", {}, element("tr", {}, element("td"), ...heads)),
    element(
      "tbody",
      {},
      rowOf(names.positive, positive, [cells.tp.cell, cells.fn.cell, positives]),
      rowOf(names.negative, negative, [cells.fp.cell, cells.tn.cell, negatives]),
      rowOf("all", null, [flagged, passed, element("td", { class: "sum" }, element("b", {}, "1,000"))]),
    ),
  );
}

/**
 * The label of a class in the data, where it is not its name.
 * @param {string} name
 * @param {unknown} label
 * @returns {HTMLElement | null}
 */
function classLabel(name, label) {
  return label === null || label === undefined || label === name ? null : element("small", {}, ` ${String(label)}`);
}

/**
 * @param {Frame} frame
 * @param {View} view
 * @param {Record<string, number>} people
 */
function drawCells({ cells, sums }, view, people) {
  const place = { ...placeOf(view), cut: cutOf(view) };
  for (const name of CELLS) {
    const { cell, count, rate } = cells[name];
    const [measure, members] = RATES[name];
    const value = MEASURES[measure](view.counts);
    setAttributes(cell, numberAttributes(name, people[name], null, place));
    setText(count, people[name] ? String(people[name]) : view.counts[name] > 0 ? "<1" : "0");
    setAttributes(rate, numberAttributes(measure, value, null, place));
    setText(rate, `${formatPercent(value)} of ${members}`);
  }
  const { tp, fn, fp, tn } = people;
  [tp + fn, fp + tn, tp + fp, fn + tn].forEach((sum, at) => setText(sums[at], String(sum)));
}

/**
 * The path of some squares.
 * @param {number} first
 * @param {number} count
 * @returns {string}
 */
function squaresPath(first, count) {
  const side = SIZE - GAP;
  let path = "";
  for (let at = first; at < first + count; at++) {
    path += `M${(at % COLUMNS) * SIZE + GAP / 2} ${Math.floor(at / COLUMNS) * SIZE + GAP / 2}h${side}v${side}h${-side}Z`;
  }
  return path;
}

/**
 * Share of people without a decision: a policy refers them, or their group is excluded.
 * @param {View} view
 * @returns {number}
 */
function undecidedShare({ counts, part, factors }) {
  const decided = CELLS.reduce((sum, cell) => sum + counts[cell], 0);
  const share = 1 - decided / (part.positives * factors.positive + part.negatives * factors.negative);
  return share > NEGLIGIBLE ? share : 0;
}

/**
 * @param {View} view
 * @param {Record<string, number>} people
 * @returns {string}
 */
function describePeople(view, { tp, fp, fn, tn }) {
  const undecided = undecidedShare(view);
  const { positive, negative, flagged } = namesOf(view);
  const subject = undecided ? `${formatPercent(undecided)} have no decision. Of 1,000 others` : "Of 1,000 people";
  return `${subject} ${describePrevalence(view)}: ${tp + fn} ${positive}, of whom ${tp} ${flagged} and ${fn} not; ${fp + tn} ${negative}, of whom ${fp} ${flagged} and ${tn} not.`;
}
