/** When panels are drawn: those near the window at once, the others one by one as soon as the page is idle. */

import { updateScrollStops } from "./dom.js";

/** Distance from the window at which a panel is near. */
const MARGIN = "250px";
/** Panels that are drawn at once before the browser has reported which are near. */
const FIRST = 3;

/**
 * Draws the panels of the page.
 * @template {{state: object}} [View=import("./view.js").View]
 */
export class Drawing {
  /**
   * @param {import("./panel.js").Panel<View>[]} panels in the order of the page
   * @param {() => void} onDrawn called after panels were drawn
   */
  constructor(panels, onDrawn) {
    this.panels = panels;
    this.onDrawn = onDrawn;
    /** @type {Set<import("./panel.js").Panel<View>>} */
    this.stale = new Set();
    this.near = new Set(panels.slice(0, FIRST));
    this.timer = 0;
    /** @type {View | undefined} */
    this.view = undefined;
    const bySection = new Map(panels.map((panel) => [/** @type {Element} */ (panel.section), panel]));
    const observer = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) {
          const panel = /** @type {import("./panel.js").Panel<View>} */ (bySection.get(target));
          if (isIntersecting) this.near.add(panel);
          else this.near.delete(panel);
        }
        this.drawSome([...this.stale].filter((panel) => this.near.has(panel)));
      },
      { rootMargin: MARGIN },
    );
    for (const panel of panels) observer.observe(panel.section);
    addEventListener("resize", () => updateScrollStops());
    addEventListener("beforeprint", () => this.drawSome([...this.stale]));
  }

  /**
   * Draw a view.
   * @param {View} view
   */
  draw(view) {
    this.view = view;
    this.stale = new Set(this.panels);
    this.drawSome(this.panels.filter((panel) => this.near.has(panel)));
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.continue(), 0);
  }

  /** Draw the next panel that is not near, in a task of its own: the browser handles input in between. */
  continue() {
    const [next] = this.stale;
    if (!next) return;
    this.drawSome([next]);
    this.timer = setTimeout(() => this.continue(), 0);
  }

  /** @param {import("./panel.js").Panel<View>[]} panels */
  drawSome(panels) {
    for (const panel of panels) {
      if (this.view) panel.draw(this.view);
      this.stale.delete(panel);
    }
    if (panels.length) this.onDrawn();
    // Last, since this forces a layout of the page.
    if (!this.stale.size) updateScrollStops();
    document.documentElement.dataset.drawn = this.stale.size ? "0" : "1";
  }
}
