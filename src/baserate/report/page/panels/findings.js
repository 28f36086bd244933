/** Findings, each with a link to the panel that shows the evidence. */

import { byId, element } from "../dom.js";

/** @typedef {import("../view.js").Json} Json */

/** @type {Record<string, string>} */
const SEVERITIES = { serious: "Serious", caution: "Caution", note: "Note" };

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
  const list = own.length
    ? element("ul", { class: "findings" }, ...own.map(findingItem))
    : element("p", {}, "No findings.");
  const more = `${others} more ${others === 1 ? "finding concerns another model" : "findings concern other models"}. Select a model to read its findings.`;
  body.replaceChildren(list, ...(others ? [element("p", { class: "quiet" }, more)] : []));
}

/**
 * @param {Json} finding
 * @returns {HTMLElement}
 */
function findingItem(finding) {
  const severity = element("b", { class: "severity" }, SEVERITIES[finding.severity]);
  const details = element(
    "details",
    { open: finding.severity === "serious" },
    element("summary", {}, severity, ` ${finding.title}.`),
    ...[finding.sentence, finding.why, finding.remedy].map((text) => element("p", {}, text)),
    finding.command && element("pre", {}, element("code", {}, finding.command)),
    element("p", {}, finding.code),
  );
  return element("li", { class: finding.severity }, details, linkTo(finding.panel));
}

/**
 * A link to a panel, if the page has it.
 * @param {string} panel
 * @returns {HTMLElement | null}
 */
function linkTo(panel) {
  const heading = document.getElementById(`title-${panel}`);
  if (!heading) return null;
  const link = element("a", { href: `#panel-${panel}` }, heading.firstChild?.textContent);
  // The fragment of the address holds the state, so the link must not change it.
  link.addEventListener("click", (event) => {
    event.preventDefault();
    byId(`panel-${panel}`).scrollIntoView({ block: "start" });
    byId(`panel-${panel}`).focus({ preventScroll: true });
  });
  return link;
}
