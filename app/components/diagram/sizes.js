// @ts-check
// The sizes written on the crossings, while they are few: where each stands.

/** @import { Area, Box, Crossing, Measure, Route } from "./records.js" */

const LABELLED_CROSSINGS = 24;
const LABEL_SPOTS = [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8];

/**
 * A size and the middle of its text; `half` is half its width.
 * @typedef {{ crossing: Crossing, x: number, y: number, half: number, area: Area }} Size
 */

/**
 * Each size where it covers no bar, no other size, and of no crossing that matters more the stretch along a
 * channel: in a bundle it would be taken for that one's. None where there are many crossings.
 * @param {Route<Crossing>[]} routes
 * @param {Iterable<Box>} boxes
 * @param {Measure} measure
 * @param {number} viewWidth
 * @param {(route: Route<Crossing>, share: number) => { x: number, y: number }} pointOn a point of a route's line
 * @returns {Size[]}
 */
export function placeSizes(routes, boxes, measure, viewWidth, pointOn) {
  if (routes.length > LABELLED_CROSSINGS) return [];
  /** @type {Set<string>} */
  const written = new Set();
  /** @type {Area[]} */
  const taken = [...boxes].map((box) => ({ left: box.x - 2, right: box.x + box.width + 2, top: box.y - 2, bottom: box.y + box.height + 2 }));
  /** @type {Size[]} */
  const sizes = [];
  for (const route of [...routes].sort(byWeight)) {
    const { crossing } = route;
    // A ring's arrows all say the same: it is written once.
    if (!crossing.collective || !written.has(crossing.text)) {
      const half = measure(crossing.text, "500 11px") / 2 + 4;
      for (const spot of LABEL_SPOTS) {
        const point = pointOn(route, spot);
        const x = crossing.collective ? Math.max(half, Math.min(viewWidth - half, point.x)) : point.x;
        const area = { left: x - half, right: x + half, top: point.y - 10, bottom: point.y + 10 };
        if (area.left < 0 || area.right > viewWidth || taken.some((other) => overlaps(area, other))) continue;
        taken.push(area);
        written.add(crossing.text);
        sizes.push({ crossing, x, y: point.y, half, area });
        break;
      }
    }
    taken.push(...stretch(route));
  }
  return sizes;
}

/**
 * What needs attention first, then the widest.
 * @param {Route<Crossing>} p
 * @param {Route<Crossing>} q
 */
function byWeight(p, q) {
  return Number(q.crossing.alert) - Number(p.crossing.alert) || q.width - p.width;
}

/**
 * Where a crossing runs along a channel; nothing for one that goes straight to its bar.
 * @param {Pick<Route, "channel" | "x1" | "x2">} route
 * @returns {Area[]}
 */
function stretch({ channel, x1, x2 }) {
  return channel === undefined ? [] : [{ left: Math.min(x1, x2), right: Math.max(x1, x2), top: channel - 1, bottom: channel + 1 }];
}

/**
 * @param {Area} a
 * @param {Area} b
 */
function overlaps(a, b) {
  return a.left < b.right && a.right > b.left && a.top < b.bottom && a.bottom > b.top;
}
