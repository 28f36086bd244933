/** What to know first, each with a way to the panel that shows it. */

import { byId, element } from "../dom.js";
import { PANELS } from "../words.js";

/** @type {Record<string, string>} */
const SIGNS = { serious: "Serious", caution: "Caution", note: "Note" };

/**
 * Draw it into the body of its panel, once: findings do not move.
 * @param {HTMLElement} body
 * @param {import("../view.js").View} view
 */
export function drawFindings(body, { payload }) {
  if (body.firstChild) return;
  if (!payload.findings.length) {
    body.append(element("p", {}, "Nothing stands out in these rows."));
    return;
  }
  body.append(
    element(
      "ul",
      { class: "findings" },
      ...payload.findings.map((/** @type {import("../view.js").Json} */ found) => item(found, payload)),
    ),
  );
}

/**
 * @param {import("../view.js").Json} found
 * @param {import("../view.js").Json} payload
 * @returns {HTMLElement}
 */
function item(found, payload) {
  const model =
    found.model === null || found.model === undefined || payload.models.length === 1
      ? ""
      : `${payload.models[found.model].name}: `;
  const there = document.getElementById(`panel-${found.panel}`) !== null;
  const link = there ? element("a", { href: `#panel-${found.panel}` }, PANELS[found.panel].title) : null;
  // The hash holds the state, so that a link moves the view and leaves the hash alone.
  link?.addEventListener("click", (event) => {
    event.preventDefault();
    const panel = byId(`panel-${found.panel}`);
    panel.scrollIntoView({ block: "start" });
    panel.focus({ preventScroll: true });
  });
  return element(
    "li",
    { class: found.severity },
    element(
      "details",
      { open: found.severity === "serious" },
      element("summary", {}, element("b", { class: "severity" }, SIGNS[found.severity]), ` ${model}${found.title}.`),
      ...[found.sentence, found.why, found.remedy, found.code].map((text) => element("p", {}, text)),
    ),
    link,
  );
}
