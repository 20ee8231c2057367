// @ts-check
// Any Plotly figure, changed in place: no remount, zoom kept through uirevision, events back to Python.

import { mount } from "../shared/mount.js";
import { loadPlotly, SOURCE } from "../shared/plotly.js";
import { paletteOf } from "../shared/theme.js";

/**
 * @import { Call, Palette, Send } from "../shared/records.js"
 * @import { PlotElement, PlotPoint, Relayout } from "../shared/window.js"
 */

/**
 * What app/components/figure/figure.py gives; `figure` is Plotly's.
 * @typedef {{
 *   figure: { data?: unknown[], layout?: FigureLayout, config?: object },
 *   height: number,
 *   events: string[],
 *   label: string,
 *   testid: string,
 * }} FigureData
 * @typedef {{ font?: { family?: string }, meta?: { max_width?: number }, width?: number }} FigureLayout
 */

/**
 * `var(--hs-NAME)` and `var(--hs-NAME,ALPHA)` become colours that Plotly understands.
 * @template Value
 * @param {Value} value
 * @param {Palette} palette
 * @returns {Value}
 */
export function resolveColors(value, palette) {
  return /** @type {Value} */ (resolved(value, palette));
}

/**
 * @param {unknown} value
 * @param {Palette} palette
 * @returns {unknown}
 */
function resolved(value, palette) {
  if (typeof value === "string") {
    if (!value.includes("var(--hs-")) return value;
    return value.replace(/var\(--hs-([a-z0-9]+)(?:,([\d.]+))?\)/g, (whole, name, alpha) => {
      const color = palette[name];
      if (!color || alpha === undefined) return color ?? whole;
      const [red, green, blue] = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
      return `rgba(${red},${green},${blue},${alpha})`;
    });
  }
  if (Array.isArray(value)) return value.map((item) => resolved(item, palette));
  if (value && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, resolved(item, palette)]));
  }
  return value;
}

/**
 * The event of a click on a point.
 * @param {string} type
 * @param {PlotPoint} point
 */
export function pointEvent(type, point) {
  return {
    type,
    x: point.x ?? null,
    y: point.y ?? null,
    customdata: point.customdata ?? null,
    curve: point.curveNumber,
    name: point.data?.name ?? null,
  };
}

/**
 * What the reader has zoomed to: null ends where the axis shows everything again; null where x did not change.
 * @param {Relayout} change
 */
export function rangeEvent(change) {
  if (change["xaxis.autorange"]) return { type: "range", x0: null, x1: null };
  const from = change["xaxis.range[0]"] ?? change["xaxis.range"]?.[0];
  const to = change["xaxis.range[1]"] ?? change["xaxis.range"]?.[1];
  return from === undefined || to === undefined ? null : { type: "range", x0: Number(from), x1: Number(to) };
}

class LiveFigure {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    /** @type {Send} */
    this.send = () => {};
    /** @type {Set<string>} */
    this.events = new Set();
    this.wanted = 0;
    this.maxWidth = Infinity;
    this.listening = false;
    this.gone = false;
    this.pause = 0;
    // Plotly adds its methods when it draws for the first time.
    this.plot = /** @type {PlotElement} */ (document.createElement("div"));
    this.plot.className = "hopscope-plot";
    this.message = document.createElement("div");
    this.message.className = "hopscope-plot-message";
    this.message.setAttribute("role", "alert");
    this.message.hidden = true;
    root.append(this.message, this.plot);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(root);
  }

  /**
   * @param {FigureData} data
   * @param {Send} send
   */
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
    this.wanted += 1;
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
    this.plot.on("plotly_click", ({ points }) => {
      if (this.events.has("click") && points?.length) this.send(pointEvent("click", points[0]));
    });
    this.plot.on("plotly_selected", (selected) => {
      const range = selected?.range;
      if (!this.events.has("select") || !range?.x) return;
      const [x0, x1] = [...range.x].map(Number).sort((a, b) => a - b);
      if (x1 > x0) this.send({ type: "select", x0, x1 });
    });
    this.plot.on("plotly_relayout", (change) => {
      if (!this.events.has("range")) return;
      const event = rangeEvent(change);
      if (!event) return;
      clearTimeout(this.pause);
      this.pause = window.setTimeout(() => this.send(event), 250);
    });
  }

  resize() {
    const width = Math.min(this.maxWidth, this.root.clientWidth);
    if (!this.listening || !width || width === this.plot._fullLayout?.width) return;
    window.Plotly?.relayout(this.plot, { width });
  }

  destroy() {
    this.gone = true;
    clearTimeout(this.pause);
    this.observer.disconnect();
    if (window.Plotly) window.Plotly.purge(this.plot);
    this.root.replaceChildren();
  }
}

/** @param {Call<FigureData>} call */
export default function ({ data, parentElement, setTriggerValue }) {
  const [figure, leave] = mount(parentElement, ".hopscope-figure", (root) => new LiveFigure(root));
  figure.update(data, (event) => setTriggerValue("event", event));
  return leave;
}
