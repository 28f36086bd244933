/** Natural frequencies: 1000 people as squares, and as a confusion matrix. */

import { MEASURES, naturalFrequencies } from "../core.js";
import { element, numberAttributes, updateChildren } from "../dom.js";
import { formatPercent } from "../format.js";
import { shape } from "../marks.js";

const [COLUMNS, SIZE, GAP] = [50, 8, 1.4];
/** Shares below this are rounding. */
const NEGLIGIBLE = 1e-9;
/** In the order of the squares. */
const CELLS = /** @type {const} */ (["tp", "fn", "fp", "tn"]);
/** @type {Record<string, string>} */
const NAMES = { tp: "true positive", fn: "false negative", fp: "false positive", tn: "true negative" };

/**
 * Draw squares, sentence and table into the body of the panel.
 * @param {HTMLElement} body
 * @param {import("../view.js").View} view
 */
export function drawThousand(body, view) {
  const people = naturalFrequencies(view.counts);
  const summary = describePeople(people, undecidedShare(view));
  if (!body.firstChild) body.append(...makeFrame());
  const squares = body.querySelectorAll(".people path");
  let first = 0;
  CELLS.forEach((cell, at) => {
    squares[at].setAttribute("d", squaresPath(first, people[cell]));
    first += people[cell];
  });
  /** @type {Element} */ (body.querySelector(".people")).setAttribute("aria-label", summary);
  /** @type {Element} */ (body.querySelector(".sentence")).textContent = summary;
  updateChildren(/** @type {Element} */ (body.lastElementChild), [confusionTable(view, people)]);
}

/**
 * Rows for a download.
 * @param {import("../view.js").View} view
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

/** @returns {Element[]} */
function makeFrame() {
  const people = shape("svg", {
    class: "people",
    role: "img",
    viewBox: `0 0 ${COLUMNS * SIZE} ${(1000 / COLUMNS) * SIZE}`,
  });
  people.append(...CELLS.map((cell) => shape("path", { class: cell })));
  return [people, element("p", { class: "sentence" }), element("div")];
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
 * @param {import("../view.js").View} view
 * @returns {number}
 */
function undecidedShare({ counts, part, factors }) {
  const decided = CELLS.reduce((sum, cell) => sum + counts[cell], 0);
  const share = 1 - decided / (part.positives * factors.positive + part.negatives * factors.negative);
  return share > NEGLIGIBLE ? share : 0;
}

/**
 * @param {Record<string, number>} people
 * @param {number} undecided
 * @returns {string}
 */
function describePeople({ tp, fp, fn, tn }, undecided) {
  const subject = undecided ? `${formatPercent(undecided)} have no decision. Of 1,000 others` : "Of 1,000 people";
  return `${subject}, ${tp + fn} are positive. ${tp + fp} are flagged: ${tp} true positives and ${fp} false positives. ${fn + tn} are not flagged: ${fn} false negatives and ${tn} true negatives.`;
}

/**
 * @param {import("../view.js").View} view
 * @param {Record<string, number>} people
 * @returns {HTMLElement}
 */
function confusionTable({ counts, payload }, people) {
  const { positive, negative } = payload.data;
  /** @param {"tp" | "fp" | "fn" | "tn"} cell @param {number} rate @param {{measure: string, class: string}} of */
  const cellOf = (cell, rate, of) =>
    element(
      "td",
      { class: cell, ...numberAttributes(cell, people[cell]) },
      element("b", {}, people[cell] || (counts[cell] > 0 ? "<1" : "0")),
      element("span", {}, `${NAMES[cell]} (${cell.toUpperCase()})`),
      element("small", numberAttributes(of.measure, rate), `${formatPercent(rate)} of ${of.class}`),
    );
  const { sensitivity, fpr } = MEASURES;
  const [tpr, falseRate] = [sensitivity(counts), fpr(counts)];
  return element(
    "table",
    { class: "cells" },
    element("caption", { class: "visually-hidden" }, "Confusion matrix of 1,000 people"),
    element(
      "thead",
      {},
      element(
        "tr",
        {},
        element("td"),
        ...["flagged", "not flagged", "all"].map((name) => element("th", { scope: "col" }, name)),
      ),
    ),
    element(
      "tbody",
      {},
      rowOf("positive", classLabel(positive), [
        cellOf("tp", tpr, { measure: "sensitivity", class: "positives" }),
        cellOf("fn", 1 - tpr, { measure: "fnr", class: "positives" }),
        sumOf(people.tp + people.fn),
      ]),
      rowOf("negative", classLabel(negative), [
        cellOf("fp", falseRate, { measure: "fpr", class: "negatives" }),
        cellOf("tn", 1 - falseRate, { measure: "specificity", class: "negatives" }),
        sumOf(people.fp + people.tn),
      ]),
      rowOf("all", null, [people.tp + people.fp, people.fn + people.tn, 1000].map(sumOf)),
    ),
  );
}

/**
 * @param {string} name
 * @param {HTMLElement | null} more
 * @param {HTMLElement[]} cells
 * @returns {HTMLElement}
 */
function rowOf(name, more, cells) {
  return element("tr", {}, element("th", { scope: "row" }, name, more), ...cells);
}

/**
 * @param {number} count
 * @returns {HTMLElement}
 */
function sumOf(count) {
  return element("td", { class: "sum" }, element("b", {}, count));
}

/**
 * The label of a class in the data.
 * @param {unknown} name
 * @returns {HTMLElement | null}
 */
function classLabel(name) {
  return name === null || name === undefined ? null : element("small", {}, ` ${String(name)}`);
}
