// @ts-check
// The placement diagram: a component that is called again with new data and changes what it drew in place.

import { mount } from "../shared/mount.js";
import { applyPalette } from "../shared/theme.js";
import { clampView, fit, fitView, holdPlace, pitchAt, reducedMotion, zoomAt } from "./camera.js";
import { makeChrome } from "./chrome.js";
import { r, routeCrossings } from "./edges.js";
import { listen } from "./input.js";
import { makeMeasure } from "./labels.js";
import { layoutDiagram, stackLanes } from "./layout.js";
import { drawThumbs, hintCause, labelCrossings, mark } from "./marks.js";
import { Player } from "./player.js";
import { el, html, makeCrossing, makeGroup, placeCrossing, placeGroup, reconcile, ROOMY, set, text, TIGHT, updateCrossing, updateGroup } from "./scene.js";
import { makeTooltip } from "./tooltip.js";

/**
 * @import { Call, Send } from "../shared/records.js"
 * @import { Anchor } from "./camera.js"
 * @import { Box, Crossing, DiagramData, Group, LanePlace, Layout, Measure, Picked, Route } from "./records.js"
 * @import { CrossingEntry, GroupEntry } from "./scene.js"
 */

/**
 * A lane's elements.
 * @typedef {{ id: string } & LanePlace} LaneItem
 * @typedef {{
 *   node: SVGGElement,
 *   item: LaneItem,
 *   back: SVGRectElement,
 *   head: SVGGElement,
 *   edge: SVGRectElement,
 *   name: SVGTextElement,
 *   remark: SVGTextElement,
 *   ops: SVGTextElement,
 * }} LaneEntry
 */

const LOW_HEIGHT = 620;
const MAX_HEIGHT = 860;
const LANE_HEIGHT = 96;
const HEIGHT_SLACK = 1.15;
const MIN_HEIGHT = 150;
const MOVE_MS = 220;
const TIGHT_ZOOM = 1.4;
const DENSE_CROSSINGS = 50;

export class Diagram {
  /**
   * @param {HTMLElement} root
   * @param {DiagramData} data
   */
  constructor(root, data) {
    this.root = root;
    this.data = data;
    /** @type {Send} */
    this.send = () => {};
    /** @type {Map<string, GroupEntry>} */
    this.groups = new Map();
    /** @type {Map<string, CrossingEntry>} */
    this.crossings = new Map();
    /** @type {Map<string, LaneEntry>} */
    this.lanes = new Map();
    /** @type {Map<string, Route<Crossing>>} */
    this.routes = new Map();
    /** @type {Map<string, Box>} */
    this.boxes = new Map();
    /** @type {Layout | null} */
    this.layout = null;
    /** @type {Map<string, string>} */
    this.hues = new Map();
    this.k = 1;
    this.tx = 0;
    this.ty = 0;
    this.gutter = 0;
    this.viewWidth = 0;
    this.viewHeight = 0;
    this.moving = 0;
    this.manual = false;
    /** @type {Picked} */
    this.picked = { group: "", crossings: [], filtered: false };
    this.lastSelection = "";
    /**
     * The cause that is pointed at in the legend.
     * @type {string | null}
     */
    this.hinted = null;
    /**
     * The group whose crossings the keys walk; '' for all.
     * @type {string}
     */
    this.crossingsOf = "";
    /** @type {Anchor | null} */
    this.anchor = null;
    /** @type {Measure} */
    this.measure = makeMeasure(root);
    this.player = new Player(this);
    this.chrome = makeChrome(root, {
      play: () => this.player.toggle(),
      zoom: (factor) => zoomAt(this, this.viewWidth / 2, this.viewHeight / 2, factor),
      fit: () => fit(this),
      close: (expand) => this.toggle({ id: "", device: "", expand, expanded: true, scope: expand.split("|").at(-1) ?? "" }),
      hintCause: (cause) => hintCause(this, cause),
    });
    this.svg = el("svg", { class: "canvas", tabindex: 0, role: "group", "data-testid": "placement-diagram" }, this.chrome.stage);
    const clip = `clip-${Math.random().toString(36).slice(2)}`;
    this.clipBox = el("rect", {}, el("clipPath", { id: clip }, el("defs", {}, this.svg)));
    this.laneLayer = el("g", {}, this.svg);
    this.content = el("g", { "clip-path": `url(#${clip})` }, this.svg);
    this.linkLayer = el("g", { class: "links" }, this.content);
    this.crossingLayer = el("g", {}, this.content);
    this.alertLayer = el("g", {}, this.content);
    this.groupLayer = el("g", {}, this.content);
    this.over = el("g", { class: "over" }, this.content);
    this.labelLayer = el("g", { class: "crossing-labels" }, this.content);
    this.headLayer = el("g", { class: "heads" }, this.svg);
    this.thumbX = el("rect", { class: "thumb", height: 4, rx: 2 }, this.svg);
    this.thumbY = el("rect", { class: "thumb", width: 4, rx: 2 }, this.svg);
    this.emptyText = html("div", { class: "empty", "data-testid": "diagram-empty" }, this.chrome.stage);
    this.wheelHint = html("div", { class: "wheel-hint" }, this.chrome.stage);
    this.wheelHint.textContent = "Click the diagram first, or hold Ctrl, to zoom with the wheel";
    this.tooltip = makeTooltip(root);
    listen(this);
    this.observer = new ResizeObserver(() => this.resized());
    document.fonts?.ready.then(() => {
      this.measure = makeMeasure(root);
      if (this.layout) this.relayout(false);
    });
  }

  /**
   * @param {DiagramData} data
   * @param {Send} send
   */
  update(data, send) {
    const started = performance.now();
    this.send = send;
    this.observer.observe(this.chrome.stage);
    const selection = JSON.stringify(data.selection);
    if (selection !== this.lastSelection) {
      this.lastSelection = selection;
      this.picked = data.selection;
    }
    this.data = data;
    applyPalette(this.root);
    this.chrome.update(data);
    this.hues = new Map(data.lanes.map((lane) => [lane.device, lane.hue]));
    const drawable = data.groups.length > 0;
    this.emptyText.textContent = drawable ? "" : data.empty;
    this.emptyText.hidden = drawable;
    this.svg.style.display = drawable ? "" : "none";
    this.chrome.bar.hidden = !drawable && !data.title;
    this.refreshControls();
    if (this.player.playing && !drawable) this.player.stop();
    reconcile(this.groups, data.groups, this.groupLayer, makeGroup, (entry, item) => updateGroup(entry, item, this.hueOf(item.device)));
    reconcile(this.crossings, data.crossings, this.crossingLayer, makeCrossing, updateCrossing);
    for (const entry of this.groups.values()) entry.node.classList.remove("waiting");
    // What needs attention lies above the rest.
    for (const { node, item } of this.crossings.values()) {
      const layer = item.alert ? this.alertLayer : this.crossingLayer;
      if (node.parentNode !== layer) layer.append(node);
    }
    this.root.classList.toggle("dense", data.crossings.length > DENSE_CROSSINGS);
    const alerts = data.crossings.filter((crossing) => crossing.alert).length;
    set(this.svg, {
      "aria-label":
        `Placement diagram: ${data.groups.length} groups on ${data.lanes.length} devices, ` +
        `${data.crossings.length} crossings, ${alerts} of them need attention. ` +
        "Arrow keys move, Enter selects, plus and minus open and close, C walks the crossings, F fits.",
    });
    if (drawable) this.relayout(true);
    set(this.svg, { "data-drawn-ms": (performance.now() - started).toFixed(0) });
  }

  /** @param {string} device */
  hueOf(device) {
    return this.hues.get(device) ?? "";
  }

  /** @param {boolean} animated */
  relayout(animated) {
    const gutter = Math.max(84, ...this.data.lanes.map((lane) => this.measure(lane.device, "600 13px") + 34));
    this.gutter = Math.min(190, gutter);
    this.viewWidth = Math.max(120, this.chrome.stage.clientWidth - this.gutter);
    const before = this.layout;
    const most = Math.min(MAX_HEIGHT, Math.max(LOW_HEIGHT, this.data.lanes.length * LANE_HEIGHT));
    const layout = layoutDiagram(this.data, this.measure, this.viewWidth, most);
    this.layout = layout;
    if (before && this.manual) stackLanes(layout, this.data.lanes, pitchAt(layout, this.viewWidth, this.k));
    this.viewHeight = Math.max(MIN_HEIGHT, Math.min(most * HEIGHT_SLACK, layout.height));
    set(this.svg, { width: this.gutter + this.viewWidth, height: this.viewHeight });
    set(this.clipBox, { x: this.gutter - 2, y: 0, width: this.viewWidth + 2, height: this.viewHeight });
    if (before && this.manual) holdPlace(this, before, layout);
    else fitView(this, layout);
    clampView(this, layout);
    this.drawLanes(layout);
    const target = this.targets(layout);
    if (animated && before && this.boxes.size && !sameBoxes(this.boxes, target) && !reducedMotion()) this.glide(target);
    else this.settle(target);
  }

  /**
   * Where the bars are to be in view.
   * @param {Layout} layout
   */
  targets(layout) {
    /** @type {Map<string, Box>} */
    const target = new Map();
    for (const [id, place] of layout.places) {
      target.set(id, {
        x: place.x * this.k + this.tx,
        y: place.y + this.ty,
        width: Math.max(5, place.width * this.k),
        height: place.height,
      });
    }
    return target;
  }

  /** @param {Map<string, Box>} target */
  glide(target) {
    cancelAnimationFrame(this.moving);
    const from = new Map(this.boxes);
    const started = performance.now();
    this.labelLayer.replaceChildren();
    /** @param {number} now */
    const frame = (now) => {
      const t = Math.min(1, (now - started) / MOVE_MS);
      if (t >= 1) {
        this.settle(target);
        return;
      }
      const eased = 1 - (1 - t) ** 3;
      const boxes = new Map();
      for (const [id, to] of target) {
        const was = from.get(id);
        boxes.set(id, was ? blend(was, to, eased) : to);
      }
      this.draw(boxes);
      this.moving = requestAnimationFrame(frame);
    };
    this.moving = requestAnimationFrame(frame);
  }

  /** @param {Map<string, Box>} target */
  settle(target) {
    cancelAnimationFrame(this.moving);
    this.draw(target);
    labelCrossings(this);
    set(this.svg, { "data-zoom": this.k.toFixed(4), "data-pan": `${this.tx.toFixed(1)},${this.ty.toFixed(1)}` });
  }

  /** @param {Map<string, Box>} boxes */
  draw(boxes) {
    const { layout } = this;
    if (!layout) return;
    this.boxes = boxes;
    set(this.laneLayer, { transform: `translate(0 ${r(this.ty)})` });
    set(this.headLayer, { transform: `translate(0 ${r(this.ty)})` });
    for (const layer of this.content.children) set(layer, { transform: `translate(${r(this.gutter)} 0)` });
    const style = layout.tight && this.k < TIGHT_ZOOM ? TIGHT : ROOMY;
    this.root.classList.toggle("tight", style === TIGHT);
    for (const [id, box] of boxes) {
      const entry = this.groups.get(id);
      if (entry) placeGroup(entry, box, this.measure, this.viewWidth, style);
    }
    this.routes = routeCrossings(this.data.crossings, boxes, layout, this.ty, this.k);
    for (const [id, entry] of this.crossings) placeCrossing(entry, this.routes.get(id));
    drawThumbs(this, layout);
    mark(this, layout);
  }

  /** @param {Layout} layout */
  drawLanes(layout) {
    const items = layout.lanes.map((place) => ({ id: place.lane.device, ...place }));
    reconcile(this.lanes, items, this.laneLayer, makeLane, (entry, { lane, y, height }) => {
      entry.node.style.setProperty("--hue", lane.hue);
      entry.head.style.setProperty("--hue", lane.hue);
      set(entry.node, { "data-device": lane.device, "data-remark": lane.remark });
      set(entry.back, { x: 0, y: r(y), width: this.gutter + this.viewWidth, height: r(height) });
      set(entry.edge, { x: 0, y: r(y + 10), height: r(height - 20) });
      const lines = height >= 62 && lane.remark ? 3 : 2;
      const top = y + height / 2 - (lines * 15) / 2 + 11;
      text(entry.name, lane.device);
      set(entry.name, { y: r(top) });
      text(entry.remark, lines === 3 ? lane.remark : lane.remark || lane.ops);
      set(entry.remark, { y: r(top + 15) });
      text(entry.ops, lines === 3 ? lane.ops : "");
      set(entry.ops, { y: r(top + 30) });
      this.headLayer.append(entry.head);
    });
    for (const head of [...this.headLayer.children]) {
      if (![...this.lanes.values()].some((entry) => entry.head === head)) head.remove();
    }
  }

  /** @param {Pick<Group, "id" | "device" | "scope" | "expand" | "expanded">} group */
  toggle(group) {
    if (!group.expand) return;
    const box = this.boxes.get(group.id);
    if (box) {
      this.anchor = { id: group.id, device: group.device, scope: group.scope, x: box.x, y: box.y };
      this.groups.get(group.id)?.node.classList.add("waiting");
    }
    this.manual = true;
    this.send({ type: "toggle", id: group.id, expand: group.expand, open: !group.expanded });
  }

  refreshControls() {
    this.chrome.playing(this.player.playing);
  }

  resized() {
    if (!this.layout || !this.data.groups.length || !this.chrome.stage.clientWidth) return;
    if (this.chrome.stage.clientWidth === this.gutter + this.viewWidth) return;
    this.relayout(false);
  }

  // Taken off the page, perhaps only for a while: the page may show the same elements again.
  destroy() {
    this.player.stop();
    cancelAnimationFrame(this.moving);
    this.tooltip.hide();
    this.observer.disconnect();
  }
}

/**
 * @param {LaneItem} item
 * @returns {LaneEntry}
 */
function makeLane(item) {
  const node = el("g", { class: "lane", "data-testid": "lane" });
  const back = el("rect", { class: "lane-back", rx: 10 }, node);
  const head = el("g", { class: "head" });
  return {
    node,
    item,
    back,
    head,
    edge: el("rect", { class: "head-edge", width: 5, rx: 2.5 }, head),
    name: el("text", { class: "head-name", x: 17 }, head),
    remark: el("text", { class: "head-remark", x: 17 }, head),
    ops: el("text", { class: "head-ops", x: 17 }, head),
  };
}

/**
 * A box on its way from `a` to `b`.
 * @param {Box} a
 * @param {Box} b
 * @param {number} t from 0 to 1
 * @returns {Box}
 */
function blend(a, b, t) {
  /** @param {keyof Box} name */
  const between = (name) => a[name] + (b[name] - a[name]) * t;
  return { x: between("x"), y: between("y"), width: between("width"), height: between("height") };
}

/**
 * @param {ReadonlyMap<string, Box>} a
 * @param {ReadonlyMap<string, Box>} b
 */
function sameBoxes(a, b) {
  if (a.size !== b.size) return false;
  for (const [id, box] of b) {
    const other = a.get(id);
    if (!other || Math.abs(other.x - box.x) + Math.abs(other.y - box.y) + Math.abs(other.width - box.width) > 0.5) return false;
  }
  return true;
}

/** @param {Call<DiagramData>} call */
export default function ({ data, parentElement, setTriggerValue }) {
  const [diagram, leave] = mount(parentElement, ".hopscope-diagram", (root) => new Diagram(root, data));
  diagram.update(data, (event) => setTriggerValue("event", event));
  return leave;
}
