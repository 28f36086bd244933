/** SHA-256 (FIPS 180-4): browsers do not offer their own to pages that are opened from a file. */

/**
 * The first primes.
 * @param {number} count
 * @returns {number[]}
 */
function firstPrimes(count) {
  /** @type {number[]} */
  const primes = [];
  for (let each = 2; primes.length < count; each += 1) {
    if (primes.every((prime) => each % prime)) {
      primes.push(each);
    }
  }
  return primes;
}

/**
 * First 32 bits of the fraction of a root; big integers make the last bit exact.
 * @param {number} prime
 * @param {bigint} power 2 or 3
 * @returns {number}
 */
function rootBits(prime, power) {
  const target = BigInt(prime) << (32n * power);
  let [low, high] = [0n, 1n << 40n];
  while (high - low > 1n) {
    const middle = (low + high) >> 1n;
    [low, high] = middle ** power <= target ? [middle, high] : [low, middle];
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
const rotateRight = (word, by) => (word >>> by) | (word << (32 - by));

/**
 * Text as UTF-8 bytes, padded with a 1, zeros and the length.
 * @param {string} text
 * @returns {DataView}
 */
function padBytes(text) {
  const bytes = new TextEncoder().encode(text);
  const padded = new Uint8Array(((bytes.length + 72) >> 6) << 6);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  // The length in bits as 64-bit integer, in two halves: bit operations in JavaScript are limited to 32 bits.
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(padded.length - 4, bytes.length << 3);
  return view;
}

/**
 * Expand a block to 64 words.
 * @param {DataView} view
 * @param {number} start
 * @param {Uint32Array} words
 */
function expandBlock(view, start, words) {
  for (let at = 0; at < 16; at += 1) {
    words[at] = view.getUint32(start + 4 * at);
  }
  for (let at = 16; at < 64; at += 1) {
    const [early, late] = [words[at - 15], words[at - 2]];
    const first = rotateRight(early, 7) ^ rotateRight(early, 18) ^ (early >>> 3);
    const second = rotateRight(late, 17) ^ rotateRight(late, 19) ^ (late >>> 10);
    words[at] = words[at - 16] + first + words[at - 7] + second; // a Uint32Array stores sums modulo 2³²
  }
}

/**
 * Compress a block into the state.
 * @param {Uint32Array} state
 * @param {Uint32Array} words
 */
function compressBlock(state, words) {
  let [a, b, c, d, e, f, g, h] = state;
  for (let at = 0; at < 64; at += 1) {
    const choice = (e & f) ^ (~e & g);
    const first =
      (h + (rotateRight(e, 6) ^ rotateRight(e, 11) ^ rotateRight(e, 25)) + choice + ROUND_KEYS[at] + words[at]) | 0;
    const majority = (a & b) ^ (a & c) ^ (b & c);
    const second = ((rotateRight(a, 2) ^ rotateRight(a, 13) ^ rotateRight(a, 22)) + majority) | 0;
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
  const view = padBytes(text);
  const state = FIRST_STATE.slice();
  const words = new Uint32Array(64);
  for (let start = 0; start < view.byteLength; start += 64) {
    expandBlock(view, start, words);
    compressBlock(state, words);
  }
  return Array.from(state, (each) => each.toString(16).padStart(8, "0")).join("");
}
