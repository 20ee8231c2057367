// One line of code with its words in their colours. All text is set as text, never as HTML.

import { span } from "./cells.js";

const KINDS = new Set(["keyword", "string", "comment", "digits", "name"]);

export function drawCode(target, text, words) {
  let at = 0;
  for (const [start, end, kind] of words) {
    if (start < at || end > text.length || !KINDS.has(kind)) continue;
    if (start > at) target.append(text.slice(at, start));
    span(target, text.slice(start, end), kind);
    at = end;
  }
  target.append(text.slice(at) || (at ? "" : "\u200b"));
}
