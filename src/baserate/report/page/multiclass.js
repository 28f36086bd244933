/** The page of several classes: payload -> report -> view -> panels, as on the page of two classes. */

import { byId, element, numberAttributes, updateChildren, writeAddressLater } from "./dom.js";
import { makeDataButton } from "./files.js";
import { Drawing } from "./drawing.js";
import { formatCount, formatSetting, shorten } from "./format.js";
import { hashOf, stateOf } from "./multiclass/address.js";
import { classOfCell, confusionSpec } from "./multiclass/confusion.js";
import { prSpec, rocSpec, scoresSpec, describeThreshold } from "./multiclass/curves.js";
import { METHODS, PANELS, SECTIONS, TERMS } from "./multiclass/labels.js";
import { drawOverall, overallTable } from "./multiclass/overall.js";
import { drawPerClass, perClassSpec } from "./multiclass/per_class.js";
import { drawTopClass, topClassSpec } from "./multiclass/top_class.js";
import { MATRIX_MODES, loadReport, makeView, measureChoices } from "./multiclass/view.js";
import { Panel, makeSections } from "./panel.js";
import { drawFindings } from "./panels/findings.js";
import { makeToolbar } from "./toolbar.js";

/** @typedef {import("./multiclass/view.js").MulticlassView} View */

const report = loadReport(JSON.parse(byId("payload").textContent ?? "{}"));
const picker = /** @type {HTMLSelectElement} */ (byId("class"));
let view = makeView(report, stateOf(report, location.hash));
/** Panels by id. @type {Record<string, import("./panel.js").Content<View>>} */
const CONTENTS = {
  confusion: { spec: confusionSpec, choice: { name: "matrix", label: "Cells of the matrix", texts: MATRIX_MODES } },
  overall: { body: drawOverall, table: overallTable },
  "per-class": {
    spec: perClassSpec,
    body: drawPerClass,
    choice: { name: "measure", label: "Measure", texts: measureTexts() },
  },
  "class-roc": { spec: rocSpec, pick: pickThreshold },
  "class-pr": { spec: prSpec, pick: pickThreshold },
  "class-scores": { spec: scoresSpec, pick: pickThreshold },
  "top-class": { spec: topClassSpec, body: drawTopClass },
  findings: {
    body: (body, { payload, state }) =>
      drawFindings(body, /** @type {any} */ ({ payload: { ...payload, plan: payload.options }, state })),
  },
};
const panels = new Map(
  Object.entries(CONTENTS)
    .filter(([, { spec, body }]) => Boolean(body && !spec) || Boolean(spec?.(view)))
    .map(([id, content]) => [id, new Panel(id, content, change, PANELS[id])]),
);
const sections = makeSections([...panels.values()], SECTIONS, PANELS);
const drawing = new Drawing([...panels.values()], () => {});

start();

/** Insert all panels into their sections, and draw them for the first time. */
function start() {
  byId("panels").append(...sections.map(({ node }) => node));
  selectByRow("confusion", (cursor) => classOfCell(view, cursor));
  selectByRow("per-class", (cursor) => cursor);
  fillPicker();
  fillHeader();
  fillVerdict();
  fillFooter();
  makeToolbar(byId("details"), "Methods and glossary");
  addEventListener("hashchange", () => show(stateOf(report, location.hash)));
  draw();
  Object.assign(window, { baserate: { state: () => ({ ...view.state }), set: change } });
  document.documentElement.dataset.ready = "1";
}

/**
 * The measures of a class as texts of buttons.
 * @returns {Record<string, string>}
 */
function measureTexts() {
  return Object.fromEntries(measureChoices(report).map((name) => [name, report.payload.measures[name].label]));
}

/**
 * The threshold of a point of a curve.
 * @param {View} current
 * @param {number} index
 * @returns {Partial<import("./multiclass/view.js").State>}
 */
function pickThreshold({ curve }, index) {
  return curve ? { threshold: curve.threshold[index] } : {};
}

/**
 * Select the class of a row of a chart by a click, or by Enter or the space bar.
 * @param {string} id
 * @param {(cursor: number) => number} classOf  the class of a point that the keyboard visits
 */
function selectByRow(id, classOf) {
  const chart = panels.get(id)?.chart;
  if (!chart) return;
  const { interaction, svg } = chart;
  const select = (/** @type {number} */ at) => {
    if (at < report.names.length) change({ class: at, threshold: null });
  };
  svg.classList.add("selects");
  svg.addEventListener("click", (event) => {
    const { top, bottom } = chart.area;
    const { y } = interaction.pointAt(/** @type {PointerEvent} */ (event));
    const rows = chart.spec?.y.ticks?.length ?? 0;
    if (y >= top && y <= bottom) select(Math.min(rows - 1, Math.floor(((y - top) / (bottom - top)) * rows)));
  });
  interaction.grip.addEventListener("keydown", (event) => {
    const { key } = /** @type {KeyboardEvent} */ (event);
    if (key !== "Enter" && key !== " ") return;
    event.preventDefault();
    select(classOf(interaction.cursor));
  });
}

/**
 * Change the state, and write it into the address.
 * @param {Partial<import("./multiclass/view.js").State>} part
 */
function change(part) {
  show({ ...view.state, ...part });
  writeAddressLater(() => hashOf(report, view.state));
}

/** @param {import("./multiclass/view.js").State} state */
function show(state) {
  view = makeView(report, state);
  draw();
}

/** Draw everything. */
function draw() {
  picker.value = String(view.state.class);
  byId("class-output").textContent = describeThreshold(view, view.index);
  drawing.draw(view);
}

/** Fill the list of classes. */
function fillPicker() {
  picker.append(...report.names.map((name, at) => element("option", { value: at }, shorten(name, 50))));
  picker.addEventListener("change", () => change({ class: Number(picker.value), threshold: null }));
}

/** Fill the header: title, outcome, rows and classes. */
function fillHeader() {
  const { data, options } = report.payload;
  const named = typeof data.columns.truth === "string" && data.columns.truth !== "truth";
  const column = named ? shorten(data.columns.truth) : null;
  const outcome = options.outcome_name ?? column;
  byId("report-title").textContent = options.title ?? `${report.names.length} classes`;
  byId("data-summary").textContent = [
    ...(outcome === null ? [] : [`outcome: ${outcome}`]),
    `${formatCount(data.rows)} ${data.rows === 1 ? "row" : "rows"}`,
    `${report.names.length} classes`,
    ...(data.weighted ? ["weighted"] : []),
  ].join(" · ");
}

/** Fill the verdict, which does not change. */
function fillVerdict() {
  const { sentences, measures, warnings } = report.payload.verdict;
  byId("verdict-decision").textContent = sentences[0];
  byId("verdict-more").replaceChildren(
    ...sentences.slice(1).map((/** @type {string} */ text) => element("p", {}, text)),
  );
  const figures = measures.map((/** @type {import("./view.js").Json} */ { label, measure, value, text }) =>
    element("div", {}, element("dt", {}, label), element("dd", numberAttributes(measure, value), text)),
  );
  updateChildren(byId("verdict-figures"), figures);
  byId("verdict-warnings").hidden = !warnings.length;
  updateChildren(
    byId("verdict-warnings"),
    warnings.map((/** @type {import("./view.js").Json} */ { severity, text }) =>
      element("li", { class: severity }, text),
    ),
  );
}

/** Fill the footer: methods, glossary, notes and the version. */
function fillFooter() {
  const { data, measures, options, curves } = report.payload;
  byId("methods").append(...METHODS.map((text) => element("p", {}, text)));
  const entries = Object.values(measures).map(({ label, hint }) => [label, hint]);
  byId("glossary").append(
    ...[...Object.entries(TERMS), ...entries].flatMap(([term, text]) => [
      element("dt", {}, term),
      element("dd", {}, text),
    ]),
  );
  const bound = curves.length ? [`Curves: ${curves[report.payload.worst].bound}`] : [];
  byId("footer-notes").append(
    element(
      "p",
      {},
      "This file contains no row of the data: only counts, and numbers computed from them. The page loads and sends nothing; its content security policy forbids both.",
    ),
    ...[...data.notes, ...bound].map((/** @type {string} */ text) => element("p", {}, shorten(text, 500))),
    element(
      "p",
      {},
      `Confidence level ${formatSetting(options.level)}. Made by baserate ${data.version}. Digest of the data: `,
      element("code", {}, data.digest),
    ),
    element("p", {}, makeDataButton(report.payload)),
  );
}
