// The SVG elements: made once a group or crossing, then only changed. All text goes in as text.

const SVG = "http://www.w3.org/2000/svg";

function el(name, attributes = {}, parent = null) {
  const node = name.startsWith("html:")
    ? document.createElement(name.slice(5))
    : document.createElementNS(SVG, name);
  set(node, attributes);
  if (parent) parent.append(node);
  return node;
}

function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) node.removeAttribute(name);
    else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value === true ? "" : value);
  }
}

function text(node, value) {
  if (node.textContent !== value) node.textContent = value;
}

// Adds, updates and removes children so that they match `items`, keyed by `id`.
function reconcile(known, items, parent, create, update) {
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

function makeGroup(item) {
  const node = el("g", { class: "group enter", role: "button", tabindex: -1, "data-testid": "group" });
  const entry = { node, size: "" };
  entry.stack = el("rect", { class: "stack", rx: 6 }, node);
  entry.bar = el("rect", { class: "bar", rx: 6 }, node);
  entry.mix = el("g", { class: "mix" }, node);
  entry.handle = el("g", { class: "handle", "data-testid": "handle" }, node);
  el("rect", { x: 0, y: 0, width: 22, height: 10, class: "handle-hit" }, entry.handle);
  entry.handleBox = el("rect", { class: "handle-box", x: 5, width: 13, height: 13, rx: 3.5 }, entry.handle);
  entry.handleSign = el("path", { class: "handle-sign" }, entry.handle);
  entry.label = el("text", { class: "label" }, node);
  entry.count = el("text", { class: "count", "text-anchor": "end" }, node);
  entry.badge = el("g", { class: "badge" }, node);
  entry.badgeBox = el("rect", { height: 14, rx: 7 }, entry.badge);
  entry.badgeText = el("text", { "text-anchor": "middle", y: 10.5 }, entry.badge);
  node.addEventListener("animationend", () => node.classList.remove("enter"), { once: true });
  return entry;
}

function updateGroup(entry, item, hue) {
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
  entry.handle.style.display = item.expand && (item.expandable || item.expanded) ? "" : "none";
  set(entry.handle, { "aria-label": item.expanded ? "Close" : "Open" });
  entry.size = "";
}

// Puts one bar at its place. Its text is fitted to what of the bar is in view, anew only when that changed.
function placeGroup(entry, box, measure, viewWidth) {
  set(entry.node, { transform: `translate(${r(box.x)} ${r(box.y)})` });
  const hidden = Math.max(0, -box.x);
  const end = Math.min(box.width, viewWidth - box.x);
  const size = `${r(box.width)}/${r(box.height)}/${r(hidden)}/${r(end)}`;
  if (entry.size === size) return;
  entry.size = size;
  const { item } = entry;
  const { width, height } = box;
  const middle = height / 2;
  const round = r(Math.min(6, height / 3));
  set(entry.bar, { width: r(width), height: r(height), rx: round });
  const stacked = item.kind === "series";
  set(entry.stack, { x: 4, y: -4, width: r(width), height: r(height), display: stacked ? null : "none" });

  // Where only one of them has room, the label is worth more than the handle (a double-click opens, too).
  const openable = Boolean(item.expand) && (item.expandable || item.expanded);
  const roomy = openable && width >= 44 && height >= 15;
  const beside = fitLabel(item.label, end - Math.max(23, hidden > 0 ? hidden + 6 : 0) - 5, measure);
  const hasHandle = roomy && (beside !== "" || fitLabel(item.label, end - 13, measure) === "");
  set(entry.handle, { display: hasHandle ? null : "none" });
  if (hasHandle) {
    set(entry.handle.firstChild, { height: r(height) });
    set(entry.handleBox, { y: r(middle - 6.5) });
    const cross = item.expanded ? "" : `M11.5,${r(middle - 3)}v6`;
    set(entry.handleSign, { d: `M8.5,${r(middle)}h6${cross}` });
  }
  const left = Math.max(hasHandle ? 23 : 8, hidden > 0 ? hidden + 6 : 0);
  const room = end - left - 5;
  const label = height >= 13 ? fitLabel(item.label, room, measure) : "";
  text(entry.label, label);
  const lift = item.mix.length && height < 26 ? 1.5 : 0;
  set(entry.label, { x: left, y: r(middle + 4 - lift) });
  const count = item.kind === "op" || !item.ops ? "" : String(item.ops);
  const spare = room - measure(label) - 12;
  const fits = count && end === width && label === item.label && spare >= measure(count, "11px");
  text(entry.count, fits ? count : "");
  set(entry.count, { x: r(width - 8), y: r(middle + 4) });

  const badge = item.hops && width >= 26 && height >= 15 ? String(item.hops) : "";
  set(entry.badge, { display: badge ? null : "none" });
  if (badge) {
    const wide = Math.max(14, measure(badge, "600 10px") + 8);
    set(entry.badge, { transform: `translate(${r(width - wide + 5)} -8)` });
    set(entry.badgeBox, { width: r(wide) });
    set(entry.badgeText, { x: r(wide / 2) });
    text(entry.badgeText, badge);
  }
  drawMix(entry, item, width, height);
}

// The strip at the foot of a collapsed scope that has ops on several devices: whose ops they are.
function drawMix(entry, item, width, height) {
  const total = item.mix.reduce((sum, [, number]) => sum + number, 0);
  const shown = total > 0 && width >= 30 && height >= 17;
  set(entry.mix, { display: shown ? null : "none" });
  if (!shown) return;
  while (entry.mix.childNodes.length > item.mix.length) entry.mix.lastChild.remove();
  let x = 8;
  item.mix.forEach(([hue, number], index) => {
    const part = entry.mix.childNodes[index] ?? el("rect", { height: 2 }, entry.mix);
    const wide = ((width - 16) * number) / total;
    set(part, { x: r(x), y: r(height - 4), width: r(Math.max(1, wide)) });
    part.style.fill = hue;
    x += wide;
  });
}

function makeCrossing() {
  const node = el("g", { class: "crossing", role: "button", tabindex: -1, "data-testid": "crossing" });
  return {
    node,
    hit: el("path", { class: "hit" }, node),
    line: el("path", { class: "line" }, node),
    arrow: el("path", { class: "arrow" }, node),
  };
}

function updateCrossing(entry, item) {
  entry.node.classList.toggle("alert", item.alert);
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

function placeCrossing(entry, route) {
  set(entry.node, { display: route ? null : "none" });
  if (!route) return;
  set(entry.hit, { d: route.path });
  set(entry.line, { d: route.path, "stroke-width": r(route.width) });
  set(entry.arrow, { d: route.arrow });
}
