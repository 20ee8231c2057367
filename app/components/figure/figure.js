// Any Plotly figure, changed in place: no remount, zoom kept through uirevision, events back to Python.

import { mount } from "../shared/mount.js";
import { loadPlotly, SOURCE } from "../shared/plotly.js";
import { paletteOf } from "../shared/theme.js";

// `var(--hs-NAME)` and `var(--hs-NAME,ALPHA)` become colours that Plotly understands.
function resolveColors(value, palette) {
  if (typeof value === "string") {
    if (!value.includes("var(--hs-")) return value;
    return value.replace(/var\(--hs-([a-z0-9]+)(?:,([\d.]+))?\)/g, (whole, name, alpha) => {
      const color = palette[name];
      if (!color || alpha === undefined) return color ?? whole;
      const [red, green, blue] = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
      return `rgba(${red},${green},${blue},${alpha})`;
    });
  }
  if (Array.isArray(value)) return value.map((item) => resolveColors(item, palette));
  if (value && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, resolveColors(item, palette)]));
  }
  return value;
}

function pointEvent(type, points) {
  const [point] = points;
  return {
    type,
    x: point.x ?? null,
    y: point.y ?? null,
    customdata: point.customdata ?? null,
    curve: point.curveNumber,
    name: point.data?.name ?? null,
  };
}

// What the reader has zoomed to: null ends where the axis shows everything again.
function rangeEvent(change) {
  if (change["xaxis.autorange"]) return { type: "range", x0: null, x1: null };
  const from = change["xaxis.range[0]"] ?? change["xaxis.range"]?.[0];
  const to = change["xaxis.range[1]"] ?? change["xaxis.range"]?.[1];
  return from === undefined || to === undefined ? null : { type: "range", x0: Number(from), x1: Number(to) };
}

class LiveFigure {
  constructor(root) {
    this.root = root;
    this.plot = document.createElement("div");
    this.plot.className = "hopscope-plot";
    this.message = document.createElement("div");
    this.message.className = "hopscope-plot-message";
    this.message.setAttribute("role", "alert");
    this.message.hidden = true;
    root.append(this.message, this.plot);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(root);
  }

  update(data, send) {
    this.send = send;
    this.events = new Set(data.events);
    this.plot.style.height = `${data.height}px`;
    this.plot.dataset.testid = data.testid;
    this.root.setAttribute("aria-label", data.label);
    const family = getComputedStyle(this.root).getPropertyValue("--st-font").trim();
    const figure = resolveColors(data.figure, paletteOf(this.root));
    const layout = { ...figure.layout, height: data.height, font: { ...figure.layout?.font } };
    if (family) layout.font.family = family;
    const config = { displaylogo: false, displayModeBar: false, responsive: false, ...figure.config };
    this.wanted = (this.wanted ?? 0) + 1;
    const turn = this.wanted;
    loadPlotly().then((Plotly) => {
      if (turn !== this.wanted || this.gone) return null;
      this.message.hidden = true;
      this.maxWidth = layout.meta?.max_width ?? Infinity;
      layout.width = Math.min(this.maxWidth, this.root.clientWidth) || undefined;
      return Plotly.react(this.plot, figure.data ?? [], layout, config).then(() => {
        this.plot.dataset.drawn = String(turn);
        if (!this.listening) this.listen();
      });
    }).catch((error) => {
      this.message.textContent =
        `This figure can't be drawn: ${SOURCE} did not arrive (${error.message}). ` +
        "Start the dashboard with `python3 -m app`, which serves it.";
      this.message.hidden = false;
    });
  }

  listen() {
    this.listening = true;
    const emit = (event) => {
      if (event) this.send(event);
    };
    this.plot.on("plotly_click", ({ points }) => {
      if (this.events.has("click") && points?.length) emit(pointEvent("click", points));
    });
    this.plot.on("plotly_selected", (selected) => {
      const range = selected?.range;
      if (!this.events.has("select") || !range?.x) return;
      const [x0, x1] = [...range.x].map(Number).sort((a, b) => a - b);
      if (x1 > x0) emit({ type: "select", x0, x1 });
    });
    this.plot.on("plotly_relayout", (change) => {
      if (!this.events.has("range")) return;
      const event = rangeEvent(change);
      if (!event) return;
      clearTimeout(this.pause);
      this.pause = setTimeout(() => emit(event), 250);
    });
  }

  resize() {
    const width = Math.min(this.maxWidth ?? Infinity, this.root.clientWidth);
    if (!this.listening || !width || width === this.plot._fullLayout?.width) return;
    window.Plotly.relayout(this.plot, { width });
  }

  destroy() {
    this.gone = true;
    clearTimeout(this.pause);
    this.observer.disconnect();
    if (window.Plotly) window.Plotly.purge(this.plot);
    this.root.replaceChildren();
  }
}

export default function ({ data, parentElement, setTriggerValue }) {
  const [figure, leave] = mount(parentElement, ".hopscope-figure", (root) => new LiveFigure(root));
  figure.update(data, (event) => setTriggerValue("event", event));
  return leave;
}
