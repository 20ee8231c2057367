// @ts-check
// A table that is changed in place: rows keep their nodes, sorting and search stay the reader's own.

import { drawCell, node, put, span } from "../shared/cells.js";

/**
 * @import { Cell, Cells, Kind, Send } from "../shared/records.js"
 * @import { Column, Row, Sort, TableData } from "./records.js"
 */

const MOST_ROWS = 500;
const LEAD_PX = 40; // of what comes after a row that the reader is led to

/**
 * A row with its nodes; `words` is what is searched.
 * @typedef {{ row: Row, line: HTMLTableRowElement, cells: HTMLTableCellElement[], words: string }} Entry
 */

export class Table {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    /** @type {Map<string, Entry>} */
    this.rows = new Map();
    /** @type {Sort | null} */
    this.sort = null;
    /** @type {{ head: HTMLElement, mark: HTMLElement | null }[]} */
    this.heads = [];
    this.columns = "";
    this.led = "";
    /** @type {Send} */
    this.send = () => {};
    /** @type {TableData} */
    this.data = { columns: [], rows: [], selected: [], pickable: false, height: 0, empty: "", label: "", searchable: 0, testid: "" };
    this.bar = node("div", { class: "table-bar" }, root);
    this.search = node("input", { type: "search", placeholder: "Search", "aria-label": "Search the rows" }, this.bar);
    this.number = node("span", { class: "remark", role: "status" }, this.bar);
    this.scroller = node("div", { class: "scroller", tabindex: 0 }, root);
    this.table = node("table", {}, this.scroller);
    this.thead = node("thead", {}, this.table);
    this.head = node("tr", {}, this.thead);
    this.body = node("tbody", {}, this.table);
    /**
     * Where the server searches and sorts: called with {find} or {sort, way}; rows come as they are to be shown.
     * @type {((change: { find?: string, sort?: string, way?: number }) => void) | null}
     */
    this.remote = null;
    this.empty = node("div", { class: "empty", "data-testid": "table-empty" }, root);
    this.search.addEventListener("input", () => (this.remote ? this.remote({ find: this.search.value }) : this.arrange()));
  }

  /**
   * @param {TableData} data
   * @param {Send} send
   */
  update(data, send) {
    this.send = send;
    this.data = data;
    this.root.dataset.testid = data.testid;
    this.scroller.setAttribute("aria-label", data.label);
    this.scroller.style.maxHeight = `${data.height}px`;
    this.drawHead();
    const selected = new Set(data.selected);
    const kept = new Set(data.rows.map((row) => row.id));
    for (const [id, entry] of this.rows) {
      if (kept.has(id)) continue;
      entry.line.remove();
      this.rows.delete(id);
    }
    for (const row of data.rows) this.drawRow(row, selected.has(row.id));
    this.arrange();
    const wanted = data.selected[0] ?? "";
    const entry = this.rows.get(wanted);
    if (entry && wanted !== this.led) this.lead(entry.line);
    this.led = wanted;
  }

  /**
   * Scrolls the table only, never the page, and only as far as the row needs to be in sight whole.
   * @param {HTMLTableRowElement} line
   */
  lead(line) {
    const place = () => {
      const box = this.scroller.getBoundingClientRect();
      const { top, bottom } = line.getBoundingClientRect();
      const head = this.thead.offsetHeight;
      if (top < box.top + head) this.scroller.scrollTop -= box.top + head - top;
      else if (bottom > box.bottom) this.scroller.scrollTop += bottom - box.bottom + LEAD_PX;
    };
    // Before it has been laid out, nothing has a height.
    if (this.scroller.clientHeight) place();
    else requestAnimationFrame(place);
  }

  drawHead() {
    const stamp = JSON.stringify(this.data.columns);
    if (this.columns === stamp) return;
    this.columns = stamp;
    this.rows.clear();
    this.body.replaceChildren();
    this.head.replaceChildren();
    this.heads = this.data.columns.map((column) => {
      const head = node("th", { scope: "col", class: `cell-${column.kind}`, title: column.help }, this.head);
      if (column.width) head.style.width = column.width;
      if (!column.title) return { head, mark: null };
      const button = node("button", { type: "button", class: "sort" }, head);
      span(button, column.title);
      const mark = span(button, "", "mark");
      button.addEventListener("click", () => this.sortBy(column));
      return { head, mark };
    });
  }

  /** @param {Column} column */
  sortBy(column) {
    this.sort = nextSort(this.sort, column);
    if (this.remote) this.remote({ sort: this.sort?.name ?? "", way: this.sort?.way ?? 1 });
    this.arrange();
  }

  /**
   * @param {Row} row
   * @param {boolean} selected
   */
  drawRow(row, selected) {
    let entry = this.rows.get(row.id);
    if (!entry) {
      const line = node("tr", { "data-row": row.id });
      entry = { row, line, cells: this.data.columns.map((column) => node("td", { "data-column": column.name }, line)), words: "" };
      line.addEventListener("click", () => this.pick(row.id));
      line.addEventListener("keydown", (event) => {
        if (event.target !== line || !["Enter", " "].includes(event.key)) return;
        event.preventDefault();
        this.pick(row.id);
      });
      this.rows.set(row.id, entry);
    }
    entry.row = row;
    entry.words = Object.values(row.cells).map((cell) => words(cell)).join(" ").toLowerCase();
    const { cells } = entry;
    entry.line.classList.toggle("selected", selected);
    entry.line.classList.toggle("pickable", this.data.pickable);
    if (this.data.pickable) {
      entry.line.tabIndex = 0;
      entry.line.setAttribute("aria-selected", String(selected));
    }
    this.data.columns.forEach((column, index) => {
      const cell = row.cells[column.name];
      if (!cell) return;
      // Python gives a cell the fields of its column's kind.
      const suited = /** @type {Cells[Kind]} */ (cell);
      drawCell(cells[index], column.kind, suited, (event) => this.send({ ...event, row: row.id }));
    });
  }

  /** @param {string} id */
  pick(id) {
    if (!this.data.pickable || window.getSelection()?.toString()) return;
    const selected = this.data.selected.includes(id);
    for (const [other, entry] of this.rows) entry.line.classList.toggle("selected", other === id && !selected);
    this.send({ type: "row", row: selected ? null : id });
  }

  arrange() {
    const { rows, columns } = this.data;
    const wanted = this.search.value.trim().toLowerCase();
    const entries = rows.flatMap((row) => this.rows.get(row.id) ?? []);
    const shown = this.remote ? entries : arranged(entries, wanted, this.sort);
    const found = shown.length;
    const order = shown.slice(0, MOST_ROWS).map((entry) => entry.line);
    if (order.length !== this.body.children.length || order.some((line, index) => this.body.children[index] !== line)) {
      this.body.replaceChildren(...order);
    }
    columns.forEach((column, index) => {
      const { head, mark } = this.heads[index];
      const way = this.sort?.name === column.name ? this.sort.way : 0;
      if (mark) put(mark, way ? (way > 0 ? "▲" : "▼") : "");
      if (way) head.setAttribute("aria-sort", way > 0 ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
    this.bar.hidden = !wanted && rows.length < this.data.searchable;
    put(this.number, this.remote ? "" : countText(found, rows.length, wanted));
    this.table.hidden = found === 0;
    this.empty.hidden = found > 0;
    put(this.empty, rows.length && !this.remote ? "No row has that in it." : this.data.empty);
    this.root.dataset.rows = String(found);
  }
}

/**
 * How rows are sorted after a click on a column's head: the first click sorts from the top down for numbers, the
 * third gives the page's own order back.
 * @param {Sort | null} sort
 * @param {Pick<Column, "name" | "kind">} column
 * @returns {Sort | null}
 */
export function nextSort(sort, { name, kind }) {
  const first = ["number", "progress"].includes(kind) ? -1 : 1;
  if (sort?.name !== name) return { name, way: first };
  return sort.way === first ? { name, way: -first } : null;
}

/**
 * Those rows that have a text in them, in the order in which they are shown.
 * @template {{ row: Row, words: string }} Searched
 * @param {Searched[]} entries
 * @param {string} wanted in lower case; '' for all
 * @param {Sort | null} sort
 * @returns {Searched[]}
 */
export function arranged(entries, wanted, sort) {
  const found = wanted ? entries.filter((entry) => entry.words.includes(wanted)) : [...entries];
  if (!sort) return found;
  const { name, way } = sort;
  return found.sort((a, b) => way * compare(a.row.cells[name], b.row.cells[name]));
}

/**
 * What stands beside the search field.
 * @param {number} found
 * @param {number} all
 * @param {string} wanted
 */
export function countText(found, all, wanted) {
  if (found > MOST_ROWS) return `the first ${MOST_ROWS} of ${found}: search to find others`;
  return wanted ? `${found} of ${all}` : "";
}

/**
 * All that is written in a cell.
 * @param {Cell} cell
 */
export function words(cell) {
  return [cell.text, cell.kind, cell.remark, cell.of?.text, ...(cell.devices ?? []).map((device) => device.device)].filter(Boolean).join(" ");
}

/**
 * Which of two cells comes first: numbers by size, else texts, with the numbers in them by size.
 * @param {Cell | undefined} a
 * @param {Cell | undefined} b
 */
export function compare(a, b) {
  const p = a?.sort ?? words(a ?? {});
  const q = b?.sort ?? words(b ?? {});
  if (typeof p === "number" && typeof q === "number") return p - q;
  return String(p).localeCompare(String(q), undefined, { numeric: true });
}
