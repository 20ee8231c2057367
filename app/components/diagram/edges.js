// @ts-check
// The way of a crossing: out of the right of one bar, into the left of another. To the next column it goes
// straight there; farther on it runs through the channel beside the receiving lane, so that it passes
// behind no bar on its way and every turn happens between two columns.

import { CHANNEL_EDGE, CHANNEL_STEP, channelOf, TURN_MAX, TURN_SHARE } from "./layout.js";

/** @import { Box, Layout, Line, Place, Route } from "./records.js" */

const HEAD = 4.5;

/** @param {number} weight from 0 to 1 */
export function lineWidth(weight) {
  return 1.1 + weight * 4.4;
}

/**
 * Where a line leaves or enters a bar; `order` is where the other bar is.
 * @typedef {{ route: Route, end: "aPort" | "bPort", order: number }} Port
 */

/**
 * The ways of lines by their ids; of those whose bars are both drawn.
 * @template {Line} Drawn
 * @param {Drawn[]} crossings
 * @param {ReadonlyMap<string, Box>} boxes
 * @param {Layout} layout
 * @param {number} ty how far the drawing is panned down
 * @param {number} k its zoom
 * @returns {Map<string, Route<Drawn>>}
 */
export function routeCrossings(crossings, boxes, layout, ty, k) {
  /** @type {Route<Drawn>[]} */
  const routes = [];
  /** @type {Map<string, Port[]>} */
  const sides = new Map();
  /** @type {(key: string, entry: Port) => void} */
  const join = (key, entry) => {
    const entries = sides.get(key) ?? [];
    entries.push(entry);
    sides.set(key, entries);
  };
  for (const crossing of crossings) {
    const a = boxes.get(crossing.src);
    const b = boxes.get(crossing.dst);
    const from = layout.places.get(crossing.src);
    const to = layout.places.get(crossing.dst);
    if (!a || !b || !from || !to) continue;
    const width = lineWidth(crossing.weight);
    /** @type {Route<Drawn>} */
    const route = {
      crossing, a, b, from, to, width,
      aPort: 0, bPort: 0, head: 0, x1: 0, y1: 0, x2: 0, y2: 0, tip: 0, direct: false, bow: false, path: "", arrow: "",
    };
    routes.push(route);
    join(`${crossing.src}>`, { route, end: "aPort", order: b.y });
    join(`>${crossing.dst}`, { route, end: "bPort", order: a.y });
  }
  for (const entries of sides.values()) {
    entries.sort((p, q) => p.order - q.order || (p.route.crossing.id < q.route.crossing.id ? -1 : 1));
    entries.forEach((entry, index) => {
      entry.route[entry.end] = (index + 1) / (entries.length + 1) - 0.5;
    });
  }
  const turn = Math.max(7, Math.min(TURN_MAX, layout.gap * k * TURN_SHARE));
  for (const route of routes) ends(route, turn);
  for (const route of routes) route.bow = Boolean(route.crossing.collective) && route.from.column === route.to.column;
  assignChannels(routes.filter((route) => !route.direct && !route.bow), layout, ty);
  for (const route of routes) (route.bow ? bowed : shape)(route, turn);
  return new Map(routes.map((route) => [route.crossing.id, route]));
}

/**
 * @param {Route} route
 * @param {number} turn
 */
function ends(route, turn) {
  const { a, b, width } = route;
  route.head = HEAD + width;
  route.x1 = a.x + a.width;
  route.y1 = a.y + a.height / 2 + route.aPort * a.height * 0.8;
  route.tip = b.x - 1;
  route.x2 = route.tip - route.head + 1;
  route.y2 = b.y + b.height / 2 + route.bPort * b.height * 0.8;
  const span = route.x2 - route.x1;
  route.direct = span > 4 && (route.to.column === route.from.column + 1 || span < 2 * turn);
}

/**
 * Crossings that share a stretch of a channel run beside one another in it.
 * @param {Route[]} routes
 * @param {Layout} layout
 * @param {number} ty
 */
function assignChannels(routes, layout, ty) {
  /** @type {Map<number, Route[]>} */
  const channels = new Map();
  for (const route of routes) {
    const index = channelOf(route.from, route.to, layout.lanes.length);
    const members = channels.get(index) ?? [];
    members.push(route);
    channels.set(index, members);
  }
  for (const [index, members] of channels) {
    members.sort((p, q) => Math.min(p.x1, p.x2) - Math.min(q.x1, q.x2) || (p.crossing.id < q.crossing.id ? -1 : 1));
    /** @type {number[]} */
    const slots = [];
    const most = Math.max(1, Math.floor((layout.gaps[index] - CHANNEL_EDGE) / CHANNEL_STEP));
    for (const route of members) {
      const [left, right] = [Math.min(route.x1, route.x2), Math.max(route.x1, route.x2)];
      let slot = slots.findIndex((end) => end < left);
      if (slot < 0) slot = slots.length < most ? slots.length : members.indexOf(route) % most;
      slots[slot] = Math.max(right, slots[slot] ?? -Infinity);
      const middle = (slot % 2 ? 1 : -1) * Math.ceil(slot / 2) * CHANNEL_STEP;
      route.channel = layout.channels[index] + ty + middle;
    }
  }
}

/**
 * @param {Route} route
 * @param {number} turn
 */
function shape(route, turn) {
  const { x1, y1, x2, y2, tip, head, direct, channel = 0 } = route;
  const half = head * 0.6;
  route.arrow = `M${r(tip)},${r(y2)}l${r(-head)},${r(-half)}v${r(2 * half)}z`;
  if (direct) {
    const bend = Math.max(8, Math.min(90, (x2 - x1) * 0.55));
    route.path = `M${r(x1)},${r(y1)}C${r(x1 + bend)},${r(y1)} ${r(x2 - bend)},${r(y2)} ${r(x2)},${r(y2)}`;
  } else if (x2 - x1 >= 2 * turn) {
    route.path =
      `M${r(x1)},${r(y1)}C${r(x1 + turn)},${r(y1)} ${r(x1)},${r(channel)} ${r(x1 + turn)},${r(channel)}` +
      `H${r(x2 - turn)}C${r(x2)},${r(channel)} ${r(x2 - turn)},${r(y2)} ${r(x2)},${r(y2)}`;
  } else {
    route.path =
      `M${r(x1)},${r(y1)}C${r(x1 + turn)},${r(y1)} ${r(x1 + turn)},${r(channel)} ${r(x1)},${r(channel)}` +
      `H${r(x2)}C${r(x2 - turn)},${r(channel)} ${r(x2 - turn)},${r(y2)} ${r(x2)},${r(y2)}`;
  }
}

/**
 * Between bars of one column a collective goes round: down on their right, up on their left.
 * @param {Route} route
 * @param {number} turn
 */
function bowed(route, turn) {
  const { a, b, head } = route;
  const side = b.y > a.y ? 1 : -1;
  const right = side > 0;
  const start = right ? a.x + a.width : a.x;
  const edge = right ? b.x + b.width : b.x;
  const y1 = a.y + a.height / 2;
  const y2 = b.y + b.height / 2;
  const tip = edge + side;
  const reach = (right ? Math.max(start, edge) : Math.min(start, edge)) + side * (turn + head);
  const half = head * 0.6;
  route.arrow = `M${r(tip)},${r(y2)}l${r(side * head)},${r(-half)}v${r(2 * half)}z`;
  route.path = `M${r(start)},${r(y1)}C${r(reach)},${r(y1)} ${r(reach)},${r(y2)} ${r(tip + side * (head - 1))},${r(y2)}`;
}

/**
 * A length with one decimal.
 * @param {number} value
 */
export function r(value) {
  return Math.round(value * 10) / 10;
}
