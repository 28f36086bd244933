/** A panel: heading, body, reading instructions, data as a table, and files. */

import { element, placeAttributes, scrollRegion, setAttributes, updateScrollStops } from "./dom.js";
import { csvText, save, svgText } from "./files.js";
import { formatNumber } from "./format.js";
import { Chart } from "./chart.js";
import { makeToolbar } from "./toolbar.js";

/** @typedef {import("./chart.js").Spec} Spec */
/** @typedef {import("./chart.js").Table} Table */
/** @typedef {import("./chart.js").Summary} Summary */

/** Rows of a table on the page; a file holds all. */
const MOST_ROWS = 60;

/**
 * Content of a panel: a chart, or a body with a table to download, or both.
 * @template {{state: object}} [View=import("./view.js").View]
 * @typedef {object} Content
 * @property {(view: View) => Spec | null} [spec]  null where the panel does not apply: it is hidden then
 * @property {(body: HTMLElement, view: View) => void} [body]
 * @property {(view: View) => Table} [table]
 * @property {(view: View) => Summary[]} [numbers]  that the body states
 * @property {(view: View, index: number) => Partial<View["state"]>} [pick]  what a point of the chart selects; by default a threshold
 * @property {{name: string, label: string, texts: Record<string, string>}} [choice]  a setting with a button for each value
 * @property {(view: View) => import("./dom.js").Place} [place]  at which its numbers hold, unless they state another one
 * @property {(view: View) => boolean} [applies]  false where a panel without a chart does not apply
 */

/**
 * One panel of the page.
 * @template {{state: object}} [View=import("./view.js").View]
 */
export class Panel {
  /**
   * @param {string} id
   * @param {Content<View>} content
   * @param {(change: Partial<View["state"]>) => void} change
   * @param {import("./labels.js").Panel} texts
   */
  constructor(id, content, change, { title, name, how, wide }) {
    this.id = id;
    this.content = content;
    this.body = element("div", { class: "body" });
    this.holder = element("div", { class: "holder" });
    this.chart = content.spec ? new Chart(this.holder, id, (index) => change(this.pick(index))) : null;
    this.data = element(
      "details",
      { class: "table" },
      element("summary", {}, "Data", hiddenText(title)),
      scrollRegion(`Data: ${title}`),
    );
    this.section = element(
      "section",
      { class: wide ? "panel wide" : "panel", id: `panel-${id}`, "aria-labelledby": `title-${id}`, tabindex: "-1" },
      element("h3", { id: `title-${id}` }, title, element("small", {}, ` ${name}`)),
      this.makeChoice(change),
      content.spec ? this.holder : null,
      this.body,
      this.makeTools(title, how),
    );
    this.data.addEventListener("toggle", () => {
      this.fillTable();
      updateScrollStops();
    });
    /** @type {View | undefined} */
    this.view = undefined;
  }

  /**
   * What a point of the chart selects.
   * @param {number} index
   * @returns {Partial<View["state"]>}
   */
  pick(index) {
    const view = /** @type {any} */ (this.view);
    const usual = () => ({ threshold: view.model.threshold[index], parity: "single" });
    return this.content.pick?.(view, index) ?? /** @type {any} */ (usual());
  }

  /**
   * Buttons of a setting of this panel; null where there is none.
   * @param {(change: Partial<View["state"]>) => void} change
   * @returns {HTMLElement | null}
   */
  makeChoice(change) {
    const { choice } = this.content;
    if (!choice) return null;
    const buttons = Object.entries(choice.texts).map(([value, text]) => {
      const button = element("button", { type: "button", "data-choice": value }, text);
      button.addEventListener("click", () => change(/** @type {any} */ ({ [choice.name]: value })));
      return button;
    });
    return makeToolbar(element("div", { class: "buttons choice" }, ...buttons), choice.label);
  }

  /** @param {View} view */
  drawChoice({ state }) {
    const { choice } = this.content;
    if (!choice) return;
    for (const button of this.section.querySelectorAll("[data-choice]"))
      button.setAttribute(
        "aria-pressed",
        String(button.getAttribute("data-choice") === /** @type {any} */ (state)[choice.name]),
      );
  }

  /**
   * Tools below a panel: reading instructions, data and files.
   * @param {string} title
   * @param {string} how
   * @returns {HTMLElement}
   */
  makeTools(title, how) {
    const files = [...(this.chart ? ["svg"] : []), ...(this.chart || this.content.table ? ["csv"] : [])].map((kind) => {
      const button = element(
        "button",
        { type: "button", "data-download": kind },
        kind.toUpperCase(),
        hiddenText(`of: ${title}`),
      );
      button.addEventListener("click", () => this.save(kind));
      return button;
    });
    const tools = element(
      "div",
      { class: "tools" },
      element(
        "details",
        { class: "how" },
        element("summary", {}, "How to read this", hiddenText(title)),
        element("p", {}, how),
      ),
      files.length ? this.data : null,
      ...files,
    );
    return makeToolbar(tools, `Instructions and data: ${title}`);
  }

  /** @param {View} view */
  draw(view) {
    this.view = view;
    if (this.content.place) setAttributes(this.section, placeAttributes(this.content.place(view)));
    this.spec = this.content.spec?.(view) ?? null;
    this.section.hidden = (Boolean(this.chart) && this.spec === null) || this.content.applies?.(view) === false;
    if (this.section.hidden) return;
    this.drawChoice(view);
    if (this.spec) this.chart?.draw(this.spec);
    this.content.body?.(this.body, view);
    this.fillTable();
  }

  /** @returns {Table | undefined} */
  table() {
    return this.spec?.table ?? (this.view && this.content.table?.(this.view));
  }

  /**
   * Numbers that the panel states, on demand.
   * @param {View} view
   * @returns {(Summary & {panel: string})[]}
   */
  numbers(view) {
    const { spec, numbers } = this.content;
    const drawn = spec?.(view);
    if (drawn === null) return [];
    return [...(drawn?.numbers ?? []), ...(numbers?.(view) ?? [])].map((each) => ({ panel: this.id, ...each }));
  }

  /** Fill the table, if it is open. */
  fillTable() {
    if (!(/** @type {HTMLDetailsElement} */ (this.data).open)) return;
    const table = this.table();
    const all = table?.rows() ?? [];
    const step = Math.max(1, Math.ceil(all.length / MOST_ROWS));
    const rows = all.filter((_, at) => at % step === 0 || at === all.length - 1);
    const note =
      step > 1
        ? element("p", { class: "quiet" }, `${rows.length} of ${all.length} rows; the CSV file contains all.`)
        : null;
    this.data.lastElementChild?.replaceChildren(
      ...[
        note,
        element(
          "table",
          {},
          element(
            "thead",
            {},
            element("tr", {}, ...(table?.columns ?? []).map((name) => element("th", { scope: "col" }, name))),
          ),
          element(
            "tbody",
            {},
            ...rows.map((row) =>
              element(
                "tr",
                {},
                ...row.map((cell) => element("td", {}, typeof cell === "number" ? formatNumber(cell) : cell)),
              ),
            ),
          ),
        ),
      ].filter((part) => part !== null),
    );
  }

  /** @param {string} kind */
  save(kind) {
    const table = this.table();
    if (kind === "csv" && table) save(`${this.id}.csv`, "text/csv", csvText(table));
    if (kind === "svg" && this.chart && this.spec)
      save(`${this.id}.svg`, "image/svg+xml", svgText(this.holder, this.spec.description));
  }
}

/**
 * Text for screen readers only.
 * @param {string} text
 * @returns {HTMLElement}
 */
function hiddenText(text) {
  return element("span", { class: "visually-hidden" }, ` ${text}`);
}

/**
 * Panels under the titles of their sections. Sections without panels are left out.
 * @template {Panel<any>} Kind
 * @param {Kind[]} panels
 * @param {Record<string, string>} titles
 * @param {Record<string, import("./labels.js").Panel>} texts
 * @returns {{node: HTMLElement, panels: Kind[]}[]}
 */
export function makeSections(panels, titles, texts) {
  const places = Object.keys(texts);
  const sorted = [...panels].sort((one, other) => places.indexOf(one.id) - places.indexOf(other.id));
  return Object.entries(titles).flatMap(([id, title]) => {
    const own = sorted.filter((panel) => texts[panel.id].section === id);
    if (!own.length) return [];
    const heading = element("h2", {}, title);
    const node = element("div", { class: "part", id: `part-${id}` }, heading, ...own.map(({ section }) => section));
    return [{ node, panels: own }];
  });
}
