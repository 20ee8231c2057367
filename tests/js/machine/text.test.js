import assert from "node:assert/strict";
import { test } from "node:test";

import { identity, inShort, troubles } from "../../../app/components/machine/card.js";
import { clockOf, fieldText, FORMS, hueOf, size, throughput, uptime, whyMissing } from "../../../app/components/machine/fields.js";
import { runText } from "../../../app/components/machine/host.js";
import { columnsFor, problemOf, shapeOf } from "../../../app/components/machine/main.js";
import { playTime } from "../../../app/components/machine/player.js";
import { PHASES, recorded } from "../../../app/components/machine/status.js";

const UNSUPPORTED = { state: "unsupported", reason: "NVML_ERROR_NOT_SUPPORTED" };
const WAITING = { state: "error", reason: "a share of time needs two samples" };

test("bytes are in MiB below a GiB", () => {
  assert.deepEqual([0, 1024 ** 2, 1023 * 1024 ** 2, 1024 ** 3, 42.55 * 1024 ** 3, 2000 * 1024 ** 3].map(size), ["0 MiB", "1 MiB", "1,023 MiB", "1.0 GiB", "42.6 GiB", "2,000.0 GiB"]);
  assert.equal(FORMS.gibibytes(1024 ** 2), "0.0 GiB");
});

test("both ways have one unit and three digits at most", () => {
  assert.equal(throughput(0, 0), "in 0 · out 0 kB/s");
  assert.equal(throughput(1234, 12), "in 1.2 · out <0.1 kB/s");
  assert.equal(throughput(999_400, 0), "in 999 · out 0 kB/s");
  assert.equal(throughput(999_500, 0), "in 1.0 · out 0 MB/s");
  assert.equal(throughput(999_500, 20_000_000), "in 1.0 · out 20 MB/s");
  assert.equal(throughput(9_960_000, 1.5e9), "in <0.1 · out 1.5 GB/s");
});

test("an uptime is in the two largest units", () => {
  assert.deepEqual([59, 61, 3600, 3660 * 5, 86400 * 3 + 7200].map(uptime), ["0 min", "1 min", "1 h 00 min", "5 h 05 min", "3 d 2 h"]);
});

test("a place in a replay has hours only where there are any", () => {
  assert.deepEqual([0, 9.9, 61, 3599, 3600, 36061].map(playTime), ["0:00", "0:09", "1:01", "59:59", "1:00:00", "10:01:01"]);
});

test("a time of day has two digits each", () => {
  assert.match(clockOf(1_700_000_000), /^\d\d:\d\d:\d\d$/);
});

test("a field without a value says why, and is never 0", () => {
  assert.deepEqual(fieldText(0, FORMS.percent, "Load"), { text: "0 %", absent: false, title: "Load" });
  assert.deepEqual(fieldText(null, FORMS.percent, "Load"), { text: "none", absent: true, title: "Load" });
  assert.deepEqual(fieldText(undefined, FORMS.percent, "Load"), { text: "not read", absent: true, title: "not read yet" });
  assert.deepEqual(fieldText(UNSUPPORTED, FORMS.percent), {
    text: "unsupported",
    absent: true,
    title: "not supported by this device or driver: NVML_ERROR_NOT_SUPPORTED",
  });
  assert.deepEqual(fieldText(WAITING, FORMS.percent), { text: "–", absent: true, title: WAITING.reason });
});

test("a state without words of its own is named", () => {
  assert.equal(whyMissing({ state: "odd", reason: "WHO_KNOWS" }), "odd: WHO_KNOWS");
});

test("hues begin again after eight cards", () => {
  assert.deepEqual([0, 7, 8, 17].map(hueOf), ["hue0", "hue7", "hue0", "hue1"]);
});

test("why clocks are held down is told with the harmful reasons first", () => {
  assert.equal(inShort([]), "no");
  assert.equal(inShort(["idle", "power cap (software)", "thermal (hardware)"]), "thermal (hw), idle, power cap (sw)");
});

test("what a lost card was stays known", () => {
  const lost = { state: "error", reason: "NVML_ERROR_GPU_IS_LOST" };
  const gpu = { index: 0, name: lost, uuid: lost, pci_bus_id: lost, compute_capability: UNSUPPORTED, serial: "S1" };
  assert.equal(
    identity(gpu, { name: "Card", uuid: "GPU-0" }),
    "Card\nUUID GPU-0\nPCI error\ncompute capability unsupported\nserial S1\nVBIOS not read",
  );
});

test("a card has a line for each thing that is wrong, and none where nothing is", () => {
  assert.deepEqual(troubles({ index: 0, ecc_corrected_volatile: 0, retired_pages_pending: false, xid: [] }), []);
  assert.deepEqual(troubles({ index: 0, ecc_corrected_volatile: UNSUPPORTED, xid: UNSUPPORTED }), []);
  const xid = [{ code: 13, text: "first", t: 0 }, { code: 79, text: "fell off the bus", t: 1_700_000_000 }];
  const found = troubles({ index: 0, ecc_uncorrected_volatile: 2, ecc_corrected_volatile: 1500, remapped_rows_failure: true, xid });
  assert.deepEqual(found.slice(0, 2), ["ECC errors: 2 uncorrected, 1,500 corrected", "Remapping rows failed: the card should be replaced"]);
  assert.match(found[2], /^XID 79: fell off the bus, \d\d:\d\d:\d\d \(and 1 before\)$/);
});

test("a run says its state, its processes and its stand-ins", () => {
  const run = { id: "r", name: "n", state: "running", framework: "tensorflow", devices: [], stand_ins: [], processes: [{}] };
  assert.equal(runText(run), "running · 1 process · tensorflow");
  assert.equal(runText({ ...run, framework: "", stand_ins: ["gpu:0", "gpu:1"], processes: [] }), "running · 0 processes · stand-ins gpu:0, gpu:1");
});

test("rows of cards are as full as can be", () => {
  assert.deepEqual([1, 2, 4, 5, 8].map((number) => columnsFor(number, 1280)), [1, 2, 4, 3, 4]);
  assert.equal(columnsFor(8, 100), 1);
});

test("without a GPU it is said why", () => {
  assert.deepEqual(problemOf({ nvml: { state: "no-driver", reason: "R", text: "no driver" } }), { words: "No GPU to show: no driver", reason: "R" });
  assert.deepEqual(problemOf({ nvml: { state: "odd", reason: "R" } }), { words: "The GPUs cannot be read: R", reason: "R" });
  assert.deepEqual(problemOf({ nvml: "ok", gpus: [] }), { words: "No GPU to show: the driver reports none.", reason: "" });
  assert.deepEqual(problemOf({ nvml: "ok", gpus: [{ index: 0 }] }), { words: "", reason: "" });
  assert.deepEqual(problemOf({ starting: true }), { words: "", reason: "" });
});

test("the shape is that of app/components/machine/machine.py", () => {
  assert.equal(shapeOf({ nvml: "ok", gpus: [{ index: 0, uuid: "GPU-0" }, { index: 1, uuid: UNSUPPORTED }] }), "ok GPU-0 ?1");
  assert.equal(shapeOf({ nvml: { state: "no-driver", reason: "R" } }), "no-driver");
});

test("each phase has its words", () => {
  const snapshot = { hz: 2, recording: { host: "bench", made: 1_700_000_000 } };
  assert.deepEqual(PHASES.live({ snapshot, age: 0.44 }), ["live · 2 Hz", " · 0.4 s ago"]);
  assert.deepEqual(PHASES.stale({ snapshot, age: 7.9 }), ["stale: no sample for", " 7 s"]);
  assert.match(recorded(snapshot.recording), /^bench, 1[45] November 2023$/);
  assert.deepEqual(PHASES.recording({ snapshot, age: 0 }), [`RECORDING of ${recorded(snapshot.recording)}`]);
});
