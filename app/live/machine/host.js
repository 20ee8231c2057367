// The machine around its GPUs: processors, memory, load; large where there is no GPU to look at.

class HostStrip {
  constructor(parent) {
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
    this.cpu.spark.set(recent.t, recent.series("", "cpu_percent"), 100, palette.host, palette, snapshot.hz);
    this.memory.spark.set(recent.t, recent.series("", "memory_used_bytes"), known ? total : 1, palette.host, palette, snapshot.hz);
  }

  destroy() {
    this.cpu.spark.destroy();
    this.memory.spark.destroy();
  }
}
