// @ts-check
// What is picked, near it or pointed at: marked, the rest faded; and the sizes written on the crossings.

import { r, routeCrossings } from "./edges.js";
import { el, set } from "./scene.js";
import { placeSizes } from "./sizes.js";

/** @import { Diagram } from "./main.js" */
/** @import { DiagramData, Layout, Picked } from "./records.js" */
/** @import { Attributes } from "./scene.js" */

/**
 * Which part is in view, along the lower and the right edge.
 * @param {Diagram} diagram
 * @param {Layout} layout
 */
export function drawThumbs(diagram, layout) {
  const { gutter, viewWidth, viewHeight } = diagram;
  /** @type {(node: Element, at: number, view: number, whole: number, attributes: (at: number, length: number) => Attributes) => void} */
  const bar = (node, at, view, whole, attributes) => {
    const shown = whole > view + 2;
    set(node, { display: shown ? null : "none" });
    if (shown) set(node, attributes(Math.max(0, (at / whole) * view), Math.max(24, (view / whole) * view)));
  };
  const across = layout.width * diagram.k;
  bar(diagram.thumbX, -diagram.tx, viewWidth, across, (x, width) => ({ x: r(gutter + Math.min(x, viewWidth - width)), width: r(width), y: viewHeight - 5 }));
  bar(diagram.thumbY, -diagram.ty, viewHeight, layout.height, (y, height) => ({ y: r(Math.min(y, viewHeight - height)), height: r(height), x: gutter + viewWidth - 5 }));
}

/** @param {Diagram} diagram */
export function labelCrossings(diagram) {
  const { crossings, labelLayer } = diagram;
  const wanted = [...diagram.routes.values()].filter(({ crossing }) => !crossings.get(crossing.id)?.node.classList.contains("dim"));
  labelLayer.replaceChildren();
  /** @type {Map<string, number>} */
  const lengths = new Map();
  const sizes = placeSizes(wanted, diagram.boxes.values(), diagram.measure, diagram.viewWidth, ({ crossing: { id } }, share) => {
    const line = crossings.get(id)?.line;
    if (!line) return { x: 0, y: 0 };
    const length = lengths.get(id) ?? line.getTotalLength();
    lengths.set(id, length);
    return line.getPointAtLength(length * share);
  });
  for (const { crossing, x, y, half, area } of sizes) {
    el("rect", { class: "size-back", x: r(area.left + 1), y: r(y - 7.5), width: r(2 * half - 2), height: 15, rx: 4 }, labelLayer);
    const label = el("text", { class: `size${crossing.alert ? " alert" : ""}`, x: r(x), y: r(y + 4), "text-anchor": "middle" }, labelLayer);
    label.textContent = crossing.text;
  }
}

/**
 * What is marked: `hot` crossings, `near` groups, and whether the rest fades.
 * @param {Pick<DiagramData, "crossings" | "links">} data
 * @param {Picked} picked a group that is not drawn marks nothing
 * @param {string | null} hinted a cause that is pointed at
 * @param {{ has(id: string): boolean }} groups those that are drawn
 */
export function markedBy(data, { group, crossings, filtered }, hinted, groups) {
  const hot = new Set(crossings);
  /** @type {Set<string>} */
  const near = new Set();
  if (group && groups.has(group)) {
    near.add(group);
    for (const crossing of data.crossings) {
      if (crossing.src !== group && crossing.dst !== group) continue;
      hot.add(crossing.id);
      near.add(crossing.src).add(crossing.dst);
    }
    for (const [src, dst] of data.links) if (src === group || dst === group) near.add(src).add(dst);
  }
  for (const crossing of data.crossings) {
    if (hinted && crossing.cause === hinted) hot.add(crossing.id);
    if (hot.has(crossing.id)) near.add(crossing.src).add(crossing.dst);
  }
  return { hot, near, fading: near.size > 0 || hot.size > 0 || filtered };
}

/**
 * Marks what is picked and fades the rest.
 * @param {Diagram} diagram
 * @param {Layout} layout
 */
export function mark(diagram, layout) {
  const { data, picked, groups, crossings } = diagram;
  const { group } = picked;
  const chosen = new Set(picked.crossings);
  const { hot, near, fading } = markedBy(data, picked, diagram.hinted, groups);
  for (const [id, entry] of groups) {
    entry.node.classList.toggle("selected", id === group);
    entry.node.classList.toggle("dim", fading && !near.has(id));
    set(entry.node, { "aria-pressed": id === group ? "true" : "false" });
  }
  for (const [id, entry] of crossings) {
    entry.node.classList.toggle("selected", chosen.has(id));
    entry.node.classList.toggle("hot", hot.has(id));
    entry.node.classList.toggle("dim", fading && !hot.has(id));
  }
  drawLinks(diagram, layout, group);
}

/**
 * @param {Diagram} diagram
 * @param {Layout} layout
 * @param {string} group
 */
function drawLinks(diagram, layout, group) {
  const { linkLayer } = diagram;
  const links = group ? diagram.data.links.filter(([src, dst]) => src === group || dst === group) : [];
  const items = links.map(([src, dst]) => ({ id: `${src}>${dst}`, src, dst, weight: 0 }));
  const routes = [...routeCrossings(items, diagram.boxes, layout, diagram.ty, diagram.k).values()];
  while (linkLayer.children.length > routes.length) linkLayer.lastElementChild?.remove();
  routes.forEach((route, index) => {
    const line = /** @type {SVGElement} */ (linkLayer.children[index] ?? el("path", { class: "link" }, linkLayer));
    line.style.setProperty("--hue", diagram.hueOf(layout.byId.get(route.crossing.src)?.device ?? ""));
    set(line, { d: route.path });
  });
}

/**
 * @param {Diagram} diagram
 * @param {string | null} cause
 */
export function hintCause(diagram, cause) {
  diagram.hinted = cause;
  if (diagram.layout) mark(diagram, diagram.layout);
}

/**
 * @param {Diagram} diagram
 * @param {Picked} picked
 * @param {Record<string, unknown>} event
 */
function pick(diagram, picked, event) {
  const changed = JSON.stringify(picked) !== JSON.stringify(diagram.picked);
  diagram.picked = picked;
  if (diagram.layout) mark(diagram, diagram.layout);
  labelCrossings(diagram);
  if (changed) diagram.send(event);
}

/**
 * @param {Diagram} diagram
 * @param {string} id
 */
export function pickGroup(diagram, id) {
  const group = diagram.layout?.places.get(id)?.group;
  if (!group) return;
  diagram.chrome.announce(`Selected ${group.label} on ${group.device}`);
  pick(diagram, { group: id, crossings: [], filtered: false }, { type: "group", id, device: group.device, label: group.label, scope: group.scope });
}

/**
 * @param {Diagram} diagram
 * @param {string} id
 */
export function pickCrossing(diagram, id) {
  const item = diagram.crossings.get(id)?.item;
  if (!item) return;
  diagram.chrome.announce(`Selected the crossing from ${item.from} to ${item.to}`);
  pick(diagram, { group: "", crossings: [id], filtered: true }, { type: "crossing", id, src: item.from, dst: item.to, hops: item.hops });
}

/** @param {Diagram} diagram */
export function clear(diagram) {
  pick(diagram, { group: "", crossings: [], filtered: false }, { type: "clear" });
}
