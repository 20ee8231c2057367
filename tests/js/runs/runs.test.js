import assert from "node:assert/strict";
import { test } from "node:test";

import { agoText, durationText, mergedRows } from "../../../app/components/runs/runs.js";

const row = (id, state) => ({ id, cells: { state: { text: state }, started: {}, duration: {} } });

test("rows that came replace those that were known, the others stay, in the server's order", () => {
  const known = new Map([["a", row("a", "running")], ["b", row("b", "finished")], ["c", row("c", "failed")]]);
  const rows = mergedRows(known, ["d", "a", "b"], [row("a", "finished"), row("d", "starting")]);
  assert.deepEqual([...rows].map(([id, { cells }]) => [id, cells.state.text]), [["d", "starting"], ["a", "finished"], ["b", "finished"]]);
});

test("a row that was never sent is left out", () => {
  assert.deepEqual([...mergedRows(new Map(), ["a"], []).keys()], []);
});

test("how long ago is told in one unit, from a week on as a day", () => {
  const date = "2024-05-06 07:08";
  const seconds = [-5, 0, 59.9, 60, 3599, 3600, 86400, 7 * 86400 - 1, 7 * 86400];
  assert.deepEqual(seconds.map((number) => agoText(number, date)), [
    "0 s ago", "0 s ago", "59 s ago", "1 min ago", "59 min ago", "1 h ago", "1 d ago", "6 d ago", "2024-05-06",
  ]);
});

test("how long is told in two units", () => {
  assert.deepEqual([-1, 0.4, 59.4, 59.6, 61, 3599, 3600, 7384].map(durationText), [
    "0 s", "0 s", "59 s", "1 min 00 s", "1 min 01 s", "59 min 59 s", "1 h 00 min", "2 h 03 min",
  ]);
});
