/** Elements in one line. Text is always text: nothing that a report names is ever read as HTML. */

/** @typedef {Node | string | number | null | undefined} Child */

/**
 * An element with attributes and children.
 * @param {string} name
 * @param {Record<string, string | number | boolean | null | undefined>} [attributes]  true is an empty one, null none
 * @param {...Child} children
 * @returns {HTMLElement}
 */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(
    ...children
      .filter((child) => child !== null && child !== undefined)
      .map((child) => /** @type {Node | string} */ (typeof child === "number" ? String(child) : child)),
  );
  return made;
}

/**
 * The element of an id, which must be there.
 * @template {HTMLElement} [Kind=HTMLElement]
 * @param {string} id
 * @returns {Kind}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element ${id}`);
  return /** @type {Kind} */ (found);
}

/**
 * Attributes of a number that is shown: what it is, and its value in full.
 * @param {string} measure
 * @param {number} value
 * @param {{low: number, high: number} | null} [interval]
 * @returns {Record<string, string | number | null>}
 */
export function numbered(measure, value, interval = null) {
  return {
    "data-number": measure,
    "data-value": value,
    "data-low": interval && interval.low,
    "data-high": interval && interval.high,
  };
}

/**
 * What a column is of: in plain words, with the technical name beside them.
 * @param {{plain: string, means: string}} words
 * @param {string} technical
 * @returns {HTMLElement}
 */
export function headed({ plain, means }, technical) {
  return element("span", { title: means }, plain, element("small", {}, ` ${technical}`));
}

/**
 * A table with its heading cells, and rows of which the first cell is a heading, too.
 * @param {string} caption
 * @param {Child[]} columns
 * @param {Child[][]} rows
 * @returns {HTMLElement}
 */
export function tableOf(caption, columns, rows) {
  return element(
    "table",
    {},
    element("caption", { class: "unseen" }, caption),
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
 * Make a parent hold these children; what is the same as before stays, since to lay out a table anew takes long.
 * @param {Element} parent
 * @param {(Node | string)[]} children
 */
export function refresh(parent, children) {
  const before = [...parent.childNodes];
  const fresh = children.map((child) => (typeof child === "string" ? document.createTextNode(child) : child));
  if (before.length !== fresh.length || before.some((node, at) => node.nodeName !== fresh[at].nodeName)) {
    parent.replaceChildren(...fresh);
    return;
  }
  before.forEach((node, at) => renew(node, fresh[at]));
}

/**
 * Make a node what another of its kind is.
 * @param {Node} node
 * @param {Node} other
 */
function renew(node, other) {
  if (!(node instanceof Element && other instanceof Element)) {
    if (node.nodeValue !== other.nodeValue) node.nodeValue = other.nodeValue;
    return;
  }
  for (const { name } of [...node.attributes]) if (!other.hasAttribute(name)) node.removeAttribute(name);
  for (const { name, value } of other.attributes) {
    if (node.getAttribute(name) !== value) node.setAttribute(name, value);
  }
  refresh(node, [...other.childNodes]);
}
