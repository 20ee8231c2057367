// A table that is changed in place: rows keep their nodes, sorting and search stay the reader's own.

import { drawCell, node, put, span } from "../shared/cells.js";

const MOST_ROWS = 500;
const LEAD_PX = 40; // of what comes after a row that the reader is led to

export class Table {
  constructor(root) {
    this.root = root;
    this.rows = new Map();
    this.sort = null;
    this.bar = node("div", { class: "table-bar" }, root);
    this.search = node("input", { type: "search", placeholder: "Search", "aria-label": "Search the rows" }, this.bar);
    this.number = node("span", { class: "remark", role: "status" }, this.bar);
    this.scroller = node("div", { class: "scroller", tabindex: 0 }, root);
    this.table = node("table", {}, this.scroller);
    this.head = node("tr", {}, node("thead", {}, this.table));
    this.body = node("tbody", {}, this.table);
    this.empty = node("div", { class: "empty", "data-testid": "table-empty" }, root);
    this.search.addEventListener("input", () => (this.remote ? this.remote({ find: this.search.value }) : this.arrange()));
    // Where the server searches and sorts: called with {find} or {sort, way}; rows come as they are to be shown.
    this.remote = null;
  }

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
    if (wanted !== this.led && this.rows.has(wanted)) this.lead(wanted);
    this.led = wanted;
  }

  // Scrolls the table only, never the page, and only as far as the row needs to be in sight whole.
  lead(id) {
    const { line } = this.rows.get(id);
    const place = () => {
      const box = this.scroller.getBoundingClientRect();
      const { top, bottom } = line.getBoundingClientRect();
      const head = this.table.tHead.offsetHeight;
      if (top < box.top + head) this.scroller.scrollTop -= box.top + head - top;
      else if (bottom > box.bottom) this.scroller.scrollTop += bottom - box.bottom + LEAD_PX;
    };
    // Before it has been laid out, nothing has a height.
    if (this.scroller.clientHeight) place();
    else requestAnimationFrame(place);
  }

  drawHead() {
    const stamp = JSON.stringify(this.data.columns);
    if (this.head.stamp === stamp) return;
    this.head.stamp = stamp;
    this.rows.clear();
    this.body.replaceChildren();
    this.head.replaceChildren();
    this.heads = this.data.columns.map((column) => {
      const head = node("th", { scope: "col", class: `cell-${column.kind}`, title: column.help }, this.head);
      if (column.width) head.style.width = column.width;
      if (!column.title) return head;
      const button = node("button", { type: "button", class: "sort" }, head);
      span(button, column.title);
      head.mark = span(button, "", "mark");
      button.addEventListener("click", () => this.sortBy(column.name));
      return head;
    });
  }

  // The first click sorts from the top down for numbers, the third gives the page's own order back.
  sortBy(name) {
    const column = this.data.columns.find((other) => other.name === name);
    const first = ["number", "progress"].includes(column.kind) ? -1 : 1;
    if (this.sort?.name !== name) this.sort = { name, way: first };
    else this.sort = this.sort.way === first ? { name, way: -first } : null;
    if (this.remote) this.remote({ sort: this.sort?.name ?? "", way: this.sort?.way ?? 1 });
    this.arrange();
  }

  drawRow(row, selected) {
    let entry = this.rows.get(row.id);
    if (!entry) {
      const line = node("tr", { "data-row": row.id });
      entry = { line, cells: this.data.columns.map((column) => node("td", { "data-column": column.name }, line)) };
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
    entry.line.classList.toggle("selected", selected);
    entry.line.classList.toggle("pickable", this.data.pickable);
    if (this.data.pickable) {
      entry.line.tabIndex = 0;
      entry.line.setAttribute("aria-selected", String(selected));
    }
    this.data.columns.forEach((column, index) => {
      const cell = row.cells[column.name];
      if (cell) drawCell(entry.cells[index], column.kind, cell, (event) => this.send({ ...event, row: row.id }));
    });
  }

  pick(id) {
    if (!this.data.pickable || window.getSelection()?.toString()) return;
    const selected = this.data.selected.includes(id);
    for (const [other, entry] of this.rows) entry.line.classList.toggle("selected", other === id && !selected);
    this.send({ type: "row", row: selected ? null : id });
  }

  arrange() {
    const { rows, columns } = this.data;
    const wanted = this.search.value.trim().toLowerCase();
    let shown = rows.map((row) => this.rows.get(row.id));
    if (wanted && !this.remote) shown = shown.filter((entry) => entry.words.includes(wanted));
    if (this.sort && !this.remote) {
      const { name, way } = this.sort;
      shown.sort((a, b) => way * compare(a.row.cells[name], b.row.cells[name]));
    }
    const found = shown.length;
    shown = shown.slice(0, MOST_ROWS);
    const order = shown.map((entry) => entry.line);
    if (order.length !== this.body.children.length || order.some((line, index) => this.body.children[index] !== line)) {
      this.body.replaceChildren(...order);
    }
    columns.forEach((column, index) => {
      const head = this.heads[index];
      const way = this.sort?.name === column.name ? this.sort.way : 0;
      if (head.mark) put(head.mark, way ? (way > 0 ? "▲" : "▼") : "");
      if (way) head.setAttribute("aria-sort", way > 0 ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
    this.bar.hidden = !wanted && rows.length < this.data.searchable;
    put(this.number, this.remote ? "" : found > MOST_ROWS ? `the first ${MOST_ROWS} of ${found}: search to find others` : wanted ? `${found} of ${rows.length}` : "");
    this.table.hidden = found === 0;
    this.empty.hidden = found > 0;
    put(this.empty, rows.length && !this.remote ? "No row has that in it." : this.data.empty);
    this.root.dataset.rows = String(found);
  }
}

function words(cell) {
  return [cell.text, cell.kind, cell.remark, cell.of?.text, ...(cell.devices ?? []).map((device) => device.device)].filter(Boolean).join(" ");
}

function compare(a, b) {
  const p = a?.sort ?? words(a ?? {});
  const q = b?.sort ?? words(b ?? {});
  if (typeof p === "number" && typeof q === "number") return p - q;
  return String(p).localeCompare(String(q), undefined, { numeric: true });
}
