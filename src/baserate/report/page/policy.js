/** Policy files, byte for byte as Python writes them: digests and seals must agree. */

import { sha256 } from "./sha256.js";

/** @typedef {import("./fairness.js").Treatment} Treatment */
/** A number that Python writes without a decimal point. @typedef {{whole: number}} Whole */
/** Any JSON value. @typedef {any} Json */
/**
 * @typedef {{digest: string, group_digest?: string|null, columns: Record<string, string>, positive: string|null,
 *   attributes: string[], groups: (Record<string, string|number|boolean>|null)[]}} PolicyModel
 */
/**
 * Content of a policy: one threshold for everybody, or a treatment for each group (null for none); the rule that chose
 * it; and the prevalence for which it was chosen, null if no data was used. `otherwise` applies to other groups.
 * @typedef {{model: PolicyModel, threshold?: number, treatments?: (Treatment|null)[], rule: string,
 *   settings?: Record<string, any>, prevalence?: number|null, notes?: string[], otherwise?: string}} PolicySource
 */

const POLICY_KIND = "baserate/policy";
const CUT_ACTIONS = ["pass", "flag"];
/** Characters of the longest line. */
const LINE_WIDTH = 100;

/** A JSON object in the order of its entries: JavaScript's own objects put numeric names first. */
class OrderedObject {
  /** @param {[string, Json][]} entries */
  constructor(entries) {
    this.entries = entries;
  }
}

/**
 * A number as Python's repr writes a float.
 * @param {number} value finite
 * @returns {string}
 */
export function pythonFloat(value) {
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  const [mantissa, power] = Math.abs(value).toExponential().split("e");
  const [digits, exponent] = [mantissa.replace(".", ""), Number(power)];
  // Python's repr and JavaScript have the same shortest digits, but switch to exponents at different sizes.
  if (exponent < -4 || exponent >= 16) {
    const size = String(Math.abs(exponent)).padStart(2, "0");
    return `${sign}${mantissa}e${exponent < 0 ? "-" : "+"}${size}`;
  }
  if (exponent < 0) {
    return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
  }
  const padded = digits.padEnd(exponent + 2, "0");
  return `${sign}${padded.slice(0, exponent + 1)}.${padded.slice(exponent + 1)}`;
}

/**
 * Text as JSON; with `ascii`, other characters are escaped.
 * @param {string} text
 * @param {boolean} ascii
 * @returns {string}
 */
function jsonText(text, ascii) {
  const plain = JSON.stringify(text);
  /** @param {string} unit */
  const escape = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return ascii ? plain.replace(/[\u007f-\uffff]/g, escape) : plain;
}

/**
 * Compare by code points, as Python does; JavaScript compares UTF-16 units.
 * @param {string} one
 * @param {string} other
 * @returns {number}
 */
function byCodePoint(one, other) {
  const [first, second] = [Array.from(one), Array.from(other)];
  const at = first.findIndex((each, index) => each !== second[index]);
  if (at < 0) {
    return first.length - second.length;
  }
  return at < second.length ? (first[at].codePointAt(0) ?? 0) - (second[at].codePointAt(0) ?? 0) : 1;
}

/**
 * A JSON value in one line, as Python's json.dumps writes it.
 * @param {Json} value
 * @param {{sorted: boolean, ascii: boolean}} options
 * @returns {string}
 */
function jsonLine(value, options) {
  if (Array.isArray(value)) {
    return `[${value.map((each) => jsonLine(each, options)).join(", ")}]`;
  }
  if (value instanceof OrderedObject) {
    const entries = options.sorted
      ? [...value.entries].sort(([one], [other]) => byCodePoint(one, other))
      : value.entries;
    return `{${entries.map(([name, each]) => `${jsonText(name, options.ascii)}: ${jsonLine(each, options)}`).join(", ")}}`;
  }
  if (typeof value === "string") {
    return jsonText(value, options.ascii);
  }
  if (typeof value === "number") {
    return pythonFloat(value);
  }
  return value !== null && typeof value === "object" ? String(value.whole) : String(value);
}

/**
 * Indented JSON; values that fit into a line are written in one.
 * @param {Json} value
 * @param {string} [margin]
 * @returns {string}
 */
function formatJson(value, margin = "") {
  const line = jsonLine(value, { sorted: false, ascii: false });
  const parts = value instanceof OrderedObject ? value.entries : Array.isArray(value) ? value : [];
  if (margin.length + Array.from(line).length <= LINE_WIDTH || !parts.length) {
    return line;
  }
  const inner = `${margin} `;
  const [begin, end, items] = Array.isArray(value)
    ? ["[", "]", value.map((each) => formatJson(each, inner))]
    : ["{", "}", parts.map(([name, each]) => `${jsonText(name, false)}: ${formatJson(each, inner)}`)];
  return `${begin}\n${inner}${items.join(`,\n${inner}`)}\n${margin}${end}`;
}

/**
 * SHA-256 of JSON with sorted names.
 * @param {OrderedObject} form
 * @returns {string}
 */
function hashOf(form) {
  return sha256(jsonLine(form, { sorted: true, ascii: true }));
}

/**
 * A number for JSON; infinite ones are text, and −0 becomes 0.
 * @param {number} value
 * @returns {number|string}
 */
function jsonNumber(value) {
  return Number.isFinite(value) ? value + 0 : value > 0 ? "inf" : "-inf"; // JSON has no infinity
}

/**
 * A setting of a rule in a policy file; numbers are floats.
 * @param {any} setting
 * @returns {Json}
 */
function settingOf(setting) {
  if (typeof setting === "number") {
    return jsonNumber(setting);
  }
  if (Array.isArray(setting)) {
    return setting.map(settingOf);
  }
  if (setting !== null && typeof setting === "object") {
    return new OrderedObject(Object.entries(setting).map(([name, each]) => [name, settingOf(each)]));
  }
  return setting;
}

/**
 * A label of a group; whole numbers are written without a decimal point.
 * @param {string|number|boolean} label
 * @returns {Json}
 */
function groupLabel(label) {
  return Number.isInteger(label) ? { whole: Number(label) } : label;
}

/**
 * @param {number} threshold
 * @returns {[string, Json][]}
 */
function cutEntries(threshold) {
  return [
    ["thresholds", [jsonNumber(threshold)]],
    ["actions", CUT_ACTIONS],
  ];
}

/**
 * @param {Treatment} treatment
 * @returns {[string, Json][]}
 */
function treatmentEntries(treatment) {
  if (!("lottery" in treatment)) {
    return cutEntries(treatment.thresholds[0]);
  }
  const cuts = treatment.lottery.map(
    (each) => new OrderedObject([["chance", each.chance], ...cutEntries(each.threshold)]),
  );
  return [["lottery", cuts]];
}

/**
 * The groups that have a treatment.
 * @param {PolicySource} source
 * @returns {OrderedObject[]}
 */
function policyGroups({ model, threshold, treatments }) {
  if (!treatments) {
    return [new OrderedObject([["group", null], ...cutEntries(threshold ?? Infinity)])];
  }
  return treatments.flatMap((treatment, at) => {
    const labels = model.groups[at];
    /** @type {Json} */
    const group = labels && new OrderedObject(model.attributes.map((name) => [name, groupLabel(labels[name])]));
    return treatment ? [new OrderedObject([["group", group], ...treatmentEntries(treatment)])] : [];
  });
}

/**
 * The content of a policy that its key is computed from.
 * @param {PolicySource} source
 * @returns {[string, Json][]}
 */
function policyContent(source) {
  const { model, rule, settings = {}, prevalence = null, otherwise = "refuse" } = source;
  const grouped = Boolean(source.treatments) && model.attributes.length > 0;
  // A stated threshold was not chosen on any data.
  const usesData = rule !== "fixed";
  return [
    ["rule", rule],
    ["settings", settingOf(settings)],
    ["columns", new OrderedObject(Object.entries(model.columns))],
    ["positive", model.positive],
    ["map", null],
    ["attributes", grouped ? model.attributes : []],
    ["groups", policyGroups(source)],
    ["otherwise", grouped ? otherwise : "refuse"],
    ["prevalence", usesData ? prevalence : null],
    ["chosen_on", usesData ? ((grouped ? model.group_digest : model.digest) ?? null) : null],
  ];
}

/**
 * The text of a policy file, with its key and its seal.
 * @param {PolicySource} source
 * @returns {string}
 */
export function policyText(source) {
  const content = policyContent(source);
  const randomized = (source.treatments ?? []).some((each) => each !== null && "lottery" in each);
  /** @type {[string, Json][]} */
  const form = [
    ["kind", POLICY_KIND],
    ["schema_version", { whole: 1 }],
    ...content,
    ["notes", source.notes ?? []],
    ["needs_group", Boolean(source.treatments) && source.model.attributes.length > 0],
    ["needs_id", randomized],
    ["key", hashOf(new OrderedObject(content))],
  ];
  return `${formatJson(new OrderedObject([...form, ["seal", hashOf(new OrderedObject(form))]]))}\n`;
}
