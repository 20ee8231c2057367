// @ts-check
// A small curve over the last two minutes; where nothing was sampled there is no line.

import { node, span } from "../shared/cells.js";

/** @import { Palette } from "../shared/records.js" */

const SPARK_S = 120;

export class Spark {
  /**
   * @param {Element} parent
   * @param {string} label
   */
  constructor(parent, label) {
    this.width = 0;
    this.height = 0;
    /** @type {number[]} */
    this.t = [];
    /** @type {(number | null)[]} */
    this.values = [];
    this.most = 1;
    this.color = "";
    this.grid = "";
    this.gap = 0;
    this.known = false;
    // Not drawn on the canvas: a font there has the whole page laid out.
    this.label = span(parent, "2 min", "spark-span");
    this.canvas = node("canvas", { class: "spark", role: "img", "aria-label": label, title: label }, parent);
    this.observer = new ResizeObserver(([entry]) => {
      const { width, height } = entry.contentRect;
      if (width === this.width && height === this.height) return;
      [this.width, this.height] = [width, height];
      this.draw();
    });
    this.observer.observe(this.canvas);
  }

  /**
   * Values from 0 to `most`, at times `t` in seconds; the right end is the newest of all samples.
   * @param {number[]} t
   * @param {(number | null)[]} values
   * @param {number} most
   * @param {string} color
   * @param {Palette} palette
   * @param {number | undefined} hz
   */
  set(t, values, most, color, palette, hz) {
    // Where the curve comes to the word, it has filled its place and needs none.
    const full = (t.at(-1) ?? 0) - (t[0] ?? 0) > SPARK_S * 0.7;
    if (this.label.hidden !== full) this.label.hidden = full;
    Object.assign(this, { t, values, most, color, grid: palette.grid, gap: Math.max(2.5, 3.2 / (hz || 1)), known: true });
    this.draw();
  }

  draw() {
    if (!this.known || !this.width) return;
    const { canvas, width, height } = this;
    const ratio = window.devicePixelRatio || 1;
    const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== wide || canvas.height !== high) [canvas.width, canvas.height] = [wide, high];
    const pen = canvas.getContext("2d");
    if (!pen) return;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.strokeStyle = this.grid;
    pen.lineWidth = 1;
    pen.beginPath();
    for (const part of [0, 0.5, 1]) {
      const y = Math.round((height - 2) * part) + 0.5;
      pen.moveTo(0, y);
      pen.lineTo(width, y);
    }
    pen.stroke();
    const end = this.t.at(-1) ?? 0;
    /** @param {number} at */
    const x = (at) => width - 1 - ((end - this.t[at]) / SPARK_S) * width;
    /** @param {number} at */
    const y = (at) => 1.5 + (height - 3) * (1 - Math.min(1, Math.max(0, (this.values[at] ?? 0) / this.most)));
    for (const [from, to] of stretches(this.t, this.values, this.gap)) {
      pen.beginPath();
      for (let at = from; at <= to; at += 1) pen.lineTo(x(at), y(at));
      if (from === to) pen.lineTo(x(from) + 1.5, y(from));
      pen.strokeStyle = this.color;
      pen.lineWidth = 1.5;
      pen.lineJoin = "round";
      pen.stroke();
      pen.lineTo(x(to) + (from === to ? 1.5 : 0), height);
      pen.lineTo(x(from), height);
      pen.globalAlpha = 0.16;
      pen.fillStyle = this.color;
      pen.fill();
      pen.globalAlpha = 1;
    }
  }

  destroy() {
    this.observer.disconnect();
  }
}

/**
 * From where to where samples of the last two minutes follow one another.
 * @param {number[]} t
 * @param {(number | null)[]} values
 * @param {number} gap seconds without a sample that part two stretches
 */
export function stretches(t, values, gap) {
  /** @type {[number, number][]} */
  const found = [];
  const first = (t.at(-1) ?? 0) - SPARK_S - 2;
  let from = -1;
  for (let at = 0; at < t.length; at += 1) {
    const known = values[at] !== null && values[at] !== undefined && t[at] >= first;
    const broken = from >= 0 && (!known || t[at] - t[at - 1] > gap);
    if (broken) {
      found.push([from, at - 1]);
      from = -1;
    }
    if (known && from < 0) from = at;
  }
  if (from >= 0) found.push([from, t.length - 1]);
  return found;
}
