// The machine around its GPUs: processors, memory, load; large where there is no GPU to look at.

import { node, put, span } from "../shared/cells.js";
import { fill, FORMS, GIB, lines, show, size, tenth, uptime } from "./fields.js";
import { Spark } from "./spark.js";
import { isMissing } from "./stream.js";

const MOST_RUNS = 4;

export class HostStrip {
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
    this.facts = Object.fromEntries(
      [["swap", "Swap"], ["load", "Load, 1 min"], ["uptime", "Up for"], ["driver", "Driver"], ["cuda", "CUDA"]].map(([name, label]) => {
        const box = node("div", { class: "fact", "data-fact": name }, facts);
        span(box, label, "k");
        return [name, span(box, "", "v")];
      }),
    );
    this.runs = node("div", { class: "host-runs", "data-testid": "machine-runs" }, this.root);
  }

  meter(label, title) {
    const box = node("div", { class: "meter" }, this.root);
    const line = node("div", { class: "line" }, box);
    span(line, label, "k");
    const value = span(line, "", "v");
    return { box, value, spark: new Spark(node("div", { class: "curve" }, box), title) };
  }

  update(stream, palette) {
    const { snapshot, recent } = stream;
    const host = snapshot.host ?? {};
    show(this.name, host.hostname, FORMS.text);
    show(this.cores, host.cpu_cores, (cores) => `${cores} ${cores === 1 ? "core" : "cores"}`);
    show(this.cpu.value, host.cpu_percent, FORMS.percent);
    const total = host.memory_total_bytes;
    const known = !isMissing(total) && total > 0;
    show(this.memory.value, host.memory_used_bytes, (used) =>
      known ? `${tenth.format(used / GIB)} / ${tenth.format(total / GIB)} GiB` : FORMS.gibibytes(used));
    fill(this.usedBar, known && !isMissing(host.memory_used_bytes) ? host.memory_used_bytes / total : 0);
    show(this.facts.swap, host.swap_used_bytes, size);
    show(this.facts.load, host.load_1m, (load) => load.toFixed(2));
    show(this.facts.uptime, host.uptime_seconds, uptime);
    const driven = (snapshot.gpus ?? []).length > 0;
    for (const [name, value] of [["driver", snapshot.driver], ["cuda", snapshot.cuda_driver]]) {
      this.facts[name].parentElement.hidden = !driven;
      if (driven) show(this.facts[name], value, FORMS.text);
    }
    this.drawRuns(snapshot.runs ?? []);
    this.cpu.spark.set(recent.t, recent.series("", "cpu_percent"), 100, palette.host, palette, snapshot.hz);
    this.memory.spark.set(recent.t, recent.series("", "memory_used_bytes"), known ? total : 1, palette.host, palette, snapshot.hz);
  }

  // What goes on here now: each run with its state, its processes, and what plays its GPUs.
  drawRuns(runs) {
    const more = runs.length - MOST_RUNS;
    const shown = runs.slice(0, MOST_RUNS).map((run) => ({ run }));
    lines(this.runs, more > 0 ? [...shown, { more }] : shown, (line, { run, more: left }) => {
      if (!line.link) {
        line.link = node("a", { target: "_self" }, line);
        line.rest = span(line, "", "k");
        line.link.addEventListener("click", (event) => {
          if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
          event.preventDefault();
          this.act({ type: "open", href: line.link.getAttribute("href"), row: line.run });
        });
      }
      line.run = run?.id;
      if (line.link.hidden === Boolean(run)) line.link.hidden = !run;
      if (!run) {
        put(line.rest, `and ${left} more`);
        return;
      }
      put(line.link, run.name);
      if (line.link.getAttribute("href") !== runAddress(run)) line.link.setAttribute("href", runAddress(run));
      const number = run.processes.length;
      const parts = [run.state, `${number} ${number === 1 ? "process" : "processes"}`, run.framework];
      if (run.stand_ins.length) parts.push(`stand-ins ${run.stand_ins.join(", ")}`);
      put(line.rest, parts.filter(Boolean).join(" · "));
    });
  }

  destroy() {
    this.cpu.spark.destroy();
    this.memory.spark.destroy();
  }
}

export function runAddress(run) {
  return `/run?run=${encodeURIComponent(run.id)}`;
}
