/** Findings by severity: headline, evidence, reason, action with its command, and a link to the panel that shows them. */

import { byId, copyText, element } from "../dom.js";
import { makeToolbar } from "../toolbar.js";

/** @typedef {import("../view.js").Json} Json */

/** Severity -> its name, and what it means, the most severe first. @type {Record<string, [string, string]>} */
const SEVERITIES = {
  serious: ["Serious", "a number does not mean what it seems to"],
  caution: ["Caution", "a number may mislead"],
  note: ["Note", "worth knowing"],
};

/**
 * Draw the findings of the selected model, and those of all models.
 * @param {HTMLElement} body
 * @param {import("../view.js").View} view
 */
export function drawFindings(body, { payload, state }) {
  if (body.dataset.of === String(state.model)) return;
  body.dataset.of = String(state.model);
  const own = payload.findings.filter((/** @type {Json} */ finding) => (finding.model ?? state.model) === state.model);
  const others = payload.findings.length - own.length;
  const groups = Object.keys(SEVERITIES)
    .map((severity) => findingGroup(severity, own))
    .filter((group) => group !== null);
  const more = `${others} more ${others === 1 ? "finding concerns another model" : "findings concern other models"}. Select a model to read its findings.`;
  const list = element("div", { class: "severities" }, ...groups);
  body.replaceChildren(
    // One tab stop for all buttons and links; the arrow keys move between them.
    groups.length ? makeToolbar(list, "Commands and panels of findings") : element("p", {}, "No findings."),
    ...(others ? [element("p", { class: "quiet" }, more)] : []),
    ...ignoredCodes(payload.plan ?? {}),
  );
}

/**
 * The findings of one severity under a heading; null where there is none.
 * @param {string} severity
 * @param {Json[]} findings
 * @returns {HTMLElement | null}
 */
function findingGroup(severity, findings) {
  const own = findings.filter((finding) => finding.severity === severity);
  if (!own.length) return null;
  const [name, meaning] = SEVERITIES[severity];
  const heading = element("h4", {}, name, element("small", {}, ` ${meaning}`));
  return element("div", { class: severity }, heading, element("ul", { class: "findings" }, ...own.map(findingItem)));
}

/**
 * @param {Json} finding
 * @returns {HTMLElement}
 */
function findingItem(finding) {
  const tools = [finding.command && copyButton(finding), linkTo(finding)].filter((tool) => tool !== null);
  return element(
    "li",
    { class: finding.severity },
    element("p", { class: "headline" }, element("strong", {}, finding.headline), ` ${finding.code}`),
    element("p", {}, finding.sentence),
    element("p", { class: "quiet" }, finding.why),
    element("p", {}, element("b", {}, "Action: "), finding.remedy),
    finding.command && element("pre", {}, element("code", {}, ...commandWords(finding.command))),
    tools.length ? element("div", { class: "buttons" }, ...tools) : null,
  );
}

/**
 * The words of a command, so that lines do not break within an option such as --score.
 * @param {string} command
 * @returns {(string | HTMLElement)[]}
 */
function commandWords(command) {
  if (command.includes("\n")) return [command];
  return command.split(" ").flatMap((word, at) => [...(at ? [" "] : []), element("span", {}, word)]);
}

/**
 * A button that copies the command of a finding, and says so.
 * @param {Json} finding
 * @returns {HTMLElement}
 */
function copyButton(finding) {
  const text = element("span", { role: "status" }, "Copy command");
  const button = element("button", { type: "button", "data-copy": finding.code }, text);
  button.append(element("span", { class: "visually-hidden" }, ` of ${finding.code}`));
  button.addEventListener("click", async () => {
    const copied = await copyText(finding.command);
    // Where a browser does not copy, a click on the command selects it whole.
    text.textContent = copied ? "Copied" : "Not copied: select the command";
  });
  return button;
}

/**
 * A link to the panel of a finding, if the page has it.
 * @param {Json} finding
 * @returns {HTMLElement | null}
 */
function linkTo({ code, panel }) {
  const heading = document.getElementById(`title-${panel}`);
  if (!heading || panel === "findings") return null;
  const link = element("a", { href: `#panel-${panel}` }, `${code}: see ${heading.firstChild?.textContent}`);
  // The fragment of the address holds the state, so the link must not change it.
  link.addEventListener("click", (event) => {
    event.preventDefault();
    byId(`panel-${panel}`).scrollIntoView({ block: "start" });
    byId(`panel-${panel}`).focus({ preventScroll: true });
  });
  return link;
}

/**
 * The codes that the plan ignores, and how to show them.
 * @param {Json} plan
 * @returns {HTMLElement[]}
 */
function ignoredCodes({ ignore = [], files = [] }) {
  if (!ignore.length) return [];
  const option = files.length ? "--ignore" : "ignore";
  const text = `Ignored: ${ignore.join(", ")}. To show ${ignore.length === 1 ? "it" : "them"}, make the report without ${option}.`;
  return [element("p", { class: "quiet", id: "ignored-findings" }, text)];
}
