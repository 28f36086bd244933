/** Numbers as text. Attributes, tables and files hold them at full precision. */

/** Percentages nearer to 0 would need more than six decimals. */
const LEAST_LEFT = 1e-6;
/** Percentages nearer to 100 would be 100.00%. */
const LEAST_BELOW = 0.005;
/** Percentages that differ less from 0 or 100 are rounding errors. */
const ROUNDING_ERROR = 1e-9;

/**
 * A share as a percentage: one decimal, two digits near 0%, and two decimals near 100%. Only exact values are 0% and 100%.
 * @param {number} share
 * @returns {string}
 */
export function formatPercent(share) {
  if (!Number.isFinite(share)) return formatSpecial(share);
  const hundred = 100 * share;
  for (const exact of [0, 100]) if (Math.abs(hundred - exact) < ROUNDING_ERROR) return `${exact}%`;
  const size = Math.abs(hundred);
  const left = size < 100 ? Math.min(size, 100 - size) : 1;
  if (size < LEAST_LEFT) return `${formatNumber(hundred)}%`;
  if (size > 50 && left < LEAST_BELOW) return "> 99.99%";
  const decimals = Math.max(1, 1 - exponentOf(left, 2));
  return `${toFixed(hundred, size > 50 ? Math.min(decimals, 2) : decimals)}%`;
}

/**
 * Any number with four significant digits, also zeros. Exact 0 and 1 have no decimals, and so differ from rounded numbers.
 * @param {number} value
 * @returns {string}
 */
export function formatNumber(value) {
  return toDigits(value, 4);
}

/**
 * A number with its confidence interval in parentheses; without bounds the number alone.
 * @param {number} value
 * @param {{low: number, high: number} | null} bounds
 * @param {string} [format]
 * @returns {string}
 */
export function formatEstimate(value, bounds, format) {
  const text = formatValue(value, format);
  if (!bounds || Number.isNaN(bounds.low) || Number.isNaN(bounds.high)) return text;
  const [low, high] = [bounds.low, bounds.high].map((each) => formatValue(each, format).replace("%", ""));
  return `${text} (${low} to ${high})`;
}

/**
 * A difference of two shares in percentage points, with its sign.
 * @param {number} difference
 * @returns {string}
 */
export function formatPoints(difference) {
  if (!Number.isFinite(difference)) return formatSpecial(difference);
  const text = toFixed(100 * difference, 1);
  return /[1-9]/.test(text) && !text.startsWith("−") ? `+${text}` : text;
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
  return p < SMALLEST_P ? `< ${SMALLEST_P}` : `${isBound ? "≤ " : ""}${toDigits(p, 2)}`;
}

/**
 * A number with this many significant digits, or more if its integer part is longer.
 * @param {number} value
 * @param {number} digits
 * @returns {string}
 */
function toDigits(value, digits) {
  if (!Number.isFinite(value)) return formatSpecial(value);
  if (value === 0 || value === 1) return String(value);
  const exponent = exponentOf(value, digits);
  if (exponent < -4 || exponent > 14) {
    return value
      .toExponential(digits - 1)
      .replaceAll("-", "−")
      .replace("+", "");
  }
  return toFixed(value, Math.max(0, digits - 1 - exponent));
}

/**
 * The power of ten of a number that is rounded to this many digits: 9.9996 with four is 10.00.
 * @param {number} value
 * @param {number} digits
 * @returns {number}
 */
function exponentOf(value, digits) {
  return Number(value.toExponential(digits - 1).split("e")[1]);
}

/**
 * A number with this many decimals and separated thousands. Halves round to the even digit, as in Python.
 * @param {number} value
 * @param {number} decimals
 * @returns {string}
 */
function toFixed(value, decimals) {
  // Only odd multiples of this power of two lie exactly halfway between two decimals.
  const isHalf = Math.abs((value * 2 ** (decimals + 1)) % 2) === 1;
  const floor = Math.floor(value * 10 ** decimals);
  const text = isHalf ? ((floor + Math.abs(floor % 2)) / 10 ** decimals).toFixed(decimals) : value.toFixed(decimals);
  const [whole, fraction] = text.split(".");
  const size = separate(whole.replace("-", "")) + (fraction === undefined ? "" : `.${fraction}`);
  return text.startsWith("-") && /[1-9]/.test(size) ? `−${size}` : size;
}

/**
 * @param {number} value
 * @returns {string}
 */
function formatSpecial(value) {
  return Number.isNaN(value) ? "–" : value > 0 ? "∞" : "−∞";
}

/**
 * Digits with thousands separators.
 * @param {string} digits
 * @returns {string}
 */
function separate(digits) {
  return digits.replace(/\B(?=(\d{3})+$)/g, ",");
}

/**
 * A count with thousands separators.
 * @param {number} count
 * @returns {string}
 */
export function formatCount(count) {
  return separate(String(Math.round(count)));
}

/**
 * A number in one of the formats; a count that is no whole number, since rows have weights, is a number.
 * @param {number} value
 * @param {string | undefined} format
 * @returns {string}
 */
export function formatValue(value, format) {
  if (format === "count" && Number.isInteger(value)) return formatCount(value);
  return format === "percent" ? formatPercent(value) : formatNumber(value);
}

/**
 * A bound of an interval with as many decimals as the text of its value; more only where they tell it from 0% or 100%.
 * @param {number} bound
 * @param {string} text of the value
 * @param {string | undefined} format
 * @returns {string}
 */
export function formatBound(bound, text, format) {
  const own = formatValue(bound, format);
  if (!/[.]\d/.test(own) || !/[.]\d/.test(text) || text.includes("e") || own.includes("e")) return own;
  const [factor, unit] = format === "percent" ? [100, "%"] : [1, ""];
  const alike = toFixed(factor * bound, text.replace(/^.*[.]/, "").replace(/\D/g, "").length);
  return [0, factor].includes(Math.abs(Number(alike.replace("−", "")))) ? own : `${alike}${unit}`;
}

/**
 * Ticks of an axis, with as few decimals as tell them apart.
 * @param {number[]} ticks
 * @param {string} [format]
 * @returns {string[]}
 */
export function formatTicks(ticks, format) {
  const [factor, unit] = format === "percent" ? [100, "%"] : [1, ""];
  const values = ticks.map((tick) => Number((factor * tick).toPrecision(12)));
  const extreme = values.some((value) => value !== 0 && (Math.abs(value) < 1e-6 || Math.abs(value) >= 1e9));
  if (extreme) return values.map((value) => `${String(value).replaceAll("-", "−").replace("+", "")}${unit}`);
  // Ticks at powers of ten each have their own number of decimals.
  const even = values.length < 3 || Math.abs(values[2] - 2 * values[1] + values[0]) < 1e-9 * Math.abs(values[2]);
  const decimals = values.map((value) => String(value).split(".")[1]?.length ?? 0);
  return values.map((value, at) => `${toFixed(value, even ? Math.max(...decimals) : decimals[at])}${unit}`);
}

/**
 * The level of confidence intervals as a percentage.
 * @param {number} level
 * @returns {string}
 */
export function formatLevel(level) {
  return formatSetting(level);
}

/**
 * A share that somebody set, such as a prevalence: a percentage without trailing zeros, since it is not rounded.
 * @param {number} share
 * @returns {string}
 */
export function formatSetting(share) {
  return `${String(Number((100 * share).toPrecision(6))).replaceAll("-", "−")}%`;
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
 * The number in a text, such as "1,000", "−2.5" or "1e-3"; NaN if there is none.
 * @param {string} text
 * @returns {number}
 */
export function parseNumber(text) {
  const plain = text
    .trim()
    .replace("−", "-")
    .replace(/[\u00a0\u202f ]/g, " ");
  const grouped = /^[-+]?\d{1,3}([, ])\d{3}(\1\d{3})*(\.\d*)?$/.test(plain);
  const digits = grouped ? plain.replace(/[, ]/g, "") : plain;
  return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(digits) ? Number(digits) : NaN;
}

/**
 * The share in a text: "2%", "2 %" and "0.02" are the same share; NaN if there is none.
 * @param {string} text
 * @returns {number}
 */
export function parseShare(text) {
  const percent = /^(.*?)\s*%$/.exec(text.trim());
  // Number(…e-2) is the nearest number to the written percentage; a division by 100 rounds twice.
  return percent ? Number(`${parseNumber(percent[1])}e-2`) : parseNumber(text);
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
