// @ts-check
// What tables, facts and findings are made of: one value each, always set as text, never as HTML.

/** @import { Action, Badge, Cells, Kind, Send } from "./records.js" */

/**
 * An element with those attributes that have a value, put at its parent's end.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, string | number | null>} [attributes]
 * @param {Element | null} [parent]
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function node(tag, attributes = {}, parent = null) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== "" && value !== null) made.setAttribute(name, String(value));
  if (parent) parent.append(made);
  return made;
}

/**
 * @param {Element} target
 * @param {string} value
 */
export function put(target, value) {
  if (target.textContent !== value) target.textContent = value;
}

/**
 * @param {Element} parent
 * @param {string} text
 * @param {string} [className]
 */
export function span(parent, text, className = "") {
  const made = node("span", { class: className }, parent);
  made.textContent = text;
  return made;
}

/**
 * @param {Element} parent
 * @param {Badge} device
 */
export function deviceChip(parent, { device, hue, remark }) {
  const chip = node("span", { class: "chip", "data-device": device, title: remark ? `${device}: ${remark}` : device }, parent);
  node("span", { class: "swatch", "aria-hidden": "true" }, chip).style.background = hue;
  span(chip, device, "chip-name");
  if (remark) span(chip, remark, "remark");
}

const LONG_SITE = 40; // characters

/**
 * A place in the source; of a long path its end, from a folder on.
 * @param {string} text
 */
export function shortSite(text) {
  if (text.length <= LONG_SITE) return text;
  const file = text.lastIndexOf("/") + 1;
  let from = file;
  for (let at = text.indexOf("/"); at !== -1 && at + 1 < file; at = text.indexOf("/", at + 1)) {
    if (text.length - at <= LONG_SITE) {
      from = at + 1;
      break;
    }
  }
  return file ? `…/${text.slice(from)}` : text;
}

/**
 * How full a progress cell's bar is drawn: its parts are kept, so that it glides instead of jumping.
 * @type {WeakMap<Element, { label: HTMLElement, track: HTMLElement, bar: HTMLElement }>}
 */
const bars = new WeakMap();

/** @type {{ [Name in Kind]: (target: HTMLElement, cell: Cells[Name], send: Send) => void }} */
const CELLS = {
  text: (target, cell) => put(target, cell.text),
  // On one line; what does not fit is under the pointer.
  label: (target, cell) => {
    target.title = cell.title ?? cell.text;
    put(target, cell.text);
  },
  code: (target, cell) => {
    target.title = cell.title ?? "";
    put(target, cell.text);
  },
  // Of a long path the file says most; all of it is under the pointer.
  site: (target, cell) => {
    const shown = shortSite(cell.text);
    target.title = [shown === cell.text ? "" : cell.text, cell.title].filter(Boolean).join("\n");
    target.classList.toggle("long", shown.length > LONG_SITE);
    put(target, shown);
  },
  number: (target, cell) => {
    target.replaceChildren();
    target.title = cell.title ?? "";
    span(target, cell.text);
    if (cell.remark) span(target, cell.remark, "remark");
    const part = Math.round(18 * (cell.shade ?? 0));
    target.style.background = part ? `color-mix(in srgb, var(--st-primary-color) ${part}%, transparent)` : "";
  },
  devices: (target, cell) => {
    target.replaceChildren();
    target.title = cell.title ?? "";
    const row = node("span", { class: cell.arrow ? "chips way" : "chips" }, target);
    cell.devices.forEach((device, index) => {
      if (index && cell.arrow) span(row, "→", "arrow");
      deviceChip(row, device);
    });
    if (cell.remark) span(row, cell.remark, "remark");
  },
  badge: (target, cell) => {
    target.replaceChildren();
    target.title = cell.title ?? "";
    if (!cell.text) return;
    const badge = node("span", { class: `badge ${cell.tone ?? "quiet"}`, "data-badge": cell.text }, target);
    if (cell.tone === "busy") node("span", { class: "pulse", "aria-hidden": "true" }, badge);
    span(badge, cell.text);
    if (cell.remark) span(target, cell.remark, "remark");
  },
  progress: (target, cell) => {
    const { label, track, bar } = progressParts(target);
    target.title = cell.title ?? "";
    put(label, cell.text);
    const { fraction = null } = cell;
    track.hidden = fraction === null;
    if (fraction === null) return;
    const percent = Math.round(Math.min(1, Math.max(0, fraction)) * 1000) / 10;
    bar.style.width = `${percent}%`;
    bar.className = `fill ${cell.tone ?? ""}`;
    track.setAttribute("aria-valuenow", String(percent));
    track.setAttribute("aria-label", cell.text);
  },
  // A real address, so that it can be opened in another tab and copied; a plain click stays in this session.
  link: (target, cell, send) => {
    target.replaceChildren();
    /** @type {(parent: Element, text: string, href: string) => void} */
    const opening = (parent, text, href) => {
      const anchor = node("a", { href, target: "_self" }, parent);
      span(anchor, text);
      anchor.addEventListener("click", (event) => {
        event.stopPropagation();
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
        event.preventDefault();
        send({ type: "open", href });
      });
    };
    opening(target, cell.text, cell.href);
    if (cell.kind) span(target, cell.kind, "kind");
    if (cell.remark) span(target, cell.remark, "below");
    if (cell.of) {
      const line = span(target, `${cell.of.lead} `, "below");
      if (cell.of.href) opening(line, cell.of.text, cell.of.href);
      else span(line, cell.of.text);
    }
    if (cell.note) span(target, cell.note, `below note${cell.calm ? " calm" : ""}`);
  },
  actions: (target, cell, send) => {
    target.replaceChildren();
    const row = node("span", { class: "actions" }, target);
    for (const action of cell.actions) actionButton(row, action, send);
  },
};

/** @param {HTMLElement} target */
function progressParts(target) {
  let parts = bars.get(target);
  if (!parts) {
    target.replaceChildren();
    const label = span(target, "", "progress-text");
    const track = node("span", { class: "track", role: "progressbar", "aria-valuemin": 0, "aria-valuemax": 100 }, target);
    parts = { label, track, bar: node("span", { class: "fill" }, track) };
    bars.set(target, parts);
  }
  return parts;
}

/**
 * A button; what can't be undone is asked twice, in place. The question stays until it is answered, or left by
 * a click somewhere else or by Escape.
 * @param {Element} parent
 * @param {Action} action
 * @param {Send} send
 */
function actionButton(parent, action, send) {
  const holder = node("span", { class: "action" }, parent);
  let leave = () => {};
  const ask = () => {
    holder.replaceChildren();
    span(holder, action.confirm ?? "", "question");
    const yes = node("button", { type: "button", class: "yes", "data-action": `${action.name}-yes` }, holder);
    yes.textContent = action.yes ?? action.label;
    const no = node("button", { type: "button", "data-action": `${action.name}-no` }, holder);
    no.textContent = "Keep";
    yes.addEventListener("click", (event) => {
      event.stopPropagation();
      leave();
      act();
    });
    const keep = () => {
      rest();
      holder.querySelector("button")?.focus();
    };
    no.addEventListener("click", (event) => {
      event.stopPropagation();
      keep();
    });
    /** @param {Event} event */
    const elsewhere = (event) => {
      if (!holder.isConnected) leave();
      else if (!event.composedPath().includes(holder)) rest();
    };
    /** @param {KeyboardEvent} event */
    const escape = (event) => {
      if (event.key === "Escape" && holder.isConnected) keep();
    };
    leave = () => {
      document.removeEventListener("pointerdown", elsewhere, true);
      document.removeEventListener("keydown", escape, true);
      leave = () => {};
    };
    document.addEventListener("pointerdown", elsewhere, true);
    document.addEventListener("keydown", escape, true);
    no.focus();
  };
  const act = () => {
    holder.replaceChildren();
    span(holder, action.doing ?? "…", "question");
    send({ type: "action", action: action.name });
  };
  const rest = () => {
    leave();
    holder.replaceChildren();
    const button = node("button", { type: "button", "data-action": action.name, title: action.title ?? "" }, holder);
    button.textContent = action.label;
    button.addEventListener("click", (event) => {
      event.stopPropagation();
      if (action.confirm) ask();
      else act();
    });
  };
  rest();
}

/** @type {WeakMap<Element, { stamp: string, kind: Kind }>} */
const drawn = new WeakMap();

/**
 * Draws a cell anew only when it changed, so that nothing flickers and a question stays open.
 * @template {Kind} Name
 * @param {HTMLElement} target
 * @param {Name} kind
 * @param {Cells[Name]} cell
 * @param {Send} send
 */
export function drawCell(target, kind, cell, send) {
  const stamp = JSON.stringify([kind, cell]);
  const before = drawn.get(target);
  if (before?.stamp === stamp) return;
  drawn.set(target, { stamp, kind });
  if (before?.kind !== kind) {
    bars.delete(target);
    target.replaceChildren();
    target.classList.add(`cell-${kind}`);
  }
  target.classList.toggle("faint", Boolean(cell.faint));
  CELLS[kind](target, cell, send);
}
