import assert from "node:assert/strict";
import { test } from "node:test";

import { markedBy } from "../../../app/components/diagram/marks.js";
import { placeSizes } from "../../../app/components/diagram/sizes.js";
import { crossing, measure } from "./graphs.js";

const DATA = {
  crossings: [crossing("a", "b", { cause: "host-sync" }), crossing("b", "c"), crossing("d", "e")],
  links: [["a", "x"]],
};
const DRAWN = new Set(["a", "b", "c", "d", "e", "x"]);
const NOTHING = { group: "", crossings: [], filtered: false };
const sorted = ({ hot, near, fading }) => [[...hot].sort(), [...near].sort(), fading];

test("nothing picked fades nothing", () => {
  assert.deepEqual(sorted(markedBy(DATA, NOTHING, null, DRAWN)), [[], [], false]);
});

test("a picked group marks its crossings, and what it is linked to", () => {
  assert.deepEqual(sorted(markedBy(DATA, { ...NOTHING, group: "a" }, null, DRAWN)), [["a>b"], ["a", "b", "x"], true]);
});

test("a picked crossing marks both its ends", () => {
  assert.deepEqual(sorted(markedBy(DATA, { ...NOTHING, crossings: ["d>e"] }, null, DRAWN)), [["d>e"], ["d", "e"], true]);
});

test("a cause that is pointed at marks its crossings", () => {
  assert.deepEqual(sorted(markedBy(DATA, NOTHING, "host-sync", DRAWN)), [["a>b"], ["a", "b"], true]);
});

test("a group that is not drawn marks nothing, yet a filter fades all", () => {
  assert.deepEqual(sorted(markedBy(DATA, { ...NOTHING, group: "gone" }, null, DRAWN)), [[], [], false]);
  assert.deepEqual(sorted(markedBy(DATA, { ...NOTHING, filtered: true }, null, DRAWN)), [[], [], true]);
});

/** A straight line from left to right at one height. */
const line = (id, y, more = {}) => ({ crossing: { ...crossing("s", "t", more), id, text: id }, width: 1, x1: 0, x2: 400, y1: y, ...more });
const pointOn = (route, share) => ({ x: 400 * share, y: route.y1 });
const written = (routes, boxes = [], width = 400) =>
  placeSizes(routes, boxes, measure, width, pointOn).map(({ crossing: { id }, x, y }) => [id, x, y]);

test("a size stands in the middle of its line", () => {
  assert.deepEqual(written([line("64 KiB", 50)]), [["64 KiB", 200, 50]]);
});

test("a size that would cover a bar, or another size, stands elsewhere on its line", () => {
  assert.deepEqual(written([line("64 KiB", 50)], [{ x: 180, y: 40, width: 40, height: 20 }]), [["64 KiB", 120, 50]]);
  assert.deepEqual(written([line("1 MiB", 50), line("2 MiB", 55)]), [["1 MiB", 200, 50], ["2 MiB", 120, 55]]);
});

test("a size stands nowhere beyond an edge of the view", () => {
  const left = (route, share) => ({ x: 400 * share - 190, y: 50 });
  assert.deepEqual(placeSizes([line("64 KiB", 50)], [], measure, 400, left).map(({ x }) => x), [50]);
  const right = (route, share) => ({ x: 400 * share + 190, y: 50 });
  assert.deepEqual(placeSizes([line("64 KiB", 50)], [], measure, 400, right).map(({ x }) => x), [350]);
});

test("what needs attention is written first, then the widest", () => {
  const routes = [line("thin", 50), { ...line("wide", 50), width: 5 }, line("alert", 50, { alert: true })];
  assert.deepEqual(written(routes).map(([id]) => id), ["alert", "wide", "thin"]);
});

test("a size without a free spot is left out", () => {
  assert.deepEqual(written([line("64 KiB", 50)], [{ x: 0, y: 40, width: 400, height: 20 }]), []);
});

test("a size keeps off the channel of a crossing that matters more", () => {
  const more = { ...line("more", 100), width: 5, channel: 50 };
  assert.deepEqual(written([more, line("less", 50)]), [["more", 200, 100]]);
});

test("a ring's size is written once", () => {
  const ring = (id, y) => ({ ...line(id, y, { collective: true }), crossing: { ...crossing("s", "t", { collective: true }), id, text: "ring" } });
  assert.deepEqual(written([ring("one", 50), ring("two", 90)]), [["one", 200, 50]]);
});

test("of more than 24 crossings no size is written", () => {
  assert.equal(written(Array.from({ length: 25 }, (_, at) => line(`${at}`, 30 * at))).length, 0);
});
