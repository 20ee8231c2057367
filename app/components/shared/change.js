// Code as a patch changes it, and lines that go on deeper where they are too long for one row.

import { node, span } from "./cells.js";

// What does not fit into a line goes on deeper than the line begins, as people write it.
export function hanging(target, text) {
  target.style.setProperty("--hang", `${Math.min(text.length - text.trimStart().length + 4, 28)}ch`);
  return target;
}

// A line a row: what is added, removed, kept, or the head of a part.
export function change(parent, lines) {
  const box = node("div", { class: "code-box change", tabindex: 0, "data-testid": "change" }, parent);
  const marks = { added: "+", removed: "\u2212", kept: " ", part: "" };
  for (const { kind, text } of lines) {
    const row = hanging(node("div", { class: `diff ${kind}` }, box), text);
    span(row, marks[kind], "mark");
    broken(row, text || "\u200b");
  }
}

// Text that may break behind brackets and commas, and anywhere in its beginning: a line whose first word is
// long would else begin a row below its mark.
function broken(parent, text) {
  const begun = /^\s*[^\s([{,]*[([{,]?/.exec(text)[0];
  span(parent, begun, "begun");
  for (const part of text.slice(begun.length).match(/[^([{,]+[([{,]?|[([{,]/g) ?? []) {
    node("wbr", {}, parent);
    span(parent, part);
  }
}
