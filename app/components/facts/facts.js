// @ts-check
// A line of labelled values, changed in place.

import { drawCell, node, put } from "../shared/cells.js";
import { mount } from "../shared/mount.js";
import { applyPalette } from "../shared/theme.js";

/** @import { Call, Cells, Kind, Send } from "../shared/records.js" */

/**
 * One labelled value, as app/components/facts/facts.py gives it.
 * @typedef {{ name: string, label: string, kind: Kind, cell: Cells[Kind], wide: boolean }} Fact
 * @typedef {{ facts: Fact[], testid: string, page?: string, top?: boolean }} FactsData
 */

/**
 * Streamlit leaves a reader who follows a link as far down as the last page was scrolled.
 * @param {string} page
 * @param {boolean} top
 */
function arrive(page, top) {
  const before = window.hopscopePage;
  window.hopscopePage = page;
  if (before === undefined || before === page || !top) return;
  document.querySelector('[data-testid="stMain"]')?.scrollTo({ top: 0 });
}

class Facts {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    /** @type {Map<string, { box: HTMLElement, label: HTMLElement, value: HTMLElement }>} */
    this.items = new Map();
  }

  /**
   * @param {FactsData} data
   * @param {Send} send
   */
  update(data, send) {
    applyPalette(this.root);
    this.root.dataset.testid = data.testid;
    if (data.page) arrive(data.page, Boolean(data.top));
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

/** @param {Call<FactsData>} call */
export default function ({ data, parentElement, setTriggerValue }) {
  const [strip, leave] = mount(parentElement, ".hopscope", (root) => new Facts(root));
  strip.update(data, (event) => setTriggerValue("event", event));
  return leave;
}
