// @ts-check
// From samples to the points of a curve, and from Plotly's events to ranges.

/** @import { Relayout } from "../shared/window.js" */
/** @import { Values } from "./records.js" */

/**
 * Plotly shows numbers as UTC; these show as the reader's own time of day.
 * @param {number} t epoch seconds
 */
export function localMs(t) {
  const ms = t * 1000;
  return ms - new Date(ms).getTimezoneOffset() * 60000;
}

/**
 * The points of a curve.
 * @param {number[]} times
 * @param {(number | null)[]} values
 * @param {number} by what values are divided by
 * @param {number} first the oldest time that is drawn
 * @param {number} gap seconds without a sample over which there is no line
 */
export function curve(times, values, by, first, gap) {
  /** @type {number[]} */
  const x = [];
  /** @type {(number | null)[]} */
  const y = [];
  for (let at = 0; at < values.length; at += 1) {
    if (times[at] < first) continue;
    if (x.length && times[at] - times[at - 1] > gap) {
      x.push(localMs((times[at] + times[at - 1]) / 2));
      y.push(null);
    }
    x.push(localMs(times[at]));
    const value = values[at] ?? null;
    y.push(value === null ? null : value / by);
  }
  return { x, y };
}

/** @param {{ y: (number | null)[] }[]} traces */
export function largest(traces) {
  let most = 0;
  for (const { y } of traces) for (const value of y) if (value !== null && value > most) most = value;
  return most;
}

/**
 * The means of samples, by device and field; null where no sample has a number.
 * @param {Values[]} samples
 * @param {string[]} fields
 * @returns {Values}
 */
export function means(samples, fields) {
  /** @type {Values} */
  const found = new Map();
  for (const device of samples[0].keys()) {
    /** @param {string} field */
    const mean = (field) => {
      const known = samples.map((values) => values.get(device)?.[field]).filter((value) => typeof value === "number");
      return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
    };
    found.set(device, Object.fromEntries(fields.map((field) => [field, mean(field)])));
  }
  return found;
}

/**
 * From where to where an axis was zoomed; null where it was not.
 * @param {Relayout} change
 * @param {"xaxis" | "yaxis"} axis
 * @returns {[string | number, string | number] | null}
 */
export function rangeOf(change, axis) {
  const from = change[`${axis}.range[0]`] ?? change[`${axis}.range`]?.[0];
  const to = change[`${axis}.range[1]`] ?? change[`${axis}.range`]?.[1];
  return from === undefined || to === undefined ? null : [from, to];
}
