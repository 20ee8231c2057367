import assert from "node:assert/strict";
import { test } from "node:test";

import { gpuRows, runRows } from "../../../app/components/machine/processes.js";

const DENIED = { state: "denied", reason: "NVML_ERROR_NO_PERMISSION" };
const process = (pid, bytes, more = {}) => ({ pid, type: "C", where: "here", user: "ann", command: "python train.py", gpu_instance: null, memory_bytes: bytes, sm_percent: 5, ...more });
const RUN = { id: "r1", name: "my run", state: "running", framework: "tensorflow", devices: ["gpu:0", "gpu:1"], stand_ins: ["gpu:1"], processes: [{ pid: 7, command: "python a.py", cpu_percent: 150, memory_bytes: 1024 ** 3 }] };

test("the largest process of a GPU comes first, one of unknown size last", () => {
  const rows = gpuRows([{ index: 3, processes: [process(5, DENIED), process(6, 10), process(7, 20)] }], []);
  assert.deepEqual(rows.map((row) => row.id), ["3/7/C/", "3/6/C/", "3/5/C/"]);
  assert.deepEqual(rows[2].cells.memory, { text: "", remark: "denied", title: "no permission to read it: NVML_ERROR_NO_PERMISSION", sort: -1 });
});

test("a process links to the run that it belongs to, unless it only has that number", () => {
  const gpu = { index: 0, processes: [process(7, 20), process(7, 10, { where: "elsewhere", user: DENIED })] };
  const rows = gpuRows([gpu], [RUN]);
  assert.deepEqual(rows[0].cells.run, { text: "my run", href: "/run?run=r1" });
  assert.deepEqual(rows[1].cells.run, { text: "", href: "" });
  assert.equal(rows[1].cells.command.text, "PID 7 of another container");
  assert.equal(rows[1].cells.user.text, "unknown");
});

test("a GPU whose processes cannot be listed has no rows", () => {
  assert.deepEqual(gpuRows([{ index: 0, processes: DENIED }, { index: 1 }], []), []);
});

test("a run's processes say what plays its devices", () => {
  const [row] = runRows([RUN]);
  assert.equal(row.cells.devices.text, "gpu:0, gpu:1 (stand-in)");
  assert.deepEqual([row.cells.cpu.text, row.cells.memory.text], ["150 %", "1.0 GiB"]);
});

test("a process that was just found has no share of time yet", () => {
  const [row] = runRows([{ ...RUN, devices: [], processes: [{ pid: 7, command: "", cpu_percent: null, memory_bytes: null }] }]);
  assert.deepEqual(row.cells.cpu, { text: "", remark: "measuring", sort: -1 });
  assert.deepEqual(row.cells.devices, { text: "the program's own choice", faint: true });
});
