// @ts-check
// One field of a device: its value with a unit, or why there is none. Never 0 for what is not known.

import { node, put } from "../shared/cells.js";
import { isMissing } from "./stream.js";

/** @import { Field, Missing } from "./records.js" */

export const GIB = 1024 ** 3;
/** @type {Record<string, string>} */
const STATES = {
  unsupported: "not supported by this device or driver",
  denied: "no permission to read it",
  error: "it could not be read",
};
export const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
export const tenth = new Intl.NumberFormat("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** @typedef {(value: number) => string} NumberForm */

export const FORMS = {
  /** @type {NumberForm} */
  percent: (value) => `${whole.format(value)} %`,
  /** @type {NumberForm} */
  celsius: (value) => `${whole.format(value)} °C`,
  /** @type {NumberForm} */
  gibibytes: (value) => `${tenth.format(value / GIB)} GiB`,
  /** @type {NumberForm} */
  count: (value) => whole.format(value),
  /** @type {(value: string | number) => string} */
  text: (value) => String(value),
};

/**
 * Both ways with one unit and three digits at most, so that it keeps its width.
 * @param {number} received bytes per second
 * @param {number} sent bytes per second
 */
export function throughput(received, sent) {
  const most = Math.max(received, sent);
  /** @type {[number, string]} */
  const [factor, unit] = most >= 999.5e6 ? [1e9, "GB/s"] : most >= 999.5e3 ? [1e6, "MB/s"] : [1e3, "kB/s"];
  /** @param {number} value */
  const word = (value) => {
    const scaled = value / factor;
    if (scaled > 0 && scaled < 0.05) return "<0.1";
    return scaled && scaled < 9.95 ? tenth.format(scaled) : whole.format(scaled);
  };
  return `in ${word(received)} · out ${word(sent)} ${unit}`;
}

/**
 * Bytes, in MiB below a GiB.
 * @param {number} bytes
 */
export function size(bytes) {
  if (bytes >= GIB) return `${tenth.format(bytes / GIB)} GiB`;
  return `${whole.format(bytes / 1024 ** 2)} MiB`;
}

/**
 * Days and hours, or hours and minutes.
 * @param {number} seconds
 */
export function uptime(seconds) {
  const minutes = Math.floor(seconds / 60);
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24];
  if (days) return `${days} d ${hours} h`;
  return hours ? `${hours} h ${String(minutes % 60).padStart(2, "0")} min` : `${minutes} min`;
}

/**
 * A time of day, the reader's own.
 * @param {number} t epoch seconds
 */
export function clockOf(t) {
  return new Date(t * 1000).toLocaleTimeString("en-GB");
}

/**
 * Why a field has no value, as a sentence.
 * @param {Missing | undefined} value
 */
export function whyMissing(value) {
  if (value === undefined) return "not read yet";
  // Reasons that are not NVML's own names are sentences already.
  return isNvmls(value) ? `${STATES[value.state] ?? value.state}: ${value.reason}` : value.reason;
}

/**
 * Whether the reason is one of NVML's own names.
 * @param {Missing} value
 */
function isNvmls({ reason }) {
  return /^[A-Z0-9_]+$/.test(reason);
}

/**
 * What stands in a value's place. What only has to wait, or is not told, is no error.
 * @param {Missing | undefined} value
 */
export function missingWord(value) {
  if (value === undefined) return "not read";
  return value.state === "error" && !isNvmls(value) ? "–" : value.state;
}

/**
 * What is written for a field, whether it has no value, and what is under the pointer.
 * @template {string | number | string[]} Value
 * @param {Field<Value> | null | undefined} value
 * @param {(value: Value) => string} form
 * @param {string} [title] what is under the pointer where there is a value
 */
export function fieldText(value, form, title = "") {
  if (value === null) return { text: "none", absent: true, title };
  if (isMissing(value)) return { text: missingWord(value), absent: true, title: whyMissing(value) };
  return { text: form(value), absent: false, title };
}

/**
 * Sets a value, or the word for why there is none with the reason under the pointer.
 * @template {string | number | string[]} Value
 * @param {HTMLElement} target
 * @param {Field<Value> | null | undefined} value
 * @param {(value: Value) => string} form
 * @param {string} [title]
 */
export function show(target, value, form, title = "") {
  const shown = fieldText(value, form, title);
  put(target, shown.text);
  toggle(target, "absent", shown.absent);
  hint(target, shown.title);
}

/**
 * @param {HTMLElement} target
 * @param {string} title
 */
export function hint(target, title) {
  if (target.title !== title) target.title = title;
}

/**
 * @param {Element} target
 * @param {string} name of a class
 * @param {boolean} on
 */
export function toggle(target, name, on) {
  if (target.classList.contains(name) !== on) target.classList.toggle(name, on);
}

/**
 * @param {HTMLElement} target
 * @param {string} name
 * @param {string | number} value
 */
export function mark(target, name, value) {
  if (target.dataset[name] !== String(value)) target.dataset[name] = String(value);
}

/** @type {WeakMap<Element, string>} */
const filled = new WeakMap();

/**
 * How full a bar is, 0 to 1; it is moved, not laid out anew.
 * @param {HTMLElement} target
 * @param {number} fraction
 */
export function fill(target, fraction) {
  const wanted = `scaleX(${Math.min(1, Math.max(0, fraction)).toFixed(4)})`;
  if (filled.get(target) === wanted) return;
  filled.set(target, wanted);
  target.style.transform = wanted;
}

/**
 * The name of a GPU's color.
 * @param {number} index
 */
export function hueOf(index) {
  return `hue${index % 8}`;
}

/** @type {WeakMap<Element, unknown>} */
const partsOf = new WeakMap();

/**
 * As many lines as there are items, each kept and only written anew.
 * @template Item, Parts
 * @param {HTMLElement} parent
 * @param {Item[]} items
 * @param {(line: HTMLElement) => Parts} make what a new line is made of
 * @param {(parts: Parts, item: Item) => void} write
 */
export function lines(parent, items, make, write) {
  while (parent.children.length > items.length) parent.lastChild?.remove();
  while (parent.children.length < items.length) {
    const line = node("div", {}, parent);
    partsOf.set(line, make(line));
  }
  // All lines of a parent are made by the same caller.
  items.forEach((item, at) => write(/** @type {Parts} */ (partsOf.get(parent.children[at])), item));
  if (parent.hidden !== !items.length) parent.hidden = !items.length;
}
