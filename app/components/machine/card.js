// One GPU: built once, then only its texts, bars and curve change.

import { node, put, span } from "../shared/cells.js";
import { fill, FORMS, GIB, hint, hueOf, lines, mark, missingWord, show, tenth, throughput, toggle, whole, whyMissing } from "./fields.js";
import { Spark } from "./spark.js";
import { isMissing } from "./stream.js";

const STEADY = new Set(["idle", "applications clocks setting", "sync boost", "display clock setting"]);

// [name, label, long label]; what stands in a card, two a line.
const FACTS = [
  ["temperature", "Temp", "Temperature of the GPU and, where it tells, of its memory"],
  ["power", "Power", "Power drawn, and its limit"],
  ["sm", "SM", "Clock of the multiprocessors, and its maximum"],
  ["memory_clock", "Mem", "Clock of the memory, and its maximum"],
  ["fan", "Fan", "Fan speed wanted, of its maximum"],
  ["bus", "Mem busy", "Share of time in which memory was read or written"],
  ["pcie", "PCIe", "Generation and width of the link now, and at most"],
  ["pcie_rate", "", "To and from the GPU over PCIe"],
  ["nvlink", "NVLink", "Links that are up"],
  ["nvlink_rate", "", "To and from the GPU over NVLink"],
  ["encoder", "Encoder", "Share of time in which the video encoder was busy"],
  ["decoder", "Decoder", "Share of time in which the video decoder was busy"],
];

export class GpuCard {
  constructor(index) {
    this.root = node("article", { class: "gpu", "data-gpu": index, "aria-label": `GPU ${index}` });
    const head = node("header", {}, this.root);
    node("span", { class: "swatch", "aria-hidden": "true" }, head);
    span(head, `GPU ${index}`, "title");
    this.name = span(head, "", "name");
    this.state = span(head, "", "pstate");
    this.why = node("div", { class: "why" }, this.root);
    this.why.hidden = true;
    this.reason = span(this.why, "", "reason");
    this.whose = span(this.why, "", "whose");
    const body = node("div", { class: "body" }, this.root);
    this.load(body);
    this.memory(body);
    const facts = node("div", { class: "facts" }, body);
    this.facts = Object.fromEntries(FACTS.map(([name, label, title]) => [name, this.fact(facts, name, label, title)]));
    this.throttle = this.fact(facts, "throttle", "Throttled", "Why clocks are held down");
    this.throttle.box.classList.add("whole");
    this.trouble = node("div", { class: "trouble" }, body);
    this.mig = node("div", { class: "mig" }, body);
    this.root.style.setProperty("--hue", `var(--hs-${hueOf(index)})`);
  }

  load(body) {
    const load = node("div", { class: "load" }, body);
    const big = node("div", { class: "big", title: "Share of time in which at least one kernel ran" }, load);
    this.percent = span(big, "", "number");
    this.unit = span(big, "%", "unit");
    this.spark = new Spark(node("div", { class: "curve" }, load), "Utilisation over the last two minutes, 0 to 100 %");
  }

  memory(body) {
    const box = node("div", { class: "memory" }, body);
    const line = node("div", { class: "line" }, box);
    span(line, "Memory", "k");
    this.used = span(line, "", "v");
    const bar = (this.bar = node("div", { class: "bar" }, box));
    this.reservedBar = node("i", { class: "reserved" }, bar);
    this.usedBar = node("i", { class: "used" }, bar);
    const legend = node("div", { class: "legend" }, box);
    this.parts = Object.fromEntries(
      ["free", "reserved"].map((part) => {
        const holder = node("span", { class: part }, legend);
        span(holder, `${part} `, "k");
        return [part, span(holder, "", "v")];
      }),
    );
  }

  fact(parent, name, label, title) {
    const box = node("div", { class: "fact", "data-fact": name, title }, parent);
    span(box, label, "k");
    const values = node("span", { class: "values" }, box);
    return { box, value: span(values, "", "v"), of: span(values, "", "of") };
  }

  update(gpu, stream, palette, alert) {
    const known = stream.known.get(gpu.index) ?? {};
    this.draw(gpu, known);
    mark(this.root, "state", gpu.unreadable ? "unreadable" : "ok");
    mark(this.root, "alert", alert ?? "");
    if (gpu.unreadable) {
      this.why.hidden = false;
      put(this.reason, `Cannot be read: ${gpu.unreadable.reason}`);
      hint(this.reason, whyMissing(gpu.unreadable));
      put(this.whose, [known.uuid, known.pci_bus_id].filter(Boolean).join(" · ") || "It told nothing since this page was opened.");
    } else if (!this.why.hidden) {
      this.why.hidden = true;
    }
    const { recent } = stream;
    const values = known.uuid ? recent.series(known.uuid, "utilization_gpu_percent") : [];
    this.spark.set(recent.t, values, 100, palette[hueOf(gpu.index)], palette, stream.snapshot.hz);
  }

  draw(gpu, known) {
    show(this.name, isMissing(gpu.name) ? known.name ?? gpu.name : gpu.name, FORMS.text, identity(gpu, known));
    toggle(this.name, "gone", isMissing(gpu.name) && !known.name);
    toggle(this.state, "gone", Boolean(gpu.unreadable));
    show(this.state, gpu.performance_state, FORMS.text, "Performance state: P0 is the fastest");
    const load = gpu.utilization_gpu_percent;
    show(this.percent, load, FORMS.count);
    toggle(this.unit, "gone", isMissing(load));
    this.drawMemory(gpu);
    this.drawFacts(gpu);
    this.drawThrottle(gpu.throttle_reasons);
    this.drawTrouble(gpu);
    this.drawMig(gpu);
  }

  drawMemory(gpu) {
    const { memory_used_bytes: used, memory_reserved_bytes: reserved, memory_free_bytes: free, memory_total_bytes: total } = gpu;
    const known = !isMissing(used) && !isMissing(total) && total > 0;
    if (known) show(this.used, used, (value) => `${tenth.format(value / GIB)} / ${tenth.format(total / GIB)} GiB`);
    else show(this.used, isMissing(used) ? used : total, FORMS.gibibytes);
    const part = known ? used / total : 0;
    const kept = known && !isMissing(reserved) ? reserved / total : 0;
    fill(this.usedBar, part);
    fill(this.reservedBar, part + kept);
    toggle(this.bar, "full", known && !isMissing(free) && free / total < 0.05);
    for (const [name, value] of Object.entries({ free, reserved })) show(this.parts[name], value, FORMS.gibibytes);
  }

  drawFacts(gpu) {
    const { facts } = this;
    const hot = gpu.temperature_slowdown_celsius;
    show(facts.temperature.value, gpu.temperature_celsius, FORMS.celsius, facts.temperature.box.title);
    const memory = gpu.temperature_memory_celsius;
    put(facts.temperature.of, isMissing(memory) || isMissing(gpu.temperature_celsius) ? "" : ` · ${whole.format(memory)} °C`);
    toggle(facts.temperature.box, "high", !isMissing(hot) && !isMissing(gpu.temperature_celsius) && gpu.temperature_celsius >= hot - 3);
    this.ofLimit(facts.power, gpu.power_watts, gpu.power_limit_watts, "W");
    this.ofLimit(facts.sm, gpu.clock_sm_mhz, gpu.clock_sm_max_mhz, "MHz");
    this.ofLimit(facts.memory_clock, gpu.clock_memory_mhz, gpu.clock_memory_max_mhz, "MHz");
    show(facts.fan.value, gpu.fan_percent, FORMS.percent, facts.fan.box.title);
    show(facts.bus.value, gpu.utilization_memory_percent, FORMS.percent, facts.bus.box.title);
    show(facts.encoder.value, gpu.encoder_percent, FORMS.percent, facts.encoder.box.title);
    show(facts.decoder.value, gpu.decoder_percent, FORMS.percent, facts.decoder.box.title);
    this.drawPcie(gpu);
    this.drawNvlink(gpu);
    this.rates(facts.pcie_rate, gpu.pcie_rx_bytes_per_second, gpu.pcie_tx_bytes_per_second);
    this.rates(facts.nvlink_rate, gpu.nvlink_rx_bytes_per_second, gpu.nvlink_tx_bytes_per_second);
  }

  ofLimit(fact, value, limit, unit) {
    if (isMissing(value)) {
      show(fact.value, value, FORMS.count);
      put(fact.of, "");
      return;
    }
    show(fact.value, value, FORMS.count, fact.box.title);
    put(fact.of, isMissing(limit) ? ` ${unit}` : ` / ${whole.format(limit)} ${unit}`);
  }

  drawPcie({ pcie_generation: generation, pcie_width: width, pcie_generation_max: most, pcie_width_max: widest }) {
    const { value, of, box } = this.facts.pcie;
    if (isMissing(generation) || isMissing(width)) {
      show(value, isMissing(generation) ? generation : width, FORMS.text);
      put(of, "");
      return;
    }
    show(value, generation, (number) => `${number} ×${width}`, box.title);
    const less = !isMissing(most) && !isMissing(widest) && (generation < most || width < widest);
    put(of, less ? ` of ${most} ×${widest}` : "");
  }

  drawNvlink({ nvlinks, nvlink }) {
    const { value, of, box } = this.facts.nvlink;
    put(of, "");
    if (isMissing(nvlinks)) {
      show(value, nvlinks, FORMS.count);
    } else if (isMissing(nvlink)) {
      show(value, nvlink, FORMS.count);
    } else {
      const up = nvlink.filter((link) => link.state === "up").length;
      show(value, nvlinks ? up : null, (number) => `${number} of ${nvlinks} up`, box.title);
    }
  }

  rates(fact, received, sent) {
    const missing = isMissing(received) ? received : isMissing(sent) ? sent : null;
    if (missing !== null) show(fact.value, missing, FORMS.text);
    else show(fact.value, received, () => throughput(received, sent), fact.box.title);
  }

  drawThrottle(reasons) {
    const { value, box } = this.throttle;
    if (isMissing(reasons)) show(value, reasons, FORMS.text);
    else show(value, reasons, inShort, reasons.join(", "));
    toggle(box, "high", !isMissing(reasons) && reasons.some(isHarmful));
    toggle(box, "held", !isMissing(reasons) && reasons.some((reason) => !STEADY.has(reason)));
  }

  // Only when there is something: errors that were corrected or not, pages to retire, the driver's own events.
  drawTrouble(gpu) {
    const found = [];
    const counted = (name, word) => (gpu[name] > 0 ? `${whole.format(gpu[name])} ${word}` : "");
    const errors = [counted("ecc_uncorrected_volatile", "uncorrected"), counted("ecc_corrected_volatile", "corrected")].filter(Boolean);
    if (errors.length) found.push(`ECC errors: ${errors.join(", ")}`);
    if (gpu.retired_pages_pending === true) found.push("Pages wait to be retired: restart the machine");
    if (gpu.remapped_rows_pending === true) found.push("Rows wait to be remapped: reset the GPU");
    if (gpu.remapped_rows_failure === true) found.push("Remapping rows failed: the card should be replaced");
    const events = Array.isArray(gpu.xid) ? gpu.xid : [];
    if (events.length) {
      const { code, text, t } = events.at(-1);
      const more = events.length > 1 ? ` (and ${events.length - 1} before)` : "";
      found.push(`XID ${code}: ${text}, ${clockOf(t)}${more}`);
    }
    lines(this.trouble, found, (line, text) => put(line, text));
  }

  drawMig(gpu) {
    const instances = Array.isArray(gpu.mig) ? gpu.mig : [];
    lines(this.mig, instances, (line, instance) => {
      if (!line.name) {
        line.name = span(line, "", "k");
        line.bar = node("i", { class: "used" }, node("div", { class: "bar" }, line));
        line.memory = span(line, "", "v");
      }
      const { memory_used_bytes: used, memory_total_bytes: total } = instance;
      show(line.name, instance.name, (name) => name.match(/MIG .*$/)?.[0] ?? name, `MIG instance ${instance.uuid}`);
      fill(line.bar, isMissing(used) || isMissing(total) || !total ? 0 : used / total);
      show(line.memory, used, (value) => `${tenth.format(value / GIB)} / ${isMissing(total) ? "?" : tenth.format(total / GIB)} GiB`);
    });
  }

  destroy() {
    this.spark.destroy();
    this.root.remove();
  }
}

function isHarmful(reason) {
  return /hardware|thermal|brake|board limit|reliability/.test(reason);
}

// The worst first, on one line.
function inShort(reasons) {
  if (!reasons.length) return "no";
  const words = [...reasons].sort((a, b) => isHarmful(b) - isHarmful(a)).join(", ");
  return words.replaceAll("(hardware)", "(hw)").replaceAll("(software)", "(sw)");
}

function identity(gpu, known) {
  const word = (name) => (isMissing(gpu[name]) ? known[name] ?? missingWord(gpu[name]) : gpu[name]);
  return [
    word("name"), `UUID ${word("uuid")}`, `PCI ${word("pci_bus_id")}`,
    `compute capability ${word("compute_capability")}`, `serial ${word("serial")}`, `VBIOS ${word("vbios")}`,
  ].join("\n");
}

export function clockOf(t) {
  return new Date(t * 1000).toLocaleTimeString("en-GB");
}
