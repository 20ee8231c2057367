// @ts-check
// Code as a patch changes it, and lines that go on deeper where they are too long for one row.

import { node, span } from "./cells.js";

/** @import { ChangedLine } from "./records.js" */

/**
 * What does not fit into a line goes on deeper than the line begins, as people write it.
 * @template {HTMLElement} Target
 * @param {Target} target
 * @param {string} text
 * @returns {Target}
 */
export function hanging(target, text) {
  target.style.setProperty("--hang", `${Math.min(text.length - text.trimStart().length + 4, 28)}ch`);
  return target;
}

/**
 * A line a row: what is added, removed, kept, or the head of a part.
 * @param {Element} parent
 * @param {ChangedLine[]} lines
 */
export function change(parent, lines) {
  const box = node("div", { class: "code-box change", tabindex: 0, "data-testid": "change" }, parent);
  const marks = { added: "+", removed: "\u2212", kept: " ", part: "" };
  for (const { kind, text } of lines) {
    const row = hanging(node("div", { class: `diff ${kind}` }, box), text);
    span(row, marks[kind], "mark");
    const [begun, ...parts] = breakable(text || "\u200b");
    span(row, begun, "begun");
    for (const part of parts) {
      node("wbr", {}, row);
      span(row, part);
    }
  }
}

/**
 * The parts of a text that may break behind brackets and commas. It may break anywhere in the first: a line
 * whose first word is long would else begin a row below its mark.
 * @param {string} text
 * @returns {string[]}
 */
export function breakable(text) {
  const begun = /^\s*[^\s([{,]*[([{,]?/.exec(text)?.[0] ?? "";
  return [begun, ...(text.slice(begun.length).match(/[^([{,]+[([{,]?|[([{,]/g) ?? [])];
}
