// What is picked, near it or pointed at: marked, the rest faded; and the sizes written on the crossings.

import { r, routeCrossings } from "./edges.js";
import { el, set } from "./scene.js";

const LABELLED_CROSSINGS = 24;
const LABEL_SPOTS = [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8];

export const MARKS = {
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
  },

  // Sizes written on the crossings while they are few, each where it covers no bar, no other size, and of no
  // crossing that matters more the stretch along a channel: in a bundle it would be taken for that one's.
  labelCrossings() {
    const wanted = [...this.routes.values()].filter(({ crossing }) => !this.crossings.get(crossing.id).node.classList.contains("dim"));
    this.labelLayer.replaceChildren();
    if (wanted.length > LABELLED_CROSSINGS) return;
    const written = new Set();
    const taken = [...this.boxes.values()].map((box) => ({ left: box.x - 2, right: box.x + box.width + 2, top: box.y - 2, bottom: box.y + box.height + 2 }));
    wanted.sort((p, q) => q.crossing.alert - p.crossing.alert || q.width - p.width);
    for (const route of wanted) {
      const { crossing } = route;
      // A ring's arrows all say the same: it is written once.
      if (crossing.collective && written.has(crossing.text)) {
        taken.push(...stretch(route));
        continue;
      }
      const half = this.measure(crossing.text, "500 11px") / 2 + 4;
      const { line } = this.crossings.get(crossing.id);
      const length = line.getTotalLength();
      for (const spot of LABEL_SPOTS) {
        const point = line.getPointAtLength(length * spot);
        const { y } = point;
        const x = crossing.collective ? Math.max(half, Math.min(this.viewWidth - half, point.x)) : point.x;
        const area = { left: x - half, right: x + half, top: y - 10, bottom: y + 10 };
        if (area.left < 0 || area.right > this.viewWidth || taken.some((other) => overlaps(area, other))) continue;
        taken.push(area);
        written.add(crossing.text);
        el("rect", { class: "size-back", x: r(area.left + 1), y: r(y - 7.5), width: r(2 * half - 2), height: 15, rx: 4 }, this.labelLayer);
        const label = el("text", { class: `size${crossing.alert ? " alert" : ""}`, x: r(x), y: r(y + 4), "text-anchor": "middle" }, this.labelLayer);
        label.textContent = crossing.text;
        break;
      }
      taken.push(...stretch(route));
    }
  },

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
  },

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
  },

  hintCause(cause) {
    this.hinted = cause;
    if (this.layout) this.mark();
  },

  pick(picked, event) {
    const changed = JSON.stringify(picked) !== JSON.stringify(this.picked);
    this.picked = picked;
    this.mark();
    this.labelCrossings();
    if (changed) this.send(event);
  },

  pickGroup(id) {
    const { group } = this.layout.places.get(id);
    this.chrome.announce(`Selected ${group.label} on ${group.device}`);
    this.pick({ group: id, crossings: [], filtered: false }, { type: "group", id, device: group.device, label: group.label, scope: group.scope });
  },

  pickCrossing(id) {
    const { item } = this.crossings.get(id);
    this.chrome.announce(`Selected the crossing from ${item.from} to ${item.to}`);
    this.pick({ group: "", crossings: [id], filtered: true }, { type: "crossing", id, src: item.from, dst: item.to, hops: item.hops });
  },

  clear() {
    this.pick({ group: "", crossings: [], filtered: false }, { type: "clear" });
  },
};

// Where a crossing runs along a channel; nothing for one that goes straight to its bar.
function stretch({ channel, x1, x2 }) {
  return channel === undefined ? [] : [{ left: Math.min(x1, x2), right: Math.max(x1, x2), top: channel - 1, bottom: channel + 1 }];
}

function overlaps(a, b) {
  return a.left < b.right && a.right > b.left && a.top < b.bottom && a.bottom > b.top;
}
