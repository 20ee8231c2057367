import assert from "node:assert/strict";
import { test } from "node:test";

import { clamped, fitZoom, holdPlace, nearestMiddle, nearestOf, pitchAt, zoomAt } from "../../../app/components/diagram/camera.js";
import { layoutDiagram } from "../../../app/components/diagram/layout.js";
import { shareOfWay } from "../../../app/components/diagram/player.js";
import { graph, group, measure } from "./graphs.js";

const DATA = graph(["cpu:0", "gpu:0"], [group("a", "cpu:0", 0), group("b", "cpu:0", 1), group("c", "gpu:0", 1)]);
const laidOut = () => layoutDiagram(DATA, measure, 900, 600);

/** A diagram that draws nothing. */
function view(more = {}) {
  const layout = laidOut();
  return { layout, data: DATA, k: 1, tx: 0, ty: 0, viewWidth: 900, viewHeight: 150, boxes: new Map(), anchor: null, drawLanes() {}, targets() {}, settle() {}, ...more };
}

test("all columns are in view at first, and none is stretched far", () => {
  assert.equal(fitZoom({ width: 1800 }, 900), 0.5);
  assert.equal(fitZoom({ width: 100 }, 900), 1.25);
});

test("rows are farther apart the nearer one looks, up to a height at which text is read well", () => {
  const layout = { width: 1800, fitPitch: 10 };
  assert.equal(pitchAt(layout, 900, 0.5), 10);
  assert.equal(pitchAt(layout, 900, 0.625), 20);
  assert.equal(pitchAt(layout, 900, 4), 30);
});

test("what is under the pointer stays there while zooming", () => {
  const diagram = view();
  const before = (300 - diagram.tx) / diagram.k;
  zoomAt(diagram, 300, 75, 2);
  assert.equal(diagram.k, 2);
  assert.equal((300 - diagram.tx) / diagram.k, before);
  assert.equal(diagram.manual, true);
});

test("zoom has an end on both sides", () => {
  const diagram = view();
  zoomAt(diagram, 0, 0, 1000);
  assert.equal(diagram.k, 6);
  zoomAt(diagram, 0, 0, 0.0001);
  assert.equal(diagram.k, 0.7);
});

test("a part of the drawing stays in view however far it is panned", () => {
  const layout = { width: 1000, height: 400 };
  assert.deepEqual(clamped({ k: 1, tx: -5000, ty: -5000, viewWidth: 900, viewHeight: 300 }, layout), { tx: -880, ty: -100 });
  assert.deepEqual(clamped({ k: 1, tx: 5000, ty: 5000, viewWidth: 900, viewHeight: 300 }, layout), { tx: 780, ty: 0 });
});

test("the bar nearest the middle that is still there is the one that holds the place", () => {
  const { places } = laidOut();
  const boxes = new Map([["gone", { x: 440, y: 0, width: 20, height: 10 }], ["b", { x: 500, y: 0, width: 20, height: 10 }], ["a", { x: 0, y: 0, width: 20, height: 10 }]]);
  assert.equal(nearestMiddle(boxes, places, 900).place.group.id, "b");
  assert.equal(nearestMiddle(new Map(), places, 900), null);
});

test("after opening a scope its first bar on that device holds its place", () => {
  const groups = [group("model/dense", "gpu:0", 2), group("model/conv", "gpu:0", 1), group("model/read", "cpu:0", 0), group("models", "gpu:0", 0)];
  const { places } = layoutDiagram(graph(["cpu:0", "gpu:0"], groups), measure, 900, 600);
  assert.equal(nearestOf({ device: "gpu:0", scope: "model" }, places).group.id, "model/conv");
  assert.equal(nearestOf({ device: "gpu:0", scope: "models/x" }, places).group.id, "models");
  assert.equal(nearestOf({ device: "gpu:0", scope: "other" }, places), null);
});

test("a group that was opened stays where it was", () => {
  const before = layoutDiagram(graph(["cpu:0"], [group("model", "cpu:0", 0)]), measure, 900, 600);
  const groups = [group("x", "cpu:0", 0), group("model/a", "cpu:0", 1)];
  const layout = layoutDiagram(graph(["cpu:0"], groups), measure, 900, 600);
  const diagram = view({ layout, k: 2, anchor: { id: "model", device: "cpu:0", scope: "model", x: 123, y: 45 } });
  holdPlace(diagram, before, layout);
  const place = layout.places.get("model/a");
  assert.deepEqual([place.x * diagram.k + diagram.tx, place.y + diagram.ty], [123, 45]);
  assert.equal(diagram.anchor, null);
});

test("a crossing's dot sets off in the middle of its sender's column and arrives at its receiver's", () => {
  assert.equal(shareOfWay(0.5, 0, 2), 0);
  assert.equal(shareOfWay(2.1, 0, 2), 1);
  assert.ok(shareOfWay(0.2, 0, 2) < 0);
  // Back or within a column it takes a while all the same.
  assert.equal(shareOfWay(2.5 + 0.6, 2, 0), 1);
});
