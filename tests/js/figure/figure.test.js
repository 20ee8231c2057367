import assert from "node:assert/strict";
import { test } from "node:test";

import { pointEvent, rangeEvent, resolveColors } from "../../../app/components/figure/figure.js";

const PALETTE = { hue0: "#164bb3", grid: "#e3e5ea" };

test("named colors are resolved wherever they stand in a figure", () => {
  const figure = { data: [{ line: { color: "var(--hs-hue0)", width: 2 } }], layout: { shapes: ["solid var(--hs-grid)", null] } };
  assert.deepEqual(resolveColors(figure, PALETTE), { data: [{ line: { color: "#164bb3", width: 2 } }], layout: { shapes: ["solid #e3e5ea", null] } });
});

test("a color may have an alpha, an unknown one stays", () => {
  assert.equal(resolveColors("var(--hs-hue0,0.25)", PALETTE), "rgba(22,75,179,0.25)");
  assert.equal(resolveColors("var(--hs-odd)", PALETTE), "var(--hs-odd)");
  assert.equal(resolveColors("var(--hs-odd,0.5)", PALETTE), "var(--hs-odd,0.5)");
});

test("a zoom is told with its ends, a reset with none, another axis not at all", () => {
  assert.deepEqual(rangeEvent({ "xaxis.range[0]": "1.5", "xaxis.range[1]": 2 }), { type: "range", x0: 1.5, x1: 2 });
  assert.deepEqual(rangeEvent({ "xaxis.range": [3, 4] }), { type: "range", x0: 3, x1: 4 });
  assert.deepEqual(rangeEvent({ "xaxis.autorange": true }), { type: "range", x0: null, x1: null });
  assert.equal(rangeEvent({ "yaxis.range": [3, 4] }), null);
});

test("a clicked point is told with what it stands for", () => {
  assert.deepEqual(pointEvent("click", { x: 1, y: 0, customdata: ["cpu:0"], curveNumber: 2, data: { name: "loss" } }), { type: "click", x: 1, y: 0, customdata: ["cpu:0"], curve: 2, name: "loss" });
  assert.deepEqual(pointEvent("click", { curveNumber: 0 }), { type: "click", x: null, y: null, customdata: null, curve: 0, name: null });
});
