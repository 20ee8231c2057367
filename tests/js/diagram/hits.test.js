import assert from "node:assert/strict";
import { test } from "node:test";

import { beside, clickMeans, hitOf, nextCrossing, revealing } from "../../../app/components/diagram/input.js";
import { layoutDiagram } from "../../../app/components/diagram/layout.js";
import { besidePointer } from "../../../app/components/diagram/tooltip.js";
import { crossing, graph, group, measure } from "./graphs.js";

/** A node of the drawing with what is around it, as `closest` finds it. */
function node(classes) {
  return { closest: (selector) => (selector in classes ? { getAttribute: () => classes[selector] } : null) };
}

const GROUPS = [group("a", "cpu:0", 0), group("b", "cpu:0", 1), group("c", "gpu:0", 1), group("d", "gpu:0", 2)];
const CROSSINGS = [crossing("a", "c"), crossing("b", "d"), crossing("a", "d")];
const LAYOUT = layoutDiagram(graph(["cpu:0", "gpu:0"], GROUPS), measure, 900, 600);
const PLACES = [...LAYOUT.places.values()];
const DRAWN = new Map(CROSSINGS.map((item) => [item.id, { item }]));

test("a bar's text belongs to its group", () => {
  assert.deepEqual(hitOf(node({ ".group": "b" }), LAYOUT, DRAWN), { group: GROUPS[1], crossing: undefined, handle: false });
});

test("an arrow belongs to its crossing", () => {
  assert.deepEqual(hitOf(node({ ".crossing": "a>c" }), LAYOUT, DRAWN), { group: undefined, crossing: CROSSINGS[0], handle: false });
});

test("a node that is not drawn any more, or the empty ground, hits nothing", () => {
  const nothing = { group: undefined, crossing: undefined, handle: false };
  assert.deepEqual(hitOf(node({ ".group": "gone" }), LAYOUT, DRAWN), nothing);
  assert.deepEqual(hitOf(node({}), LAYOUT, DRAWN), nothing);
  assert.deepEqual(hitOf(node({ ".group": "b" }), null, DRAWN), nothing);
});

test("a click on a handle toggles, on a bar selects, on a crossing selects, beside both clears", () => {
  const hits = [node({ ".group": "a", ".handle": "" }), node({ ".group": "a" }), node({ ".crossing": "a>c" }), node({})];
  assert.deepEqual(hits.map((target) => clickMeans(hitOf(target, LAYOUT, DRAWN))), ["toggle", "group", "crossing", "clear"]);
});

test("left and right go along the lane, up and down to the nearest bar of another", () => {
  const [a, b, c, d] = PLACES;
  assert.equal(beside(PLACES, a, 1, 0), b);
  assert.equal(beside(PLACES, b, 1, 0), undefined);
  assert.equal(beside(PLACES, d, -1, 0), c);
  assert.equal(beside(PLACES, b, 0, 1), c);
  assert.equal(beside(PLACES, d, 0, -1), b);
  assert.equal(beside(PLACES, undefined, 0, 1), a);
});

test("the crossings of a group are walked round and round", () => {
  assert.equal(nextCrossing(CROSSINGS, "a", undefined).id, "a>c");
  assert.equal(nextCrossing(CROSSINGS, "a", "a>c").id, "a>d");
  assert.equal(nextCrossing(CROSSINGS, "a", "a>d").id, "a>c");
  assert.equal(nextCrossing(CROSSINGS, "", "a>c").id, "b>d");
  assert.equal(nextCrossing([], "", undefined), undefined);
});

test("a bar in view needs no panning, one beyond an edge comes in", () => {
  const box = { y: 50, width: 100, height: 20 };
  assert.deepEqual(revealing({ ...box, x: 10 }, 500, 300), { dx: 0, dy: 0 });
  assert.deepEqual(revealing({ ...box, x: -30 }, 500, 300), { dx: 50, dy: 0 });
  assert.deepEqual(revealing({ ...box, x: 450 }, 500, 300), { dx: -70, dy: 0 });
  assert.deepEqual(revealing({ ...box, x: 10, y: 295 }, 500, 300), { dx: 0, dy: -25 });
});

test("the tooltip flips where it would leave the diagram or the window", () => {
  const frame = { top: 100, width: 800, height: 400 };
  const tip = { width: 200, height: 90 };
  assert.deepEqual(besidePointer({ x: 50, y: 60 }, tip, frame, 1000), { left: 66, top: 78 });
  assert.deepEqual(besidePointer({ x: 700, y: 60 }, tip, frame, 1000), { left: 488, top: 78 });
  assert.deepEqual(besidePointer({ x: 50, y: 390 }, tip, frame, 500), { left: 66, top: 288 });
  // Of a diagram whose foot is below the window, the foot counts.
  assert.deepEqual(besidePointer({ x: 50, y: 250 }, tip, frame, 300), { left: 66, top: 268 });
});
