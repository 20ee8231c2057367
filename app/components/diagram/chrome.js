// @ts-check
// Everything around the drawing: title, opened scopes, buttons, legend, note.

import { lineWidth, r } from "./edges.js";
import { el, html, text } from "./scene.js";

/** @import { DiagramData } from "./records.js" */

/**
 * What the buttons, the chips and the legend do.
 * @typedef {{
 *   play: () => void,
 *   zoom: (factor: number) => void,
 *   fit: () => void,
 *   close: (expand: string) => void,
 *   hintCause: (cause: string | null) => void,
 * }} Actions
 */

const ICONS = {
  play: "M4 2.5v11l9-5.5z",
  stop: "M3.5 3.5h9v9h-9z",
  minus: "M3 8h10",
  plus: "M3 8h10M8 3v10",
  fit: "M2.5 5.5v-3h3M10.5 2.5h3v3M13.5 10.5v3h-3M5.5 13.5h-3v-3",
};

/** @param {keyof typeof ICONS} name */
function icon(name) {
  const svg = el("svg", { viewBox: "0 0 16 16", width: 14, height: 14, "aria-hidden": "true", class: `icon ${name}` });
  el("path", { d: ICONS[name] }, svg);
  return svg;
}

/**
 * @param {HTMLElement} root
 * @param {Actions} actions
 */
export function makeChrome(root, actions) {
  const bar = html("div", { class: "bar-row" }, root);
  const title = html("div", { class: "title", "data-testid": "diagram-title" }, bar);
  const traces = html("div", { class: "traces", "data-testid": "diagram-traces" }, bar);
  const opened = html("div", { class: "opened" }, bar);
  const buttons = html("div", { class: "buttons" }, bar);
  /** @type {(name: keyof typeof ICONS, label: string, action: () => void) => HTMLButtonElement} */
  const button = (name, label, action) => {
    const node = html("button", { type: "button", title: label, "aria-label": label, "data-testid": `diagram-${name}` }, buttons);
    node.append(icon(name));
    node.addEventListener("click", action);
    return node;
  };
  const play = button("play", "Play the step in dependency order", actions.play);
  const playText = html("span", {}, play);
  playText.textContent = "Play";
  button("minus", "Zoom out", () => actions.zoom(1 / 1.4));
  button("plus", "Zoom in", () => actions.zoom(1.4));
  button("fit", "Fit everything in view", actions.fit);

  const stage = html("div", { class: "stage" }, root);
  const legend = html("div", { class: "legend", "data-testid": "diagram-legend" }, root);
  const note = html("div", { class: "note", "data-testid": "diagram-note" }, root);
  const live = html("div", { class: "live", role: "status", "aria-live": "polite" }, root);

  return {
    bar,
    stage,
    legend,
    /** @param {string} message to those who hear the page */
    announce: (message) => text(live, message),
    /** @param {boolean} on */
    playing(on) {
      play.firstElementChild?.replaceWith(icon(on ? "stop" : "play"));
      playText.textContent = on ? "Stop" : "Play";
    },
    /** @param {DiagramData} data */
    update(data) {
      text(title, data.title);
      text(traces, data.traces);
      traces.hidden = !data.traces;
      opened.replaceChildren(...data.opened.map(({ expand, label }) => {
        const chip = html("button", { type: "button", class: "chip", title: `Close ${label}`, "data-testid": "opened", "data-expand": expand });
        const name = html("span", {}, chip);
        name.textContent = label;
        const mark = html("span", { class: "chip-x", "aria-hidden": "true" }, chip);
        mark.textContent = "×";
        chip.addEventListener("click", () => actions.close(expand));
        return chip;
      }));
      if (data.opened.length) {
        const lead = html("span", { class: "lead" });
        lead.textContent = "Opened";
        opened.prepend(lead);
      }
      text(note, data.note);
      note.hidden = !data.note;
      drawLegend(legend, data, actions);
    },
  };
}

/**
 * @param {HTMLElement} legend
 * @param {DiagramData} data
 * @param {Actions} actions
 */
function drawLegend(legend, data, actions) {
  const key = JSON.stringify([data.causes, data.scale, data.badges]);
  if (legend.dataset.key === key) return;
  legend.dataset.key = key;
  legend.replaceChildren();
  legend.hidden = data.groups.length === 0;
  for (const { cause, label: name, alert, number, dashed } of data.causes) {
    const entry = html("span", { class: `cause${alert ? " alert" : ""}`, tabindex: 0, "data-testid": "legend-cause", "data-cause": cause }, legend);
    swatch(entry, dashed ? 2 : 3, dashed);
    const label = html("span", {}, entry);
    label.textContent = name;
    const count = html("span", { class: "number" }, entry);
    count.textContent = String(number);
    for (const type of ["pointerenter", "focus"]) entry.addEventListener(type, () => actions.hintCause(cause));
    for (const type of ["pointerleave", "blur"]) entry.addEventListener(type, () => actions.hintCause(null));
  }
  const scale = html("span", { class: "scale" }, legend);
  if (data.causes.length) {
    for (const { label, weight } of data.scale) {
      const entry = html("span", { class: "entry" }, scale);
      swatch(entry, lineWidth(weight));
      const name = html("span", {}, entry);
      name.textContent = label;
    }
  }
  if (data.badges) {
    const entry = html("span", { class: "entry", "data-testid": "legend-badge" }, scale);
    const badge = html("span", { class: "badge-sample" }, entry);
    badge.textContent = "2";
    const name = html("span", {}, entry);
    name.textContent = "hops";
  }
  const order = html("span", { class: "entry" }, scale);
  order.textContent = "Left to right: what depends on what";
}

/**
 * @param {Element} parent
 * @param {number} width
 * @param {boolean} [dashed]
 */
function swatch(parent, width, dashed = false) {
  const svg = el("svg", { width: 22, height: 10, viewBox: "0 0 22 10", "aria-hidden": "true" }, parent);
  el("path", { d: "M0,5h22", "stroke-width": r(width), fill: "none", stroke: "currentColor", "stroke-dasharray": dashed ? "5 3" : null }, svg);
}
