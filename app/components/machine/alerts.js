// What a person would want to know. What is over stays a moment in grey, so that nothing jumps to and fro.

import { node, put, span } from "../shared/cells.js";
import { clockOf } from "./card.js";
import { hueOf, mark, toggle } from "./fields.js";

const OVER_S = 8;
const MOST_ALERTS = 2;
export const SEVERITIES = ["error", "warning", "info"];
const SIGNS = { error: "Error", warning: "Warning", info: "Note" };
const FROZEN = {
  stale: ({ snapshot }) => `No new sample: ${snapshot.sampler?.text || "the sampler is silent"}.`,
  reconnecting: () => "No new sample: the server does not answer; it is tried again.",
  refused: () => "No new sample: the server refuses this page.",
};

export class Alerts {
  constructor(parent) {
    this.root = node("section", { class: "alerts", "aria-label": "Alerts", "aria-live": "polite", "aria-relevant": "additions" }, parent);
    this.stopped = node("div", { class: "stopped", role: "status" }, this.root);
    this.stopped.hidden = true;
    const why = span(this.stopped, "", "alert-words");
    this.why = span(why, "", "alert-text");
    this.asOf = adviceIn(why);
    this.calm = span(this.root, "Nothing needs attention", "calm-line");
    this.list = node("div", { class: "alert-list" }, this.root);
    this.more = node("button", { type: "button", "data-action": "more" }, this.root);
    this.more.addEventListener("click", () => {
      this.all = !this.all;
      this.fold();
    });
    this.shown = new Map();
  }

  // While nothing comes it is said first why; what was known then is no news.
  follow(phase, stream) {
    const why = stream.snapshot ? FROZEN[phase] : undefined;
    toggle(this.root, "frozen", Boolean(why));
    if (this.stopped.hidden === Boolean(why)) this.stopped.hidden = !why;
    this.frozen = Boolean(why);
    if (why) {
      put(this.why, why(stream));
      put(this.asOf, stream.snapshot.t ? `What is shown is as of ${clockOf(stream.snapshot.t)}.` : "");
    }
    this.settle();
  }

  update(alerts, now, driven) {
    this.driven = driven;
    for (const entry of this.shown.values()) entry.on = false;
    const seen = new Map();
    for (const alert of alerts) {
      const kind = JSON.stringify([alert.code, alert.gpu]);
      const nth = seen.get(kind) ?? 0;
      seen.set(kind, nth + 1);
      const key = `${kind} ${nth}`;
      const entry = this.shown.get(key) ?? this.add(key);
      Object.assign(entry, { alert, on: true, seen: now });
    }
    for (const [key, entry] of this.shown) {
      if (entry.on || now - entry.seen <= OVER_S) continue;
      entry.line.remove();
      this.shown.delete(key);
    }
    for (const entry of this.shown.values()) this.write(entry);
    // Such as are as bad stay in the order in which they were told.
    const place = new Map([...seen.keys()].map((kind, at) => [kind, at]));
    const rank = ({ alert, on }) => (on ? 0 : 1e6) + SEVERITIES.indexOf(alert.severity) * 1e3;
    const told = ({ alert }) => place.get(JSON.stringify([alert.code, alert.gpu])) ?? 0;
    const order = [...this.shown.values()].sort((a, b) => rank(a) - rank(b) || told(a) - told(b)).map((entry) => entry.line);
    if (order.some((line, at) => this.list.children[at] !== line)) this.list.replaceChildren(...order);
    this.fold();
    this.settle();
  }

  // Where there are cards a line is always kept, so that the first alert moves nothing.
  settle() {
    const calm = Boolean(this.driven) && !this.shown.size && !this.frozen;
    if (this.calm.hidden === calm) this.calm.hidden = !calm;
    const empty = !calm && !this.shown.size && !this.frozen;
    if (this.root.hidden !== empty) this.root.hidden = empty;
  }

  // However many there are, the cards stay in sight.
  fold() {
    const number = this.list.children.length;
    [...this.list.children].forEach((line, at) => {
      const hidden = !this.all && at >= MOST_ALERTS;
      if (line.hidden !== hidden) line.hidden = hidden;
    });
    const few = number <= MOST_ALERTS;
    if (this.more.hidden !== few) this.more.hidden = few;
    const errors = [...this.list.children].filter((line, at) => at >= MOST_ALERTS && line.dataset.severity === "error").length;
    put(this.more, this.all ? "Fewer" : `${number - MOST_ALERTS} more${errors ? `, ${errors} of them errors` : ""}`);
  }

  add(key) {
    const line = node("div", { class: "alert-line" });
    const sign = span(line, "", "sign");
    const swatch = node("span", { class: "swatch", "aria-hidden": "true" }, line);
    const words = span(line, "", "alert-words");
    const entry = { line, sign, swatch, text: span(words, "", "alert-text"), advice: adviceIn(words) };
    this.shown.set(key, entry);
    return entry;
  }

  write({ line, sign, swatch, text, advice, alert, on }) {
    mark(line, "severity", alert.severity);
    mark(line, "code", alert.code);
    toggle(line, "over", !on);
    put(sign, on ? SIGNS[alert.severity] ?? alert.severity : "Over");
    const one = alert.gpu !== null && alert.gpu !== undefined;
    if (swatch.hidden === one) swatch.hidden = !one;
    if (one) swatch.style.background = `var(--hs-${hueOf(alert.gpu)})`;
    put(text, alert.text);
    put(advice, on ? alert.advice ?? "" : "");
  }
}

function adviceIn(words) {
  words.append(" ");
  return span(words, "", "advice");
}
