// Zoom and pan: what is in view, and that it stays there when the data changes.

import { PITCH_GOOD, stackLanes } from "./layout.js";

const ZOOM_MAX = 6;

export const CAMERA = {
  // Keeps what the reader looks at where it is: the group just opened or closed, else the one nearest the middle.
  holdPlace(before) {
    const anchor = this.anchor;
    const sameGroups = before.places.size === this.layout.places.size && [...before.places.keys()].every((id) => this.layout.places.has(id));
    let place = null;
    let at = null;
    if (anchor && !sameGroups) {
      place = this.layout.places.get(anchor.id) ?? this.nearestOf(anchor);
      at = anchor;
      this.anchor = null;
    }
    if (!place) {
      let best = Infinity;
      for (const [id, box] of this.boxes) {
        const distance = Math.abs(box.x + box.width / 2 - this.viewWidth / 2);
        if (distance < best && this.layout.places.has(id)) {
          best = distance;
          place = this.layout.places.get(id);
          at = box;
        }
      }
    }
    if (!place) return;
    this.tx = at.x - place.x * this.k;
    this.ty = at.y - place.y;
  },

  // After opening: the first bar of the scope on that device; after closing: the bar that now holds it.
  nearestOf(anchor) {
    const related = [...this.layout.places.values()].filter(({ group }) => {
      const device = !anchor.device || group.device === anchor.device;
      const inner = group.scope === anchor.scope || group.scope.startsWith(`${anchor.scope}/`);
      return device && (inner || anchor.scope.startsWith(`${group.scope}/`));
    });
    related.sort((p, q) => p.column - q.column || p.row - q.row);
    return related[0] ?? null;
  },

  fitZoom() {
    return Math.min(1.25, this.viewWidth / this.layout.width);
  },

  // The distance between rows at zoom `k`: all rows in view at first, room for text when zoomed in.
  pitchAt(k) {
    const { fitPitch } = this.layout;
    const least = this.fitZoom();
    const share = (k - least) / (Math.max(0.75, least * 1.5) - least);
    return fitPitch + (Math.max(fitPitch, PITCH_GOOD) - fitPitch) * Math.max(0, Math.min(1, share));
  },

  fitView() {
    this.k = this.fitZoom();
    this.tx = 0;
    this.ty = 0;
    stackLanes(this.layout, this.data.lanes, this.layout.fitPitch);
  },

  fit(animated) {
    this.manual = false;
    if (!this.layout) return;
    this.fitView();
    this.drawLanes();
    if (animated && !reducedMotion()) this.glide(this.targets());
    else this.settle(this.targets());
  },

  clampView() {
    const span = this.layout.width * this.k;
    const margin = Math.min(120, span);
    this.tx = Math.max(margin - span, Math.min(this.viewWidth - margin, this.tx));
    this.ty = Math.max(Math.min(0, this.viewHeight - this.layout.height), Math.min(0, this.ty));
  },

  zoomAt(x, y, factor) {
    if (!this.layout) return;
    const least = Math.min(1, this.fitZoom()) * 0.7;
    const k = Math.max(least, Math.min(ZOOM_MAX, this.k * factor));
    this.tx = x - ((x - this.tx) * k) / this.k;
    this.k = k;
    const share = (y - this.ty) / this.layout.height;
    stackLanes(this.layout, this.data.lanes, this.pitchAt(k));
    this.ty = y - share * this.layout.height;
    this.manual = true;
    this.clampView();
    this.drawLanes();
    this.settle(this.targets());
  },

  panBy(dx, dy) {
    if (!this.layout) return;
    this.tx += dx;
    this.ty += dy;
    this.manual = true;
    this.clampView();
    this.settle(this.targets());
  },

  keepColumnInView(column) {
    for (const place of this.layout.places.values()) {
      if (place.column !== column) continue;
      const left = place.x * this.k + this.tx;
      const right = left + place.width * this.k;
      if (left < 0 || right > this.viewWidth) {
        this.tx = this.viewWidth * 0.2 - place.x * this.k;
        this.manual = true;
        this.clampView();
        this.glide(this.targets());
      }
      return;
    }
  },
};

export function reducedMotion() {
  return window.matchMedia("(prefers-reduced-motion: reduce)").matches;
}
