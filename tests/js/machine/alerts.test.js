import assert from "node:assert/strict";
import { test } from "node:test";

import { frozenText, listed, moreText, shownAlerts, worstOf } from "../../../app/components/machine/alerts.js";

const alert = (code, severity, gpu = null) => ({ code, severity, gpu, text: code });
const HOT = alert("hot", "warning", 0);
const XID = alert("xid", "error", 1);
const SLOW = alert("slow", "info", 0);

const lines = (shown, alerts) => listed(shown, alerts).map(([, { alert: { code, gpu }, on }]) => `${code} ${gpu}${on ? "" : " over"}`);

test("the worst comes first, such as are as bad in the server's order", () => {
  const alerts = [SLOW, alert("memory", "warning", 2), HOT, XID];
  assert.deepEqual(lines(shownAlerts(new Map(), alerts, 10), alerts), ["xid 1", "memory 2", "hot 0", "slow 0"]);
});

test("an alert that is over stays a moment, below all that hold", () => {
  const before = shownAlerts(new Map(), [XID, HOT], 10);
  assert.deepEqual(lines(shownAlerts(before, [HOT], 12), [HOT]), ["hot 0", "xid 1 over"]);
  const over = shownAlerts(before, [HOT], 18);
  assert.deepEqual(lines(over, [HOT]), ["hot 0", "xid 1 over"]);
  assert.deepEqual(lines(shownAlerts(over, [HOT], 18.1), [HOT]), ["hot 0"]);
});

test("an alert that comes again is not over any more", () => {
  const over = shownAlerts(shownAlerts(new Map(), [XID], 10), [], 12);
  const again = shownAlerts(over, [{ ...XID, text: "again" }], 13);
  assert.deepEqual([...again.values()], [{ alert: { ...XID, text: "again" }, on: true, seen: 13 }]);
});

test("two alerts of one kind are two lines", () => {
  const alerts = [{ ...XID, text: "first" }, { ...XID, text: "second" }];
  const shown = shownAlerts(new Map(), alerts, 10);
  assert.deepEqual(listed(shown, alerts).map(([, entry]) => entry.alert.text), ["first", "second"]);
});

test("a card is marked by its worst alert, never by a note", () => {
  const alerts = [HOT, { ...XID, gpu: 0 }, XID, alert("note", "info", 2)];
  assert.deepEqual([0, 1, 2, 3].map((gpu) => worstOf(alerts, gpu)), ["error", "error", "", ""]);
  assert.equal(worstOf([HOT, SLOW], 0), "warning");
});

test("the button counts what is folded, and the errors among it", () => {
  assert.equal(moreText(["error", "error", "warning"]), "1 more");
  assert.equal(moreText(["error", "error", "error", "warning"]), "2 more, 1 of them errors");
});

test("what is shown is frozen while no sample comes", () => {
  const snapshot = { sampler: { state: "stale", text: "the driver hangs" } };
  assert.equal(frozenText("stale", snapshot), "No new sample: the driver hangs.");
  assert.equal(frozenText("stale", {}), "No new sample: the sampler is silent.");
  assert.equal(frozenText("reconnecting", {}), "No new sample: the server does not answer; it is tried again.");
  assert.equal(frozenText("live", snapshot), "");
  assert.equal(frozenText("reconnecting", null), "");
});
