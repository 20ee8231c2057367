import assert from "node:assert/strict";
import { test } from "node:test";

import { curve, largest, localMs, means, rangeOf } from "../../../app/components/machine/curves.js";
import { append, METRICS, topsOf, unknownText } from "../../../app/components/machine/history.js";
import { stretches } from "../../../app/components/machine/spark.js";
import { Samples } from "../../../app/components/machine/stream.js";

const DENIED = { state: "denied", reason: "NVML_ERROR_NO_PERMISSION" };

test("a curve has a hole over a stretch without samples", () => {
  const { x, y } = curve([10, 11, 20, 21], [1, 2, 3, 4], 1, 0, 2.5);
  assert.deepEqual(x, [10, 11, 15.5, 20, 21].map(localMs));
  assert.deepEqual(y, [1, 2, null, 3, 4]);
});

test("a curve is scaled, begins where it is told to, and keeps what is unknown unknown", () => {
  const { x, y } = curve([10, 11, 12, 13], [1, 2048, null, 1024], 1024, 11, 2.5);
  assert.deepEqual([x.length, y], [3, [2, null, 1]]);
});

test("the largest value of all curves is found beside nulls", () => {
  assert.equal(largest([{ y: [1, null, 7] }, { y: [3] }]), 7);
  assert.equal(largest([{ y: [null] }, { y: [] }]), 0);
});

test("a mean is that of the samples that have a number", () => {
  const samples = [new Map([["", { cpu: 10, load: null }]]), new Map([["", { cpu: 20 }]]), new Map([["", { cpu: null }]])];
  assert.deepEqual(means(samples, ["cpu", "load"]), new Map([["", { cpu: 15, load: null }]]));
});

test("a zoomed axis is told in either of Plotly's ways", () => {
  assert.deepEqual(rangeOf({ "xaxis.range[0]": 1, "xaxis.range[1]": 2 }, "xaxis"), [1, 2]);
  assert.deepEqual(rangeOf({ "yaxis.range": [3, 4] }, "yaxis"), [3, 4]);
  assert.equal(rangeOf({ "xaxis.range[0]": 1 }, "xaxis"), null);
  assert.equal(rangeOf({ "yaxis.range": [3, 4] }, "xaxis"), null);
});

const host = (cpu) => new Map([["", { cpu }]]);

test("a stretch of means is added once it is over", () => {
  const past = { samples: new Samples(600), step: 10, fields: ["cpu"], open: null };
  for (const [t, cpu] of [[101, 10], [105, 30], [109, 20]]) append(past, t, host(cpu));
  assert.deepEqual(past.samples.t, []);
  append(past, 111, host(90));
  assert.deepEqual([past.samples.t, past.samples.series("", "cpu")], [[105], [20]]);
});

test("a stretch that the server told already is not added again", () => {
  const past = { samples: new Samples(600), step: 10, fields: ["cpu"], open: null };
  past.samples.add(105, host(1));
  for (const t of [104, 112]) append(past, t, host(50));
  assert.deepEqual([past.samples.t, past.samples.series("", "cpu")], [[105], [1]]);
});

test("without a step each sample that is new is added", () => {
  const past = { samples: new Samples(600), step: 0, fields: ["cpu"], open: null };
  for (const t of [1, 2, 2, 1.5, 3]) append(past, t, host(t));
  assert.deepEqual(past.samples.t, [1, 2, 3]);
});

test("an axis goes up to what is known of the devices", () => {
  const snapshot = { host: { memory_total_bytes: 8 * 1024 ** 3 }, gpus: [{ index: 0, memory_total_bytes: 24 * 1024 ** 3 }, { index: 1, memory_total_bytes: DENIED }] };
  assert.deepEqual(topsOf(snapshot, METRICS.memory), [24]);
  assert.deepEqual(topsOf(snapshot, METRICS.host_memory), [8]);
  assert.deepEqual(topsOf(snapshot, METRICS.power), []);
});

test("without a curve it is said why there is none, without markup", () => {
  const gpus = [{ index: 0, power_watts: { state: "error", reason: "a <b> & c" } }];
  assert.equal(unknownText({ gpus }, METRICS.power), "a &lt;b> &amp; c");
  assert.equal(unknownText({ gpus: [{ index: 0, power_watts: 5 }] }, METRICS.power), "No sample yet");
});

test("a spark line is parted where a value is unknown, or nothing was sampled", () => {
  assert.deepEqual(stretches([1, 2, 3, 4, 20, 21], [5, 6, null, 7, 8, 9], 2.5), [[0, 1], [3, 3], [4, 5]]);
  assert.deepEqual(stretches([], [], 2.5), []);
});

test("a spark line shows two minutes", () => {
  assert.deepEqual(stretches([0, 1, 200, 201], [1, 1, 1, 1], 2.5), [[2, 3]]);
});
