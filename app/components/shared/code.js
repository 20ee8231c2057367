// @ts-check
// One line of code with its words in their colours. All text is set as text, never as HTML.

import { span } from "./cells.js";

/** @import { Word } from "./records.js" */

const KINDS = new Set(["keyword", "string", "comment", "digits", "name"]);

/**
 * The parts of a line, in order; those without a kind are plain.
 * @param {string} text
 * @param {Word[]} words
 * @returns {{ text: string, kind: string }[]}
 */
export function codeParts(text, words) {
  const parts = [];
  let at = 0;
  for (const [start, end, kind] of words) {
    if (start < at || end > text.length || !KINDS.has(kind)) continue;
    if (start > at) parts.push({ text: text.slice(at, start), kind: "" });
    parts.push({ text: text.slice(start, end), kind });
    at = end;
  }
  // An empty line is as high as others.
  parts.push({ text: text.slice(at) || (at ? "" : "\u200b"), kind: "" });
  return parts;
}

/**
 * @param {Element} target
 * @param {string} text
 * @param {Word[]} words
 */
export function drawCode(target, text, words) {
  for (const part of codeParts(text, words)) {
    if (part.kind) span(target, part.text, part.kind);
    else target.append(part.text);
  }
}
