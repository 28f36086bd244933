/** SHA-256 in plain steps (FIPS 180-4): the browser's own is not there for pages that are opened from a file. */

/**
 * The first primes.
 * @param {number} many
 * @returns {number[]}
 */
function firstPrimes(many) {
  /** @type {number[]} */
  const found = [];
  for (let each = 2; found.length < many; each += 1) {
    if (found.every((prime) => each % prime)) {
      found.push(each);
    }
  }
  return found;
}

/**
 * First 32 bits of what comes after the point of a root; whole numbers keep the last of them right.
 * @param {number} prime
 * @param {bigint} power 2 or 3
 * @returns {number}
 */
function rootBits(prime, power) {
  const wanted = BigInt(prime) << (32n * power);
  let [low, high] = [0n, 1n << 40n];
  while (high - low > 1n) {
    const middle = (low + high) >> 1n;
    [low, high] = middle ** power <= wanted ? [middle, high] : [low, middle];
  }
  return Number(low & 0xffffffffn);
}

const FIRST_PRIMES = firstPrimes(64);
const ROUND_KEYS = Uint32Array.from(FIRST_PRIMES, (prime) => rootBits(prime, 3n));
const FIRST_STATE = Uint32Array.from(FIRST_PRIMES.slice(0, 8), (prime) => rootBits(prime, 2n));

/**
 * @param {number} word
 * @param {number} by
 * @returns {number}
 */
const rotated = (word, by) => (word >>> by) | (word << (32 - by));

/**
 * Text as bytes, with the 1, the zeros and the length that the last block ends with.
 * @param {string} text
 * @returns {DataView}
 */
function paddedBytes(text) {
  const bytes = new TextEncoder().encode(text);
  const padded = new Uint8Array(((bytes.length + 72) >> 6) << 6);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(padded.length - 4, bytes.length << 3);
  return view;
}

/**
 * The 64 words that a block is stretched to.
 * @param {DataView} view
 * @param {number} start
 * @param {Uint32Array} words
 */
function stretchBlock(view, start, words) {
  for (let at = 0; at < 16; at += 1) {
    words[at] = view.getUint32(start + 4 * at);
  }
  for (let at = 16; at < 64; at += 1) {
    const [early, late] = [words[at - 15], words[at - 2]];
    const first = rotated(early, 7) ^ rotated(early, 18) ^ (early >>> 3);
    const second = rotated(late, 17) ^ rotated(late, 19) ^ (late >>> 10);
    words[at] = words[at - 16] + first + words[at - 7] + second;
  }
}

/**
 * Stir a block into the state.
 * @param {Uint32Array} state
 * @param {Uint32Array} words
 */
function stirBlock(state, words) {
  let [a, b, c, d, e, f, g, h] = state;
  for (let at = 0; at < 64; at += 1) {
    const choice = (e & f) ^ (~e & g);
    const first = (h + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) + choice + ROUND_KEYS[at] + words[at]) | 0;
    const majority = (a & b) ^ (a & c) ^ (b & c);
    const second = ((rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + majority) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((each, at) => {
    state[at] += each;
  });
}

/**
 * SHA-256 of a text in UTF-8, as hexadecimal digits.
 * @param {string} text
 * @returns {string}
 */
export function sha256(text) {
  const view = paddedBytes(text);
  const state = FIRST_STATE.slice();
  const words = new Uint32Array(64);
  for (let start = 0; start < view.byteLength; start += 64) {
    stretchBlock(view, start, words);
    stirBlock(state, words);
  }
  return Array.from(state, (each) => each.toString(16).padStart(8, "0")).join("");
}
