// @ts-check
// Who uses the GPUs, and the processes of runs: rows that keep their nodes, in an order that stays.

import { node, put, span } from "../shared/cells.js";
import { Table } from "../table/rows.js";
import { FORMS, hueOf, missingWord, size, whyMissing } from "./fields.js";
import { runAddress } from "./host.js";
import { isMissing } from "./stream.js";

/**
 * @import { Cell, Send } from "../shared/records.js"
 * @import { Column, Row } from "../table/records.js"
 * @import { Field, Gpu, GpuProcess, LiveRun, Snapshot } from "./records.js"
 */

/**
 * A table with its heading.
 * @typedef {{ root: HTMLElement, note: HTMLElement, number: HTMLElement, table: Table, testid: string, title: string }} Section
 */

/** @type {Column[]} */
const GPU_COLUMNS = [
  { name: "gpu", title: "GPU", kind: "devices", help: "As nvidia-smi numbers it", width: "6.5em" },
  { name: "pid", title: "PID", kind: "number", help: "", width: "7em" },
  { name: "user", title: "User", kind: "label", help: "", width: "7em" },
  { name: "command", title: "Command", kind: "label", help: "", width: "" },
  { name: "run", title: "Run", kind: "link", help: "The run that it belongs to", width: "" },
  { name: "type", title: "Type", kind: "label", help: "C: compute, G: graphics, M: MPS", width: "4em" },
  { name: "memory", title: "GPU memory", kind: "number", help: "", width: "7.5em" },
  { name: "sm", title: "SM", kind: "number", help: "Share of the multiprocessors' time", width: "5em" },
];
/** @type {Column[]} */
const RUN_COLUMNS = [
  { name: "run", title: "Run", kind: "link", help: "", width: "" },
  { name: "devices", title: "Devices", kind: "label", help: "", width: "" },
  { name: "pid", title: "PID", kind: "number", help: "", width: "6em" },
  { name: "command", title: "Command", kind: "label", help: "", width: "" },
  { name: "cpu", title: "CPU", kind: "number", help: "Of one core: 200 % are two busy cores", width: "6em" },
  { name: "memory", title: "Memory", kind: "number", help: "Resident, as top counts it", width: "8em" },
];

export class Processes {
  /**
   * @param {Element} parent
   * @param {Send} act
   */
  constructor(parent, act) {
    this.act = act;
    this.gpus = this.section(parent, "Processes on the GPUs", "table-gpu-processes", "machine-gpus");
    this.runs = this.section(parent, "Processes of runs that go on", "table-run-processes", "machine-runs");
  }

  /**
   * @param {Element} parent
   * @param {string} title
   * @param {string} testid
   * @param {string} name
   * @returns {Section}
   */
  section(parent, title, testid, name) {
    const root = node("section", { class: `processes ${name}` }, parent);
    const head = node("h2", {}, root);
    span(head, title);
    const number = span(head, "", "number");
    const note = node("p", { class: "quiet-note" }, root);
    note.hidden = true;
    return { root, note, number, table: new Table(node("div", {}, root)), testid, title };
  }

  /** @param {Snapshot} snapshot */
  update(snapshot) {
    const gpus = snapshot.gpus ?? [];
    const runs = snapshot.runs ?? [];
    this.gpus.root.hidden = !gpus.length;
    if (gpus.length) {
      const told = gpus.flatMap(({ index, processes }) => (isMissing(processes) ? [`GPU ${index}: ${whyMissing(processes)}`] : []));
      this.gpus.note.hidden = !told.length;
      put(this.gpus.note, told.length ? `Processes that cannot be listed: ${told.join(", ")}` : "");
      const none = told.length ? "None that can be seen." : "No process uses a GPU.";
      this.draw(this.gpus, GPU_COLUMNS, gpuRows(gpus, runs), none);
    }
    this.runs.root.hidden = !runs.length && gpus.length > 0;
    this.draw(this.runs, RUN_COLUMNS, runRows(runs), "No run goes on. One that is launched shows here with its processes.");
  }

  /**
   * @param {Section} section
   * @param {Column[]} columns
   * @param {Row[]} rows
   * @param {string} empty
   */
  draw({ table, testid, title, number }, columns, rows, empty) {
    // One that uses two GPUs has two rows.
    const many = new Set(rows.map((row) => row.cells.pid.text)).size;
    put(number, many ? `${many} ${many === 1 ? "process" : "processes"}` : "");
    const data = { columns, rows, testid, selected: [], pickable: false, height: 520, empty, label: title, searchable: 15 };
    table.update(data, this.act);
  }
}

/**
 * A row a process and GPU, the largest first, with the run that it belongs to.
 * @param {Gpu[]} gpus
 * @param {LiveRun[]} runs
 * @returns {Row[]}
 */
export function gpuRows(gpus, runs) {
  /** @type {Map<number, LiveRun>} */
  const owner = new Map();
  for (const run of runs) for (const { pid } of run.processes) owner.set(pid, run);
  /** @type {Row[]} */
  const rows = [];
  for (const gpu of gpus) {
    if (isMissing(gpu.processes)) continue;
    for (const process of [...gpu.processes].sort(byMemory)) {
      const run = process.where === "here" ? owner.get(process.pid) : undefined;
      rows.push({
        id: `${gpu.index}/${process.pid}/${process.type}/${process.gpu_instance ?? ""}`,
        cells: {
          gpu: {
            devices: [{ device: `GPU ${gpu.index}`, hue: `var(--hs-${hueOf(gpu.index)})`, remark: process.gpu_instance === null || process.gpu_instance === undefined ? "" : `MIG ${process.gpu_instance}` }],
            sort: gpu.index,
          },
          pid: { text: String(process.pid), sort: process.pid },
          user: process.where === "here" ? word(process.user) : unknownUser(process.user),
          command: commandCell(process),
          run: run ? link(run) : { text: "", href: "" },
          type: word(process.type),
          memory: number(process.memory_bytes, size),
          sm: number(process.sm_percent, FORMS.percent),
        },
      });
    }
  }
  return rows;
}

/**
 * The user of a process that is not of this container.
 * @param {Field<string>} user
 * @returns {Cell}
 */
function unknownUser(user) {
  return { text: "unknown", title: isMissing(user) ? whyMissing(user) : "", faint: true };
}

/**
 * The largest first; what is not told comes last.
 * @param {GpuProcess} a
 * @param {GpuProcess} b
 */
function byMemory(a, b) {
  const [p, q] = [a, b].map(({ memory_bytes: bytes }) => (isMissing(bytes) ? -1 : bytes));
  return q - p || a.pid - b.pid;
}

/**
 * @param {GpuProcess} process
 * @returns {Cell}
 */
function commandCell({ where, pid, command }) {
  if (where === "elsewhere") {
    return { text: `PID ${pid} of another container`, title: "Not a process of this container, whatever has that number here", faint: true };
  }
  if (where === "gone") return { text: "has ended", title: "The driver still lists it; there is no such process any more", faint: true };
  return word(command);
}

/**
 * A row a process of each run.
 * @param {LiveRun[]} runs
 * @returns {Row[]}
 */
export function runRows(runs) {
  return runs.flatMap((run) => {
    const stand = new Set(run.stand_ins);
    const devices = run.devices.map((device) => (stand.has(device) ? `${device} (stand-in)` : device)).join(", ");
    return run.processes.map((process) => ({
      id: `${run.id}/${process.pid}`,
      cells: {
        run: link(run),
        devices: { text: devices || "the program's own choice", faint: !devices },
        pid: { text: String(process.pid), sort: process.pid },
        command: { text: process.command || "?", title: process.command },
        cpu: process.cpu_percent === null ? { text: "", remark: "measuring", sort: -1 } : { text: FORMS.percent(process.cpu_percent), sort: process.cpu_percent },
        memory: process.memory_bytes === null ? { text: "", remark: "unknown", sort: -1 } : { text: size(process.memory_bytes), sort: process.memory_bytes },
      },
    }));
  });
}

/**
 * @param {LiveRun} run
 * @returns {Cell}
 */
function link(run) {
  return { text: run.name, href: runAddress(run) };
}

/**
 * @param {Field<string>} value
 * @returns {Cell}
 */
function word(value) {
  return isMissing(value) ? { text: missingWord(value), title: whyMissing(value), faint: true } : { text: String(value), title: String(value) };
}

/**
 * @param {Field<number>} value
 * @param {(value: number) => string} form
 * @returns {Cell}
 */
function number(value, form) {
  if (isMissing(value)) return { text: "", remark: missingWord(value), title: whyMissing(value), sort: -1 };
  return { text: form(value), sort: value };
}
