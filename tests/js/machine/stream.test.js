import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { isMissing, MachineStream, merged, Samples } from "../../../app/components/machine/stream.js";

const DENIED = { state: "denied", reason: "NO_PERMISSION" };
const SNAPSHOT = {
  seq: 1,
  t: 100,
  host: { hostname: "bench", cpu_percent: 5 },
  gpus: [{ index: 0, power_watts: 70, fan_percent: 30 }, { index: 1, power_watts: 80 }],
};

test("a field is missing where it has a reason or was not read", () => {
  assert.deepEqual([undefined, DENIED, null, 0, "", { state: "up" }, []].map(isMissing), [true, true, false, false, false, false, false]);
});

test("a whole message replaces all", () => {
  assert.deepEqual(merged(SNAPSHOT, { full: true, seq: 9, gpus: [], history: { t: [] } }), { seq: 9, gpus: [] });
  assert.deepEqual(merged(null, { full: true, seq: 9 }), { seq: 9 });
});

test("a delta changes only what it names", () => {
  const next = merged(SNAPSHOT, { seq: 2, t: 101, host: { cpu_percent: 60 }, gpus: [{ index: 0, power_watts: DENIED }] });
  assert.deepEqual(next, {
    seq: 2,
    t: 101,
    host: { hostname: "bench", cpu_percent: 60 },
    gpus: [{ index: 0, power_watts: DENIED, fan_percent: 30 }, { index: 1, power_watts: 80 }],
  });
});

test("a delta leaves the snapshot before it as it was", () => {
  const before = structuredClone(SNAPSHOT);
  merged(SNAPSHOT, { seq: 2, host: { cpu_percent: 60 }, gpus: [{ index: 0, power_watts: 1 }] });
  assert.deepEqual(SNAPSHOT, before);
});

test("a GPU that is new in a delta comes last", () => {
  assert.deepEqual(merged(SNAPSHOT, { gpus: [{ index: 4, power_watts: 1 }] }).gpus.map(({ index }) => index), [0, 1, 4]);
});

const sample = (value, host = value) => new Map([["", { cpu_percent: host }], ["GPU-0", { power_watts: value }]]);
const kept = (samples) => [samples.t, samples.series("", "cpu_percent"), samples.series("GPU-0", "power_watts")];

test("samples are kept by device and field", () => {
  const samples = new Samples(60);
  samples.add(1, sample(70, 5));
  samples.add(2, sample(80, 6));
  assert.deepEqual(kept(samples), [[1, 2], [5, 6], [70, 80]]);
  assert.deepEqual(samples.series("GPU-9", "power_watts"), []);
});

test("a device that comes later, or is away for a sample, has nulls in between", () => {
  const samples = new Samples(60);
  samples.add(1, new Map([["", { cpu_percent: 5 }]]));
  samples.add(2, sample(80, 6));
  samples.add(3, new Map([["", { cpu_percent: 7 }]]));
  assert.deepEqual(kept(samples), [[1, 2, 3], [5, 6, 7], [null, 80, null]]);
});

test("what is older than the span is dropped", () => {
  const samples = new Samples(10);
  for (const t of [0, 5, 10, 11, 16]) samples.add(t, sample(t));
  assert.deepEqual(kept(samples), [[10, 11, 16], [10, 11, 16], [10, 11, 16]]);
});

test("a clock that was set back drops what would come after", () => {
  const samples = new Samples(60);
  for (const t of [1, 2, 3]) samples.add(t, sample(t));
  samples.add(2, sample(20));
  assert.deepEqual(kept(samples), [[1, 2], [1, 20], [1, 20]]);
});

test("a server's history replaces its stretch, what is older and newer stays", () => {
  const samples = new Samples(60);
  for (const t of [1, 2, 3, 4]) samples.add(t, sample(t));
  samples.fill({ t: [2, 2.5, 3], host: { cpu_percent: [20, 25, 30] }, gpus: { "GPU-0": { power_watts: [200, null, 300] } } });
  assert.deepEqual(kept(samples), [[1, 2, 2.5, 3, 4], [1, 20, 25, 30, 4], [1, 200, null, 300, 4]]);
});

test("an empty history takes nothing away", () => {
  const samples = new Samples(60);
  samples.add(1, sample(5));
  samples.fill({ t: [], host: {}, gpus: {} });
  assert.deepEqual(kept(samples), [[1], [5], [5]]);
});

beforeEach(() => {
  globalThis.document = { hidden: false };
});

const whole = (t, more = {}) => ({ full: true, now: Date.now() / 1000, t, hz: 1, seq: 1, host: { cpu_percent: 5 }, gpus: [{ index: 0, uuid: "GPU-0", name: "Card", power_watts: 70 }], ...more });

test("before the first whole message a delta is not understood", () => {
  const stream = new MachineStream("");
  stream.hear({ seq: 4, host: { cpu_percent: 60 } });
  assert.equal(stream.snapshot, null);
  stream.hear(whole(100));
  assert.equal(stream.snapshot.host.cpu_percent, 5);
});

test("each sample is kept once, a card that is lost still has its name", () => {
  const stream = new MachineStream("");
  const heard = [];
  stream.listeners.add({ sampled: (message) => heard.push(message.t) });
  stream.hear(whole(100));
  stream.hear({ seq: 2, t: 101, gpus: [{ index: 0, power_watts: 75 }] });
  stream.hear({ seq: 3, t: 101, alerts: [] });
  const lost = { state: "error", reason: "GPU_IS_LOST" };
  stream.hear({ seq: 4, t: 102, gpus: [{ index: 0, uuid: lost, name: lost, power_watts: lost }] });
  assert.deepEqual(heard, [100, 101, 101, 102]);
  assert.deepEqual(stream.known.get(0), { uuid: "GPU-0", name: "Card" });
  assert.deepEqual([stream.recent.t, stream.recent.series("GPU-0", "power_watts")], [[100, 101, 102], [70, 75, null]]);
});

test("an answer about the past goes to those who listen for it, and is no sample", () => {
  const stream = new MachineStream("");
  const heard = [];
  stream.listeners.add({ past: (answer) => heard.push(answer.span), sampled: () => heard.push("sampled") });
  stream.listeners.add({});
  stream.hear({ span: 600, step: 5, fields: ["power_watts"], history: { t: [], host: {}, gpus: {} } });
  assert.deepEqual(heard, [600]);
});

test("the phase says what is true now", () => {
  const stream = new MachineStream("");
  assert.equal(stream.phase, "connecting");
  stream.hear({ starting: true, now: Date.now() / 1000, hz: 1, runs: [] });
  assert.equal(stream.phase, "starting");
  stream.hear(whole(Date.now() / 1000));
  assert.equal(stream.phase, "live");
  stream.hear({ t: Date.now() / 1000 - 20 });
  assert.equal(stream.phase, "stale");
  stream.hear({ recording: { host: "bench", made: 0 } });
  assert.equal(stream.phase, "recording");
  stream.forget();
  assert.equal(stream.phase, "reconnecting");
  stream.refused = true;
  assert.equal(stream.phase, "refused");
  globalThis.document = { hidden: true };
  assert.equal(stream.phase, "paused");
});

test("a slow server may be silent for longer", () => {
  const stream = new MachineStream("");
  stream.hear(whole(1, { hz: 10 }));
  assert.equal(stream.patience, 3);
  stream.hear({ hz: 0.5 });
  assert.equal(stream.patience, 6);
});
