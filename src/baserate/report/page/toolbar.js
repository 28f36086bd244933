/** Toolbars: several buttons, links and summaries with one tab stop. The arrow keys move between them. */

const ITEMS = "button, summary, a[href]";
/** @type {Record<string, (at: number, last: number) => number>} */
const MOVES = {
  ArrowRight: (at, last) => (at === last ? 0 : at + 1),
  ArrowLeft: (at, last) => (at === 0 ? last : at - 1),
  ArrowDown: (at, last) => (at === last ? 0 : at + 1),
  ArrowUp: (at, last) => (at === 0 ? last : at - 1),
  Home: () => 0,
  End: (_, last) => last,
};

/**
 * Make an element a toolbar.
 * @template {HTMLElement} Kind
 * @param {Kind} node
 * @param {string} label
 * @returns {Kind}
 */
export function makeToolbar(node, label) {
  node.setAttribute("role", "toolbar");
  node.setAttribute("aria-label", label);
  return shareTabStop(node);
}

/**
 * Give the buttons, links and summaries in an element one tab stop. Those that are added, removed or hidden later are
 * taken into account.
 * @template {HTMLElement} Kind
 * @param {Kind} node
 * @returns {Kind}
 */
export function shareTabStop(node) {
  node.dataset.stop = "";
  node.addEventListener("keydown", (event) => moveFocus(node, event));
  node.addEventListener("focusin", ({ target }) => selectStop(node, /** @type {Element} */ (target)));
  const options = { childList: true, subtree: true, attributes: true, attributeFilter: ["hidden", "open", "tabindex"] };
  new MutationObserver(() => selectStop(node)).observe(node, options);
  selectStop(node);
  return node;
}

/**
 * The elements of a toolbar that are visible. Content of a summary's details is not part of the toolbar.
 * @param {HTMLElement} node
 * @returns {HTMLElement[]}
 */
function itemsOf(node) {
  const items = /** @type {HTMLElement[]} */ ([...node.querySelectorAll(ITEMS)]);
  return items.filter((item) => {
    const hidden = item.closest("[hidden]");
    return item.closest("[data-stop]") === node && !(hidden && node.contains(hidden));
  });
}

/**
 * Give the toolbar one tab stop: an element of it, by default the present one, or else the first.
 * @param {HTMLElement} node
 * @param {Element} [chosen]
 */
function selectStop(node, chosen) {
  const items = itemsOf(node);
  const stop =
    items.find((item) => item === chosen) ?? items.find((item) => item.getAttribute("tabindex") === "0") ?? items[0];
  for (const item of items) {
    const value = item === stop ? "0" : "-1";
    if (item.getAttribute("tabindex") !== value) item.setAttribute("tabindex", value);
  }
}

/**
 * Move the focus by a key.
 * @param {HTMLElement} node
 * @param {KeyboardEvent} event
 */
function moveFocus(node, event) {
  const items = itemsOf(node);
  const at = items.indexOf(/** @type {HTMLElement} */ (event.target));
  const to = MOVES[event.key]?.(at, items.length - 1);
  if (at < 0 || to === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  items[to].focus();
}
