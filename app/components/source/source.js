// @ts-check
// Source with what each line made the devices do beside it. All text is set as text, never as HTML.

import { node, span } from "../shared/cells.js";
import { drawCode } from "../shared/code.js";
import { mount } from "../shared/mount.js";
import { applyPalette } from "../shared/theme.js";

/** @import { Badge, Call, Send, Word } from "../shared/records.js" */

/**
 * What app/components/source/source.py gives.
 * @typedef {{ text: string, title?: string, remark?: string, tone?: string, below?: string }} Amount
 * @typedef {"arriving" | "leaving" | "waits"} AmountName
 * @typedef {{
 *   line: number,
 *   ops: (Badge & { text: string, title: string })[],
 *   more: { text: string, title: string } | null,
 * } & Record<AmountName, Amount | null>} LineFacts
 * @typedef {{
 *   lines: string[],
 *   words: Word[][],
 *   facts: LineFacts[],
 *   selected: number,
 *   lit: number[],
 *   first: number,
 *   height: number,
 *   label: string,
 *   name: string,
 *   testid: string,
 * }} SourceData
 * @typedef {{ line: HTMLTableRowElement, cells: Record<string, HTMLTableCellElement>, stamp: string }} LineRow
 */

/** @type {AmountName[]} */
const AMOUNTS = ["arriving", "leaving", "waits"];

/** @type {["ops" | AmountName, string, string][]} */
const COLUMNS = [
  ["ops", "Ops run on", "Distinct ops that the line made run, by device"],
  ["arriving", "Fetched", "Bytes that crossed to the devices of this line's ops, in the whole run"],
  ["leaving", "Sent on", "Bytes of what this line made that crossed for ops of other lines, in the whole run"],
  ["waits", "Waited", "How long Python stood still at this line, in the whole run"],
];
const ABOVE = 3; // lines shown above the one that the reader is led to

class Source {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    /** @type {Map<number, LineRow>} */
    this.rows = new Map();
    /** @type {Send} */
    this.send = () => {};
    /** @type {SourceData} */
    this.data = { lines: [], words: [], facts: [], selected: 0, lit: [], first: 0, height: 0, label: "", name: "", testid: "" };
    this.stamp = "";
    this.wanted = "";
    this.scroller = node("div", { class: "scroller", tabindex: 0 }, root);
    this.table = node("table", {}, this.scroller);
    this.thead = node("thead", {}, this.table);
    const head = node("tr", {}, this.thead);
    for (const [name, title, help] of COLUMNS) node("th", { scope: "col", class: `fact ${name}`, title: help }, head).textContent = title;
    node("th", { scope: "col", class: "number", title: "Line" }, head);
    node("th", { scope: "col", class: "code" }, head);
    this.body = node("tbody", {}, this.table);
  }

  /**
   * @param {SourceData} data
   * @param {Send} send
   */
  update(data, send) {
    this.send = send;
    this.data = data;
    applyPalette(this.root);
    this.root.dataset.testid = data.testid;
    this.scroller.setAttribute("aria-label", data.label);
    this.scroller.style.maxHeight = `${data.height}px`;
    const facts = new Map(data.facts.map((fact) => [fact.line, fact]));
    const shown = data.lines.length ? data.lines.map((_, index) => index + 1) : [...facts.keys()];
    const stamp = JSON.stringify([data.name, data.lines, data.lines.length ? 0 : shown]);
    const anew = stamp !== this.stamp;
    if (anew) this.drawText(shown);
    this.stamp = stamp;
    for (const [number, row] of this.rows) this.drawFacts(row, facts.get(number));
    // A waits column without waits, or the like, would only take room from the code.
    for (const [name] of COLUMNS) {
      const used = data.facts.some((fact) => (name === "ops" ? fact.ops.length : fact[name]));
      this.table.classList.toggle(`no-${name}`, !used);
    }
    const lit = new Set(data.lit);
    for (const [number, { line }] of this.rows) {
      line.classList.toggle("selected", number === data.selected);
      line.classList.toggle("lit", lit.has(number));
      if (line.tabIndex === 0) line.setAttribute("aria-selected", String(number === data.selected));
    }
    const target = data.selected || data.lit[0] || data.first;
    const wanted = JSON.stringify([data.name, data.selected, data.lit]);
    if (target && (anew || wanted !== this.wanted)) this.lead(target, anew);
    this.wanted = wanted;
    this.root.dataset.lines = String(shown.length);
  }

  /** @param {number[]} shown */
  drawText(shown) {
    this.rows.clear();
    this.body.replaceChildren();
    this.table.classList.toggle("textless", !this.data.lines.length);
    for (const number of shown) {
      const line = node("tr", { "data-line": number }, this.body);
      const cells = Object.fromEntries(COLUMNS.map(([name]) => [name, node("td", { class: `fact ${name}` }, line)]));
      node("td", { class: "number" }, line).textContent = String(number);
      drawCode(node("td", { class: "code" }, line), this.data.lines[number - 1] ?? "", this.data.words[number - 1] ?? []);
      line.addEventListener("click", () => this.pick(number));
      line.addEventListener("keydown", (event) => {
        if (event.target !== line || !["Enter", " "].includes(event.key)) return;
        event.preventDefault();
        this.pick(number);
      });
      this.rows.set(number, { line, cells, stamp: "" });
    }
  }

  /**
   * @param {LineRow} row
   * @param {LineFacts | undefined} fact
   */
  drawFacts(row, fact) {
    const stamp = JSON.stringify(fact ?? null);
    if (row.stamp === stamp) return;
    row.stamp = stamp;
    row.line.classList.toggle("known", Boolean(fact));
    if (fact) row.line.tabIndex = 0;
    else row.line.removeAttribute("tabindex");
    row.cells.ops.replaceChildren();
    const chips = node("span", { class: "chips" }, row.cells.ops);
    for (const { device, hue, text, title } of fact?.ops ?? []) {
      const chip = node("span", { class: "chip", "data-device": device, title }, chips);
      node("span", { class: "swatch", "aria-hidden": "true" }, chip).style.background = hue;
      span(chip, device, "chip-name");
      span(chip, text, "ops-count");
    }
    if (fact?.more) span(chips, fact.more.text, "ops-count").title = fact.more.title;
    for (const name of AMOUNTS) {
      const target = row.cells[name];
      const told = fact?.[name];
      target.replaceChildren();
      target.title = told?.title ?? "";
      target.classList.toggle("alert", told?.tone === "alert");
      if (!told) continue;
      span(target, told.text, "amount");
      if (told.remark) span(target, told.remark, "remark");
      if (told.below) span(target, told.below, "below");
    }
  }

  /** @param {number} number */
  pick(number) {
    if (!this.rows.get(number)?.line.classList.contains("known") || window.getSelection()?.toString()) return;
    this.send({ type: "line", line: number === this.data.selected ? 0 : number });
  }

  /**
   * Scrolls the source only, never the page; a line in sight stays where it is.
   * @param {number} number
   * @param {boolean} anew
   */
  lead(number, anew) {
    const row = this.rows.get(number);
    if (!row) return;
    const place = () => {
      const head = this.thead.offsetHeight;
      const top = row.line.offsetTop - head;
      const { scrollTop, clientHeight } = this.scroller;
      const seen = top >= scrollTop && top + row.line.offsetHeight + head <= scrollTop + clientHeight;
      const above = this.rows.get(number - ABOVE)?.line.offsetTop ?? 0;
      if (!seen || anew) this.scroller.scrollTop = Math.max(0, above - head);
    };
    // Before it has been laid out, nothing has a height.
    if (this.scroller.clientHeight) place();
    else requestAnimationFrame(place);
  }
}

/** @param {Call<SourceData>} call */
export default function ({ data, parentElement, setTriggerValue }) {
  const [source, leave] = mount(parentElement, ".hopscope", (root) => new Source(root));
  source.update(data, (event) => setTriggerValue("event", event));
  return leave;
}
