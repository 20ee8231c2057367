// @ts-check
// The SVG elements: made once a group or crossing, then only changed. All text goes in as text.

import { r } from "./edges.js";
import { fitLabel } from "./labels.js";

/** @import { Box, Crossing, Group, Measure, Route } from "./records.js" */

/** @typedef {Record<string, string | number | boolean | null | undefined>} Attributes */

/**
 * A bar's elements; `size` is for what its text was fitted. The parts are made when they are first shown.
 * @typedef {{
 *   node: SVGGElement,
 *   item: Group,
 *   size: string,
 *   bar: SVGRectElement,
 *   label: SVGTextElement,
 * } & { [Name in keyof Parts]?: Parts[Name] }} GroupEntry
 * @typedef {{ stack: SVGRectElement, handle: SVGGElement, count: SVGTextElement, mix: SVGGElement, badge: SVGGElement }} Parts
 * @typedef {{
 *   node: SVGGElement,
 *   item: Crossing,
 *   hit: SVGPathElement,
 *   line: SVGPathElement,
 *   arrow: SVGPathElement,
 * }} CrossingEntry
 */

const SVG = "http://www.w3.org/2000/svg";

/**
 * An element of the drawing.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} name
 * @param {Attributes} [attributes]
 * @param {Element | null} [parent]
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function el(name, attributes = {}, parent = null) {
  const node = document.createElementNS(SVG, name);
  set(node, attributes);
  if (parent) parent.append(node);
  return node;
}

/**
 * An element around the drawing.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} name
 * @param {Attributes} [attributes]
 * @param {Element | null} [parent]
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function html(name, attributes = {}, parent = null) {
  const node = document.createElement(name);
  set(node, attributes);
  if (parent) parent.append(node);
  return node;
}

/**
 * @param {Element} node
 * @param {Attributes} attributes those without a value are taken away
 */
export function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) node.removeAttribute(name);
    else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value === true ? "" : String(value));
  }
}

/**
 * @param {Element} node
 * @param {string} value
 */
export function text(node, value) {
  if (node.textContent !== value) node.textContent = value;
}

/**
 * Adds, updates and removes children so that they match `items`, keyed by `id`.
 * @template {{ id: string }} Item
 * @template {{ node: Element, item: Item }} Entry
 * @param {Map<string, Entry>} known
 * @param {Item[]} items
 * @param {Element} parent
 * @param {(item: Item) => Entry} create
 * @param {(entry: Entry, item: Item) => void} update
 */
export function reconcile(known, items, parent, create, update) {
  const seen = new Set();
  for (const item of items) {
    seen.add(item.id);
    let entry = known.get(item.id);
    if (!entry) {
      entry = create(item);
      known.set(item.id, entry);
      parent.append(entry.node);
    }
    entry.item = item;
    update(entry, item);
  }
  for (const [id, entry] of known) {
    if (seen.has(id)) continue;
    entry.node.remove();
    known.delete(id);
  }
}

/**
 * A group's parts are made when they are first shown: a map of a thousand bars needs few of them.
 * @param {Group} item
 * @returns {GroupEntry}
 */
export function makeGroup(item) {
  const node = el("g", { class: "group enter", role: "button", tabindex: -1, "data-testid": "group" });
  node.addEventListener("animationend", () => node.classList.remove("enter"), { once: true });
  return { node, item, size: "", bar: el("rect", { class: "bar" }, node), label: el("text", { class: "label" }, node) };
}

/** @type {{ [Name in keyof Parts]: (entry: GroupEntry) => Parts[Name] }} */
const PARTS = {
  stack(entry) {
    const stack = el("rect", { class: "stack", rx: 6, x: 4, y: -4 });
    entry.node.prepend(stack);
    return stack;
  },
  handle(entry) {
    const handle = el("g", { class: "handle", "data-testid": "handle" }, entry.node);
    el("rect", { x: 0, y: 0, width: 22, class: "handle-hit" }, handle);
    el("rect", { class: "handle-box", x: 5, width: 13, height: 13, rx: 3.5 }, handle);
    el("path", { class: "handle-sign" }, handle);
    return handle;
  },
  count: (entry) => el("text", { class: "count", "text-anchor": "end" }, entry.node),
  mix: (entry) => el("g", { class: "mix" }, entry.node),
  badge(entry) {
    const badge = el("g", { class: "badge" }, entry.node);
    el("rect", { height: 14, rx: 7 }, badge);
    el("text", { "text-anchor": "middle", y: 10.5 }, badge);
    return badge;
  },
};

/**
 * The part if it is to be seen, else null, hidden.
 * @template {keyof Parts} Name
 * @param {GroupEntry} entry
 * @param {Name} name
 * @param {boolean} shown
 * @returns {Parts[Name] | null}
 */
function part(entry, name, shown) {
  /** @type {{ [Known in keyof Parts]?: Parts[Known] }} */
  const parts = entry;
  const known = parts[name];
  if (known) set(known, { display: shown ? null : "none" });
  if (!shown) return null;
  const made = known ?? PARTS[name](entry);
  parts[name] = made;
  return made;
}

/**
 * @param {GroupEntry} entry
 * @param {Group} item
 * @param {string} hue
 */
export function updateGroup(entry, item, hue) {
  entry.node.style.setProperty("--hue", hue);
  set(entry.node, {
    "data-id": item.id,
    "data-device": item.device,
    "data-label": item.label,
    "data-scope": item.scope,
    "data-ops": item.ops,
    "data-hops": item.hops,
    "data-kind": item.kind,
    "data-rank": item.rank,
    "data-expandable": item.expandable ? "true" : null,
    "data-expanded": item.expanded ? "true" : null,
    "aria-label":
      `${item.label} on ${item.device}, ${item.ops} ops` +
      (item.hops ? `, ${item.hops} hops` : "") +
      (item.expandable ? ", press plus to open" : item.expanded ? ", press minus to close" : ""),
  });
  entry.size = "";
}

/**
 * How text stands in a bar: where there is little room it is smaller and nearer to the edges.
 * @typedef {{ font: string, left: number, beside: number, right: number }} TextStyle
 */

export const ROOMY = { font: "500 12px", left: 8, beside: 23, right: 5 };
export const TIGHT = { font: "500 11px", left: 5, beside: 21, right: 3 };

/**
 * Puts one bar at its place. Its text is fitted to what of the bar is in view, anew only when that changed.
 * @param {GroupEntry} entry
 * @param {Box} box
 * @param {Measure} measure
 * @param {number} viewWidth
 * @param {TextStyle} style
 */
export function placeGroup(entry, box, measure, viewWidth, style) {
  set(entry.node, { transform: `translate(${r(box.x)} ${r(box.y)})` });
  const hidden = Math.max(0, -box.x);
  const end = Math.min(box.width, viewWidth - box.x);
  const size = `${r(box.width)}/${r(box.height)}/${r(hidden)}/${r(end)}/${style.font}`;
  if (entry.size === size) return;
  entry.size = size;
  const { item } = entry;
  const { width, height } = box;
  const middle = height / 2;
  set(entry.bar, { width: r(width), height: r(height), rx: r(Math.min(6, height / 3)) });
  const stack = part(entry, "stack", item.kind === "series");
  if (stack) set(stack, { width: r(width), height: r(height) });

  // Where only one of them has room, the label is worth more than the handle (a double-click opens, too).
  const legible = height >= 13;
  const openable = legible && Boolean(item.expand) && (item.expandable || item.expanded);
  /** @param {number} left */
  const start = (left) => Math.max(left, hidden > 0 ? hidden + 6 : 0);
  /** @param {number} left */
  const fitted = (left) => fitLabel(item.label, end - start(left) - style.right, measure, style.font);
  const beside = openable && width >= 44 ? fitted(style.beside) : "";
  const alone = beside || !legible ? "" : fitted(style.left);
  const handle = part(entry, "handle", openable && width >= 24 && height >= 15 && (beside !== "" || alone === ""));
  if (handle) {
    const [hit, box, sign] = handle.children;
    set(hit, { height: r(height) });
    set(box, { y: r(middle - 6.5) });
    set(sign, { d: `M8.5,${r(middle)}h6${item.expanded ? "" : `M11.5,${r(middle - 3)}v6`}` });
  }
  const left = start(handle ? style.beside : style.left);
  const label = beside || alone;
  const lift = item.mix.length && height < 26 ? 1.5 : 0;
  text(entry.label, label);
  set(entry.label, { x: left, y: r(middle + 4 - lift) });

  const ops = item.kind === "op" || !item.ops || label !== item.label || end < width ? "" : String(item.ops);
  const spare = end - left - style.right - measure(label, style.font) - 12;
  const count = part(entry, "count", Boolean(ops) && spare >= measure(ops, "11px"));
  if (count) {
    text(count, ops);
    set(count, { x: r(width - 8), y: r(middle + 4) });
  }
  const badge = part(entry, "badge", item.hops > 0 && width >= 20 && height >= 15);
  if (badge) {
    const wide = Math.max(14, measure(String(item.hops), "600 10px") + 8);
    const [box, number] = badge.children;
    set(badge, { transform: `translate(${r(width - wide + 5)} -8)` });
    set(box, { width: r(wide) });
    set(number, { x: r(wide / 2) });
    text(number, String(item.hops));
  }
  drawMix(entry, item, width, height);
}

/**
 * The strip at the foot of a collapsed scope that has ops on several devices: whose ops they are.
 * @param {GroupEntry} entry
 * @param {Group} item
 * @param {number} width
 * @param {number} height
 */
function drawMix(entry, item, width, height) {
  const total = item.mix.reduce((sum, [, number]) => sum + number, 0);
  const strip = part(entry, "mix", total > 0 && width >= 30 && height >= 17);
  if (!strip) return;
  while (strip.children.length > item.mix.length) strip.lastElementChild?.remove();
  let x = 8;
  item.mix.forEach(([hue, number], index) => {
    const share = /** @type {SVGElement} */ (strip.children[index] ?? el("rect", { height: 2 }, strip));
    const wide = ((width - 16) * number) / total;
    set(share, { x: r(x), y: r(height - 4), width: r(Math.max(1, wide)) });
    share.style.fill = hue;
    x += wide;
  });
}

/**
 * @param {Crossing} item
 * @returns {CrossingEntry}
 */
export function makeCrossing(item) {
  const node = el("g", { class: "crossing", role: "button", tabindex: -1, "data-testid": "crossing" });
  return {
    node,
    item,
    hit: el("path", { class: "hit" }, node),
    line: el("path", { class: "line" }, node),
    arrow: el("path", { class: "arrow" }, node),
  };
}

/**
 * @param {CrossingEntry} entry
 * @param {Crossing} item
 */
export function updateCrossing(entry, item) {
  entry.node.classList.toggle("alert", item.alert);
  entry.node.classList.toggle("collective", item.collective);
  set(entry.node, {
    "data-id": item.id,
    "data-src": item.from,
    "data-dst": item.to,
    "data-src-group": item.src,
    "data-dst-group": item.dst,
    "data-bytes": item.bytes ?? "unknown",
    "data-count": item.count ?? "unknown",
    "data-cause": item.cause,
    "data-severity": item.severity,
    "data-basis": item.basis,
    "aria-label": `From ${item.from} to ${item.to}, ${item.text}, ${item.cause}, ${item.basis}`,
  });
}

/**
 * @param {CrossingEntry} entry
 * @param {Route | undefined} route
 */
export function placeCrossing(entry, route) {
  set(entry.node, { display: route ? null : "none" });
  if (!route) return;
  set(entry.hit, { d: route.path });
  set(entry.line, { d: route.path, "stroke-width": r(route.width) });
  set(entry.arrow, { d: route.arrow });
}
