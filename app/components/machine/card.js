// @ts-check
// One GPU: built once, then only its texts, bars and curve change.

import { node, put, span } from "../shared/cells.js";
import { clockOf, fill, FORMS, GIB, hint, hueOf, lines, mark, missingWord, show, tenth, throughput, toggle, whole, whyMissing } from "./fields.js";
import { Spark } from "./spark.js";
import { isMissing } from "./stream.js";

/**
 * @import { Palette } from "../shared/records.js"
 * @import { Field, Gpu, MigInstance } from "./records.js"
 * @import { MachineStream } from "./stream.js"
 */

/**
 * What a card was known to be while it could be read.
 * @typedef {{ uuid?: string, name?: string, pci_bus_id?: string }} Known
 * @typedef {{ box: HTMLElement, value: HTMLElement, of: HTMLElement }} Fact
 * @typedef {"temperature" | "power" | "sm" | "memory_clock" | "fan" | "bus" | "pcie" | "pcie_rate" | "nvlink" | "nvlink_rate" | "encoder" | "decoder"} FactName
 */

const STEADY = new Set(["idle", "applications clocks setting", "sync boost", "display clock setting"]);

// [name, label, long label]: what stands in a card, two a line.
/** @type {[FactName, string, string][]} */
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
  /** @param {number} index */
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
    const load = node("div", { class: "load" }, body);
    const big = node("div", { class: "big", title: "Share of time in which at least one kernel ran" }, load);
    this.percent = span(big, "", "number");
    this.unit = span(big, "%", "unit");
    this.spark = new Spark(node("div", { class: "curve" }, load), "Utilisation over the last two minutes, 0 to 100 %");
    const memory = node("div", { class: "memory" }, body);
    const line = node("div", { class: "line" }, memory);
    span(line, "Memory", "k");
    this.used = span(line, "", "v");
    this.bar = node("div", { class: "bar" }, memory);
    this.reservedBar = node("i", { class: "reserved" }, this.bar);
    this.usedBar = node("i", { class: "used" }, this.bar);
    const legend = node("div", { class: "legend" }, memory);
    this.free = this.part(legend, "free");
    this.reserved = this.part(legend, "reserved");
    const facts = node("div", { class: "facts" }, body);
    const made = FACTS.map(([name, label, title]) => [name, this.fact(facts, name, label, title)]);
    this.facts = /** @type {Record<FactName, Fact>} */ (Object.fromEntries(made));
    this.throttle = this.fact(facts, "throttle", "Throttled", "Why clocks are held down");
    this.throttle.box.classList.add("whole");
    this.trouble = node("div", { class: "trouble" }, body);
    this.mig = node("div", { class: "mig" }, body);
    this.root.style.setProperty("--hue", `var(--hs-${hueOf(index)})`);
  }

  /**
   * @param {Element} legend
   * @param {string} name of a part of the memory
   */
  part(legend, name) {
    const holder = node("span", { class: name }, legend);
    span(holder, `${name} `, "k");
    return span(holder, "", "v");
  }

  /**
   * @param {Element} parent
   * @param {string} name
   * @param {string} label
   * @param {string} title
   * @returns {Fact}
   */
  fact(parent, name, label, title) {
    const box = node("div", { class: "fact", "data-fact": name, title }, parent);
    span(box, label, "k");
    const values = node("span", { class: "values" }, box);
    return { box, value: span(values, "", "v"), of: span(values, "", "of") };
  }

  /**
   * @param {Gpu} gpu
   * @param {MachineStream} stream
   * @param {Palette} palette
   * @param {string} alert the severity of the worst that is wrong with it, '' for nothing
   */
  update(gpu, stream, palette, alert) {
    const known = stream.known.get(gpu.index) ?? {};
    this.draw(gpu, known);
    mark(this.root, "state", gpu.unreadable ? "unreadable" : "ok");
    mark(this.root, "alert", alert);
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
    this.spark.set(recent.t, values, 100, palette[hueOf(gpu.index)], palette, stream.snapshot?.hz);
  }

  /**
   * @param {Gpu} gpu
   * @param {Known} known
   */
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

  /** @param {Gpu} gpu */
  drawMemory(gpu) {
    const { memory_used_bytes: used, memory_reserved_bytes: reserved, memory_free_bytes: free, memory_total_bytes: total } = gpu;
    if (!isMissing(used) && !isMissing(total) && total > 0) {
      show(this.used, used, (value) => `${tenth.format(value / GIB)} / ${tenth.format(total / GIB)} GiB`);
      fill(this.usedBar, used / total);
      fill(this.reservedBar, used / total + (isMissing(reserved) ? 0 : reserved / total));
      toggle(this.bar, "full", !isMissing(free) && free / total < 0.05);
    } else {
      show(this.used, isMissing(used) ? used : total, FORMS.gibibytes);
      fill(this.usedBar, 0);
      fill(this.reservedBar, 0);
      toggle(this.bar, "full", false);
    }
    show(this.free, free, FORMS.gibibytes);
    show(this.reserved, reserved, FORMS.gibibytes);
  }

  /** @param {Gpu} gpu */
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

  /**
   * @param {Fact} fact
   * @param {Field<number> | undefined} value
   * @param {Field<number> | undefined} limit
   * @param {string} unit
   */
  ofLimit(fact, value, limit, unit) {
    if (isMissing(value)) {
      show(fact.value, value, FORMS.count);
      put(fact.of, "");
      return;
    }
    show(fact.value, value, FORMS.count, fact.box.title);
    put(fact.of, isMissing(limit) ? ` ${unit}` : ` / ${whole.format(limit)} ${unit}`);
  }

  /** @param {Gpu} gpu */
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

  /** @param {Gpu} gpu */
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

  /**
   * @param {Fact} fact
   * @param {Field<number> | undefined} received
   * @param {Field<number> | undefined} sent
   */
  rates(fact, received, sent) {
    if (isMissing(received)) show(fact.value, received, FORMS.text);
    else if (isMissing(sent)) show(fact.value, sent, FORMS.text);
    else show(fact.value, received, () => throughput(received, sent), fact.box.title);
  }

  /** @param {Field<string[]> | undefined} reasons */
  drawThrottle(reasons) {
    const { value, box } = this.throttle;
    if (isMissing(reasons)) show(value, reasons, FORMS.text);
    else show(value, reasons, inShort, reasons.join(", "));
    toggle(box, "high", !isMissing(reasons) && reasons.some(isHarmful));
    toggle(box, "held", !isMissing(reasons) && reasons.some((reason) => !STEADY.has(reason)));
  }

  /** @param {Gpu} gpu */
  drawTrouble(gpu) {
    lines(this.trouble, troubles(gpu), (line) => line, put);
  }

  /** @param {Gpu} gpu */
  drawMig(gpu) {
    lines(this.mig, Array.isArray(gpu.mig) ? gpu.mig : [], migLine, drawMigLine);
  }

  destroy() {
    this.spark.destroy();
    this.root.remove();
  }
}

/** @param {HTMLElement} line */
function migLine(line) {
  return {
    name: span(line, "", "k"),
    bar: node("i", { class: "used" }, node("div", { class: "bar" }, line)),
    memory: span(line, "", "v"),
  };
}

/**
 * @param {ReturnType<typeof migLine>} line
 * @param {MigInstance} instance
 */
function drawMigLine(line, instance) {
  const { memory_used_bytes: used, memory_total_bytes: total } = instance;
  show(line.name, instance.name, (name) => name.match(/MIG .*$/)?.[0] ?? name, `MIG instance ${instance.uuid}`);
  fill(line.bar, isMissing(used) || isMissing(total) || !total ? 0 : used / total);
  show(line.memory, used, (value) => `${tenth.format(value / GIB)} / ${isMissing(total) ? "?" : tenth.format(total / GIB)} GiB`);
}

/**
 * What is wrong with a card, a line each: errors that were corrected or not, pages to retire, the driver's own
 * events. Nothing where nothing is.
 * @param {Gpu} gpu
 */
export function troubles(gpu) {
  /** @type {string[]} */
  const found = [];
  /** @type {(number: Field<number> | undefined, word: string) => string} */
  const counted = (number, word) => (!isMissing(number) && number > 0 ? `${whole.format(number)} ${word}` : "");
  const errors = [counted(gpu.ecc_uncorrected_volatile, "uncorrected"), counted(gpu.ecc_corrected_volatile, "corrected")].filter(Boolean);
  if (errors.length) found.push(`ECC errors: ${errors.join(", ")}`);
  if (gpu.retired_pages_pending === true) found.push("Pages wait to be retired: restart the machine");
  if (gpu.remapped_rows_pending === true) found.push("Rows wait to be remapped: reset the GPU");
  if (gpu.remapped_rows_failure === true) found.push("Remapping rows failed: the card should be replaced");
  const events = Array.isArray(gpu.xid) ? gpu.xid : [];
  const last = events.at(-1);
  if (last) {
    const more = events.length > 1 ? ` (and ${events.length - 1} before)` : "";
    found.push(`XID ${last.code}: ${last.text}, ${clockOf(last.t)}${more}`);
  }
  return found;
}

/** @param {string} reason */
function isHarmful(reason) {
  return /hardware|thermal|brake|board limit|reliability/.test(reason);
}

/**
 * Why clocks are held down, the worst first, on one line.
 * @param {string[]} reasons
 */
export function inShort(reasons) {
  if (!reasons.length) return "no";
  const words = [...reasons].sort((a, b) => Number(isHarmful(b)) - Number(isHarmful(a))).join(", ");
  return words.replaceAll("(hardware)", "(hw)").replaceAll("(software)", "(sw)");
}

/**
 * Who a card is, a line each.
 * @param {Gpu} gpu
 * @param {Record<string, string | undefined>} known
 */
export function identity(gpu, known) {
  /** @param {"name" | "uuid" | "pci_bus_id" | "compute_capability" | "serial" | "vbios"} name */
  const word = (name) => {
    const value = gpu[name];
    return isMissing(value) ? known[name] ?? missingWord(value) : value;
  };
  return [
    word("name"), `UUID ${word("uuid")}`, `PCI ${word("pci_bus_id")}`,
    `compute capability ${word("compute_capability")}`, `serial ${word("serial")}`, `VBIOS ${word("vbios")}`,
  ].join("\n");
}
