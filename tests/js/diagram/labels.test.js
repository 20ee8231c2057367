import assert from "node:assert/strict";
import { test } from "node:test";

import { fitLabel } from "../../../app/components/diagram/labels.js";

const letters = (text) => text.length;
const fitted = (room) => ["line 118", "train.py/step/line 118", "line 118 x", "gradient_tape"].map((label) => fitLabel(label, room, letters, ""));

test("a label that fits is whole", () => {
  assert.deepEqual(fitted(30), ["line 118", "train.py/step/line 118", "line 118 x", "gradient_tape"]);
});

test("a path keeps its end, a name its first words", () => {
  assert.deepEqual(fitted(10), ["line 118", "…/line 118", "line 118 x", "gradient…"]);
});

test("a line keeps its number, a word its first letters", () => {
  assert.deepEqual(fitted(5), [":118", ":118", "line…", "grad…"]);
});

test("nothing is written where fewer than four letters of a word fit", () => {
  assert.deepEqual(fitted(2), ["", "", "", ""]);
});
