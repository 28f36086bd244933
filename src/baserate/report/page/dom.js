/** HTML elements. Names of a report are always inserted as text and never parsed as HTML. */

/** @typedef {Node | string | number | null | undefined} Child */

/**
 * An element with attributes and children.
 * @param {string} name
 * @param {Record<string, string | number | boolean | null | undefined>} [attributes]  true is an empty attribute, null none
 * @param {...Child} children
 * @returns {HTMLElement}
 */
export function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    node.setAttribute(key, value === true ? "" : String(value));
  }
  node.append(
    ...children
      .filter((child) => child !== null && child !== undefined)
      .map((child) => /** @type {Node | string} */ (typeof child === "number" ? String(child) : child)),
  );
  return node;
}

/**
 * The element with an id; an error if there is none.
 * @template {HTMLElement} [Kind=HTMLElement]
 * @param {string} id
 * @returns {Kind}
 */
export function byId(id) {
  const node = document.getElementById(id);
  if (!node) throw new Error(`the page has no element ${id}`);
  return /** @type {Kind} */ (node);
}

/**
 * Where a number holds: the prevalence (null: that of the sample; "any": the same at every one), and the indices of its
 * model and group. Numbers of decisions state their threshold, or the policy that decides.
 * @typedef {{prevalence: number | null | "any", model: number, group?: number, cut?: number | string}} Place
 */

/**
 * Attributes of a displayed number: its measure, value and interval at full precision, and where it holds.
 * @param {string} measure
 * @param {number} value
 * @param {{low: number, high: number} | null} [interval]
 * @param {Place | null} [place]
 * @returns {Record<string, string | number | null>}
 */
export function numberAttributes(measure, value, interval = null, place = null) {
  return {
    "data-number": measure,
    "data-value": value,
    "data-low": interval && interval.low,
    "data-high": interval && interval.high,
    ...(place ? placeAttributes(place) : {}),
  };
}

/**
 * Attributes of the place at which numbers hold.
 * @param {Place} place
 * @returns {Record<string, string | number | null>}
 */
export function placeAttributes({ prevalence, model, group, cut }) {
  return {
    "data-at": prevalence ?? "sample",
    "data-model": model,
    "data-group": group ?? null,
    "data-cut": cut ?? null,
  };
}

/**
 * State where the numbers of nodes hold, unless they state it themselves.
 * @template {Child} Node
 * @param {Node[]} nodes
 * @param {Place} place
 * @returns {Node[]}
 */
export function placeNumbers(nodes, place) {
  for (const node of nodes) {
    if (!(node instanceof Element)) continue;
    for (const each of [node, ...node.querySelectorAll("[data-number]")])
      if (each.hasAttribute("data-number") && !each.hasAttribute("data-at"))
        setAttributes(each, placeAttributes(place));
  }
  return nodes;
}

/**
 * Set attributes that changed; null removes one.
 * @param {Element} node
 * @param {Record<string, string | number | null>} attributes
 */
export function setAttributes(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null) node.removeAttribute(name);
    else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, String(value));
  }
}

/**
 * Replace the text of a node, if it changed: far faster than new elements.
 * @param {Element} node
 * @param {string} text
 */
export function setText(node, text) {
  const { firstChild } = node;
  if (!(firstChild instanceof Text) || firstChild.nextSibling) node.textContent = text;
  else if (firstChild.data !== text) firstChild.data = text;
}

/**
 * The name of a measure, with its synonym in parentheses in small print and its definition as a tooltip.
 * @param {{label: string, hint: string}} measure
 * @param {Record<string, string>} [attributes]
 * @returns {HTMLElement}
 */
export function measureName({ label, hint }, attributes = {}) {
  const [term, synonym] = label.split(" (");
  const small = synonym ? element("small", {}, ` (${synonym}`) : null;
  return element("span", { title: hint, ...attributes }, term, small);
}

/**
 * A table with a heading row, and rows whose first cell is a heading.
 * @param {string} caption
 * @param {Child[]} columns
 * @param {Child[][]} rows
 * @returns {HTMLElement}
 */
export function makeTable(caption, columns, rows) {
  return element(
    "table",
    {},
    element("caption", { class: "visually-hidden" }, caption),
    element("thead", {}, element("tr", {}, ...columns.map((each) => element("th", { scope: "col" }, each)))),
    element(
      "tbody",
      {},
      ...rows.map(([first, ...rest]) =>
        element(
          "tr",
          {},
          element("th", { scope: "row" }, first),
          ...rest.map((each) => (each instanceof HTMLTableCellElement ? each : element("td", {}, each))),
        ),
      ),
    ),
  );
}

/**
 * A region that scrolls where its content does not fit; updateScrollStops makes it a tab stop then.
 * @param {string} label
 * @param {...Child} children
 * @returns {HTMLElement}
 */
export function scrollRegion(label, ...children) {
  return element("div", { class: "scroll", role: "region", "aria-label": label }, ...children);
}

/** Make regions tab stops where their content does not fit, so that the keyboard can scroll them. */
export function updateScrollStops() {
  for (const region of document.querySelectorAll(".scroll")) {
    const scrolls = region.scrollWidth > region.clientWidth || region.scrollHeight > region.clientHeight;
    if (scrolls === region.hasAttribute("tabindex")) continue;
    if (scrolls) region.setAttribute("tabindex", "0");
    else region.removeAttribute("tabindex");
  }
}

/**
 * A table in a region that scrolls.
 * @param {string} caption
 * @param {Child[]} columns
 * @param {Child[][]} rows
 * @returns {HTMLElement}
 */
export function scrollTable(caption, columns, rows) {
  return scrollRegion(caption, makeTable(caption, columns, rows));
}

/**
 * Replace the children of a node, but keep nodes that do not change: layout of a new table is slow.
 * @param {Element} parent
 * @param {(Node | string)[]} children
 */
export function updateChildren(parent, children) {
  const current = [...parent.childNodes];
  const fresh = children.map((child) => (typeof child === "string" ? document.createTextNode(child) : child));
  if (current.length !== fresh.length || current.some((node, at) => node.nodeName !== fresh[at].nodeName)) {
    parent.replaceChildren(...fresh);
    return;
  }
  current.forEach((node, at) => updateNode(node, fresh[at]));
}

/**
 * Copy attributes and children of another node of the same kind.
 * @param {Node} node
 * @param {Node} other
 */
function updateNode(node, other) {
  if (!(node instanceof Element && other instanceof Element)) {
    if (node.nodeValue !== other.nodeValue) node.nodeValue = other.nodeValue;
    return;
  }
  for (const { name } of [...node.attributes]) if (!other.hasAttribute(name)) node.removeAttribute(name);
  for (const { name, value } of other.attributes) {
    if (node.getAttribute(name) !== value) node.setAttribute(name, value);
  }
  updateChildren(node, [...other.childNodes]);
}

/**
 * Copy a text; false where the browser does not allow it.
 * @param {string} text
 * @returns {Promise<boolean>}
 */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** Milliseconds without a change after which the state is written into the address. */
const PAUSE = 120;
let timer = 0;

/**
 * Write a fragment into the address when dragging ends, since that is slower than drawing.
 * @param {() => string} fragment
 */
export function writeAddressLater(fragment) {
  clearTimeout(timer);
  timer = setTimeout(() => {
    try {
      history.replaceState(null, "", `#${fragment()}`);
    } catch {
      // A page in a sandboxed frame has no address of its own.
    }
  }, PAUSE);
}
