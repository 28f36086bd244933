/** The page: payload -> report -> view -> panels. Data flows one way; each change of a control makes a new state. */

import { Controls, costRatio, formatRatio } from "./controls.js";
import { byId, copyText, element, writeAddressLater } from "./dom.js";
import { Drawing } from "./drawing.js";
import { makeDataButton, save } from "./files.js";
import { shorten, formatPercent, formatCount, formatSetting } from "./format.js";
import { hashOf, stateOf } from "./url_state.js";
import { Panel, makeSections } from "./panel.js";
import { placeOf } from "./summary.js";
import { benefitSpec } from "./panels/benefit.js";
import { costMapSpec, pickSetting } from "./panels/cost_map.js";
import { drawFindings } from "./panels/findings.js";
import { groupFrontierSpec, makeFrontierButtons } from "./panels/groups-frontier.js";
import { groupPoliciesTable, makeGroupPolicies } from "./panels/groups-policies.js";
import { groupRocSpec } from "./panels/groups-roc.js";
import { groupScoresTable, makeGroupScores } from "./panels/groups-scores.js";
import { makeGroupTables } from "./panels/groups-tables.js";
import { groupsSpec } from "./panels/groups.js";
import { drawMeasures, measuresTable } from "./panels/measures.js";
import { drawModels, modelsNumbers, modelsTable } from "./panels/models.js";
import { prSpec } from "./panels/pr.js";
import { prevalenceSpec } from "./panels/prevalence.js";
import { drawCalibration, reliabilitySpec } from "./panels/reliability.js";
import { rocSpec } from "./panels/roc.js";
import { scoresSpec } from "./panels/scores.js";
import { drawThousand, thousandTable } from "./panels/thousand.js";
import { thresholdsSpec } from "./panels/thresholds.js";
import { commandOf, policyOf, pythonOf } from "./export.js";
import { makeView, loadReport } from "./view.js";
import { GROUP_POLICIES, METHODS, PANELS, RESET, SCALE_CHOICE, SECTIONS, TERMS } from "./labels.js";
import { makeToolbar } from "./toolbar.js";
import { drawVerdict } from "./verdict.js";

/**
 * Panels by id. A panel without content for the selected model is absent.
 * @type {Record<string, import("./panel.js").Content>}
 */
const CONTENTS = {
  scores: { spec: scoresSpec, choice: SCALE_CHOICE },
  thousand: { body: drawThousand, table: thousandTable },
  measures: { body: drawMeasures, table: measuresTable },
  prevalence: { spec: prevalenceSpec },
  benefit: { spec: benefitSpec },
  thresholds: { spec: thresholdsSpec },
  "cost-map": { spec: costMapSpec, pick: pickSetting },
  roc: { spec: rocSpec },
  pr: { spec: prSpec },
  reliability: { spec: reliabilitySpec, body: drawCalibration },
  groups: { spec: groupsSpec, body: makeGroupTables(change) },
  "group-policies": { body: makeGroupPolicies(change), table: groupPoliciesTable, applies: hasThresholds },
  "group-frontier": { spec: groupFrontierSpec, body: makeFrontierButtons(change) },
  "group-roc": { spec: groupRocSpec },
  "group-scores": { body: makeGroupScores(change), table: groupScoresTable, applies: hasThresholds },
  models: { body: drawModels, table: modelsTable, numbers: modelsNumbers },
  findings: { body: drawFindings },
};

const report = loadReport(JSON.parse(byId("payload").textContent ?? "{}"));
let view = makeView(report, stateOf(report, location.hash));
const panels = Object.entries(CONTENTS)
  .filter(([id]) => isNeeded(id))
  .map(([id, content]) => new Panel(id, { place: placeOf, ...content }, change, PANELS[id]));
const sections = makeSections(panels, SECTIONS, PANELS);
const drawing = new Drawing(
  sections.flatMap((section) => section.panels),
  hideEmptySections,
);
const controls = new Controls(report, () => view, change);

start();

/**
 * Whether a panel applies to this report.
 * @param {string} id
 * @returns {boolean}
 */
function isNeeded(id) {
  if (id.startsWith("group")) return report.models[0].groups.length > 1;
  return id !== "models" || report.models.length > 1;
}

/**
 * Whether the selected model has thresholds; predicted labels have none.
 * @param {import("./view.js").View} view
 * @returns {boolean}
 */
function hasThresholds({ model }) {
  return !model.entry.labels;
}

/** Insert all panels into their sections, and draw them for the first time. */
function start() {
  byId("panels").append(...sections.map(({ node }) => node));
  fillHeader();
  fillFooter();
  fillGlossary();
  listenToExports();
  addEventListener("hashchange", () => show(stateOf(report, location.hash)));
  draw();
  const numbers = () => panels.flatMap((panel) => panel.numbers(view));
  Object.assign(window, { baserate: { state: () => ({ ...view.state }), set: change, numbers } });
  document.documentElement.dataset.ready = "1";
}

/**
 * Change the state, and write it into the address.
 * @param {Partial<import("./view.js").State>} part
 */
function change(part) {
  show({ ...view.state, ...part });
  writeAddressLater(() => hashOf(report, view.state));
}

/** @param {import("./view.js").State} state */
function show(state) {
  view = makeView(report, state);
  draw();
}

/** Draw everything. */
function draw() {
  drawVerdict(view);
  controls.draw(view);
  drawing.draw(view);
}

/** Hide sections whose panels are all absent. */
function hideEmptySections() {
  for (const section of sections) section.node.hidden = section.panels.every((panel) => panel.section.hidden);
}

/** Fill the header: title, outcome, rows and deployment. */
function fillHeader() {
  const { data, models, plan, use } = report.payload;
  const name = models.length === 1 ? shorten(models[0].label) : `${models.length} models`;
  byId("report-title").textContent = plan.title ?? name;
  const ratio = use.priced ? costRatio(use.costs) : NaN;
  byId("data-summary").textContent = [
    ...(plan.title === null ? [] : [name]),
    `outcome: ${describeOutcome()}`,
    `${formatCount(data.rows)} rows`,
    use.prevalence === null
      ? `prevalence in the sample ${formatPercent(data.prevalence)}`
      : `deployed at ${formatSetting(use.prevalence)} prevalence`,
    ...(Number.isNaN(ratio) ? [] : [`miss : false alarm = ${formatRatio(ratio)}`]),
  ].join(" · ");
}

/**
 * The positive outcome: the reader's name, and the column with its label.
 * @returns {string}
 */
function describeOutcome() {
  const { data, plan } = report.payload;
  const column = data.columns?.truth;
  const label = typeof column === "string" ? `${shorten(column)} = ${data.positive}` : String(data.positive);
  return plan.outcome_name === null ? label : `${plan.outcome_name} (${label})`;
}

/** Fill the footer: where numbers come from, and the version. */
function fillFooter() {
  byId("exports").append(makeDataButton(report.payload));
  makeToolbar(byId("exports"), "Export");
  makeToolbar(byId("details"), "Methods and glossary");
  const { data, models, version, level } = report.payload;
  const bounds = models.map(
    (/** @type {import("./view.js").Json} */ model) =>
      `${models.length > 1 ? `${shorten(model.label)}: ` : ""}${model.kept.bound}`,
  );
  byId("methods").append(...METHODS.map((text) => element("p", {}, text)));
  byId("footer-notes").append(
    element(
      "p",
      {},
      "This file contains no row of the data: only counts at thresholds, and numbers computed from them. The page loads and sends nothing; its content security policy forbids both.",
    ),
    ...bounds.map((/** @type {string} */ bound) => element("p", {}, bound)),
    element(
      "p",
      {},
      `Confidence level ${formatSetting(level)}. Made by baserate ${version}. Digest of the data: `,
      element("code", {}, data.digest),
    ),
  );
}

/** Listen to the buttons of exports. */
function listenToExports() {
  const status = byId("status");
  byId("export-policy").addEventListener("click", () => save("policy.json", "application/json", policyOf(view)));
  /** @type {Record<string, (view: import("./view.js").View) => string>} */
  const texts = { "copy-command": commandOf, "copy-python": pythonOf };
  for (const [id, text] of Object.entries(texts)) {
    byId(id).addEventListener("click", async () => {
      const code = text(view);
      byId("code").textContent = code;
      byId("code").hidden = false;
      status.textContent = (await copyText(code)) ? "Copied:" : "To copy:";
    });
  }
}

/** Fill the glossary: terms, measures, and the text of buttons. */
function fillGlossary() {
  const { measures, rules, parities } = report.payload;
  /** @type {import("./labels.js").Choice[]} */
  const entries = [...Object.values(measures), ...rules, RESET, ...Object.values(GROUP_POLICIES), ...parities];
  const all = [...Object.entries(TERMS), ...entries.map(({ label, hint }) => [label, hint])];
  byId("glossary").append(...all.flatMap(([term, text]) => [element("dt", {}, term), element("dd", {}, text)]));
}
