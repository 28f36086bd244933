/** Numbers as people read them; what is computed with stays in full elsewhere. */

const THIN = "\u202f";

/**
 * A share in per cent: one digit after the point, more near 0 and 100, which only what is nothing or all reaches.
 * @param {number} share
 * @returns {string}
 */
export function percent(share) {
  if (!Number.isFinite(share)) return Number.isNaN(share) ? "–" : "∞";
  const hundred = 100 * share;
  const left = Math.min(Math.abs(hundred), Math.abs(100 - hundred)) || 1;
  const digits = Math.abs(hundred) > 100 ? 0 : Math.min(6, Math.max(1, 1 - Math.floor(Math.log10(left))));
  return `${trimmed(hundred.toFixed(digits)).replace("-", "−")}${THIN}%`;
}

/**
 * Any number, with four digits that count.
 * @param {number} value
 * @returns {string}
 */
export function short(value) {
  if (Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e7)) return value.toExponential(3).replace("-", "−");
  return trimmed(value.toFixed(Math.max(0, Math.min(8, 3 - Math.floor(Math.log10(size || 1)))))).replace("-", "−");
}

const SMALLEST_P = 0.0001;

/**
 * A p-value: tiny ones as "< 0.0001", upper bounds with their sign.
 * @param {number} p
 * @param {boolean} [isBound]
 * @returns {string}
 */
export function formatP(p, isBound = false) {
  if (Number.isNaN(p)) return "–";
  if (p < SMALLEST_P) return `< ${SMALLEST_P}`;
  return `${isBound ? "≤ " : ""}${trimmed(p.toFixed(Math.min(6, Math.max(2, 1 - Math.floor(Math.log10(p))))))}`;
}

/**
 * How many, with thousands set apart.
 * @param {number} many
 * @returns {string}
 */
export function whole(many) {
  return Math.round(many)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, THIN);
}

/**
 * A number by how it is told: "percent", or anything else.
 * @param {number} value
 * @param {string | undefined} how
 * @returns {string}
 */
export function written(value, how) {
  return how === "percent" ? percent(value) : short(value);
}

/**
 * How sure an interval is, in per cent.
 * @param {number} level
 * @returns {string}
 */
export function sure(level) {
  return `${trimmed((100 * level).toFixed(2))} %`;
}

/**
 * A cut-off in words: in full, since it is what a policy holds.
 * @param {number} threshold
 * @returns {string}
 */
export function cutOff(threshold) {
  if (threshold === Infinity) return "none: nobody is flagged";
  if (threshold === -Infinity) return "all: everybody is flagged";
  return String(Number(threshold.toPrecision(6)));
}

/**
 * Without zeros at the end that say nothing.
 * @param {string} digits
 * @returns {string}
 */
function trimmed(digits) {
  return digits.includes(".") ? digits.replace(/\.?0+$/, "") : digits;
}

/**
 * A name as short as it must be to fit; the whole of it belongs into a title.
 * @param {string} name
 * @param {number} [most]
 * @returns {string}
 */
export function clipped(name, most = 60) {
  const letters = Array.from(name);
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : name;
}
