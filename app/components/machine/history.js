// Curves of the last minutes, a line a GPU in its hue; what the reader zoomed to stays while samples arrive.

import { node, put, span } from "../shared/cells.js";
import { mount } from "../shared/mount.js";
import { loadPlotly, SOURCE } from "../shared/plotly.js";
import { applyPalette, paletteOf } from "../shared/theme.js";
import { curve, largest, localMs, means, rangeOf } from "./curves.js";
import { GIB, hueOf, lines, mark, whyMissing } from "./fields.js";
import { isMissing, MachineStream, Samples } from "./stream.js";

const SPANS = [[120, "2 min"], [600, "10 min"], [3600, "1 h"]];
const PLOT_PX = 270;
const MOST_DRAWN_MS = 200;
// The cards come first, on all pages of a machine that has few cores.
const AFTER_CARDS_MS = 25;

// Each: what its button says, the axis, the field (two for both ways), what divides it, the least top of the axis.
const METRICS = {
  utilization: { label: "Utilisation", unit: "%", axis: "GPU utilisation, %", fields: ["utilization_gpu_percent"], top: () => 100, fixed: true },
  memory: { label: "Memory", unit: "GiB", axis: "GPU memory used, GiB", fields: ["memory_used_bytes"], by: GIB, top: (gpu) => gpu.memory_total_bytes / GIB, digits: 1 },
  power: { label: "Power", unit: "W", axis: "Power drawn, W", fields: ["power_watts"], top: (gpu) => gpu.power_limit_watts },
  temperature: { label: "Temperature", unit: "°C", axis: "GPU temperature, °C", fields: ["temperature_celsius"], top: () => 90 },
  clock: { label: "SM clock", unit: "MHz", axis: "SM clock, MHz", fields: ["clock_sm_mhz"], top: (gpu) => gpu.clock_sm_max_mhz },
  pcie: { label: "PCIe", unit: "MB/s", axis: "PCIe, MB/s: in solid, out dotted", fields: ["pcie_rx_bytes_per_second", "pcie_tx_bytes_per_second"], by: 1e6, top: () => 10 },
  nvlink: { label: "NVLink", unit: "MB/s", axis: "NVLink, MB/s: in solid, out dotted", fields: ["nvlink_rx_bytes_per_second", "nvlink_tx_bytes_per_second"], by: 1e6, top: () => 10 },
  cpu: { label: "Host CPU", unit: "%", axis: "Host CPU, all cores, %", fields: ["cpu_percent"], host: true, top: () => 100, fixed: true },
  host_memory: { label: "Host memory", unit: "GiB", axis: "Host memory used, GiB", fields: ["memory_used_bytes"], host: true, by: GIB, top: (host) => host.memory_total_bytes / GIB, digits: 1 },
};
const WAYS = ["solid", "dot"];

class History {
  constructor(root, data, act) {
    this.root = root;
    this.act = act;
    this.stream = MachineStream.of(data.replay);
    this.replay = data.replay;
    this.metric = METRICS[data.metric] ? data.metric : "";
    this.span = SPANS.some(([span]) => span === data.span) ? data.span : SPANS[0][0];
    this.zoomed = null;
    const bar = node("div", { class: "hopscope-history-bar" }, root);
    node("h2", {}, bar).textContent = "History";
    this.metrics = this.choice(bar, "What is drawn", Object.entries(METRICS).map(([name, { label }]) => [name, label]), (name) => this.choose(name, this.span));
    this.back = node("button", { type: "button", class: "hopscope-history-back", "data-action": "follow" }, bar);
    this.back.textContent = "Back to now";
    this.back.addEventListener("click", () => this.follow());
    this.spans = this.choice(bar, "How far back", SPANS, (span) => this.choose(this.shown, Number(span)));
    this.legend = node("div", { class: "hopscope-history-legend" }, root);
    this.hidden = new Set();
    this.message = node("div", { class: "hopscope-plot-message", role: "alert" }, root);
    this.message.hidden = true;
    this.plot = node("div", { class: "hopscope-history-plot", "data-testid": "machine-history" }, root);
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

  choice(parent, label, values, choose) {
    const box = node("div", { class: "hopscope-history-choice", role: "group", "aria-label": label }, parent);
    return values.map(([value, word]) => {
      const button = node("button", { type: "button", "data-value": value }, box);
      button.textContent = word;
      button.addEventListener("click", () => choose(String(value)));
      return button;
    });
  }

  update(data, act) {
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

  fill(answer) {
    const { fields } = METRICS[this.shown];
    if (answer.span !== this.span || !fields.every((field) => answer.fields.includes(field))) return;
    const samples = this.past?.samples ?? new Samples(this.span + 10);
    samples.fill(answer.history);
    this.past = { wanted: `${this.span} ${fields}`, samples, step: answer.step, fields, hz: this.stream.snapshot?.hz };
    const { recent } = this.stream;
    // What came since the answer was made.
    if (!answer.step) {
      const last = samples.t.at(-1) ?? -Infinity;
      for (const { t, values } of recent.since(last, 0)) samples.add(t, values);
    }
    this.wish();
  }

  sampled(message) {
    if (!message) return this.wish();
    const { snapshot } = this.stream;
    if (message.sought) this.past = null;
    if (message.history || (this.past && snapshot.hz !== this.past.hz)) this.ask();
    if (this.past && message.t !== undefined) this.append(message.t);
    return this.wish();
  }

  // A stretch is added once it is over, so that its mean is that of all of it.
  append(t) {
    const { past } = this;
    const values = this.stream.values();
    if (!past.step) {
      if (t > (past.samples.t.at(-1) ?? -Infinity)) past.samples.add(t, values);
      return;
    }
    const number = Math.floor(t / past.step);
    if (past.open && past.open.number !== number) {
      const middle = (past.open.number + 0.5) * past.step;
      if (middle > (past.samples.t.at(-1) ?? -Infinity)) past.samples.add(middle, means(past.open.sums, past.fields));
      past.open = null;
    }
    past.open ??= { number, sums: [] };
    past.open.sums.push(values);
  }

  wish() {
    if (this.pending || this.gone) return;
    const wait = Math.max(AFTER_CARDS_MS, (this.drawnAt ?? 0) + this.pause - performance.now());
    this.pending = setTimeout(() => {
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
    this.press();
    this.drawnAt = performance.now();
    // Of what is drawn now: somebody may choose another before it is marked.
    const marks = { seq: snapshot.seq, sampled: snapshot.t, metric: this.shown, span: this.span };
    const traces = this.traces(snapshot);
    this.render(traces, this.layout(snapshot, traces)).then(() => {
      if (!this.listening) this.listen();
      const channel = new MessageChannel();
      channel.port1.onmessage = () => {
        Object.assign(this.plot.dataset, marks, { drawn: Date.now() / 1000 });
        channel.port1.close();
      };
      channel.port2.postMessage(null);
    });
  }

  // Where only points and ranges have changed, the rest of the figure is left alone.
  render(traces, layout) {
    const [x, y] = [layout.xaxis.range, layout.yaxis.range];
    const frame = JSON.stringify([
      { ...layout, xaxis: { ...layout.xaxis, range: 0 }, yaxis: { ...layout.yaxis, range: 0 } },
      traces.map((trace) => ({ ...trace, x: 0, y: 0 })),
    ]);
    if (frame !== this.frameDrawn) {
      this.frameDrawn = frame;
      return this.Plotly.react(this.plot, traces, layout, { displaylogo: false, displayModeBar: false, responsive: false, showTips: false });
    }
    const points = { x: traces.map((trace) => trace.x), y: traces.map((trace) => trace.y) };
    // With new points Plotly guesses the axes' types again, unless they are told.
    const axes = { "xaxis.type": "date", "xaxis.range": x, "yaxis.type": "linear", "yaxis.range": y };
    return this.Plotly.update(this.plot, points, axes);
  }

  press() {
    const driven = (this.stream.snapshot.gpus ?? []).length > 0;
    for (const button of this.metrics) {
      const wanted = driven || METRICS[button.dataset.value].host;
      if (button.hidden === Boolean(wanted)) button.hidden = !wanted;
      button.setAttribute("aria-pressed", String(button.dataset.value === this.shown));
    }
    for (const button of this.spans) button.setAttribute("aria-pressed", String(Number(button.dataset.value) === this.span));
    this.back.classList.toggle("hopscope-off", !this.zoomed);
    this.back.tabIndex = this.zoomed ? 0 : -1;
  }

  traces(snapshot) {
    const metric = METRICS[this.shown];
    const { samples } = this;
    const gap = Math.max(2.5, 3.2 / (snapshot.hz || 1), 2.5 * (this.samples === this.stream.recent ? 0 : this.past?.step ?? 0));
    const first = (samples.t.at(-1) ?? 0) - this.span - gap;
    const devices = metric.host
      ? [{ device: "", name: "Host", color: this.palette.host }]
      : (snapshot.gpus ?? []).map(({ index }) => ({ device: this.stream.known.get(index)?.uuid, index, name: `GPU ${index}`, color: this.palette[hueOf(index)] }));
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

  // A legend of Plotly's own would be measured and drawn anew with every sample.
  drawLegend(devices) {
    lines(this.legend, devices, (item, { name, color, index }) => {
      if (!item.button) {
        item.button = node("button", { type: "button" }, item);
        item.swatch = node("span", { class: "hopscope-history-swatch", "aria-hidden": "true" }, item.button);
        item.label = span(item.button, "");
        item.button.addEventListener("click", () => {
          if (!this.hidden.delete(item.device)) this.hidden.add(item.device);
          this.wish();
        });
      }
      item.device = name;
      put(item.label, name);
      item.swatch.style.borderTop = `3px ${index >= 8 ? "dashed" : "solid"} ${color}`;
      item.button.setAttribute("aria-pressed", String(!this.hidden.has(name)));
    });
  }

  layout(snapshot, traces) {
    const metric = METRICS[this.shown];
    const { text, muted, grid } = this.palette;
    const devices = metric.host ? [snapshot.host] : snapshot.gpus ?? [];
    const tops = devices.map((device) => metric.top(device)).filter((top) => Number.isFinite(top));
    const most = Math.max(...tops, metric.fixed ? 0 : largest(traces), 1);
    const end = localMs(Math.max(snapshot.t, this.samples.t.at(-1) ?? 0));
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
      hoverlabel: { bgcolor: this.palette.panel, bordercolor: grid, font: { color: text, size: 12 } },
      dragmode: "zoom",
      uirevision: "kept",
      // That no label is ever hidden spares measuring all of them at each sample.
      xaxis: { ...axis, type: "date", ticklabeloverflow: "allow", spikecolor: muted, spikethickness: 1, spikedash: "solid", title: { text: `Time of day${recorded}`, font: { size: 12, color: muted }, standoff: 8 }, range: this.zoomed?.x ?? follow, hoverformat: "%H:%M:%S" },
      yaxis: { ...axis, title: { text: metric.axis, font: { size: 12, color: muted }, standoff: 10 }, range: this.zoomed?.y ?? [0, most * 1.04], tickformat: ",~r" },
      annotations: known ? [] : [{ text: this.unknown(snapshot, metric), x: 0.5, y: 0.5, xref: "paper", yref: "paper", showarrow: false, font: { color: muted, size: 13 } }],
    };
  }

  unknown(snapshot, metric) {
    const devices = metric.host ? [snapshot.host] : snapshot.gpus ?? [];
    const why = devices.map((device) => device[metric.fields[0]]).find((value) => isMissing(value));
    if (why === undefined) return "No sample yet";
    // Plotly takes tags in texts for markup.
    return whyMissing(why).replaceAll("&", "&amp;").replaceAll("<", "&lt;");
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

export default function ({ data, parentElement, setTriggerValue }) {
  const act = (event) => setTriggerValue("event", event);
  const make = (root) => new History(root, data, act);
  const [history, leave] = mount(parentElement, ".hopscope-history", make, (one) => one.replay === data.replay);
  history.update(data, act);
  return leave;
}
