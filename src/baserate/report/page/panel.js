/** A panel: heading, body, reading instructions, data as a table, and files. */

import { element } from "./dom.js";
import { csvText, save, svgText } from "./files.js";
import { formatNumber } from "./format.js";
import { Chart } from "./chart.js";

/** @typedef {import("./chart.js").Spec} Spec */
/** @typedef {import("./chart.js").Table} Table */

/** Rows of a table on the page; a file holds all. */
const MOST_ROWS = 60;

/**
 * Content of a panel: a chart, or a body with a table to download, or both.
 * @template [View=import("./view.js").View]
 * @typedef {object} Content
 * @property {(view: View) => Spec | null} [spec]  null where the panel does not apply: it is hidden then
 * @property {(body: HTMLElement, view: View) => void} [body]
 * @property {(view: View) => Table} [table]
 */

/**
 * One panel of the page.
 * @template [View=import("./view.js").View]
 */
export class Panel {
  /**
   * @param {string} id
   * @param {Content<View>} content
   * @param {(index: number) => void} onPick
   * @param {import("./labels.js").Panel} texts
   */
  constructor(id, content, onPick, { title, name, how, wide }) {
    this.id = id;
    this.content = content;
    this.body = element("div", { class: "body" });
    this.holder = element("div", { class: "holder" });
    this.chart = content.spec ? new Chart(this.holder, id, onPick) : null;
    this.data = element(
      "details",
      { class: "table" },
      element("summary", {}, "Data", hiddenText(title)),
      element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Data: ${title}` }),
    );
    this.section = element(
      "section",
      { class: wide ? "panel wide" : "panel", id: `panel-${id}`, "aria-labelledby": `title-${id}`, tabindex: "-1" },
      element("h3", { id: `title-${id}` }, title, element("small", {}, ` ${name}`)),
      content.spec ? this.holder : null,
      this.body,
      this.makeFooter(title, how),
    );
    this.data.addEventListener("toggle", () => this.fillTable());
    /** @type {View | undefined} */
    this.view = undefined;
  }

  /**
   * The footer: reading instructions, data and files.
   * @param {string} title
   * @param {string} how
   * @returns {HTMLElement}
   */
  makeFooter(title, how) {
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
    return element(
      "footer",
      {},
      element(
        "details",
        { class: "how" },
        element("summary", {}, "How to read this", hiddenText(title)),
        element("p", {}, how),
      ),
      files.length ? this.data : null,
      ...files,
    );
  }

  /** @param {View} view */
  draw(view) {
    this.view = view;
    this.spec = this.content.spec?.(view) ?? null;
    this.section.hidden = Boolean(this.chart) && this.spec === null;
    if (this.section.hidden) return;
    if (this.spec) this.chart?.draw(this.spec);
    this.content.body?.(this.body, view);
    this.fillTable();
  }

  /** @returns {Table | undefined} */
  table() {
    return this.spec?.table ?? (this.view && this.content.table?.(this.view));
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
      save(`${this.id}.svg`, "image/svg+xml", svgText(this.chart.svg, this.spec.description));
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
