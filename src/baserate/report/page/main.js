/** The page: payload -> book -> view -> panels. Data flows one way; whatever is moved makes a new state. */

import { Controls } from "./controls.js";
import { byId, element } from "./dom.js";
import { save } from "./files.js";
import { clipped, percent, whole } from "./format.js";
import { hashOf, stateOf } from "./hash.js";
import { Panel } from "./panel.js";
import { benefitSpec } from "./panels/benefit.js";
import { drawFindings } from "./panels/findings.js";
import { drawGroups, groupsSpec, parityButtons } from "./panels/groups.js";
import { drawMeasures, measuresTable } from "./panels/measures.js";
import { drawModels, modelsTable } from "./panels/models.js";
import { prSpec } from "./panels/pr.js";
import { prevalenceSpec } from "./panels/prevalence.js";
import { reliabilitySpec } from "./panels/reliability.js";
import { rocSpec } from "./panels/roc.js";
import { scoresSpec } from "./panels/scores.js";
import { drawThousand, thousandTable } from "./panels/thousand.js";
import { thresholdsSpec } from "./panels/thresholds.js";
import { commandOf, policyOf, pythonOf } from "./spelled.js";
import { makeView, openBook } from "./view.js";
import { PARITY_WORDS, PLANNED, SPOKEN, TERMS } from "./words.js";

const NO_PROBABILITIES = "These scores are no probabilities, so that there is nothing to compare with what happened.";

/** @type {Record<string, import("./panel.js").Content>} */
const CONTENTS = {
  findings: { body: drawFindings },
  thousand: { body: drawThousand, table: thousandTable },
  measures: { body: drawMeasures, table: measuresTable },
  scores: { spec: scoresSpec },
  roc: { spec: rocSpec },
  pr: { spec: prSpec },
  thresholds: { spec: thresholdsSpec },
  prevalence: { spec: prevalenceSpec },
  reliability: { spec: reliabilitySpec, without: NO_PROBABILITIES },
  benefit: { spec: benefitSpec, without: NO_PROBABILITIES },
  groups: { spec: groupsSpec, body: drawGroups },
  models: { body: drawModels, table: modelsTable },
};

const book = openBook(JSON.parse(byId("payload").textContent ?? "{}"));
/** Milliseconds that nothing moves before the state is written into the address. */
const PAUSE = 120;
let waiting = 0;
let view = makeView(book, stateOf(book, location.hash));
const panels = Object.entries(CONTENTS)
  .filter(([id]) => isNeeded(id))
  .map(([id, content]) => new Panel(id, content, pick));
const controls = new Controls(book, () => view, change);

start();

/**
 * Whether there is anything for a panel to show.
 * @param {string} id
 * @returns {boolean}
 */
function isNeeded(id) {
  if (id === "groups") return book.models[0].entry.groups[0] !== null;
  return id !== "models" || book.models.length > 1;
}

/** Put everything in its place, and draw it for the first time. */
function start() {
  byId("panels").append(...panels.map((panel) => panel.section));
  const groups = panels.find((panel) => panel.id === "groups");
  groups?.section.insertBefore(parityButtons(view, change), groups.holder);
  header();
  glossary();
  leaving();
  addEventListener("hashchange", () => show(stateOf(book, location.hash)));
  draw();
  Object.assign(window, { baserate: { state: () => ({ ...view.state }), set: change } });
  document.documentElement.dataset.ready = "1";
}

/**
 * A cut-off that somebody picked in a chart.
 * @param {number} index
 */
function pick(index) {
  change({ threshold: view.model.threshold[index], parity: "single" });
}

/**
 * Move to another state, and remember it in the address.
 * @param {Partial<import("./view.js").State>} part
 */
function change(part) {
  show({ ...view.state, ...part });
  // To write the address takes longer than to draw: while something is dragged it can wait.
  clearTimeout(waiting);
  waiting = setTimeout(remember, PAUSE);
}

/** Write the state into the address. */
function remember() {
  try {
    history.replaceState(null, "", `#${hashOf(book, view.state)}`);
  } catch {
    // A page in a sandboxed frame has no address of its own.
  }
}

/** @param {import("./view.js").State} state */
function show(state) {
  view = makeView(book, state);
  draw();
}

/** Draw everything. */
function draw() {
  controls.draw(view);
  for (const panel of panels) panel.draw(view);
}

/** Say what was judged. */
function header() {
  const { data, models, version, level } = book.payload;
  byId("what").textContent = models.length === 1 ? clipped(models[0].name) : `${models.length} models`;
  byId("rows").textContent = `${whole(data.rows)} rows, ${percent(data.prevalence)} of them positive. ${plannedFor()}`;
  const bounds = models.map(
    (/** @type {import("./view.js").Json} */ model) =>
      `${models.length > 1 ? `${clipped(model.name)}: ` : ""}${model.kept.bound}`,
  );
  byId("footer-told").append(
    element(
      "p",
      {},
      "No row of data is in this file: only counts at cut-offs, and what was computed from them. The page loads nothing and sends nothing; its own policy forbids both.",
    ),
    ...bounds.map((/** @type {string} */ bound) => element("p", {}, bound)),
    element(
      "p",
      {},
      `Intervals of ${percent(level)}. Made by baserate ${version}. Digest of the rows: `,
      element("code", {}, data.digest),
    ),
  );
}

/**
 * Where the plan will be used, in words.
 * @returns {string}
 */
function plannedFor() {
  const { prevalence, costs, priced } = book.payload.use;
  const where = prevalence === null ? [] : [`a prevalence of ${percent(prevalence)}`];
  const price = priced ? [`a miss that costs ${costs.fn} and a false alarm that costs ${costs.fp}`] : [];
  return where.length + price.length ? `Planned for ${[...where, ...price].join(", and ")}.` : "";
}

/** Listen to what leaves the page. */
function leaving() {
  const told = byId("told");
  byId("export-policy").addEventListener("click", () => save("policy.json", "application/json", policyOf(view)));
  /** @type {Record<string, (view: import("./view.js").View) => string>} */
  const texts = { "copy-command": commandOf, "copy-python": pythonOf };
  for (const [id, text] of Object.entries(texts)) {
    byId(id).addEventListener("click", async () => {
      const typed = text(view);
      byId("typed").textContent = typed;
      byId("typed").hidden = false;
      told.textContent = (await isCopied(typed)) ? "Copied:" : "To copy:";
    });
  }
}

/**
 * Copy a text, where the browser allows it.
 * @param {string} text
 * @returns {Promise<boolean>}
 */
async function isCopied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** Say what words mean, all in one place. */
function glossary() {
  const spoken = Object.values(SPOKEN).map(({ plain, technical, means }) => [`${plain} (${technical})`, means]);
  const rules = book.payload.rules.map((/** @type {import("./view.js").Rule} */ { label, hint }) => [label, hint]);
  const choices = [PLANNED, ...Object.values(PARITY_WORDS)].map(({ name, means }) => [name, means]);
  const all = [...Object.entries(TERMS), ...spoken, ...rules, ...choices];
  byId("words").append(...all.flatMap(([term, means]) => [element("dt", {}, term), element("dd", {}, means)]));
}
