// @ts-check
// The machine around its GPUs: processors, memory, load; large where there is no GPU to look at.

import { node, put, span } from "../shared/cells.js";
import { fill, FORMS, GIB, lines, show, size, tenth, uptime } from "./fields.js";
import { Spark } from "./spark.js";
import { isMissing } from "./stream.js";

/**
 * @import { Palette, Send } from "../shared/records.js"
 * @import { LiveRun, Snapshot } from "./records.js"
 * @import { MachineStream } from "./stream.js"
 */

const MOST_RUNS = 4;

export class HostStrip {
  /**
   * @param {Element} parent
   * @param {Send} act
   */
  constructor(parent, act) {
    this.act = act;
    this.root = node("section", { class: "host", "aria-label": "Host" }, parent);
    const who = node("div", { class: "who" }, this.root);
    node("span", { class: "swatch", "aria-hidden": "true" }, who);
    this.name = span(who, "", "title");
    this.cores = span(who, "", "name");
    this.cpu = this.meter("CPU", "All processors together, the last two minutes, 0 to 100 %");
    this.memory = this.meter("Memory", "Memory in use, the last two minutes, up to all there is");
    this.bar = node("div", { class: "bar" }, this.memory.box);
    this.usedBar = node("i", { class: "used" }, this.bar);
    const facts = node("div", { class: "host-facts" }, this.root);
    /** @type {(name: string, label: string) => { box: HTMLElement, value: HTMLElement }} */
    const fact = (name, label) => {
      const box = node("div", { class: "fact", "data-fact": name }, facts);
      span(box, label, "k");
      return { box, value: span(box, "", "v") };
    };
    this.swap = fact("swap", "Swap");
    this.loaded = fact("load", "Load, 1 min");
    this.uptime = fact("uptime", "Up for");
    this.driver = fact("driver", "Driver");
    this.cuda = fact("cuda", "CUDA");
    this.runs = node("div", { class: "host-runs", "data-testid": "machine-runs" }, this.root);
  }

  /**
   * @param {string} label
   * @param {string} title
   */
  meter(label, title) {
    const box = node("div", { class: "meter" }, this.root);
    const line = node("div", { class: "line" }, box);
    span(line, label, "k");
    const value = span(line, "", "v");
    return { box, value, spark: new Spark(node("div", { class: "curve" }, box), title) };
  }

  /**
   * @param {Snapshot} snapshot
   * @param {MachineStream} stream
   * @param {Palette} palette
   */
  update(snapshot, { recent }, palette) {
    const host = snapshot.host ?? {};
    show(this.name, host.hostname, FORMS.text);
    show(this.cores, host.cpu_cores, (cores) => `${cores} ${cores === 1 ? "core" : "cores"}`);
    show(this.cpu.value, host.cpu_percent, FORMS.percent);
    const total = isMissing(host.memory_total_bytes) ? 0 : Math.max(0, host.memory_total_bytes);
    show(this.memory.value, host.memory_used_bytes, (used) =>
      total ? `${tenth.format(used / GIB)} / ${tenth.format(total / GIB)} GiB` : FORMS.gibibytes(used));
    fill(this.usedBar, total && !isMissing(host.memory_used_bytes) ? host.memory_used_bytes / total : 0);
    show(this.swap.value, host.swap_used_bytes, size);
    show(this.loaded.value, host.load_1m, (load) => load.toFixed(2));
    show(this.uptime.value, host.uptime_seconds, uptime);
    const driven = (snapshot.gpus ?? []).length > 0;
    this.driver.box.hidden = !driven;
    this.cuda.box.hidden = !driven;
    if (driven) {
      show(this.driver.value, snapshot.driver, FORMS.text);
      show(this.cuda.value, snapshot.cuda_driver, FORMS.text);
    }
    this.drawRuns(snapshot.runs ?? []);
    this.cpu.spark.set(recent.t, recent.series("", "cpu_percent"), 100, palette.host, palette, snapshot.hz);
    this.memory.spark.set(recent.t, recent.series("", "memory_used_bytes"), total || 1, palette.host, palette, snapshot.hz);
  }

  /**
   * What goes on here now: each run with its state, its processes, and what plays its GPUs.
   * @param {LiveRun[]} runs
   */
  drawRuns(runs) {
    const more = runs.length - MOST_RUNS;
    /** @type {(LiveRun | number)[]} the last may be how many are left */
    const items = runs.slice(0, MOST_RUNS);
    if (more > 0) items.push(more);
    lines(this.runs, items, (line) => this.runLine(line), drawRunLine);
  }

  /** @param {HTMLElement} line */
  runLine(line) {
    const made = { link: node("a", { target: "_self" }, line), rest: span(line, "", "k"), run: "" };
    made.link.addEventListener("click", (event) => {
      if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
      event.preventDefault();
      this.act({ type: "open", href: made.link.getAttribute("href"), row: made.run });
    });
    return made;
  }

  destroy() {
    this.cpu.spark.destroy();
    this.memory.spark.destroy();
  }
}

/**
 * @param {{ link: HTMLAnchorElement, rest: HTMLElement, run: string }} line
 * @param {LiveRun | number} run or how many more there are
 */
function drawRunLine(line, run) {
  const left = typeof run === "number";
  line.run = left ? "" : run.id;
  if (line.link.hidden !== left) line.link.hidden = left;
  if (left) {
    put(line.rest, `and ${run} more`);
    return;
  }
  put(line.link, run.name);
  if (line.link.getAttribute("href") !== runAddress(run)) line.link.setAttribute("href", runAddress(run));
  put(line.rest, runText(run));
}

/**
 * A run's state, its processes, and what plays its GPUs.
 * @param {LiveRun} run
 */
export function runText(run) {
  const number = run.processes.length;
  const parts = [run.state, `${number} ${number === 1 ? "process" : "processes"}`, run.framework];
  if (run.stand_ins.length) parts.push(`stand-ins ${run.stand_ins.join(", ")}`);
  return parts.filter(Boolean).join(" · ");
}

/** @param {LiveRun} run */
export function runAddress(run) {
  return `/run?run=${encodeURIComponent(run.id)}`;
}
