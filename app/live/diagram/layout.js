// Where everything stands, before pan and zoom: columns by rank, rows inside each lane.
// Widths are in pixels at zoom 1; only x is zoomed, so that text keeps its size.

const PAD_TOP = 8;
const LANE_PAD = 12;
const LANE_GAP = 14;
const LANE_MIN = 46;
const BAR_MIN = 54;
const BAR_TYPICAL = 132;
const BAR_MAX = 220;
const GAP_MIN = 34;
const GAP_MAX = 150;
const PITCH_MIN = 24;
const PITCH_MAX = 36;
const BAR_CHROME = 38;

function layoutDiagram(data, measure, viewWidth, maxHeight) {
  const byId = new Map(data.groups.map((group) => [group.id, group]));
  const laneOf = new Map(data.lanes.map((lane, index) => [lane.device, index]));
  const ranks = [...new Set(data.groups.map((group) => group.rank))].sort((a, b) => a - b);
  const columnOf = new Map(ranks.map((rank, index) => [rank, index]));

  const places = new Map();
  const wanted = ranks.map(() => []);
  for (const group of data.groups) {
    const desired = Math.min(BAR_MAX, Math.max(BAR_MIN, measure(group.label) + BAR_CHROME));
    const column = columnOf.get(group.rank);
    wanted[column].push(desired);
    places.set(group.id, { group, column, lane: laneOf.get(group.device) ?? 0, row: 0, desired });
  }
  const widths = wanted.map((list) => {
    list.sort((a, b) => a - b);
    return Math.min(BAR_TYPICAL, list[Math.floor((list.length - 1) * 0.7)]);
  });
  const bars = widths.reduce((sum, width) => sum + width, 0);
  const spare = ranks.length > 1 ? (viewWidth - bars - 2 * GAP_MIN) / (ranks.length - 1) : 0;
  const gap = Math.max(GAP_MIN, Math.min(GAP_MAX, spare));
  const lefts = [];
  let x = GAP_MIN / 2;
  for (const width of widths) {
    lefts.push(x);
    x += width + gap;
  }
  const width = Math.max(1, x - gap + GAP_MIN / 2);

  const laneRows = packRows(data, places, ranks.length);
  widen(data, places, lefts, widths, gap);

  const rows = laneRows.reduce((sum, count) => sum + count, 0) || 1;
  const fixed = data.lanes.length * (2 * LANE_PAD + LANE_GAP) + PAD_TOP;
  const pitch = Math.max(PITCH_MIN, Math.min(PITCH_MAX, (maxHeight - fixed) / rows));
  const lanes = [];
  let y = PAD_TOP;
  data.lanes.forEach((lane, index) => {
    const content = Math.max(1, laneRows[index]) * pitch;
    const height = Math.max(LANE_MIN, content + 2 * LANE_PAD);
    lanes.push({ lane, y, height, top: y + (height - content) / 2 });
    y += height + LANE_GAP;
  });
  for (const place of places.values()) {
    place.x = lefts[place.column];
    place.y = lanes[place.lane].top + place.row * pitch + 4;
    place.height = pitch - 8;
  }
  return { places, byId, lanes, width, height: y - LANE_GAP + PAD_TOP, columns: ranks.length };
}

// A group goes on the row of a group it depends on where that is free, else on the first free one.
function packRows(data, places, columns) {
  const before = new Map();
  for (const [src, dst] of data.links) {
    if (!before.has(dst)) before.set(dst, []);
    before.get(dst).push(src);
  }
  const rows = data.lanes.map(() => 0);
  const taken = data.lanes.map(() => Array.from({ length: columns }, () => new Set()));
  for (const group of data.groups) {
    const place = places.get(group.id);
    const used = taken[place.lane][place.column];
    const wish = (before.get(group.id) ?? [])
      .map((id) => places.get(id))
      .filter((other) => other && other.lane === place.lane && other.column < place.column)
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

// A bar whose label needs more than its column may reach into the empty columns behind it, but not past
// the next bar of its row, nor past a group that it sends something to.
function widen(data, places, lefts, widths, gap) {
  const receivers = new Map();
  for (const crossing of data.crossings) {
    const dst = places.get(crossing.dst);
    const src = places.get(crossing.src);
    if (!src || !dst || dst.column <= src.column) continue;
    receivers.set(crossing.src, Math.min(receivers.get(crossing.src) ?? Infinity, dst.column));
  }
  const next = new Map();
  const ordered = [...places.values()].sort((a, b) => b.column - a.column);
  for (const place of ordered) {
    const key = `${place.lane}/${place.row}`;
    const stop = Math.min(next.get(key) ?? Infinity, receivers.get(place.group.id) ?? Infinity);
    next.set(key, place.column);
    const own = widths[place.column];
    const end = Number.isFinite(stop) ? lefts[stop] - gap : lefts.at(-1) + widths.at(-1);
    place.width = Math.max(own, Math.min(place.desired, end - lefts[place.column]));
  }
}
