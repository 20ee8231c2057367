// Everything around the drawing: title, opened scopes, buttons, legend, note.

import { lineWidth, r } from "./edges.js";
import { el, text } from "./scene.js";

const ICONS = {
  play: "M4 2.5v11l9-5.5z",
  stop: "M3.5 3.5h9v9h-9z",
  minus: "M3 8h10",
  plus: "M3 8h10M8 3v10",
  fit: "M2.5 5.5v-3h3M10.5 2.5h3v3M13.5 10.5v3h-3M5.5 13.5h-3v-3",
};

function icon(name) {
  const svg = el("svg", { viewBox: "0 0 16 16", width: 14, height: 14, "aria-hidden": "true", class: `icon ${name}` });
  el("path", { d: ICONS[name] }, svg);
  return svg;
}

export function makeChrome(root, actions) {
  const bar = el("html:div", { class: "bar-row" }, root);
  const title = el("html:div", { class: "title", "data-testid": "diagram-title" }, bar);
  const traces = el("html:div", { class: "traces", "data-testid": "diagram-traces" }, bar);
  const opened = el("html:div", { class: "opened" }, bar);
  const buttons = el("html:div", { class: "buttons" }, bar);
  const button = (name, label, action) => {
    const node = el("html:button", { type: "button", title: label, "aria-label": label, "data-testid": `diagram-${name}` }, buttons);
    node.append(icon(name));
    node.addEventListener("click", action);
    return node;
  };
  const play = button("play", "Play the step in dependency order", actions.play);
  const playText = el("html:span", {}, play);
  playText.textContent = "Play";
  button("minus", "Zoom out", () => actions.zoom(1 / 1.4));
  button("plus", "Zoom in", () => actions.zoom(1.4));
  button("fit", "Fit everything in view", actions.fit);

  const stage = el("html:div", { class: "stage" }, root);
  const legend = el("html:div", { class: "legend", "data-testid": "diagram-legend" }, root);
  const note = el("html:div", { class: "note", "data-testid": "diagram-note" }, root);
  const live = el("html:div", { class: "live", role: "status", "aria-live": "polite" }, root);

  return {
    bar,
    stage,
    legend,
    announce: (message) => text(live, message),
    playing(on) {
      play.replaceChild(icon(on ? "stop" : "play"), play.firstChild);
      playText.textContent = on ? "Stop" : "Play";
    },
    update(data) {
      text(title, data.title);
      text(traces, data.traces);
      traces.hidden = !data.traces;
      opened.replaceChildren(...data.opened.map(({ expand, label }) => {
        const chip = el("html:button", { type: "button", class: "chip", title: `Close ${label}`, "data-testid": "opened", "data-expand": expand });
        const name = el("html:span", {}, chip);
        name.textContent = label;
        const mark = el("html:span", { class: "chip-x", "aria-hidden": "true" }, chip);
        mark.textContent = "×";
        chip.addEventListener("click", () => actions.close(expand));
        return chip;
      }));
      if (data.opened.length) {
        const lead = el("html:span", { class: "lead" });
        lead.textContent = "Opened";
        opened.prepend(lead);
      }
      text(note, data.note);
      note.hidden = !data.note;
      drawLegend(legend, data, actions);
    },
  };
}

function drawLegend(legend, data, actions) {
  const key = JSON.stringify([data.causes, data.scale, data.badges]);
  if (legend.dataset.key === key) return;
  legend.dataset.key = key;
  legend.replaceChildren();
  legend.hidden = data.groups.length === 0;
  for (const { cause, label: name, alert, number, dashed } of data.causes) {
    const entry = el("html:span", { class: `cause${alert ? " alert" : ""}`, tabindex: 0, "data-testid": "legend-cause", "data-cause": cause }, legend);
    swatch(entry, dashed ? 2 : 3, dashed);
    const label = el("html:span", {}, entry);
    label.textContent = name;
    const count = el("html:span", { class: "number" }, entry);
    count.textContent = String(number);
    for (const type of ["pointerenter", "focus"]) entry.addEventListener(type, () => actions.hintCause(cause));
    for (const type of ["pointerleave", "blur"]) entry.addEventListener(type, () => actions.hintCause(null));
  }
  const scale = el("html:span", { class: "scale" }, legend);
  if (data.causes.length) {
    for (const { label, weight } of data.scale) {
      const entry = el("html:span", { class: "entry" }, scale);
      swatch(entry, lineWidth(weight));
      const name = el("html:span", {}, entry);
      name.textContent = label;
    }
  }
  if (data.badges) {
    const entry = el("html:span", { class: "entry", "data-testid": "legend-badge" }, scale);
    const badge = el("html:span", { class: "badge-sample" }, entry);
    badge.textContent = "2";
    const name = el("html:span", {}, entry);
    name.textContent = "hops";
  }
  const order = el("html:span", { class: "entry" }, scale);
  order.textContent = "Left to right: what depends on what";
}

function swatch(parent, width, dashed = false) {
  const svg = el("svg", { width: 22, height: 10, viewBox: "0 0 22 10", "aria-hidden": "true" }, parent);
  el("path", { d: "M0,5h22", "stroke-width": r(width), fill: "none", stroke: "currentColor", "stroke-dasharray": dashed ? "5 3" : null }, svg);
}
