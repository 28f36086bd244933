/** Policies as files, byte for byte as Python writes them, so that what the page exports is what baserate reads. */

import { sha256 } from "./sha256.js";

/** @typedef {import("./fair.js").Treatment} Treatment */
/** A number that Python would write without a point. @typedef {{whole: number}} Whole */
/** What JSON holds; objects are lists of names and values, whose order is theirs. @typedef {any} Json */
/**
 * @typedef {{digest: string, group_digest?: string|null, columns: Record<string, string>, positive: string|null,
 *   attributes: string[], groups: (Record<string, string|number|boolean>|null)[]}} PolicyModel
 */
/**
 * What is exported: of a model, one threshold for everybody or a treatment for each group, null for one that has none;
 * how it was chosen; and the share of positives that it was chosen for, null if nobody looked at data. A group that is
 * not listed gets `otherwise`.
 * @typedef {{model: PolicyModel, threshold?: number, treatments?: (Treatment|null)[], rule: string,
 *   settings?: Record<string, any>, prevalence?: number|null, notes?: string[], otherwise?: string}} Exported
 */

const POLICY_KIND = "baserate/policy";
const CUT_ACTIONS = ["pass", "flag"];
/** So long may a line be. */
const LINE_WIDTH = 100;

/** An object of JSON, in the order of its entries: JavaScript's own puts names that are numbers first. */
class Named {
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
 * Text as JSON, either with all but ASCII spelled or as it is.
 * @param {string} text
 * @param {boolean} ascii
 * @returns {string}
 */
function jsonText(text, ascii) {
  const plain = JSON.stringify(text);
  /** @param {string} unit */
  const spelled = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return ascii ? plain.replace(/[\u007f-\uffff]/g, spelled) : plain;
}

/**
 * Compare by code points, as Python does; JavaScript's own order is that of UTF-16.
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
 * Whatever JSON holds in one line, as Python's json.dumps writes it.
 * @param {Json} value
 * @param {{sorted: boolean, ascii: boolean}} how
 * @returns {string}
 */
function oneLine(value, how) {
  if (Array.isArray(value)) {
    return `[${value.map((each) => oneLine(each, how)).join(", ")}]`;
  }
  if (value instanceof Named) {
    const entries = how.sorted ? [...value.entries].sort(([one], [other]) => byCodePoint(one, other)) : value.entries;
    return `{${entries.map(([name, each]) => `${jsonText(name, how.ascii)}: ${oneLine(each, how)}`).join(", ")}}`;
  }
  if (typeof value === "string") {
    return jsonText(value, how.ascii);
  }
  if (typeof value === "number") {
    return pythonFloat(value);
  }
  return value !== null && typeof value === "object" ? String(value.whole) : String(value);
}

/**
 * JSON that people can read: what fits a line stands in one.
 * @param {Json} value
 * @param {string} [margin]
 * @returns {string}
 */
function laidOut(value, margin = "") {
  const line = oneLine(value, { sorted: false, ascii: false });
  const parts = value instanceof Named ? value.entries : Array.isArray(value) ? value : [];
  if (margin.length + Array.from(line).length <= LINE_WIDTH || !parts.length) {
    return line;
  }
  const inner = `${margin} `;
  const [begin, end, written] = Array.isArray(value)
    ? ["[", "]", value.map((each) => laidOut(each, inner))]
    : ["{", "}", parts.map(([name, each]) => `${jsonText(name, false)}: ${laidOut(each, inner)}`)];
  return `${begin}\n${inner}${written.join(`,\n${inner}`)}\n${margin}${end}`;
}

/**
 * SHA-256 of JSON in the order of its names.
 * @param {Named} form
 * @returns {string}
 */
function hashOf(form) {
  return sha256(oneLine(form, { sorted: true, ascii: true }));
}

/**
 * A number that JSON can hold, or the name of an infinite one. Both zeros are one.
 * @param {number} value
 * @returns {number|string}
 */
function finiteOrName(value) {
  return Number.isFinite(value) ? value + 0 : value > 0 ? "inf" : "-inf";
}

/**
 * A setting of a rule as a policy holds it: numbers have a point.
 * @param {any} setting
 * @returns {Json}
 */
function settingOf(setting) {
  if (typeof setting === "number") {
    return finiteOrName(setting);
  }
  if (Array.isArray(setting)) {
    return setting.map(settingOf);
  }
  if (setting !== null && typeof setting === "object") {
    return new Named(Object.entries(setting).map(([name, each]) => [name, settingOf(each)]));
  }
  return setting;
}

/**
 * A label of a group: whole numbers are written so, since that is how Python reads them.
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
    ["thresholds", [finiteOrName(threshold)]],
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
  const drawn = treatment.lottery.map((each) => new Named([["chance", each.chance], ...cutEntries(each.threshold)]));
  return [["lottery", drawn]];
}

/**
 * What is done with each group that has a treatment.
 * @param {Exported} exported
 * @returns {Named[]}
 */
function policyGroups({ model, threshold, treatments }) {
  if (!treatments) {
    return [new Named([["group", null], ...cutEntries(threshold ?? Infinity)])];
  }
  return treatments.flatMap((treatment, at) => {
    const labels = model.groups[at];
    /** @type {Json} */
    const group = labels && new Named(model.attributes.map((name) => [name, groupLabel(labels[name])]));
    return treatment ? [new Named([["group", group], ...treatmentEntries(treatment)])] : [];
  });
}

/**
 * Everything that makes a policy what it is.
 * @param {Exported} exported
 * @returns {[string, Json][]}
 */
function policyContent(exported) {
  const { model, rule, settings = {}, prevalence = null, otherwise = "refuse" } = exported;
  const grouped = Boolean(exported.treatments) && model.attributes.length > 0;
  // A threshold that somebody gave was not chosen on any rows.
  const looked = rule !== "fixed";
  return [
    ["rule", rule],
    ["settings", settingOf(settings)],
    ["columns", new Named(Object.entries(model.columns))],
    ["positive", model.positive],
    ["map", null],
    ["attributes", grouped ? model.attributes : []],
    ["groups", policyGroups(exported)],
    ["otherwise", grouped ? otherwise : "refuse"],
    ["prevalence", looked ? prevalence : null],
    ["chosen_on", looked ? ((grouped ? model.group_digest : model.digest) ?? null) : null],
  ];
}

/**
 * A policy as the text of its file, with its key and its seal.
 * @param {Exported} exported
 * @returns {string}
 */
export function policyText(exported) {
  const content = policyContent(exported);
  const lots = (exported.treatments ?? []).some((each) => each !== null && "lottery" in each);
  /** @type {[string, Json][]} */
  const form = [
    ["kind", POLICY_KIND],
    ["schema_version", { whole: 1 }],
    ...content,
    ["notes", exported.notes ?? []],
    ["needs_group", Boolean(exported.treatments) && exported.model.attributes.length > 0],
    ["needs_id", lots],
    ["key", hashOf(new Named(content))],
  ];
  return `${laidOut(new Named([...form, ["seal", hashOf(new Named(form))]]))}\n`;
}
