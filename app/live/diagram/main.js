// The placement diagram: a component that is called again with new data and changes what it drew in place.

const LOW_HEIGHT = 620;
const MAX_HEIGHT = 860;
const LANE_HEIGHT = 96;
const HEIGHT_SLACK = 1.15;
const MIN_HEIGHT = 150;
const MOVE_MS = 220;
const ZOOM_MAX = 6;
const TIGHT_ZOOM = 1.4;
const LABELLED_CROSSINGS = 24;
const DENSE_CROSSINGS = 50;
const LABEL_SPOTS = [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8];

const instances = new WeakMap();

class Diagram {
  constructor(root) {
    this.root = root;
    this.groups = new Map();
    this.crossings = new Map();
    this.lanes = new Map();
    this.routes = new Map();
    this.boxes = new Map();
    this.k = 1;
    this.tx = 0;
    this.ty = 0;
    this.manual = false;
    this.picked = { group: "", crossings: [], filtered: false };
    this.measure = makeMeasure(root);
    this.chrome = makeChrome(root, {
      play: () => this.player.toggle(),
      zoom: (factor) => this.zoomAt(this.viewWidth / 2, this.viewHeight / 2, factor),
      fit: () => this.fit(true),
      close: (expand) => this.toggle({ id: "", expand, expanded: true, scope: expand.split("|").at(-1) }),
      hintCause: (cause) => this.hintCause(cause),
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
    this.emptyText = el("html:div", { class: "empty", "data-testid": "diagram-empty" }, this.chrome.stage);
    this.wheelHint = el("html:div", { class: "wheel-hint" }, this.chrome.stage);
    this.wheelHint.textContent = "Click the diagram first, or hold Ctrl, to zoom with the wheel";
    this.tooltip = makeTooltip(root);
    this.player = makePlayer(this);
    listen(this);
    this.observer = new ResizeObserver(() => this.resized());
    document.fonts?.ready.then(() => {
      this.measure = makeMeasure(root);
      if (this.data) this.relayout(false);
    });
  }

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
    reconcile(this.groups, data.groups, this.groupLayer, makeGroup, (entry, item) => updateGroup(entry, item, this.hues.get(item.device)));
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

  relayout(animated) {
    const gutter = Math.max(84, ...this.data.lanes.map((lane) => this.measure(lane.device, "600 13px") + 34));
    this.gutter = Math.min(190, gutter);
    this.viewWidth = Math.max(120, this.chrome.stage.clientWidth - this.gutter);
    const before = this.layout;
    const most = Math.min(MAX_HEIGHT, Math.max(LOW_HEIGHT, this.data.lanes.length * LANE_HEIGHT));
    this.layout = layoutDiagram(this.data, this.measure, this.viewWidth, most);
    if (before && this.manual) stackLanes(this.layout, this.data.lanes, this.pitchAt(this.k));
    this.viewHeight = Math.max(MIN_HEIGHT, Math.min(most * HEIGHT_SLACK, this.layout.height));
    set(this.svg, { width: this.gutter + this.viewWidth, height: this.viewHeight });
    set(this.clipBox, { x: this.gutter - 2, y: 0, width: this.viewWidth + 2, height: this.viewHeight });
    if (before && this.manual) this.holdPlace(before);
    else this.fitView();
    this.clampView();
    this.drawLanes();
    const target = this.targets();
    if (animated && before && this.boxes.size && !sameBoxes(this.boxes, target) && !reducedMotion()) this.glide(target);
    else this.settle(target);
  }

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
  }

  // After opening: the first bar of the scope on that device; after closing: the bar that now holds it.
  nearestOf(anchor) {
    const related = [...this.layout.places.values()].filter(({ group }) => {
      const device = !anchor.device || group.device === anchor.device;
      const inner = group.scope === anchor.scope || group.scope.startsWith(`${anchor.scope}/`);
      return device && (inner || anchor.scope.startsWith(`${group.scope}/`));
    });
    related.sort((p, q) => p.column - q.column || p.row - q.row);
    return related[0] ?? null;
  }

  get fitZoom() {
    return Math.min(1.25, this.viewWidth / this.layout.width);
  }

  // The distance between rows at zoom `k`: all rows in view at first, room for text when zoomed in.
  pitchAt(k) {
    const { fitPitch } = this.layout;
    const least = this.fitZoom;
    const share = (k - least) / (Math.max(0.75, least * 1.5) - least);
    return fitPitch + (Math.max(fitPitch, PITCH_GOOD) - fitPitch) * Math.max(0, Math.min(1, share));
  }

  fitView() {
    this.k = this.fitZoom;
    this.tx = 0;
    this.ty = 0;
    stackLanes(this.layout, this.data.lanes, this.layout.fitPitch);
  }

  fit(animated) {
    this.manual = false;
    if (!this.layout) return;
    this.fitView();
    this.drawLanes();
    if (animated && !reducedMotion()) this.glide(this.targets());
    else this.settle(this.targets());
  }

  clampView() {
    const span = this.layout.width * this.k;
    const margin = Math.min(120, span);
    this.tx = Math.max(margin - span, Math.min(this.viewWidth - margin, this.tx));
    this.ty = Math.max(Math.min(0, this.viewHeight - this.layout.height), Math.min(0, this.ty));
  }

  zoomAt(x, y, factor) {
    if (!this.layout) return;
    const least = Math.min(1, this.fitZoom) * 0.7;
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
  }

  panBy(dx, dy) {
    if (!this.layout) return;
    this.tx += dx;
    this.ty += dy;
    this.manual = true;
    this.clampView();
    this.settle(this.targets());
  }

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
  }

  targets() {
    const target = new Map();
    for (const [id, place] of this.layout.places) {
      target.set(id, {
        x: place.x * this.k + this.tx,
        y: place.y + this.ty,
        width: Math.max(5, place.width * this.k),
        height: place.height,
      });
    }
    return target;
  }

  glide(target) {
    cancelAnimationFrame(this.moving);
    const from = new Map(this.boxes);
    const started = performance.now();
    this.labelLayer.replaceChildren();
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

  settle(target) {
    cancelAnimationFrame(this.moving);
    this.draw(target);
    this.labelCrossings();
    set(this.svg, { "data-zoom": this.k.toFixed(4), "data-pan": `${this.tx.toFixed(1)},${this.ty.toFixed(1)}` });
  }

  draw(boxes) {
    this.boxes = boxes;
    set(this.laneLayer, { transform: `translate(0 ${r(this.ty)})` });
    set(this.headLayer, { transform: `translate(0 ${r(this.ty)})` });
    for (const layer of this.content.children) set(layer, { transform: `translate(${r(this.gutter)} 0)` });
    const style = this.layout.tight && this.k < TIGHT_ZOOM ? TIGHT : ROOMY;
    this.root.classList.toggle("tight", style === TIGHT);
    for (const [id, box] of boxes) placeGroup(this.groups.get(id), box, this.measure, this.viewWidth, style);
    this.routes = routeCrossings(this.data.crossings, boxes, this.layout, this.ty, this.k);
    for (const [id, entry] of this.crossings) placeCrossing(entry, this.routes.get(id));
    this.drawThumbs();
    this.mark();
  }

  // Which part is in view, along the lower and the right edge.
  drawThumbs() {
    const bar = (node, at, view, whole, attributes) => {
      const shown = whole > view + 2;
      set(node, { display: shown ? null : "none" });
      if (shown) set(node, attributes(Math.max(0, (at / whole) * view), Math.max(24, (view / whole) * view)));
    };
    const across = this.layout.width * this.k;
    bar(this.thumbX, -this.tx, this.viewWidth, across, (x, width) => ({ x: r(this.gutter + Math.min(x, this.viewWidth - width)), width: r(width), y: this.viewHeight - 5 }));
    bar(this.thumbY, -this.ty, this.viewHeight, this.layout.height, (y, height) => ({ y: r(Math.min(y, this.viewHeight - height)), height: r(height), x: this.gutter + this.viewWidth - 5 }));
  }

  drawLanes() {
    const items = this.layout.lanes.map(({ lane, y, height }) => ({ id: lane.device, lane, y, height }));
    reconcile(this.lanes, items, this.laneLayer, () => {
      const node = el("g", { class: "lane", "data-testid": "lane" });
      const entry = { node, back: el("rect", { class: "lane-back", rx: 10 }, node), head: el("g", { class: "head" }) };
      entry.edge = el("rect", { class: "head-edge", width: 5, rx: 2.5 }, entry.head);
      entry.name = el("text", { class: "head-name", x: 17 }, entry.head);
      entry.remark = el("text", { class: "head-remark", x: 17 }, entry.head);
      entry.ops = el("text", { class: "head-ops", x: 17 }, entry.head);
      return entry;
    }, (entry, { lane, y, height }) => {
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

  // Sizes written on the crossings while they are few, each where it covers no bar and no other size.
  labelCrossings() {
    const wanted = [...this.routes.values()].filter(({ crossing }) => !this.crossings.get(crossing.id).node.classList.contains("dim"));
    this.labelLayer.replaceChildren();
    if (wanted.length > LABELLED_CROSSINGS) return;
    const taken = [...this.boxes.values()].map((box) => ({ left: box.x - 2, right: box.x + box.width + 2, top: box.y - 2, bottom: box.y + box.height + 2 }));
    wanted.sort((p, q) => q.crossing.alert - p.crossing.alert || q.width - p.width);
    for (const { crossing } of wanted) {
      const half = this.measure(crossing.text, "500 11px") / 2 + 4;
      const { line } = this.crossings.get(crossing.id);
      const length = line.getTotalLength();
      for (const spot of LABEL_SPOTS) {
        const { x, y } = line.getPointAtLength(length * spot);
        const area = { left: x - half, right: x + half, top: y - 8, bottom: y + 8 };
        if (area.left < 0 || area.right > this.viewWidth || taken.some((other) => overlaps(area, other))) continue;
        taken.push(area);
        const label = el("text", { class: `size${crossing.alert ? " alert" : ""}`, x: r(x), y: r(y + 4), "text-anchor": "middle" }, this.labelLayer);
        label.textContent = crossing.text;
        break;
      }
    }
  }

  // Marks what is picked and fades the rest.
  mark() {
    const { group, crossings, filtered } = this.picked;
    const chosen = new Set(crossings);
    const near = new Set();
    const hot = new Set(chosen);
    if (group && this.groups.has(group)) {
      near.add(group);
      for (const crossing of this.data.crossings) {
        if (crossing.src !== group && crossing.dst !== group) continue;
        hot.add(crossing.id);
        near.add(crossing.src).add(crossing.dst);
      }
      for (const [src, dst] of this.data.links) if (src === group || dst === group) near.add(src).add(dst);
    }
    for (const crossing of this.data.crossings) {
      if (this.hinted && crossing.cause === this.hinted) hot.add(crossing.id);
      if (hot.has(crossing.id)) near.add(crossing.src).add(crossing.dst);
    }
    const fading = near.size > 0 || hot.size > 0 || filtered;
    for (const [id, entry] of this.groups) {
      entry.node.classList.toggle("selected", id === group);
      entry.node.classList.toggle("dim", fading && !near.has(id));
      set(entry.node, { "aria-pressed": id === group ? "true" : "false" });
    }
    for (const [id, entry] of this.crossings) {
      entry.node.classList.toggle("selected", chosen.has(id));
      entry.node.classList.toggle("hot", hot.has(id));
      entry.node.classList.toggle("dim", fading && !hot.has(id));
    }
    this.drawLinks(group);
  }

  drawLinks(group) {
    const links = group ? this.data.links.filter(([src, dst]) => src === group || dst === group) : [];
    const items = links.map(([src, dst]) => ({ id: `${src}>${dst}`, src, dst, weight: 0 }));
    const routes = [...routeCrossings(items, this.boxes, this.layout, this.ty, this.k).values()];
    while (this.linkLayer.childNodes.length > routes.length) this.linkLayer.lastChild.remove();
    routes.forEach((route, index) => {
      const line = this.linkLayer.childNodes[index] ?? el("path", { class: "link" }, this.linkLayer);
      line.style.setProperty("--hue", this.hues.get(this.layout.byId.get(route.crossing.src).device));
      set(line, { d: route.path });
    });
  }

  hintCause(cause) {
    this.hinted = cause;
    if (this.layout) this.mark();
  }

  pick(picked, event) {
    const changed = JSON.stringify(picked) !== JSON.stringify(this.picked);
    this.picked = picked;
    this.mark();
    this.labelCrossings();
    if (changed) this.send(event);
  }

  pickGroup(id) {
    const { group } = this.layout.places.get(id);
    this.chrome.announce(`Selected ${group.label} on ${group.device}`);
    this.pick({ group: id, crossings: [], filtered: false }, { type: "group", id, device: group.device, label: group.label, scope: group.scope });
  }

  pickCrossing(id) {
    const { item } = this.crossings.get(id);
    this.chrome.announce(`Selected the crossing from ${item.from} to ${item.to}`);
    this.pick({ group: "", crossings: [id], filtered: true }, { type: "crossing", id, src: item.from, dst: item.to, hops: item.hops });
  }

  clear() {
    this.pick({ group: "", crossings: [], filtered: false }, { type: "clear" });
  }

  toggle(group) {
    if (!group.expand) return;
    const box = this.boxes.get(group.id);
    if (box) {
      this.anchor = { id: group.id, device: group.device, scope: group.scope, x: box.x, y: box.y };
      this.groups.get(group.id).node.classList.add("waiting");
    }
    this.manual = true;
    this.send({ type: "toggle", id: group.id, expand: group.expand, open: !group.expanded });
  }

  refreshControls() {
    this.chrome.playing(this.player.playing);
  }

  resized() {
    if (!this.data || !this.data.groups.length || !this.chrome.stage.clientWidth) return;
    if (this.chrome.stage.clientWidth === this.gutter + this.viewWidth) return;
    this.relayout(false);
  }

  // Taken off the page, perhaps only for a while: the page may show the same elements again.
  rest() {
    this.player.stop();
    cancelAnimationFrame(this.moving);
    this.tooltip.hide();
    this.observer.disconnect();
  }
}

function blend(a, b, t) {
  const between = (name) => a[name] + (b[name] - a[name]) * t;
  return { x: between("x"), y: between("y"), width: between("width"), height: between("height") };
}

function sameBoxes(a, b) {
  if (a.size !== b.size) return false;
  for (const [id, box] of b) {
    const other = a.get(id);
    if (!other || Math.abs(other.x - box.x) + Math.abs(other.y - box.y) + Math.abs(other.width - box.width) > 0.5) return false;
  }
  return true;
}

function overlaps(a, b) {
  return a.left < b.right && a.right > b.left && a.top < b.bottom && a.bottom > b.top;
}

function reducedMotion() {
  return window.matchMedia("(prefers-reduced-motion: reduce)").matches;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".hopscope-diagram");
  let diagram = instances.get(parentElement);
  if (!diagram || diagram.root !== root) {
    diagram?.rest();
    diagram = new Diagram(root);
    instances.set(parentElement, diagram);
  }
  diagram.update(data, (event) => setTriggerValue("event", event));
  return () => diagram.rest();
}
