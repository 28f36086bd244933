/** What to know first, each with a way to the panel that shows it. */

import { byId, element } from "../dom.js";
import { PANELS } from "../words.js";

/** @typedef {import("../view.js").Json} Json */

/** @type {Record<string, string>} */
const SIGNS = { serious: "Serious", caution: "Caution", note: "Note" };

/**
 * Draw it into the body of its panel: what was found of the chosen model, and of all. No other control moves it.
 * @param {HTMLElement} body
 * @param {import("../view.js").View} view
 */
export function drawFindings(body, { payload, state }) {
  if (body.dataset.of === String(state.model)) return;
  body.dataset.of = String(state.model);
  const own = payload.findings.filter((/** @type {Json} */ found) => (found.model ?? state.model) === state.model);
  const others = payload.findings.length - own.length;
  const told = own.length
    ? element("ul", { class: "findings" }, ...own.map(item))
    : element("p", {}, "Nothing stands out in these rows.");
  const more = `${others} more ${others === 1 ? "is" : "are"} of other models: choose one of these to read them.`;
  body.replaceChildren(told, ...(others ? [element("p", { class: "quiet" }, more)] : []));
}

/**
 * @param {Json} found
 * @returns {HTMLElement}
 */
function item(found) {
  const signed = element("b", { class: "severity" }, SIGNS[found.severity]);
  const details = element(
    "details",
    { open: found.severity === "serious" },
    element("summary", {}, signed, ` ${found.title}.`),
    ...[found.sentence, found.why, found.remedy].map((text) => element("p", {}, text)),
    found.command && element("pre", {}, element("code", {}, found.command)),
    element("p", {}, found.code),
  );
  return element("li", { class: found.severity }, details, linkTo(found.panel));
}

/**
 * A way to a panel, if it is there.
 * @param {string} panel
 * @returns {HTMLElement | null}
 */
function linkTo(panel) {
  if (!document.getElementById(`panel-${panel}`)) return null;
  const link = element("a", { href: `#panel-${panel}` }, PANELS[panel].title);
  // The hash holds the state, so that a link moves the view and leaves the hash alone.
  link.addEventListener("click", (event) => {
    event.preventDefault();
    byId(`panel-${panel}`).scrollIntoView({ block: "start" });
    byId(`panel-${panel}`).focus({ preventScroll: true });
  });
  return link;
}
