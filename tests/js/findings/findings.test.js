import assert from "node:assert/strict";
import { test } from "node:test";

import { freeKey, isBrief } from "../../../app/components/findings/findings.js";

test("of four findings all are laid out, of more the first three", () => {
  const laidOut = (number) => Array.from({ length: number }, (_, index) => !isBrief({ quiet: false }, index, number));
  assert.deepEqual(laidOut(4), [true, true, true, true]);
  assert.deepEqual(laidOut(5), [true, true, true, false, false]);
  assert.equal(isBrief({ quiet: true }, 9, 10), false);
});

test("each card has a key of its own", () => {
  const kept = new Map();
  for (const finding of [{ id: "a", name: "n" }, { id: "", name: "n" }, { id: "a", name: "m" }, { id: "a", name: "o" }]) kept.set(freeKey(finding, kept), finding);
  assert.deepEqual([...kept.keys()], ["a", "n", "a'", "a''"]);
});
