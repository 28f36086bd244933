/** Numbers as text. Attributes, tables and files hold them at full precision. */

/**
 * A share as a percentage: one decimal, and more near 0% and 100%, which only exact values reach.
 * @param {number} share
 * @returns {string}
 */
export function formatPercent(share) {
  if (!Number.isFinite(share)) return Number.isNaN(share) ? "–" : "∞";
  const hundred = 100 * share;
  const left = Math.min(Math.abs(hundred), Math.abs(100 - hundred)) || 1;
  const digits = Math.abs(hundred) > 100 ? 0 : Math.min(6, Math.max(1, 1 - Math.floor(Math.log10(left))));
  return `${trimZeros(hundred.toFixed(digits)).replace("-", "−")}%`;
}

/**
 * Any number with four significant digits.
 * @param {number} value
 * @returns {string}
 */
export function formatNumber(value) {
  if (Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e7)) return value.toExponential(3).replace("-", "−");
  return trimZeros(value.toFixed(Math.max(0, Math.min(8, 3 - Math.floor(Math.log10(size || 1)))))).replace("-", "−");
}

const SMALLEST_P = 0.0001;

/**
 * A p-value: tiny ones as "< 0.0001", upper bounds with their sign.
 * @param {number} p
 * @param {boolean} [isBound]
 * @returns {string}
 */
export function formatPValue(p, isBound = false) {
  if (Number.isNaN(p)) return "–";
  if (p < SMALLEST_P) return `< ${SMALLEST_P}`;
  return `${isBound ? "≤ " : ""}${trimZeros(p.toFixed(Math.min(6, Math.max(2, 1 - Math.floor(Math.log10(p))))))}`;
}

/**
 * A count with thousands separators.
 * @param {number} count
 * @returns {string}
 */
export function formatCount(count) {
  return Math.round(count)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ",");
}

/**
 * A number in one of both formats.
 * @param {number} value
 * @param {string | undefined} format
 * @returns {string}
 */
export function formatValue(value, format) {
  return format === "percent" ? formatPercent(value) : formatNumber(value);
}

/**
 * The level of confidence intervals as a percentage.
 * @param {number} level
 * @returns {string}
 */
export function formatLevel(level) {
  return `${trimZeros((100 * level).toFixed(2))}%`;
}

/**
 * A threshold; infinite ones in words.
 * @param {number} threshold
 * @returns {string}
 */
export function formatThreshold(threshold) {
  if (threshold === Infinity) return "none: nobody is flagged";
  if (threshold === -Infinity) return "all: everybody is flagged";
  return String(Number(threshold.toPrecision(6)));
}

/**
 * Digits without trailing zeros after the decimal point.
 * @param {string} digits
 * @returns {string}
 */
function trimZeros(digits) {
  return digits.includes(".") ? digits.replace(/\.?0+$/, "") : digits;
}

/**
 * A name that is cut to a number of characters; the whole name belongs into a title.
 * @param {string} name
 * @param {number} [length]
 * @returns {string}
 */
export function shorten(name, length = 60) {
  const characters = Array.from(name); // code points: a slice of UTF-16 units could split an emoji
  return characters.length > length ? `${characters.slice(0, length - 1).join("")}…` : name;
}

/**
 * Read a number of a text box, perhaps with thousands separators; NaN for what is no number.
 * @param {string} text
 * @returns {number}
 */
export function parseNumber(text) {
  const plain = text.trim().replaceAll("−", "-").replaceAll(",", "");
  return plain === "" ? NaN : Number(plain);
}

/**
 * Read a share: 0.02, 2% or 2 %.
 * @param {string} text
 * @returns {number}
 */
export function parseShare(text) {
  const percent = /^(.*\S)\s*%$/.exec(text.trim());
  return percent ? parseNumber(percent[1]) / 100 : parseNumber(text);
}
