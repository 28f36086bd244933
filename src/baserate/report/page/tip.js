/** The tooltip of all charts: one element at the end of the page, so that no panel clips it. */

/** Distances in pixels: from the point, and from the edges of the window. */
const [GAP, EDGE] = [14, 6];

/** @type {HTMLElement | undefined} */
let tip;
/** The chart that shows the tooltip. @type {object | undefined} */
let owner;
/** Position of the described point in the window. @type {() => {x: number, y: number}} */
let pointOf = () => ({ x: 0, y: 0 });

/**
 * Show a text at a point. The position is read later, since reading it here would force a layout in the midst of drawing.
 * @param {object} chart
 * @param {string} text
 * @param {() => {x: number, y: number}} point  its position in the window
 */
export function showTip(chart, text, point) {
  tip ??= makeTip();
  [owner, pointOf] = [chart, point];
  requestAnimationFrame(place);
  if (tip.textContent !== text) tip.textContent = text;
  tip.hidden = false;
}

/**
 * Hide the tooltip, if this chart shows it.
 * @param {object} chart
 */
export function hideTip(chart) {
  if (tip && owner === chart) tip.hidden = true;
}

/** @returns {HTMLElement} */
function makeTip() {
  const made = document.createElement("p");
  made.className = "tip";
  // Screen readers get the same text from the chart.
  made.setAttribute("aria-hidden", "true");
  document.body.append(made);
  return made;
}

/** Place the tooltip above the point, or below where there is no room, within the window. */
function place() {
  if (!tip || tip.hidden) return;
  const { clientWidth, clientHeight } = document.documentElement;
  const { offsetWidth, offsetHeight } = tip;
  const { x, y } = pointOf();
  const left = Math.max(EDGE, Math.min(x - offsetWidth / 2, clientWidth - offsetWidth - EDGE));
  const above = y - offsetHeight - GAP;
  const top = above >= EDGE || y > clientHeight - offsetHeight - GAP ? above : y + GAP;
  tip.style.left = `${(left + scrollX).toFixed(1)}px`;
  tip.style.top = `${(Math.max(EDGE, top) + scrollY).toFixed(1)}px`;
}
