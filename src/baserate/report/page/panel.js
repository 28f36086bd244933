/** A panel: heading, body, how to read it, its data as a table, and files of it. */

import { element } from "./dom.js";
import { csvText, save, svgText } from "./files.js";
import { short } from "./format.js";
import { Chart } from "./kit.js";
import { PANELS } from "./words.js";

/** @typedef {import("./view.js").View} View */
/** @typedef {import("./kit.js").Spec} Spec */
/** @typedef {import("./kit.js").Table} Table */

/** So many rows of a table are shown; a file holds all. */
const MOST_ROWS = 60;

/**
 * What a panel shows: a chart, or a body of its own with a table to take away; or both.
 * @typedef {object} Content
 * @property {(view: View) => Spec | null} [spec]
 * @property {(body: HTMLElement, view: View) => void} [body]
 * @property {(view: View) => Table} [table]
 * @property {string} [without]   what is told where there is no chart
 */

/** One panel of the page. */
export class Panel {
  /**
   * @param {string} id
   * @param {Content} content
   * @param {(index: number) => void} picked
   */
  constructor(id, content, picked) {
    const { title, name, how, wide } = PANELS[id];
    this.id = id;
    this.content = content;
    this.body = element("div", { class: "body" });
    this.holder = element("div", { class: "holder" });
    this.chart = content.spec ? new Chart(this.holder, id, picked) : null;
    this.absent = element("p", { class: "quiet", hidden: true }, content.without ?? "");
    this.data = element(
      "details",
      { class: "table" },
      element("summary", {}, "Data", unseen(title)),
      element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Data: ${title}` }),
    );
    this.section = element(
      "section",
      { class: wide ? "panel wide" : "panel", id: `panel-${id}`, "aria-labelledby": `title-${id}`, tabindex: "-1" },
      element("h2", { id: `title-${id}` }, title, element("small", {}, ` ${name}`)),
      this.absent,
      content.spec ? this.holder : null,
      this.body,
      this.foot(title, how),
    );
    this.data.addEventListener("toggle", () => this.fill());
    /** @type {View | undefined} */
    this.view = undefined;
  }

  /**
   * What stands below: how to read it, data, files.
   * @param {string} title
   * @param {string} how
   * @returns {HTMLElement}
   */
  foot(title, how) {
    const files = [...(this.chart ? ["svg"] : []), ...(this.chart || this.content.table ? ["csv"] : [])].map((kind) => {
      const button = element(
        "button",
        { type: "button", "data-download": kind },
        kind.toUpperCase(),
        unseen(`of: ${title}`),
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
        element("summary", {}, "How to read this", unseen(title)),
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
    if (this.chart) {
      this.absent.hidden = this.spec !== null;
      this.holder.hidden = this.spec === null;
      if (this.spec) this.chart.draw(this.spec);
    }
    this.content.body?.(this.body, view);
    this.fill();
  }

  /** @returns {Table | undefined} */
  table() {
    return this.spec?.table ?? (this.view && this.content.table?.(this.view));
  }

  /** Fill the table, if it is open. */
  fill() {
    if (!(/** @type {HTMLDetailsElement} */ (this.data).open)) return;
    const table = this.table();
    const all = table?.rows() ?? [];
    const each = Math.max(1, Math.ceil(all.length / MOST_ROWS));
    const rows = all.filter((_, at) => at % each === 0 || at === all.length - 1);
    const note =
      each > 1
        ? element("p", { class: "quiet" }, `${rows.length} of ${all.length} rows; the CSV file holds all.`)
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
              element("tr", {}, ...row.map((cell) => element("td", {}, typeof cell === "number" ? short(cell) : cell))),
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
      save(`${this.id}.svg`, "image/svg+xml", svgText(this.chart.svg, this.spec.told));
  }
}

/**
 * Words for who listens, where who looks sees the place.
 * @param {string} text
 * @returns {HTMLElement}
 */
function unseen(text) {
  return element("span", { class: "unseen" }, ` ${text}`);
}
