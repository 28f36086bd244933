/** A thousand people, each a square; and the 2×2 table that counts them. */

import { MEASURES, thousand } from "../core.js";
import { element, numbered, refresh } from "../dom.js";
import { percent } from "../format.js";
import { shape } from "../kit.js";

const [COLUMNS, SIZE, GAP] = [50, 8, 1.4];
/** A share that is nothing but rounding. */
const NOBODY = 1e-9;
/** In the order in which squares stand. */
const CELLS = /** @type {const} */ (["tp", "fn", "fp", "tn"]);
/** @type {Record<string, string>} */
const CALLED = { tp: "found", fn: "missed", fp: "flagged in vain", tn: "rightly passed" };

/**
 * Draw it into the body of its panel.
 * @param {HTMLElement} body
 * @param {import("../view.js").View} view
 */
export function drawThousand(body, view) {
  const people = thousand(view.counts);
  const told = sentence(people, undecided(view));
  if (!body.firstChild) body.append(...frame());
  const squares = body.querySelectorAll(".people path");
  let first = 0;
  CELLS.forEach((cell, at) => {
    squares[at].setAttribute("d", squaresPath(first, people[cell]));
    first += people[cell];
  });
  /** @type {Element} */ (body.querySelector(".people")).setAttribute("aria-label", told);
  /** @type {Element} */ (body.querySelector(".sentence")).textContent = told;
  refresh(/** @type {Element} */ (body.lastElementChild), [table(view, people)]);
}

/**
 * Rows for a download.
 * @param {import("../view.js").View} view
 * @returns {import("../kit.js").Table}
 */
export function thousandTable({ counts }) {
  const people = thousand(counts);
  const total = CELLS.reduce((sum, cell) => sum + counts[cell], 0);
  return {
    columns: ["cell", "people of 1000", "share of everybody"],
    rows: () => CELLS.map((cell) => [`${CALLED[cell]} (${cell.toUpperCase()})`, people[cell], counts[cell] / total]),
  };
}

/** @returns {Element[]} */
function frame() {
  const people = shape("svg", {
    class: "people",
    role: "img",
    viewBox: `0 0 ${COLUMNS * SIZE} ${(1000 / COLUMNS) * SIZE}`,
  });
  people.append(...CELLS.map((cell) => shape("path", { class: cell })));
  return [people, element("p", { class: "sentence" }), element("div")];
}

/**
 * So many squares, from a place on.
 * @param {number} first
 * @param {number} many
 * @returns {string}
 */
function squaresPath(first, many) {
  const side = SIZE - GAP;
  let path = "";
  for (let at = first; at < first + many; at++) {
    path += `M${(at % COLUMNS) * SIZE + GAP / 2} ${Math.floor(at / COLUMNS) * SIZE + GAP / 2}h${side}v${side}h${-side}Z`;
  }
  return path;
}

/**
 * Share of those whom the panels show who are neither flagged nor passed: they are referred, or take no part.
 * @param {import("../view.js").View} view
 * @returns {number}
 */
function undecided({ counts, part, factors }) {
  const decided = CELLS.reduce((sum, cell) => sum + counts[cell], 0);
  const share = 1 - decided / (part.positives * factors.positive + part.negatives * factors.negative);
  return share > NOBODY ? share : 0;
}

/**
 * @param {Record<string, number>} people
 * @param {number} left  share that is not decided
 * @returns {string}
 */
function sentence({ tp, fp, fn, tn }, left) {
  const missed = fn ? `${fn} positive${fn === 1 ? " is" : "s are"} missed` : "no positive is missed";
  const who = left ? `${percent(left)} are not decided here. Of 1000 others` : "Of 1000 people";
  return `${who} ${tp + fn} are positive. ${tp + fp} are flagged, and ${tp} of these are positive; ${missed}, and ${tn} are rightly passed.`;
}

/**
 * @param {import("../view.js").View} view
 * @param {Record<string, number>} people
 * @returns {HTMLElement}
 */
function table({ counts, payload }, people) {
  const { positive, negative } = payload.data;
  /** @param {"tp" | "fp" | "fn" | "tn"} cell @param {number} rate @param {{measure: string, class: string}} of */
  const cellOf = (cell, rate, of) =>
    element(
      "td",
      { class: cell, ...numbered(cell, people[cell]) },
      element("b", {}, people[cell] || (counts[cell] > 0 ? "<1" : "0")),
      element("span", {}, `${CALLED[cell]} (${cell.toUpperCase()})`),
      element("small", numbered(of.measure, rate), `${percent(rate)} of ${of.class}`),
    );
  const { sensitivity, fpr } = MEASURES;
  const [found, vain] = [sensitivity(counts), fpr(counts)];
  return element(
    "table",
    { class: "cells" },
    element("caption", { class: "unseen" }, "What is true, and what is done, of 1000 people"),
    element(
      "thead",
      {},
      element(
        "tr",
        {},
        element("td"),
        ...["flagged", "passed", "all"].map((name) => element("th", { scope: "col" }, name)),
      ),
    ),
    element(
      "tbody",
      {},
      rowOf("positive", label(positive), [
        cellOf("tp", found, { measure: "sensitivity", class: "positives" }),
        cellOf("fn", 1 - found, { measure: "fnr", class: "positives" }),
        sumOf(people.tp + people.fn),
      ]),
      rowOf("negative", label(negative), [
        cellOf("fp", vain, { measure: "fpr", class: "negatives" }),
        cellOf("tn", 1 - vain, { measure: "specificity", class: "negatives" }),
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
 * @param {number} many
 * @returns {HTMLElement}
 */
function sumOf(many) {
  return element("td", { class: "sum" }, element("b", {}, many));
}

/**
 * How a class is called in the rows.
 * @param {unknown} name
 * @returns {HTMLElement | null}
 */
function label(name) {
  return name === null || name === undefined ? null : element("small", {}, ` ${String(name)}`);
}
