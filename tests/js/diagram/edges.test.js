import assert from "node:assert/strict";
import { test } from "node:test";

import { lineWidth, r, routeCrossings } from "../../../app/components/diagram/edges.js";
import { layoutDiagram } from "../../../app/components/diagram/layout.js";
import { crossing, graph, group, measure } from "./graphs.js";

const DEVICES = ["cpu:0", "gpu:0"];
const GROUPS = [0, 1, 2, 3].flatMap((rank) => [group(`c${rank}`, "cpu:0", rank), group(`g${rank}`, "gpu:0", rank)]);

function routed(crossings, boxes) {
  const layout = layoutDiagram(graph(DEVICES, GROUPS, crossings), measure, 900, 600);
  return { layout, routes: routeCrossings(crossings, boxes ?? layout.places, layout, 0, 1) };
}

test("a line leaves its bar on the right and enters the next on the left", () => {
  const { layout, routes } = routed([crossing("c0", "g1")]);
  const route = routes.get("c0>g1");
  const [a, b] = [layout.places.get("c0"), layout.places.get("g1")];
  assert.equal(route.x1, a.x + a.width);
  assert.equal(route.tip, b.x - 1);
  assert.equal(route.y1, a.y + a.height / 2);
  assert.equal(route.y2, b.y + b.height / 2);
  assert.equal(route.direct, true);
  assert.ok(route.path.startsWith(`M${r(route.x1)},${r(route.y1)}C`));
});

test("farther on a line runs through the channel beside the receiver", () => {
  const { layout, routes } = routed([crossing("c0", "g3")]);
  const route = routes.get("c0>g3");
  assert.equal(route.direct, false);
  assert.equal(route.channel, layout.channels[1]);
  assert.match(route.path, /H/);
});

test("lines that share a stretch of a channel run beside one another", () => {
  const { routes } = routed([crossing("c0", "g2"), crossing("c0", "g3")]);
  const channels = [...routes.values()].map((route) => route.channel);
  assert.equal(Math.abs(channels[0] - channels[1]), 6);
});

test("lines that share no stretch may have the same height", () => {
  const { routes } = routed([crossing("c0", "g0"), crossing("c3", "g3")]);
  const channels = [...routes.values()].map((route) => route.channel);
  assert.equal(channels[0], channels[1]);
});

test("lines leave a bar in the order of where they go", () => {
  const { routes } = routed([crossing("c0", "g1"), crossing("c0", "c1")]);
  assert.ok(routes.get("c0>c1").y1 < routes.get("c0>g1").y1);
});

test("a collective of one column goes round its bars", () => {
  const { routes } = routed([crossing("c1", "g1", { collective: true })]);
  const route = routes.get("c1>g1");
  assert.equal(route.bow, true);
  assert.equal(route.channel, undefined);
});

test("a line to a bar that is not drawn has no way", () => {
  const { layout } = routed([]);
  const boxes = new Map([["c0", layout.places.get("c0")]]);
  assert.equal(routed([crossing("c0", "g1")], boxes).routes.size, 0);
});

test("a line is as wide as its weight", () => {
  assert.deepEqual([0, 0.5, 1].map(lineWidth), [1.1, 3.3000000000000003, 5.5]);
});
