import assert from "node:assert/strict";
import { test } from "node:test";

import { arranged, compare, countText, nextSort, words } from "../../../app/components/table/rows.js";

const entry = (id, name, bytes) => {
  const row = { id, cells: { name: { text: name }, bytes: { text: `${bytes} B`, sort: bytes } } };
  return { row, words: `${name} ${bytes} b`.toLowerCase() };
};
const ENTRIES = [entry("1", "Conv/kernel", 900), entry("2", "dense/bias", 1000), entry("3", "conv/bias", 30)];
const ids = (entries) => entries.map(({ row }) => row.id);

test("rows that have a text in them are found, whatever its case", () => {
  assert.deepEqual(ids(arranged(ENTRIES, "conv", null)), ["1", "3"]);
  assert.deepEqual(ids(arranged(ENTRIES, "", null)), ["1", "2", "3"]);
  assert.deepEqual(ids(arranged(ENTRIES, "nothing", null)), []);
});

test("numbers are sorted by size, texts as people sort them", () => {
  assert.deepEqual(ids(arranged(ENTRIES, "", { name: "bytes", way: -1 })), ["2", "1", "3"]);
  assert.deepEqual(ids(arranged(ENTRIES, "", { name: "name", way: 1 })), ["3", "1", "2"]);
});

test("search and sort go together, and leave the page's own order as it was", () => {
  assert.deepEqual(ids(arranged(ENTRIES, "bias", { name: "bytes", way: 1 })), ["3", "2"]);
  assert.deepEqual(ids(ENTRIES), ["1", "2", "3"]);
});

test("rows that are equal stay in the page's order, either way", () => {
  const same = [entry("a", "x", 1), entry("b", "x", 1), entry("c", "x", 1)];
  assert.deepEqual(ids(arranged(same, "", { name: "bytes", way: 1 })), ["a", "b", "c"]);
  assert.deepEqual(ids(arranged(same, "", { name: "bytes", way: -1 })), ["a", "b", "c"]);
});

test("numbers within texts count as numbers, and a missing cell comes first", () => {
  assert.ok(compare({ text: "gpu:2" }, { text: "gpu:10" }) < 0);
  assert.ok(compare({ text: "9", sort: 9 }, { text: "10", sort: 10 }) < 0);
  assert.ok(compare(undefined, { text: "a" }) < 0);
  assert.equal(compare(undefined, undefined), 0);
});

test("a number's first click shows the largest, the third gives the page's order back", () => {
  const bytes = { name: "bytes", kind: "number" };
  const first = nextSort(null, bytes);
  const second = nextSort(first, bytes);
  assert.deepEqual([first, second, nextSort(second, bytes)], [{ name: "bytes", way: -1 }, { name: "bytes", way: 1 }, null]);
});

test("a text's first click sorts from A, also after another column", () => {
  assert.deepEqual(nextSort({ name: "bytes", way: 1 }, { name: "name", kind: "text" }), { name: "name", way: 1 });
  assert.deepEqual(nextSort({ name: "name", way: 1 }, { name: "name", kind: "text" }), { name: "name", way: -1 });
});

test("all that is written in a cell is searched", () => {
  const cell = { text: "run 1", kind: "tensorflow", remark: "live", of: { lead: "of", text: "run 0" }, devices: [{ device: "gpu:0", hue: "" }], title: "hidden" };
  assert.equal(words(cell), "run 1 tensorflow live run 0 gpu:0");
  assert.equal(words({}), "");
});

test("the number of rows is told while one searches, or where not all are shown", () => {
  assert.equal(countText(3, 3, ""), "");
  assert.equal(countText(1, 3, "conv"), "1 of 3");
  assert.equal(countText(501, 600, ""), "the first 500 of 501: search to find others");
});
