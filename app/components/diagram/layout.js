// @ts-check
// Where everything stands, before pan and zoom: columns by rank, rows inside each lane.
// Widths are in pixels at zoom 1. Zoom stretches x; rows grow with it only until text fits well.

/** @import { DiagramData, Lane, Layout, Measure, Place } from "./records.js" */

/** @typedef {Pick<DiagramData, "lanes" | "groups" | "crossings" | "links">} Graph */

const LANE_PAD = 13;
const EDGE = 4;
const CHANNEL_MIN = 22;
const CHANNEL_MAX = 52;
export const CHANNEL_STEP = 6;
export const CHANNEL_EDGE = 10;
const LANE_MIN = 62;
const BAR_MIN = 44;
const BAR_NARROW = 30;
const BAR_READABLE = 40;
const BAR_TIGHT = 66;
const BAR_WIDE = 180;
const BAR_MAX = 240;
const GAP_MIN = 34;
const GAP_TIGHT = 12;
const GAP_SHARE = 0.26;
const GAP_MAX = 150;
export const TURN_SHARE = 0.62;
export const TURN_MAX = 34;
const ARROW_ROOM = 12;
const PITCH_MIN = 9;
const PITCH_READABLE = 20;
export const PITCH_GOOD = 30;
const PITCH_MAX = 36;
const BAR_CHROME = 36;

/**
 * @param {Graph} data
 * @param {Measure} measure
 * @param {number} viewWidth
 * @param {number} maxHeight
 * @returns {Layout}
 */
export function layoutDiagram(data, measure, viewWidth, maxHeight) {
  const byId = new Map(data.groups.map((group) => [group.id, group]));
  const laneOf = new Map(data.lanes.map((lane, index) => [lane.device, index]));
  const ranks = [...new Set(data.groups.map((group) => group.rank))].sort((a, b) => a - b);
  const columnOf = new Map(ranks.map((rank, index) => [rank, index]));

  /** @type {Map<string, Place>} */
  const places = new Map();
  /** @type {number[][]} */
  const wanted = ranks.map(() => []);
  for (const group of data.groups) {
    const desired = Math.min(BAR_MAX, Math.max(BAR_MIN, measure(group.label) + BAR_CHROME));
    const column = columnOf.get(group.rank) ?? 0;
    wanted[column].push(desired);
    places.set(group.id, { group, column, lane: laneOf.get(group.device) ?? 0, row: 0, desired, x: 0, y: 0, width: 0, height: 0 });
  }
  // Long bars reach into the columns behind theirs; behind the last there is none.
  /** @param {number} column */
  const share = (column) => (column === ranks.length - 1 ? 1 : 0.7);
  const typical = wanted.map((list, column) => list.sort((a, b) => a - b)[Math.round((list.length - 1) * share(column))]);
  const least = Math.max(GAP_TIGHT, Math.min(GAP_MIN, (viewWidth / ranks.length) * GAP_SHARE));
  const cap = widestThatFits(typical, viewWidth - (ranks.length + 0.5) * least);
  const widths = typical.map((width) => Math.min(cap, width));
  const bars = widths.reduce((sum, width) => sum + width, 0);
  const spare = ranks.length > 1 ? (viewWidth - bars - 1.5 * least) / (ranks.length - 1) : 0;
  const gap = Math.max(least, Math.min(GAP_MAX, spare));
  /** @type {number[]} */
  const lefts = [];
  const outer = outerTurns(data, places, ranks.length, gap);
  let x = Math.max(least / 2, outer.left);
  for (const width of widths) {
    lefts.push(x);
    x += width + gap;
  }
  const width = Math.max(1, x - gap + Math.max(least, outer.right));
  const laneRows = packRows(data, places, ranks.length);
  for (const place of places.values()) {
    place.x = lefts[place.column];
    place.width = widths[place.column];
  }
  const readable = cap * Math.min(1, viewWidth / width) >= BAR_READABLE;
  if (readable) widen(data, places, lefts, widths, least);

  const rows = laneRows.reduce((sum, count) => sum + count, 0) || 1;
  const gaps = channelHeights(data, places);
  const fixed = data.lanes.length * 2 * LANE_PAD + gaps.reduce((sum, height) => sum + height, 0);
  // Where labels fit across, rows stay high enough for them; a map of small bars is made in one view.
  const lowest = readable ? PITCH_READABLE : PITCH_MIN;
  const fitPitch = Math.max(lowest, Math.min(PITCH_MAX, (maxHeight - fixed) / rows));
  /** @type {Layout} */
  const layout = {
    places, tight: cap < BAR_TIGHT, byId, width, height: 0, gap, pitch: fitPitch, fitPitch,
    columns: ranks.length, laneRows, gaps, lanes: [], channels: [],
  };
  stackLanes(layout, data.lanes, fitPitch);
  return layout;
}

/**
 * Room for what turns round at the outer sides: into a bar of the first column, out of one of the last, when
 * it comes from or goes to no column beyond.
 * @param {Graph} data
 * @param {Map<string, Place>} places
 * @param {number} columns
 * @param {number} gap
 */
function outerTurns(data, places, columns, gap) {
  const room = Math.min(TURN_MAX, gap * TURN_SHARE) + ARROW_ROOM;
  let left = 0;
  let right = 0;
  for (const crossing of data.crossings) {
    const [from, to] = [places.get(crossing.src), places.get(crossing.dst)];
    if (!from || !to || crossing.collective) continue;
    if (to.column === 0) left = room;
    if (from.column === columns - 1) right = room;
  }
  return { left, right };
}

/**
 * Long labels give way first: the largest limit on a column's width with which all columns are in view.
 * @param {number[]} widths
 * @param {number} room
 */
function widestThatFits(widths, room) {
  for (let cap = BAR_WIDE; cap > BAR_NARROW; cap -= 2) {
    if (widths.reduce((sum, width) => sum + Math.min(cap, width), 0) <= room) return cap;
  }
  return BAR_NARROW;
}

/**
 * Gives lanes and bars their y for this distance between rows; `channels` are the middles of the gaps.
 * @param {Layout} layout
 * @param {Lane[]} lanes
 * @param {number} pitch
 */
export function stackLanes(layout, lanes, pitch) {
  layout.pitch = pitch;
  layout.lanes = [];
  layout.channels = [];
  let y = layout.gaps[0];
  lanes.forEach((lane, index) => {
    const content = Math.max(1, layout.laneRows[index]) * pitch;
    const height = Math.max(LANE_MIN, content + 2 * LANE_PAD);
    layout.channels.push(y - layout.gaps[index] / 2);
    layout.lanes.push({ lane, y, height, top: y + (height - content) / 2 });
    y += height + layout.gaps[index + 1];
  });
  layout.channels.push(y - layout.gaps[lanes.length] / 2);
  layout.height = y;
  const inset = Math.min(4, pitch * 0.13);
  for (const place of layout.places.values()) {
    place.y = layout.lanes[place.lane].top + place.row * pitch + inset;
    place.height = pitch - 2 * inset;
  }
}

/**
 * The channel that a crossing runs through when it can't go straight: beside the receiving lane, on the
 * sender's side. Channel 0 lies above the first lane.
 * @param {Pick<Place, "lane">} from
 * @param {Pick<Place, "lane">} to
 * @param {number} lanes how many there are
 */
export function channelOf(from, to, lanes) {
  const below = from.lane > to.lane || (from.lane === to.lane && to.lane < lanes - 1);
  return below ? to.lane + 1 : to.lane;
}

/**
 * Channels are as high as the most crossings that run side by side in them need.
 * @param {Graph} data
 * @param {Map<string, Place>} places
 */
function channelHeights(data, places) {
  const count = data.lanes.length;
  /** @type {[number, number][][]} */
  const ends = Array.from({ length: count + 1 }, () => []);
  for (const crossing of data.crossings) {
    const [from, to] = [places.get(crossing.src), places.get(crossing.dst)];
    if (!from || !to || to.column === from.column + 1) continue;
    if (crossing.collective && to.column === from.column) continue;
    const [left, right] = [Math.min(from.column, to.column), Math.max(from.column, to.column)];
    ends[channelOf(from, to, count)].push([left, 1], [right, -1]);
  }
  return ends.map((list, index) => {
    const outer = index === 0 || index === count;
    if (outer && !list.length) return EDGE;
    list.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
    let now = 0;
    let most = 0;
    for (const [, change] of list) {
      now += change;
      most = Math.max(most, now);
    }
    return Math.max(CHANNEL_MIN, Math.min(CHANNEL_MAX, 2 * CHANNEL_EDGE + most * CHANNEL_STEP));
  });
}

/**
 * A group goes on the row of a group it depends on where that is free, else on the first free one.
 * @param {Graph} data
 * @param {Map<string, Place>} places
 * @param {number} columns
 */
function packRows(data, places, columns) {
  /** @type {Map<string, string[]>} */
  const before = new Map();
  for (const [src, dst] of data.links) {
    const sources = before.get(dst) ?? [];
    sources.push(src);
    before.set(dst, sources);
  }
  const rows = data.lanes.map(() => 0);
  /** @type {Set<number>[][]} */
  const taken = data.lanes.map(() => Array.from({ length: columns }, () => new Set()));
  for (const place of places.values()) {
    const used = taken[place.lane][place.column];
    const wish = (before.get(place.group.id) ?? [])
      .flatMap((id) => places.get(id) ?? [])
      .filter((other) => other.lane === place.lane && other.column < place.column)
      .map((other) => other.row)
      .find((row) => !used.has(row));
    let row = wish;
    if (row === undefined) for (row = 0; used.has(row); row += 1);
    place.row = row;
    used.add(row);
    rows[place.lane] = Math.max(rows[place.lane], row + 1);
  }
  return rows;
}

/**
 * A bar whose label needs more than its column may reach into the empty columns behind it, but not past
 * the next bar of its row, nor near a group that it sends something to.
 * @param {Graph} data
 * @param {Map<string, Place>} places
 * @param {number[]} lefts
 * @param {number[]} widths
 * @param {number} least
 */
function widen(data, places, lefts, widths, least) {
  /** @type {Map<string, number>} */
  const receivers = new Map();
  for (const crossing of data.crossings) {
    const dst = places.get(crossing.dst);
    const src = places.get(crossing.src);
    if (!src || !dst || dst.column <= src.column) continue;
    receivers.set(crossing.src, Math.min(receivers.get(crossing.src) ?? Infinity, dst.column));
  }
  /** @type {Map<string, number>} */
  const next = new Map();
  const last = widths.length - 1;
  const ordered = [...places.values()].sort((a, b) => b.column - a.column);
  for (const place of ordered) {
    const key = `${place.lane}/${place.row}`;
    const neighbour = next.get(key);
    const receiver = receivers.get(place.group.id);
    next.set(key, place.column);
    const end = Math.min(
      lefts[last] + widths[last],
      neighbour === undefined ? Infinity : lefts[neighbour] - Math.min(14, least),
      receiver === undefined ? Infinity : lefts[receiver] - least,
    );
    place.width = Math.max(widths[place.column], Math.min(place.desired, end - lefts[place.column]));
  }
}
