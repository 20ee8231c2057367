// @ts-check
// Curves of the last minutes, a line a GPU in its hue; what the reader zoomed to stays while samples arrive.

import { node, put, span } from "../shared/cells.js";
import { mount } from "../shared/mount.js";
import { loadPlotly, SOURCE } from "../shared/plotly.js";
import { applyPalette, paletteOf } from "../shared/theme.js";
import { curve, largest, localMs, means, rangeOf } from "./curves.js";
import { GIB, hueOf, lines, mark, whyMissing } from "./fields.js";
import { isMissing, MachineStream, Samples } from "./stream.js";

/**
 * @import { Call, Palette, Send } from "../shared/records.js"
 * @import { PlotElement, PlotlyLibrary } from "../shared/window.js"
 * @import { Gpu, HistoryData, Host, Message, PastAnswer, Snapshot, Values } from "./records.js"
 */

/**
 * A curve of Plotly's, as far as it is looked at here.
 * @typedef {{ x: number[], y: (number | null)[] } & Record<string, unknown>} Trace
 * @typedef {{ device: string | undefined, index: number, name: string, color: string }} Drawn
 */

/**
 * More history than the stream keeps, as means over `step` seconds; `open` is the stretch that is not over.
 * @typedef {{
 *   wanted: string,
 *   samples: Samples,
 *   step: number,
 *   fields: string[],
 *   hz: number | undefined,
 *   open: { number: number, sums: Values[] } | null,
 * }} Further
 */

/** @type {[number, string][]} */
const SPANS = [[120, "2 min"], [600, "10 min"], [3600, "1 h"]];
const PLOT_PX = 270;
const MOST_DRAWN_MS = 200;
// The cards come first, on all pages of a machine that has few cores.
const AFTER_CARDS_MS = 25;

/**
 * What its button says, the axis, the field (two for both ways), what divides it, the least top of the axis.
 * @typedef {{
 *   label: string,
 *   unit: string,
 *   axis: string,
 *   fields: string[],
 *   by?: number,
 *   top: (device: Gpu & Host) => unknown,
 *   fixed?: boolean,
 *   host?: boolean,
 *   digits?: number,
 * }} Metric
 */

/** @param {unknown} bytes */
const gibibytes = (bytes) => (typeof bytes === "number" ? bytes / GIB : NaN);

/** @type {Record<string, Metric>} */
export const METRICS = {
  utilization: { label: "Utilisation", unit: "%", axis: "GPU utilisation, %", fields: ["utilization_gpu_percent"], top: () => 100, fixed: true },
  memory: { label: "Memory", unit: "GiB", axis: "GPU memory used, GiB", fields: ["memory_used_bytes"], by: GIB, top: (gpu) => gibibytes(gpu.memory_total_bytes), digits: 1 },
  power: { label: "Power", unit: "W", axis: "Power drawn, W", fields: ["power_watts"], top: (gpu) => gpu.power_limit_watts },
  temperature: { label: "Temperature", unit: "°C", axis: "GPU temperature, °C", fields: ["temperature_celsius"], top: () => 90 },
  clock: { label: "SM clock", unit: "MHz", axis: "SM clock, MHz", fields: ["clock_sm_mhz"], top: (gpu) => gpu.clock_sm_max_mhz },
  pcie: { label: "PCIe", unit: "MB/s", axis: "PCIe, MB/s: in solid, out dotted", fields: ["pcie_rx_bytes_per_second", "pcie_tx_bytes_per_second"], by: 1e6, top: () => 10 },
  nvlink: { label: "NVLink", unit: "MB/s", axis: "NVLink, MB/s: in solid, out dotted", fields: ["nvlink_rx_bytes_per_second", "nvlink_tx_bytes_per_second"], by: 1e6, top: () => 10 },
  cpu: { label: "Host CPU", unit: "%", axis: "Host CPU, all cores, %", fields: ["cpu_percent"], host: true, top: () => 100, fixed: true },
  host_memory: { label: "Host memory", unit: "GiB", axis: "Host memory used, GiB", fields: ["memory_used_bytes"], host: true, by: GIB, top: (host) => gibibytes(host.memory_total_bytes), digits: 1 },
};
const WAYS = ["solid", "dot"];

class History {
  /**
   * @param {HTMLElement} root
   * @param {HistoryData} data
   * @param {Send} act
   */
  constructor(root, data, act) {
    /** @type {Palette | null} */
    this.palette = null;
    /** @type {PlotlyLibrary | null} */
    this.Plotly = null;
    /** @type {Further | null} */
    this.past = null;
    this.family = "";
    this.pending = 0;
    this.frame = 0;
    this.drawnAt = 0;
    this.frameDrawn = "";
    this.seen = false;
    this.held = false;
    this.gone = false;
    this.listening = false;
    this.root = root;
    this.act = act;
    this.stream = MachineStream.of(data.replay);
    this.replay = data.replay;
    this.metric = METRICS[data.metric] ? data.metric : "";
    this.span = SPANS.some(([span]) => span === data.span) ? data.span : SPANS[0][0];
    /** @type {{ x: [string | number, string | number], y: [string | number, string | number] | null } | null} */
    this.zoomed = null;
    const bar = node("div", { class: "hopscope-history-bar" }, root);
    node("h2", {}, bar).textContent = "History";
    this.metrics = this.choice(bar, "What is drawn", Object.entries(METRICS).map(([name, { label }]) => [name, label]), (name) => this.choose(name, this.span));
    this.back = node("button", { type: "button", class: "hopscope-history-back", "data-action": "follow" }, bar);
    this.back.textContent = "Back to now";
    this.back.addEventListener("click", () => this.follow());
    this.spans = this.choice(bar, "How far back", SPANS, (span) => this.choose(this.shown, Number(span)));
    this.legend = node("div", { class: "hopscope-history-legend" }, root);
    /**
     * Names of the curves that the reader has taken away.
     * @type {Set<string>}
     */
    this.hidden = new Set();
    this.message = node("div", { class: "hopscope-plot-message", role: "alert" }, root);
    this.message.hidden = true;
    // Plotly adds its methods when it draws for the first time.
    this.plot = /** @type {PlotElement} */ (node("div", { class: "hopscope-history-plot", "data-testid": "machine-history" }, root));
    this.plot.style.height = `${PLOT_PX}px`;
    this.sizes = new ResizeObserver(() => this.wish());
    this.sizes.observe(root);
    // What nobody sees is not drawn.
    this.sight = new IntersectionObserver(([entry]) => {
      this.seen = entry.isIntersecting;
      if (this.seen) this.wish();
    });
    this.sight.observe(root);
    this.plot.addEventListener("pointerdown", () => (this.held = true));
    this.released = () => {
      this.held = false;
      this.wish();
    };
    window.addEventListener("pointerup", this.released);
    this.leave = this.stream.subscribe({
      sampled: (message) => this.sampled(message),
      past: (answer) => this.fill(answer),
      told: () => this.told(),
    });
    this.load();
  }

  /**
   * @param {Element} parent
   * @param {string} label
   * @param {[string | number, string][]} values
   * @param {(value: string) => void} choose
   */
  choice(parent, label, values, choose) {
    const box = node("div", { class: "hopscope-history-choice", role: "group", "aria-label": label }, parent);
    return values.map(([value, word]) => {
      const button = node("button", { type: "button", "data-value": value }, box);
      button.textContent = word;
      button.addEventListener("click", () => choose(String(value)));
      return button;
    });
  }

  /** @param {Send} act */
  update(act) {
    this.act = act;
    this.palette = paletteOf(this.root);
    this.family = getComputedStyle(this.root).getPropertyValue("--st-font").trim();
    applyPalette(this.root);
    this.told();
    this.wish();
  }

  told() {
    mark(this.root, "phase", this.stream.phase);
  }

  // Without GPUs there is the host to look at.
  get shown() {
    const driven = (this.stream.snapshot?.gpus ?? []).length > 0;
    if (this.metric && (driven || METRICS[this.metric].host)) return this.metric;
    return driven ? "utilization" : "cpu";
  }

  /**
   * @param {string} metric
   * @param {number} span
   */
  choose(metric, span) {
    if (metric === this.metric && span === this.span) return;
    const [other, longer] = [metric !== this.shown, span !== this.span];
    this.metric = metric;
    this.span = span;
    if (longer) this.zoomed = null;
    else if (this.zoomed) this.zoomed = { ...this.zoomed, y: null };
    if (other || longer) this.ask();
    this.act({ type: "view", metric, span });
    this.wish();
  }

  follow() {
    this.zoomed = null;
    this.wish();
  }

  // Two minutes are at hand; more is asked for, as means where there are many samples.
  get samples() {
    return this.span <= 120 ? this.stream.recent : this.past?.samples ?? this.stream.recent;
  }

  ask() {
    const { fields } = METRICS[this.shown];
    const wanted = `${this.span} ${fields}`;
    // What is shown stays until there is an answer, and longer than a server remembers that was started anew.
    if (this.past?.wanted !== wanted) this.past = null;
    if (this.span > 120) this.stream.send({ history: { span: this.span, fields } });
  }

  /** @param {PastAnswer} answer */
  fill(answer) {
    const { fields } = METRICS[this.shown];
    if (answer.span !== this.span || !fields.every((field) => answer.fields.includes(field))) return;
    const samples = this.past?.samples ?? new Samples(this.span + 10);
    samples.fill(answer.history);
    this.past = { wanted: `${this.span} ${fields}`, samples, step: answer.step, fields, hz: this.stream.snapshot?.hz, open: null };
    const { recent } = this.stream;
    // What came since the answer was made.
    if (!answer.step) {
      const last = samples.t.at(-1) ?? -Infinity;
      for (const { t, values } of recent.since(last, 0)) samples.add(t, values);
    }
    this.wish();
  }

  /** @param {Message | null} message */
  sampled(message) {
    if (message) {
      if (message.sought) this.past = null;
      if (message.history || (this.past && this.stream.snapshot?.hz !== this.past.hz)) this.ask();
      if (this.past && message.t !== undefined) append(this.past, message.t, this.stream.values());
    }
    this.wish();
  }

  wish() {
    if (this.pending || this.gone) return;
    const wait = Math.max(AFTER_CARDS_MS, this.drawnAt + this.pause - performance.now());
    this.pending = window.setTimeout(() => {
      this.frame = requestAnimationFrame(() => {
        this.pending = 0;
        this.draw();
      });
    }, wait);
  }

  get pause() {
    return this.span <= 120 ? MOST_DRAWN_MS : 1000;
  }

  load() {
    loadPlotly()
      .then((Plotly) => {
        this.Plotly = Plotly;
        this.wish();
      })
      .catch((error) => {
        this.message.textContent = `The history can't be drawn: ${SOURCE} did not arrive (${error.message}).`;
        this.message.hidden = false;
      });
  }

  draw() {
    const { snapshot } = this.stream;
    if (!this.Plotly || !this.palette || !snapshot?.host || this.gone || !this.seen || this.held || document.hidden) return;
    this.press(snapshot);
    this.drawnAt = performance.now();
    // Of what is drawn now: somebody may choose another before it is marked.
    const marks = { seq: snapshot.seq, sampled: snapshot.t, metric: this.shown, span: this.span };
    const traces = this.traces(snapshot, this.palette);
    this.render(this.Plotly, traces, this.layout(snapshot, traces, this.palette)).then(() => {
      if (!this.listening) this.listen();
      const channel = new MessageChannel();
      channel.port1.onmessage = () => {
        Object.assign(this.plot.dataset, marks, { drawn: Date.now() / 1000 });
        channel.port1.close();
      };
      channel.port2.postMessage(null);
    });
  }

  /**
   * Where only points and ranges have changed, the rest of the figure is left alone.
   * @param {PlotlyLibrary} Plotly
   * @param {Trace[]} traces
   * @param {ReturnType<History["layout"]>} layout
   */
  render(Plotly, traces, layout) {
    const [x, y] = [layout.xaxis.range, layout.yaxis.range];
    const frame = JSON.stringify([
      { ...layout, xaxis: { ...layout.xaxis, range: 0 }, yaxis: { ...layout.yaxis, range: 0 } },
      traces.map((trace) => ({ ...trace, x: 0, y: 0 })),
    ]);
    if (frame !== this.frameDrawn) {
      this.frameDrawn = frame;
      return Plotly.react(this.plot, traces, layout, { displaylogo: false, displayModeBar: false, responsive: false, showTips: false });
    }
    const points = { x: traces.map((trace) => trace.x), y: traces.map((trace) => trace.y) };
    // With new points Plotly guesses the axes' types again, unless they are told.
    const axes = { "xaxis.type": "date", "xaxis.range": x, "yaxis.type": "linear", "yaxis.range": y };
    return Plotly.update(this.plot, points, axes);
  }

  /** @param {Snapshot} snapshot */
  press(snapshot) {
    const driven = (snapshot.gpus ?? []).length > 0;
    for (const button of this.metrics) {
      const wanted = driven || METRICS[button.dataset.value ?? ""].host;
      if (button.hidden === Boolean(wanted)) button.hidden = !wanted;
      button.setAttribute("aria-pressed", String(button.dataset.value === this.shown));
    }
    for (const button of this.spans) button.setAttribute("aria-pressed", String(Number(button.dataset.value) === this.span));
    this.back.classList.toggle("hopscope-off", !this.zoomed);
    this.back.tabIndex = this.zoomed ? 0 : -1;
  }

  /**
   * @param {Snapshot} snapshot
   * @param {Palette} palette
   * @returns {Trace[]}
   */
  traces(snapshot, palette) {
    const metric = METRICS[this.shown];
    const { samples } = this;
    const gap = Math.max(2.5, 3.2 / (snapshot.hz || 1), 2.5 * (this.samples === this.stream.recent ? 0 : this.past?.step ?? 0));
    const first = (samples.t.at(-1) ?? 0) - this.span - gap;
    /** @type {Drawn[]} */
    const devices = metric.host
      ? [{ device: "", index: 0, name: "Host", color: palette.host }]
      : (snapshot.gpus ?? []).map(({ index }) => ({ device: this.stream.known.get(index)?.uuid, index, name: `GPU ${index}`, color: palette[hueOf(index)] }));
    this.drawLegend(metric.host ? [] : devices);
    return devices.flatMap(({ device, index, name, color }) =>
      metric.fields.map((field, way) => {
        const list = device === undefined ? [] : samples.series(device, field);
        const { x, y } = curve(samples.t, list, metric.by ?? 1, first, gap);
        return {
          type: "scatter", mode: "lines", name, x, y, connectgaps: false, visible: !this.hidden.has(name),
          line: { color, width: 1.6, dash: index >= 8 ? "dash" : WAYS[way] }, uid: `${name}-${field}`.replace(" ", ""),
          hovertemplate: `%{y:,.${metric.digits ?? 0}f} ${metric.unit}<extra>${name}${metric.fields.length > 1 ? [" in", " out"][way] : ""}</extra>`,
        };
      }),
    );
  }

  /**
   * A legend of Plotly's own would be measured and drawn anew with every sample.
   * @param {Drawn[]} devices
   */
  drawLegend(devices) {
    lines(this.legend, devices, (line) => this.legendItem(line), (item, { name, color, index }) => {
      item.name = name;
      put(item.label, name);
      item.swatch.style.borderTop = `3px ${index >= 8 ? "dashed" : "solid"} ${color}`;
      item.button.setAttribute("aria-pressed", String(!this.hidden.has(name)));
    });
  }

  /** @param {HTMLElement} line */
  legendItem(line) {
    const button = node("button", { type: "button" }, line);
    const swatch = node("span", { class: "hopscope-history-swatch", "aria-hidden": "true" }, button);
    const item = { button, swatch, label: span(button, ""), name: "" };
    button.addEventListener("click", () => {
      if (!this.hidden.delete(item.name)) this.hidden.add(item.name);
      this.wish();
    });
    return item;
  }

  /**
   * @param {Snapshot} snapshot
   * @param {Trace[]} traces
   * @param {Palette} palette
   */
  layout(snapshot, traces, palette) {
    const metric = METRICS[this.shown];
    const { text, muted, grid } = palette;
    const most = Math.max(...topsOf(snapshot, metric), metric.fixed ? 0 : largest(traces), 1);
    const end = localMs(Math.max(snapshot.t ?? 0, this.samples.t.at(-1) ?? 0));
    const follow = [end - this.span * 1000, end];
    const known = traces.some((trace) => trace.y.some((value) => value !== null));
    const axis = { gridcolor: grid, zeroline: false, linecolor: grid, tickfont: { color: muted, size: 12 }, automargin: false };
    const recorded = snapshot.recording ? ", in the recording" : "";
    return {
      width: this.root.clientWidth || undefined,
      height: PLOT_PX,
      margin: { l: 64, r: 28, t: 8, b: 46 },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { color: text, family: this.family || undefined, size: 13 },
      showlegend: false,
      hovermode: "x unified",
      hoverlabel: { bgcolor: palette.panel, bordercolor: grid, font: { color: text, size: 12 } },
      dragmode: "zoom",
      uirevision: "kept",
      // That no label is ever hidden spares measuring all of them at each sample.
      xaxis: { ...axis, type: "date", ticklabeloverflow: "allow", spikecolor: muted, spikethickness: 1, spikedash: "solid", title: { text: `Time of day${recorded}`, font: { size: 12, color: muted }, standoff: 8 }, range: this.zoomed?.x ?? follow, hoverformat: "%H:%M:%S" },
      yaxis: { ...axis, title: { text: metric.axis, font: { size: 12, color: muted }, standoff: 10 }, range: this.zoomed?.y ?? [0, most * 1.04], tickformat: ",~r" },
      annotations: known ? [] : [{ text: unknownText(snapshot, metric), x: 0.5, y: 0.5, xref: "paper", yref: "paper", showarrow: false, font: { color: muted, size: 13 } }],
    };
  }

  listen() {
    this.listening = true;
    this.plot.on("plotly_relayout", (change) => {
      const x = rangeOf(change, "xaxis");
      const y = rangeOf(change, "yaxis");
      if (change["xaxis.autorange"] || change["yaxis.autorange"]) this.zoomed = null;
      else if (x || y) this.zoomed = { x: x ?? this.zoomed?.x ?? [...this.plot.layout.xaxis.range], y: y ?? this.zoomed?.y ?? null };
      else return;
      this.wish();
    });
  }

  destroy() {
    this.gone = true;
    clearTimeout(this.pending);
    cancelAnimationFrame(this.frame);
    this.sizes.disconnect();
    this.sight.disconnect();
    window.removeEventListener("pointerup", this.released);
    this.leave();
    this.Plotly?.purge(this.plot);
    this.root.replaceChildren();
  }
}

/**
 * Adds a sample to the means of longer ago. A stretch is added once it is over, so that its mean is that of all of
 * it.
 * @param {Pick<Further, "samples" | "step" | "fields" | "open">} past
 * @param {number} t
 * @param {Values} values
 */
export function append(past, t, values) {
  const last = past.samples.t.at(-1) ?? -Infinity;
  if (!past.step) {
    if (t > last) past.samples.add(t, values);
    return;
  }
  const number = Math.floor(t / past.step);
  if (past.open && past.open.number !== number) {
    const middle = (past.open.number + 0.5) * past.step;
    if (middle > last) past.samples.add(middle, means(past.open.sums, past.fields));
    past.open = null;
  }
  past.open ??= { number, sums: [] };
  past.open.sums.push(values);
}

/**
 * The devices that a metric is of.
 * @param {Snapshot} snapshot
 * @param {Metric} metric
 * @returns {(Gpu & Host)[]}
 */
function devicesOf({ host, gpus = [] }, metric) {
  // A metric asks a device only for fields that it has.
  return /** @type {(Gpu & Host)[]} */ (metric.host ? [host ?? {}] : gpus);
}

/**
 * Up to where each device's values may go, as far as that is known.
 * @param {Snapshot} snapshot
 * @param {Metric} metric
 */
export function topsOf(snapshot, metric) {
  const tops = devicesOf(snapshot, metric).map((device) => metric.top(device));
  return tops.filter((top) => typeof top === "number").filter(Number.isFinite);
}

/**
 * Why no curve can be drawn.
 * @param {Snapshot} snapshot
 * @param {Metric} metric
 */
export function unknownText(snapshot, metric) {
  const [field] = metric.fields;
  /** @type {Record<string, unknown>[]} */
  const devices = devicesOf(snapshot, metric).map((device) => ({ ...device }));
  const why = devices.map((device) => device[field]).find((value) => isMissing(value));
  if (why === undefined) return "No sample yet";
  // Plotly takes tags in texts for markup.
  return whyMissing(why).replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

/** @param {Call<HistoryData>} call */
export default function ({ data, parentElement, setTriggerValue }) {
  /** @type {Send} */
  const act = (event) => setTriggerValue("event", event);
  /** @param {HTMLElement} root */
  const make = (root) => new History(root, data, act);
  const [history, leave] = mount(parentElement, ".hopscope-history", make, (one) => one.replay === data.replay);
  history.update(act);
  return leave;
}
