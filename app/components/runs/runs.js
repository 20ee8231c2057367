// @ts-check
// The list of all runs: one WebSocket, over which only the rows in view come, and only when they change.

import { node, put, span } from "../shared/cells.js";
import { mount } from "../shared/mount.js";
import { applyPalette } from "../shared/theme.js";
import { Table } from "../table/rows.js";

/**
 * @import { Call, Send } from "../shared/records.js"
 * @import { Row } from "../table/records.js"
 * @import { ListMessage, RunRow, RunsData, Wish } from "./records.js"
 */

const RETRY_MS = [300, 700, 1500, 3000, 6000, 10000];
const TYPED_MS = 250;
const TICK_MS = 1000;

class Runs {
  /**
   * @param {HTMLElement} root
   * @param {RunsData} data
   */
  constructor(root, data) {
    this.root = root;
    this.data = data;
    /** @type {Wish} */
    this.wish = { find: "", sort: "", way: 1, first: 0, ...data.wish };
    /** @type {Send} */
    this.send = () => {};
    /** @type {Map<string, RunRow>} */
    this.rows = new Map();
    /** @type {string[]} */
    this.order = [];
    /** @type {Row[]} */
    this.broken = [];
    /** @type {WebSocket | null} */
    this.socket = null;
    this.tries = 0;
    this.offset = 0;
    /** @type {ListMessage | null} */
    this.head = null;
    this.started = false;
    this.asked = false;
    this.retry = 0;
    this.asking = 0;
    /** @type {Table | null} */
    this.lower = null;
    this.bar = node("div", { class: "runs-bar" }, root);
    this.number = span(this.bar, "", "figure");
    this.number.setAttribute("role", "status");
    this.pager = node("span", { class: "pager" }, this.bar);
    this.back = this.step("‹", "Newer rows", -1);
    this.place = span(this.pager, "", "figure");
    this.next = this.step("›", "Older rows", 1);
    this.table = new Table(node("div", {}, root));
    this.title = node("h3", { class: "broken" }, root);
    this.title.hidden = true;
    this.turned = () => this.turn();
    document.addEventListener("visibilitychange", this.turned);
    window.addEventListener("online", this.turned);
    this.ticking = window.setInterval(() => this.tick(), TICK_MS);
    this.table.remote = (change) => this.look(change);
    this.bar.prepend(this.table.search);
  }

  /**
   * A button that goes a page back or on.
   * @param {string} text
   * @param {string} label
   * @param {number} way
   */
  step(text, label, way) {
    const button = node("button", { type: "button", "aria-label": label }, this.pager);
    button.textContent = text;
    button.addEventListener("click", () => this.look({ first: Math.max(0, this.wish.first + way * this.data.page) }));
    return button;
  }

  /**
   * @param {RunsData} data
   * @param {Send} send
   */
  update(data, send) {
    this.send = send;
    this.data = data;
    if (!this.started) {
      this.started = true;
      this.table.search.value = this.wish.find;
      this.table.sort = this.wish.sort ? { name: this.wish.sort, way: this.wish.way } : null;
      this.turn();
    }
    this.draw();
  }

  /**
   * Another part of the list: what was typed waits for the next letter.
   * @param {Partial<Wish>} change
   */
  look(change) {
    const typed = "find" in change;
    this.wish = { ...this.wish, ...("first" in change ? {} : { first: 0 }), ...change };
    clearTimeout(this.asking);
    this.asking = window.setTimeout(
      () => {
        this.ask();
        this.send({ type: "wish", wish: this.wish });
      },
      typed ? TYPED_MS : 0,
    );
    if ("first" in change) this.table.scroller.scrollTop = 0;
  }

  ask() {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(this.wish));
  }

  turn() {
    clearTimeout(this.retry);
    if (document.hidden) this.drop();
    else if (!this.socket) this.connect();
  }

  connect() {
    const address = new URL(this.data.address, location.href);
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    const socket = (this.socket = new WebSocket(address));
    socket.addEventListener("open", () => this.ask());
    socket.addEventListener("message", (event) => {
      if (socket === this.socket) this.hear(JSON.parse(event.data));
    });
    socket.addEventListener("close", () => {
      if (socket !== this.socket) return;
      this.socket = null;
      this.retry = window.setTimeout(() => this.turn(), RETRY_MS[Math.min(this.tries, RETRY_MS.length - 1)]);
      this.tries += 1;
      this.draw();
    });
  }

  drop() {
    const socket = this.socket;
    this.socket = null;
    socket?.close();
  }

  /** @param {ListMessage} message */
  hear(message) {
    this.tries = 0;
    this.offset = message.now - Date.now() / 1000;
    this.order = message.order ?? this.order;
    this.rows = mergedRows(this.rows, this.order, message.rows);
    if (message.broken) this.broken = message.broken;
    this.head = message;
    // Beyond the end there is nothing to see: somebody has deleted runs, or searched.
    if (!this.order.length && message.found && this.wish.first) this.look({ first: 0 });
    this.draw();
    if ((message.total + message.unreadable === 0) !== this.data.empty && !this.asked) {
      this.asked = true;
      this.send({ type: "shape" });
    }
  }

  draw() {
    if (!this.head) return;
    this.asked = this.asked && (this.head.total + this.head.unreadable === 0) !== this.data.empty;
    this.tick();
    const { head, data, wish } = this;
    const rows = [...this.rows.values()];
    this.table.update(
      {
        columns: data.columns,
        rows,
        selected: [],
        pickable: false,
        height: data.height,
        // That there is no run yet is said by the page, with what to do.
        empty: wish.find ? "No run has that in it." : "",
        label: "Runs, newest first",
        searchable: 12,
        testid: "table-runs",
      },
      (event) => this.send(event),
    );
    this.table.root.hidden = !head.total;
    this.table.bar.hidden = true;
    this.table.search.hidden = !wish.find && head.total < 12;
    const plural = head.total === 1 ? "run" : "runs";
    const going = head.going_on ? `, ${count(head.going_on)} going on` : "";
    const found = wish.find ? `, ${count(head.found)} found` : "";
    const state = this.socket || !this.tries ? "" : " · not connected, trying again";
    put(this.number, head.problem || (head.total ? `${count(head.total)} ${plural}${going}${found}${state}` : state.slice(3)));
    this.pager.hidden = head.found <= data.page;
    const last = Math.min(head.found, head.first + data.page);
    put(this.place, `${count(head.first + 1)} to ${count(last)} of ${count(head.found)}`);
    this.back.disabled = head.first === 0;
    this.next.disabled = last >= head.found;
    this.drawBroken(head.unreadable);
  }

  /** @param {number} unreadable how many there are; not all of them have a row */
  drawBroken(unreadable) {
    const rows = this.broken;
    this.title.hidden = !rows.length;
    put(this.title, "Folders that cannot be read");
    if (!rows.length) {
      this.lower?.root.remove();
      this.lower = null;
      return;
    }
    this.lower ??= new Table(node("div", {}, this.root));
    const more = unreadable > rows.length ? `: the first ${count(rows.length)} of ${count(unreadable)}` : "";
    put(this.title, `Folders that cannot be read${more}`);
    this.lower.update(
      {
        columns: this.data.broken,
        rows,
        selected: [],
        pickable: false,
        height: this.data.height,
        empty: "",
        label: "Folders that cannot be read",
        searchable: 12,
        testid: "table-broken",
      },
      (event) => this.send(event),
    );
  }

  // How long ago and for how long is told by this clock: it is no news for the server to send.
  tick() {
    const now = Date.now() / 1000 + this.offset;
    for (const row of this.rows.values()) {
      const { started, duration } = row.cells;
      if (started.at !== undefined) row.cells.started = { ...started, text: agoText(now - started.at, started.title ?? "") };
      if (duration.since !== undefined) row.cells.duration = { ...duration, text: durationText(now - duration.since) };
      const entry = this.table.rows.get(row.id);
      if (entry?.row === row) this.table.drawRow(row, false);
    }
  }

  destroy() {
    clearInterval(this.ticking);
    clearTimeout(this.retry);
    clearTimeout(this.asking);
    document.removeEventListener("visibilitychange", this.turned);
    window.removeEventListener("online", this.turned);
    this.drop();
  }
}

/**
 * The rows in view after a message: those that came, and those that were known and stay.
 * @param {Map<string, RunRow>} known
 * @param {string[]} order
 * @param {RunRow[]} came
 * @returns {Map<string, RunRow>}
 */
export function mergedRows(known, order, came) {
  const news = new Map(came.map((row) => [row.id, row]));
  return new Map(
    order.flatMap((id) => {
      const row = news.get(id) ?? known.get(id);
      return row ? [[id, row]] : [];
    }),
  );
}

/** @param {number} number */
function count(number) {
  return number.toLocaleString("en-US");
}

/**
 * How long ago, as app/web/shared/run_rows.ago says it; from a week on the day.
 * @param {number} seconds
 * @param {string} date
 */
export function agoText(seconds, date) {
  if (seconds >= 7 * 86400) return date.slice(0, 10);
  /** @type {[number, string][]} */
  const units = [[86400, "d"], [3600, "h"], [60, "min"]];
  for (const [size, unit] of units) {
    if (seconds >= size) return `${Math.floor(seconds / size)} ${unit} ago`;
  }
  return `${Math.max(0, Math.floor(seconds))} s ago`;
}

/**
 * How long, as app/views/units.duration says it.
 * @param {number} seconds
 */
export function durationText(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  /** @param {number} number */
  const two = (number) => String(number).padStart(2, "0");
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${two(whole % 60)} s`;
  return `${Math.floor(whole / 3600)} h ${two(Math.floor((whole % 3600) / 60))} min`;
}

/** @param {Call<RunsData>} call */
export default function ({ data, parentElement, setTriggerValue }) {
  const [list, leave] = mount(parentElement, ".hopscope", (root) => new Runs(root, data));
  applyPalette(list.root);
  list.update(data, (event) => setTriggerValue("event", event));
  return leave;
}
