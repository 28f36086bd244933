/** The compact form of the payload: counts as text, and rows of numbers by kind. As in baserate.report. */

/** @typedef {Record<string, any>} Json */
/** Rows by kind: common texts, names of the other fields, and their values; `order` has the kind of each row. */
/** @typedef {{kinds: {common: Json, fields: string[], values: any[]}[], order: number[]}} PackedRows */

/** Letters of numbers: printable ones without a meaning in JSON or HTML. The first half ends a number. */
const LETTERS = Array.from({ length: 92 }, (_, at) => String.fromCharCode(35 + at)).filter(
  (each) => !"\\<>&".includes(each),
);
const BASE = LETTERS.length / 2;
const DIGITS = new Map(LETTERS.map((letter, at) => [letter, at]));

/**
 * Rows of the report.
 * @param {PackedRows} packed
 * @returns {Json[]}
 */
export function unpackRows({ kinds, order }) {
  const next = kinds.map(() => 0);
  return order.map((at) => {
    const { common, fields, values } = kinds[at];
    const row = { ...common };
    for (const field of fields) {
      row[field] = values[next[at]];
      next[at] += 1;
    }
    return row;
  });
}

/**
 * Counts from a text: each is a number of zeros before it, doubled, plus 1 unless the count is 1. Another count follows, less 2.
 * @param {string} text
 * @param {number} length
 * @returns {Float64Array}
 */
export function unpackCounts(text, length) {
  const counts = new Float64Array(length);
  let [place, at] = [0, 0];
  const read = () => {
    let [number, unit] = [0, 1];
    for (;;) {
      const digit = DIGITS.get(text[place]) ?? 0;
      place += 1;
      number += (digit % BASE) * unit;
      if (digit < BASE) return number;
      unit *= BASE;
    }
  };
  while (place < text.length) {
    const number = read();
    at += number >> 1;
    counts[at] = number % 2 ? read() + 2 : 1;
    at += 1;
  }
  return counts;
}
