// @ts-check
// Text that fits: whole words and an ellipsis; half a word only where otherwise nothing would stand there.

/** @import { Measure } from "./records.js" */

const BREAKS = /(?<=[_/.\-:\s])|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Za-z])(?=[0-9])/;
const LEAST_LETTERS = 4; // that half a word must have

/**
 * @param {Element} root
 * @returns {Measure}
 */
export function makeMeasure(root) {
  const context = document.createElement("canvas").getContext("2d");
  const family = getComputedStyle(root).fontFamily || "sans-serif";
  /** @type {Map<string, number>} */
  const known = new Map();
  return (text, font = "500 12px") => {
    const key = font + text;
    let width = known.get(key);
    if (width === undefined) {
      if (!context) return 0;
      context.font = `${font} ${family}`;
      width = context.measureText(text).width;
      known.set(key, width);
    }
    return width;
  };
}

/**
 * The whole label; of a path first the end; then the first words of that, then of the
 * first word the beginning; '' where not even that fits.
 * Of `line 31` it is the number that tells: it is kept, as places in the source are written, `:31`.
 * @param {string} label
 * @param {number} room
 * @param {Measure} measure
 * @param {string} [font]
 */
export function fitLabel(label, room, measure, font) {
  if (measure(label, font) <= room) return label;
  const parts = label.split("/");
  for (let first = 1; first < parts.length; first += 1) {
    const tail = `…/${parts.slice(first).join("/")}`;
    if (measure(tail, font) <= room) return tail;
  }
  const last = parts.at(-1) ?? "";
  const line = last.match(/^line (\d+)$/);
  if (line && measure(`:${line[1]}`, font) <= room) return `:${line[1]}`;
  const words = last.split(BREAKS);
  for (let kept = words.length; kept > 0; kept -= 1) {
    const whole = kept === words.length;
    const short = words.slice(0, kept).join("").replace(whole ? /$/ : /[_/.\-:\s]+$/, "");
    const text = whole ? short : `${short}…`;
    if (short && measure(text, font) <= room) return text;
  }
  const word = words.find((one) => one.length >= LEAST_LETTERS) ?? "";
  for (let kept = word.length - 1; kept >= LEAST_LETTERS; kept -= 1) {
    const text = `${word.slice(0, kept)}…`;
    if (measure(text, font) <= room) return text;
  }
  return "";
}
