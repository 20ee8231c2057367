// A line of labelled values, changed in place.

import { drawCell, node, put } from "../shared/cells.js";
import { mount } from "../shared/mount.js";
import { applyPalette } from "../shared/theme.js";

// Streamlit leaves a reader who follows a link as far down as the last page was scrolled.
function arrive(page, top) {
  const before = window.hopscopePage;
  window.hopscopePage = page;
  if (before === undefined || before === page || !top) return;
  document.querySelector('[data-testid="stMain"]')?.scrollTo({ top: 0 });
}

class Facts {
  constructor(root) {
    this.root = root;
    this.items = new Map();
  }

  update(data, send) {
    applyPalette(this.root);
    this.root.dataset.testid = data.testid;
    if (data.page) arrive(data.page, data.top);
    const kept = new Set(data.facts.map((fact) => fact.name));
    for (const [name, item] of this.items) {
      if (kept.has(name)) continue;
      item.box.remove();
      this.items.delete(name);
    }
    data.facts.forEach((fact, index) => {
      let item = this.items.get(fact.name);
      if (!item) {
        const box = node("div", { class: "fact", "data-fact": fact.name });
        item = { box, label: node("div", { class: "fact-label" }, box), value: node("div", { class: "fact-value" }, box) };
        this.items.set(fact.name, item);
      }
      if (this.root.children[index] !== item.box) this.root.insertBefore(item.box, this.root.children[index] ?? null);
      item.box.classList.toggle("wide", fact.wide);
      put(item.label, fact.label);
      item.label.hidden = !fact.label;
      drawCell(item.value, fact.kind, fact.cell, send);
    });
  }
}

export default function ({ data, parentElement, setTriggerValue }) {
  const [strip, leave] = mount(parentElement, ".hopscope", (root) => new Facts(root));
  strip.update(data, (event) => setTriggerValue("event", event));
  return leave;
}
