// @ts-check
// The Machine page's live parts: the head with the cards, and the processes, each mounted where the page wants it.

import { node, put, span } from "../shared/cells.js";
import { mount } from "../shared/mount.js";
import { applyPalette, paletteOf } from "../shared/theme.js";
import { Alerts, worstOf } from "./alerts.js";
import { GpuCard } from "./card.js";
import { hint, mark, toggle } from "./fields.js";
import { HostStrip } from "./host.js";
import { Processes } from "./processes.js";
import { recorded, Status } from "./status.js";
import { isMissing, MachineStream } from "./stream.js";

/**
 * @import { Call, Palette, Send } from "../shared/records.js"
 * @import { MachineData, Snapshot } from "./records.js"
 */

/** @type {Record<string, string>} */
const ONLY_A_HOST = {
  "no-driver": "No GPU to show",
  "no-library": "No GPU to show",
  mismatch: "The GPUs cannot be read",
  denied: "The GPUs cannot be read",
  error: "The GPUs cannot be read",
  lost: "The GPUs cannot be read",
};
const STAND_INS = "Runs on this machine use stand-ins: CPU devices that really place, copy and reduce; only their copies cost nothing.";
const CARD_PX = 296;
const GAP_PX = 12;
const COMPACT_FROM = 9;

class Head {
  /**
   * @param {HTMLElement} root
   * @param {Send} act
   */
  constructor(root, act) {
    this.width = 0;
    this.alerts = new Alerts(root);
    this.problem = node("div", { class: "problem", role: "status" }, root);
    this.problem.hidden = true;
    this.problemText = span(this.problem, "", "problem-text");
    this.problemRest = span(this.problem, "", "problem-rest");
    this.grid = node("div", { class: "cards" }, root);
    this.host = new HostStrip(root, act);
    /** @type {Map<number, GpuCard>} */
    this.cards = new Map();
    this.observer = new ResizeObserver(([entry]) => {
      this.width = entry.contentRect.width;
      this.arrange();
    });
    this.observer.observe(root);
    this.root = root;
  }

  /**
   * @param {Snapshot} snapshot
   * @param {MachineStream} stream
   * @param {Palette} palette
   */
  update(snapshot, stream, palette) {
    const gpus = snapshot.gpus ?? [];
    this.drawProblem(snapshot);
    const alerts = snapshot.alerts ?? [];
    this.alerts.update(alerts, snapshot.t ?? 0, gpus.length > 0);
    this.alerts.follow(stream.phase, stream);
    const kept = new Set(gpus.map((gpu) => gpu.index));
    for (const [index, card] of this.cards) {
      if (kept.has(index)) continue;
      card.destroy();
      this.cards.delete(index);
    }
    gpus.forEach((gpu, at) => {
      const card = this.cards.get(gpu.index) ?? new GpuCard(gpu.index);
      this.cards.set(gpu.index, card);
      if (this.grid.children[at] !== card.root) this.grid.insertBefore(card.root, this.grid.children[at] ?? null);
      card.update(gpu, stream, palette, worstOf(alerts, gpu.index));
    });
    mark(this.root, "gpus", gpus.length);
    this.arrange();
    this.host.update(snapshot, stream, palette);
  }

  /** @param {Snapshot} snapshot */
  drawProblem(snapshot) {
    const { words, reason } = problemOf(snapshot);
    if (this.problem.hidden === Boolean(words)) this.problem.hidden = !words;
    put(this.problemText, words);
    hint(this.problemText, reason);
    put(this.problemRest, snapshot.gpus?.length ? "" : STAND_INS);
  }

  arrange() {
    const number = this.cards.size;
    if (!number || !this.width) return;
    const wanted = String(columnsFor(number, this.width));
    if (this.grid.dataset.columns !== wanted) {
      this.grid.dataset.columns = wanted;
      this.grid.style.setProperty("--columns", wanted);
    }
    toggle(this.grid, "compact", number >= COMPACT_FROM);
  }

  destroy() {
    this.observer.disconnect();
    for (const card of this.cards.values()) card.destroy();
    this.host.destroy();
  }
}

/**
 * What is wrong with the driver, with its own word for it, or that there is no GPU; '' for nothing.
 * @param {Snapshot} snapshot
 */
export function problemOf({ nvml, gpus = [], starting }) {
  if (nvml && nvml !== "ok") {
    return { words: `${ONLY_A_HOST[nvml.state] ?? "The GPUs cannot be read"}: ${nvml.text || nvml.reason}`, reason: nvml.reason };
  }
  return { words: gpus.length || starting ? "" : "No GPU to show: the driver reports none.", reason: "" };
}

/**
 * Columns in which rows of cards are as full as can be: five cards are three and two, not four and one.
 * @param {number} number of cards
 * @param {number} width in pixels
 */
export function columnsFor(number, width) {
  const most = Math.max(1, Math.min(number, Math.floor((width + GAP_PX) / (CARD_PX + GAP_PX))));
  return Math.ceil(number / Math.ceil(number / most));
}

class Machine {
  /**
   * @param {HTMLElement} root
   * @param {MachineData} data
   * @param {Send} act
   */
  constructor(root, data, act) {
    this.root = root;
    this.data = data;
    this.act = act;
    this.stream = MachineStream.of(data.replay);
    this.frame = 0;
    this.gone = false;
    this.reported = "";
    /** @type {Palette | null} */
    this.palette = null;
    /** @type {Status | null} */
    this.status = null;
    /** @type {HTMLElement | null} */
    this.recorded = null;
    /** @type {Head | null} */
    this.head = null;
    /** @type {Processes | null} */
    this.processes = null;
    if (data.part === "head") {
      this.status = new Status(root, this.stream, (event) => this.act(event));
      this.status.changed = (phase) => {
        mark(root, "phase", phase);
        this.head?.alerts.follow(phase, this.stream);
      };
      if (data.replay) this.recorded = node("div", { class: "recorded", "data-testid": "recorded" }, root);
    }
    const body = node("div", { class: "machine-body" }, root);
    if (data.part === "head") this.head = new Head(body, (event) => this.act(event));
    else this.processes = new Processes(body, (event) => this.act(event));
    this.leave = this.stream.subscribe({ sampled: () => this.wish(), told: () => this.told() });
    this.told();
  }

  /**
   * @param {MachineData} data
   * @param {Send} act
   */
  update(data, act) {
    this.data = data;
    this.act = act;
    this.root.dataset.testid = `machine-${data.part}`;
    if (data.replay) this.root.dataset.replay = data.replay;
    applyPalette(this.root);
    this.palette = paletteOf(this.root);
    this.told();
    if (this.stream.snapshot) this.wish();
  }

  told() {
    mark(this.root, "phase", this.stream.phase);
    this.status?.update(this.data.operator);
  }

  // However many samples come, a frame is drawn once.
  wish() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  draw() {
    const { snapshot } = this.stream;
    if (!snapshot || !this.palette || this.gone) return;
    const { seq, t } = snapshot;
    this.head?.update(snapshot, this.stream, this.palette);
    this.processes?.update(snapshot);
    this.told();
    if (this.recorded) put(this.recorded, `RECORDING of ${recorded(snapshot.recording)}`);
    this.report(snapshot);
    const channel = new MessageChannel();
    channel.port1.onmessage = () => {
      if (!this.gone) Object.assign(this.root.dataset, { seq, sampled: t, drawn: Date.now() / 1000 });
      channel.port1.close();
    };
    channel.port2.postMessage(null);
  }

  /**
   * The page around draws other things where there are other cards.
   * @param {Snapshot} snapshot
   */
  report(snapshot) {
    if (this.data.part !== "head" || snapshot.nvml === undefined) return;
    const shape = shapeOf(snapshot);
    if (shape === this.data.shape || shape === this.reported) return;
    this.reported = shape;
    this.act({ type: "shape", shape });
  }

  destroy() {
    this.gone = true;
    cancelAnimationFrame(this.frame);
    this.leave();
    this.status?.destroy();
    this.head?.destroy();
    // The next one here may be of another machine.
    for (const name of ["seq", "sampled", "drawn", "phase", "replay"]) delete this.root.dataset[name];
    this.root.replaceChildren();
  }
}

/**
 * Which GPUs there are, or why none, as app/components/machine/machine.py says it.
 * @param {Snapshot} snapshot
 */
export function shapeOf({ nvml, gpus = [] }) {
  return [nvml === "ok" ? "ok" : nvml?.state, ...gpus.map((gpu) => (isMissing(gpu.uuid) ? `?${gpu.index}` : gpu.uuid))].join(" ");
}

/** @param {Call<MachineData>} call */
export default function ({ data, parentElement, setTriggerValue }) {
  /** @type {Send} */
  const act = (event) => setTriggerValue("event", event);
  /** @param {HTMLElement} root */
  const make = (root) => new Machine(root, data, act);
  const [machine, leave] = mount(parentElement, ".hopscope", make, (one) => one.data.replay === data.replay);
  machine.update(data, act);
  return leave;
}
