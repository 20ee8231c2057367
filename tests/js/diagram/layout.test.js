import assert from "node:assert/strict";
import { test } from "node:test";

import { channelOf, layoutDiagram, stackLanes } from "../../../app/components/diagram/layout.js";
import { cells, crossing, graph, group, measure } from "./graphs.js";

test("ranks become columns without holes, devices become lanes", () => {
  const data = graph(["cpu:0", "gpu:0"], [group("read", "cpu:0", 0), group("dense", "gpu:0", 4), group("loss", "gpu:0", 9)]);
  assert.deepEqual(cells(layoutDiagram(data, measure, 900, 600)), { read: [0, 0, 0], dense: [1, 1, 0], loss: [2, 1, 0] });
});

test("a group goes on the row of a group that it depends on", () => {
  const groups = [group("a", "gpu:0", 0), group("b", "gpu:0", 0), group("after b", "gpu:0", 1), group("free", "gpu:0", 1)];
  const data = graph(["gpu:0"], groups, [], [["b", "after b"]]);
  assert.deepEqual(cells(layoutDiagram(data, measure, 900, 600)), { a: [0, 0, 0], b: [0, 0, 1], "after b": [1, 0, 1], free: [1, 0, 0] });
});

test("a taken row is given to no second group", () => {
  const groups = [group("a", "gpu:0", 0), group("x", "gpu:0", 1), group("y", "gpu:0", 1)];
  const data = graph(["gpu:0"], groups, [], [["a", "x"], ["a", "y"]]);
  assert.deepEqual(cells(layoutDiagram(data, measure, 900, 600)), { a: [0, 0, 0], x: [1, 0, 0], y: [1, 0, 1] });
});

test("of two groups that depend on one the second gets a row of its own", () => {
  const groups = [group("a", "gpu:0", 0), group("b", "gpu:0", 0), group("x", "gpu:0", 1), group("y", "gpu:0", 1)];
  const data = graph(["gpu:0"], groups, [], [["b", "x"], ["b", "y"]]);
  assert.deepEqual(cells(layoutDiagram(data, measure, 900, 600)), { a: [0, 0, 0], b: [0, 0, 1], x: [1, 0, 1], y: [1, 0, 0] });
});

test("a group on an unknown device stands in the first lane", () => {
  const data = graph(["cpu:0"], [group("a", "tpu:0", 0)]);
  assert.deepEqual(cells(layoutDiagram(data, measure, 900, 600)), { a: [0, 0, 0] });
});

test("bars of one row never overlap, and all are in view", () => {
  const groups = Array.from({ length: 12 }, (_, rank) => group(`a rather long label ${rank}`, "gpu:0", rank));
  const layout = layoutDiagram(graph(["gpu:0"], groups), measure, 900, 600);
  const bars = [...layout.places.values()].sort((p, q) => p.x - q.x);
  for (const [at, bar] of bars.entries()) {
    assert.ok(bar.x >= 0 && bar.x + bar.width <= layout.width, `bar ${at}`);
    if (at) assert.ok(bars[at - 1].x + bars[at - 1].width < bar.x, `bars ${at - 1} and ${at}`);
  }
});

test("a long label reaches into the empty columns behind its bar, but not past a receiver", () => {
  const label = "an exceedingly long label of a group";
  const groups = [group("a", "gpu:0", 0, { label }), group("b", "gpu:1", 1), group("c", "gpu:1", 2), group("d", "gpu:1", 3)];
  const alone = layoutDiagram(graph(["gpu:0", "gpu:1"], groups), measure, 900, 600);
  const sending = layoutDiagram(graph(["gpu:0", "gpu:1"], groups, [crossing("a", "b")]), measure, 900, 600);
  assert.equal(alone.places.get("a").width, 240);
  const { x, width } = sending.places.get("a");
  assert.ok(x + width < sending.places.get("b").x);
});

test("lanes stand below one another, each bar inside its lane", () => {
  const groups = [group("a", "cpu:0", 0), group("b", "cpu:0", 0), group("c", "gpu:0", 1)];
  const layout = layoutDiagram(graph(["cpu:0", "gpu:0"], groups), measure, 900, 600);
  const [first, second] = layout.lanes;
  assert.ok(first.y + first.height < second.y);
  for (const place of layout.places.values()) {
    const lane = layout.lanes[place.lane];
    assert.ok(place.y >= lane.y && place.y + place.height <= lane.y + lane.height, place.group.id);
  }
  assert.equal(layout.lanes.length + 1, layout.channels.length);
});

test("rows farther apart make higher lanes and bars", () => {
  const data = graph(["cpu:0"], [group("a", "cpu:0", 0), group("b", "cpu:0", 0), group("c", "cpu:0", 0)]);
  const layout = layoutDiagram(data, measure, 900, 600);
  stackLanes(layout, data.lanes, 20);
  const low = { lane: layout.lanes[0].height, bar: layout.places.get("c").height };
  stackLanes(layout, data.lanes, 40);
  assert.deepEqual([low.lane, layout.lanes[0].height], [3 * 20 + 26, 3 * 40 + 26]);
  assert.deepEqual([low.bar, layout.places.get("c").height], [20 - 2 * 2.6, 40 - 2 * 4]);
});

test("crossings that run side by side make their channel higher", () => {
  const groups = [0, 1, 2, 3].flatMap((rank) => [group(`c${rank}`, "cpu:0", rank), group(`g${rank}`, "gpu:0", rank)]);
  const few = layoutDiagram(graph(["cpu:0", "gpu:0"], groups, [crossing("c0", "g2")]), measure, 900, 600);
  const many = layoutDiagram(graph(["cpu:0", "gpu:0"], groups, [crossing("c0", "g2"), crossing("c0", "g3"), crossing("c1", "g3")]), measure, 900, 600);
  assert.deepEqual(few.gaps, [4, 26, 4]);
  assert.deepEqual(many.gaps, [4, 38, 4]);
});

test("crossings that meet in a column run side by side there", () => {
  const groups = [0, 1, 2, 3, 4].flatMap((rank) => [group(`c${rank}`, "cpu:0", rank), group(`g${rank}`, "gpu:0", rank)]);
  const layout = layoutDiagram(graph(["cpu:0", "gpu:0"], groups, [crossing("c0", "g2"), crossing("c2", "g4")]), measure, 900, 600);
  assert.deepEqual(layout.gaps, [4, 32, 4]);
});

test("a channel lies beside the receiving lane, on the sender's side", () => {
  assert.equal(channelOf({ lane: 0 }, { lane: 2 }, 3), 2);
  assert.equal(channelOf({ lane: 2 }, { lane: 0 }, 3), 1);
  assert.equal(channelOf({ lane: 1 }, { lane: 1 }, 3), 2);
  assert.equal(channelOf({ lane: 2 }, { lane: 2 }, 3), 2);
});
