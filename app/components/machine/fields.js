// One field of a device: its value with a unit, or why there is none. Never 0 for what is not known.

import { node, put } from "../shared/cells.js";
import { isMissing } from "./stream.js";

export const GIB = 1024 ** 3;
const STATES = {
  unsupported: "not supported by this device or driver",
  denied: "no permission to read it",
  error: "it could not be read",
};
export const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
export const tenth = new Intl.NumberFormat("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 });

export const FORMS = {
  percent: (value) => `${whole.format(value)} %`,
  celsius: (value) => `${whole.format(value)} °C`,
  watts: (value) => `${whole.format(value)} W`,
  megahertz: (value) => `${whole.format(value)} MHz`,
  gibibytes: (value) => `${tenth.format(value / GIB)} GiB`,
  count: (value) => whole.format(value),
  text: (value) => String(value),
};

// Both ways with one unit and three digits at most, so that it keeps its width.
export function throughput(received, sent) {
  const most = Math.max(received, sent);
  const [factor, unit] = most >= 999.5e6 ? [1e9, "GB/s"] : most >= 999.5e3 ? [1e6, "MB/s"] : [1e3, "kB/s"];
  const word = (value) => {
    const scaled = value / factor;
    if (scaled > 0 && scaled < 0.05) return "<0.1";
    return scaled && scaled < 9.95 ? tenth.format(scaled) : whole.format(scaled);
  };
  return `in ${word(received)} · out ${word(sent)} ${unit}`;
}

export function size(bytes) {
  if (bytes >= GIB) return `${tenth.format(bytes / GIB)} GiB`;
  return `${whole.format(bytes / 1024 ** 2)} MiB`;
}

export function uptime(seconds) {
  const minutes = Math.floor(seconds / 60);
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24];
  if (days) return `${days} d ${hours} h`;
  return hours ? `${hours} h ${String(minutes % 60).padStart(2, "0")} min` : `${minutes} min`;
}

export function whyMissing(value) {
  if (value === undefined) return "not read yet";
  // Reasons that are not NVML's own names are sentences already.
  return isNvmls(value) ? `${STATES[value.state] ?? value.state}: ${value.reason}` : value.reason;
}

function isNvmls({ reason }) {
  return /^[A-Z0-9_]+$/.test(reason);
}

// What only has to wait, or is not told, is no error.
export function missingWord(value) {
  if (value === undefined) return "not read";
  return value.state === "error" && !isNvmls(value) ? "–" : value.state;
}

// Sets a value, or the word for why there is none with the reason under the pointer.
export function show(target, value, form, title = "") {
  const missing = isMissing(value) || value === null;
  put(target, missing ? (value === null ? "none" : missingWord(value)) : form(value));
  toggle(target, "absent", missing);
  hint(target, missing && value !== null ? whyMissing(value) : title);
}

export function hint(target, title) {
  if (target.title !== title) target.title = title;
}

export function toggle(target, name, on) {
  if (target.classList.contains(name) !== on) target.classList.toggle(name, on);
}

export function mark(target, name, value) {
  if (target.dataset[name] !== String(value)) target.dataset[name] = value;
}

// How full a bar is, 0 to 1; it is moved, not laid out anew.
export function fill(target, fraction) {
  const wanted = `scaleX(${Math.min(1, Math.max(0, fraction)).toFixed(4)})`;
  if (target.wanted === wanted) return;
  target.wanted = wanted;
  target.style.transform = wanted;
}

export function hueOf(index) {
  return `hue${index % 8}`;
}

// As many lines as there are items, each kept and only written anew.
export function lines(parent, items, write) {
  while (parent.children.length > items.length) parent.lastChild.remove();
  while (parent.children.length < items.length) node("div", {}, parent);
  items.forEach((item, at) => write(parent.children[at], item));
  if (parent.hidden !== !items.length) parent.hidden = !items.length;
}
