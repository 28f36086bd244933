/** Files of a chart: its picture, and its numbers. */

import { shape } from "./kit.js";

/** What makes an SVG look the same without the style sheet. */
const LOOKS = [
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
 * Hand a file over, without asking anybody.
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
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/**
 * A table as CSV, with numbers in full.
 * @param {import("./kit.js").Table} table
 * @returns {string}
 */
export function csvText(table) {
  /** @param {string | number} cell */
  const written = (cell) => {
    if (typeof cell === "number")
      return Number.isNaN(cell) ? "" : cell === Infinity ? "inf" : cell === -Infinity ? "-inf" : String(cell);
    return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
  };
  return `${[table.columns, ...table.rows()].map((row) => row.map(written).join(",")).join("\r\n")}\r\n`;
}

/**
 * A drawn chart as a file of its own: looks written out, the legend below it.
 * @param {SVGElement} svg
 * @param {string} title
 * @returns {string}
 */
export function svgText(svg, title) {
  const copy = /** @type {SVGElement} */ (svg.cloneNode(true));
  const [from, to] = [svg.querySelectorAll("*"), copy.querySelectorAll("*")];
  from.forEach((element, at) => copyLooks(element, to[at]));
  const [, , width, height] = (svg.getAttribute("viewBox") ?? "0 0 400 300").split(" ").map(Number);
  const legend = [...(svg.parentElement?.querySelectorAll(".legend li") ?? [])];
  copy.append(...legend.map((item, at) => legendLine(item, MARGIN, height + LINE * (at + 0.8))));
  const all = height + LINE * legend.length + MARGIN;
  const fixed = {
    xmlns: "http://www.w3.org/2000/svg",
    viewBox: `0 0 ${width} ${all}`,
    width,
    height: all,
    role: "img",
    "aria-label": title,
  };
  for (const [name, value] of Object.entries(fixed)) copy.setAttribute(name, String(value));
  copy.querySelector(".grip .halo")?.remove();
  return `${new XMLSerializer().serializeToString(copy)}\n`;
}

/**
 * @param {Element} from
 * @param {Element} to
 */
function copyLooks(from, to) {
  const looks = getComputedStyle(from);
  for (const name of LOOKS) to.setAttribute(name, looks.getPropertyValue(name));
}

/**
 * A line of the legend: its sample, and its words.
 * @param {Element} item
 * @param {number} x
 * @param {number} y
 * @returns {SVGElement}
 */
function legendLine(item, x, y) {
  const line = shape("g");
  const sample = item.querySelector("svg > g");
  if (sample) {
    const drawn = /** @type {Element} */ (sample.cloneNode(true));
    copyLooks(sample, drawn);
    sample.querySelectorAll("*").forEach((element, at) => copyLooks(element, drawn.querySelectorAll("*")[at]));
    drawn.setAttribute("transform", `translate(${x} ${y - 5})`);
    line.append(drawn);
  }
  const text = shape("text");
  copyLooks(item, text);
  const place = { x: x + 28, y: y + 4, fill: getComputedStyle(item).color, "font-size": 11 };
  for (const [name, value] of Object.entries(place)) text.setAttribute(name, String(value));
  text.textContent = item.textContent;
  line.append(text);
  return line;
}
