// @ts-check
// Zoom and pan: what is in view, and that it stays there when the data changes.

import { PITCH_GOOD, stackLanes } from "./layout.js";

/** @import { Diagram } from "./main.js" */
/** @import { Box, Layout, Place } from "./records.js" */

const ZOOM_MAX = 6;

/**
 * A group that was opened or closed, and where it stood.
 * @typedef {{ id: string, device: string, scope: string, x: number, y: number }} Anchor
 */

/**
 * Keeps what the reader looks at where it is: the group just opened or closed, else the one nearest the middle.
 * @param {Diagram} diagram
 * @param {Layout} before
 * @param {Layout} layout
 */
export function holdPlace(diagram, before, layout) {
  const { anchor } = diagram;
  let held = null;
  if (anchor && !haveSameGroups(before.places, layout.places)) {
    const place = layout.places.get(anchor.id) ?? nearestOf(anchor, layout.places);
    if (place) held = { place, at: anchor };
    diagram.anchor = null;
  }
  held ??= nearestMiddle(diagram.boxes, layout.places, diagram.viewWidth);
  if (!held) return;
  diagram.tx = held.at.x - held.place.x * diagram.k;
  diagram.ty = held.at.y - held.place.y;
}

/**
 * @param {ReadonlyMap<string, unknown>} before
 * @param {ReadonlyMap<string, unknown>} now
 */
function haveSameGroups(before, now) {
  return before.size === now.size && [...before.keys()].every((id) => now.has(id));
}

/**
 * The bar nearest the middle of what is in view that is still there, and where it stood.
 * @param {ReadonlyMap<string, Box>} boxes
 * @param {ReadonlyMap<string, Place>} places
 * @param {number} viewWidth
 */
export function nearestMiddle(boxes, places, viewWidth) {
  let best = Infinity;
  let nearest = null;
  for (const [id, box] of boxes) {
    const distance = Math.abs(box.x + box.width / 2 - viewWidth / 2);
    const place = places.get(id);
    if (distance < best && place) {
      best = distance;
      nearest = { place, at: box };
    }
  }
  return nearest;
}

/**
 * After opening: the first bar of the scope on that device; after closing: the bar that now holds it.
 * @param {Pick<Anchor, "device" | "scope">} anchor
 * @param {ReadonlyMap<string, Place>} places
 */
export function nearestOf(anchor, places) {
  const related = [...places.values()].filter(({ group }) => {
    const device = !anchor.device || group.device === anchor.device;
    const inner = group.scope === anchor.scope || group.scope.startsWith(`${anchor.scope}/`);
    return device && (inner || anchor.scope.startsWith(`${group.scope}/`));
  });
  related.sort((p, q) => p.column - q.column || p.row - q.row);
  return related[0] ?? null;
}

/**
 * The zoom at which all columns are in view.
 * @param {Pick<Layout, "width">} layout
 * @param {number} viewWidth
 */
export function fitZoom(layout, viewWidth) {
  return Math.min(1.25, viewWidth / layout.width);
}

/**
 * The distance between rows at zoom `k`: all rows in view at first, room for text when zoomed in.
 * @param {Pick<Layout, "width" | "fitPitch">} layout
 * @param {number} viewWidth
 * @param {number} k
 */
export function pitchAt(layout, viewWidth, k) {
  const { fitPitch } = layout;
  const least = fitZoom(layout, viewWidth);
  const share = (k - least) / (Math.max(0.75, least * 1.5) - least);
  return fitPitch + (Math.max(fitPitch, PITCH_GOOD) - fitPitch) * Math.max(0, Math.min(1, share));
}

/**
 * @param {Diagram} diagram
 * @param {Layout} layout
 */
export function fitView(diagram, layout) {
  diagram.k = fitZoom(layout, diagram.viewWidth);
  diagram.tx = 0;
  diagram.ty = 0;
  stackLanes(layout, diagram.data.lanes, layout.fitPitch);
}

/** @param {Diagram} diagram */
export function fit(diagram) {
  diagram.manual = false;
  const { layout } = diagram;
  if (!layout) return;
  fitView(diagram, layout);
  diagram.drawLanes(layout);
  if (reducedMotion()) diagram.settle(diagram.targets(layout));
  else diagram.glide(diagram.targets(layout));
}

/**
 * What is panned to, or as near to it as some of the drawing stays in view.
 * @param {{ k: number, tx: number, ty: number, viewWidth: number, viewHeight: number }} view
 * @param {Pick<Layout, "width" | "height">} layout
 */
export function clamped({ k, tx, ty, viewWidth, viewHeight }, layout) {
  const span = layout.width * k;
  const margin = Math.min(120, span);
  return {
    tx: Math.max(margin - span, Math.min(viewWidth - margin, tx)),
    ty: Math.max(Math.min(0, viewHeight - layout.height), Math.min(0, ty)),
  };
}

/**
 * @param {Diagram} diagram
 * @param {Layout} layout
 */
export function clampView(diagram, layout) {
  Object.assign(diagram, clamped(diagram, layout));
}

/**
 * Zooms so that what is at this place of the view stays there.
 * @param {Diagram} diagram
 * @param {number} x
 * @param {number} y
 * @param {number} factor
 */
export function zoomAt(diagram, x, y, factor) {
  const { layout } = diagram;
  if (!layout) return;
  const least = Math.min(1, fitZoom(layout, diagram.viewWidth)) * 0.7;
  const k = Math.max(least, Math.min(ZOOM_MAX, diagram.k * factor));
  diagram.tx = x - ((x - diagram.tx) * k) / diagram.k;
  diagram.k = k;
  const share = (y - diagram.ty) / layout.height;
  stackLanes(layout, diagram.data.lanes, pitchAt(layout, diagram.viewWidth, k));
  diagram.ty = y - share * layout.height;
  diagram.manual = true;
  clampView(diagram, layout);
  diagram.drawLanes(layout);
  diagram.settle(diagram.targets(layout));
}

/**
 * @param {Diagram} diagram
 * @param {number} dx
 * @param {number} dy
 */
export function panBy(diagram, dx, dy) {
  const { layout } = diagram;
  if (!layout) return;
  diagram.tx += dx;
  diagram.ty += dy;
  diagram.manual = true;
  clampView(diagram, layout);
  diagram.settle(diagram.targets(layout));
}

/**
 * @param {Diagram} diagram
 * @param {Layout} layout
 * @param {number} column
 */
export function keepColumnInView(diagram, layout, column) {
  const place = [...layout.places.values()].find((one) => one.column === column);
  if (!place) return;
  const left = place.x * diagram.k + diagram.tx;
  const right = left + place.width * diagram.k;
  if (left >= 0 && right <= diagram.viewWidth) return;
  diagram.tx = diagram.viewWidth * 0.2 - place.x * diagram.k;
  diagram.manual = true;
  clampView(diagram, layout);
  diagram.glide(diagram.targets(layout));
}

export function reducedMotion() {
  return window.matchMedia("(prefers-reduced-motion: reduce)").matches;
}
