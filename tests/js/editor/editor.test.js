import assert from "node:assert/strict";
import { test } from "node:test";

import { movedLine } from "../../../app/components/editor/editor.js";

test("lines typed or removed above the marked one move it", () => {
  assert.equal(movedLine(10, 4, 1), 11);
  assert.equal(movedLine(10, 4, -2), 8);
  assert.equal(movedLine(2, 1, -5), 1);
});

test("what is typed at the marked line or below leaves it", () => {
  assert.equal(movedLine(10, 10, 0), 10);
  assert.equal(movedLine(10, 11, 1), 10);
  assert.equal(movedLine(10, 40, 3), 10);
});

test("where no line is marked none becomes so", () => {
  assert.equal(movedLine(0, 1, 3), 0);
});
