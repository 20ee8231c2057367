// @ts-check
// The step player: lights the groups in rank order and moves a dot along each crossing. It shows what
// depends on what, not how long anything took.

import { keepColumnInView } from "./camera.js";
import { r } from "./edges.js";
import { el, set } from "./scene.js";

/** @import { Diagram } from "./main.js" */

const RANK_MS = 520;
const SHORTEST_MS = 3000;
const LONGEST_MS = 18000;

/**
 * How far a crossing's dot is on its way at a time, in columns: below 0 before it sets off, above 1 after it arrived.
 * @param {number} t
 * @param {number} from the sender's column
 * @param {number} to the receiver's
 */
export function shareOfWay(t, from, to) {
  const start = from + 0.5;
  const end = Math.max(start + 0.6, to + 0.1);
  return (t - start) / (end - start);
}

export class Player {
  /** @param {Diagram} diagram */
  constructor(diagram) {
    this.diagram = diagram;
    this.playing = false;
    this.frame = 0;
    /** @type {Map<string, SVGCircleElement>} */
    this.dots = new Map();
  }

  toggle() {
    if (this.playing) this.stop();
    else this.start();
  }

  start() {
    const { layout, root } = this.diagram;
    if (!layout || !layout.places.size) return;
    this.playing = true;
    root.classList.add("playing");
    const span = layout.columns + 0.6;
    const total = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, span * RANK_MS));
    const started = performance.now();
    /** @param {number} now */
    const step = (now) => {
      if (!this.playing) return;
      const t = ((now - started) / total) * span;
      if (t >= span) {
        this.stop();
        return;
      }
      this.draw(t);
      this.frame = requestAnimationFrame(step);
    };
    this.frame = requestAnimationFrame(step);
    this.diagram.refreshControls();
  }

  stop() {
    this.playing = false;
    cancelAnimationFrame(this.frame);
    this.diagram.root.classList.remove("playing");
    for (const entry of this.diagram.groups.values()) entry.node.classList.remove("lit", "done");
    for (const dot of this.dots.values()) dot.remove();
    this.dots.clear();
    this.diagram.refreshControls();
  }

  /** @param {number} t */
  draw(t) {
    const { layout, groups, crossings, routes, over } = this.diagram;
    if (!layout) return;
    for (const [id, place] of layout.places) {
      const entry = groups.get(id);
      if (!entry) continue;
      entry.node.classList.toggle("lit", t >= place.column && t < place.column + 1);
      entry.node.classList.toggle("done", t >= place.column + 1);
    }
    keepColumnInView(this.diagram, layout, Math.min(Math.floor(t), layout.columns - 1));
    for (const [id, route] of routes) {
      const share = shareOfWay(t, route.from.column, route.to.column);
      const line = crossings.get(id)?.line;
      let dot = this.dots.get(id);
      if (share < 0 || share > 1 || !line) {
        if (dot) dot.remove();
        this.dots.delete(id);
        continue;
      }
      if (!dot) {
        dot = el("circle", { class: `dot${route.crossing.alert ? " alert" : ""}`, r: r(3.5 + route.width / 2) }, over);
        this.dots.set(id, dot);
      }
      const { x, y } = line.getPointAtLength(line.getTotalLength() * share);
      set(dot, { cx: r(x), cy: r(y) });
    }
  }
}
