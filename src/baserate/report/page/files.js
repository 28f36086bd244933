/** Files of a chart: SVG and CSV. */

import { element } from "./dom.js";
import { shape } from "./marks.js";

/** Properties that an SVG needs to look the same without the style sheet. */
const STYLE_PROPERTIES = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-linecap",
  "stroke-linejoin",
  "opacity",
  "font-family",
  "font-size",
  "font-weight",
  "text-anchor",
];
const [LINE, MARGIN] = [16, 10];

/**
 * Download a text as a file.
 * @param {string} name
 * @param {string} type
 * @param {string} text
 */
export function save(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  // Later, since some browsers read the data only after the click.
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/**
 * A button that saves the data of the page, so that everybody can see what the page contains.
 * @param {object} payload
 * @returns {HTMLElement}
 */
export function makeDataButton(payload) {
  const button = element("button", { type: "button", id: "save-data" }, "Data of this page (JSON)");
  button.addEventListener("click", () => save("report-data.json", "application/json", JSON.stringify(payload)));
  return button;
}

/**
 * A table as CSV, with numbers in full.
 * @param {import("./chart.js").Table} table
 * @returns {string}
 */
export function csvText(table) {
  /** @param {string | number} cell */
  const formatCell = (cell) => {
    if (typeof cell === "number")
      return Number.isNaN(cell) ? "" : cell === Infinity ? "inf" : cell === -Infinity ? "-inf" : String(cell);
    return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
  };
  return `${[table.columns, ...table.rows()].map((row) => row.map(formatCell).join(",")).join("\r\n")}\r\n`;
}

/**
 * A chart as a complete SVG file with its legend: in light colors whatever those of the page are, and with its texts as
 * text, so that they can be edited.
 * @param {HTMLElement} holder  container of the chart and its legend
 * @param {string} title
 * @returns {string}
 */
export function svgText(holder, title) {
  const light = /** @type {HTMLElement} */ (holder.cloneNode(true));
  light.classList.add("light", "visually-hidden");
  holder.after(light);
  const text = fileOf(light, title);
  light.remove();
  return text;
}

/**
 * The text of the file of a chart in light colors.
 * @param {HTMLElement} light
 * @param {string} title
 * @returns {string}
 */
function fileOf(light, title) {
  const svg = /** @type {SVGElement} */ (light.querySelector("svg"));
  const copy = /** @type {SVGElement} */ (svg.cloneNode(true));
  const [from, to] = [svg.querySelectorAll("*"), copy.querySelectorAll("*")];
  from.forEach((element, at) => copyStyle(element, to[at]));
  const [, , width, height] = (svg.getAttribute("viewBox") ?? "0 0 400 300").split(" ").map(Number);
  const legend = [...light.querySelectorAll(".legend li")];
  copy.append(...legend.map((item, at) => legendLine(item, MARGIN, height + LINE * (at + 0.8))));
  const all = height + LINE * legend.length + MARGIN;
  const attributes = {
    xmlns: "http://www.w3.org/2000/svg",
    viewBox: `0 0 ${width} ${all}`,
    width,
    height: all,
    role: "img",
    "aria-label": title,
  };
  for (const [name, value] of Object.entries(attributes)) copy.setAttribute(name, String(value));
  for (const part of copy.querySelectorAll(".halo, .ring, .reads")) part.remove();
  copy.prepend(shape("rect", { width, height: all, fill: "#fff" }));
  return `${new XMLSerializer().serializeToString(copy)}\n`;
}

/**
 * @param {Element} from
 * @param {Element} to
 */
function copyStyle(from, to) {
  const style = getComputedStyle(from);
  for (const name of STYLE_PROPERTIES) to.setAttribute(name, style.getPropertyValue(name));
}

/**
 * A line of the legend: its symbol and its text.
 * @param {Element} item
 * @param {number} x
 * @param {number} y
 * @returns {SVGElement}
 */
function legendLine(item, x, y) {
  const line = shape("g");
  const sample = item.querySelector("svg > g");
  if (sample) {
    const symbol = /** @type {Element} */ (sample.cloneNode(true));
    copyStyle(sample, symbol);
    sample.querySelectorAll("*").forEach((element, at) => copyStyle(element, symbol.querySelectorAll("*")[at]));
    symbol.setAttribute("transform", `translate(${x} ${y - 5})`);
    line.append(symbol);
  }
  const text = shape("text");
  copyStyle(item, text);
  const place = { x: x + 38, y: y + 4, fill: getComputedStyle(item).color, "font-size": 11 };
  for (const [name, value] of Object.entries(place)) text.setAttribute(name, String(value));
  text.textContent = item.textContent;
  line.append(text);
  return line;
}
