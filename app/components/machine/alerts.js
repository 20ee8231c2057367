// @ts-check
// What a person would want to know. What is over stays a moment in grey, so that nothing jumps to and fro.

import { node, put, span } from "../shared/cells.js";
import { clockOf, hueOf, mark, toggle } from "./fields.js";

/**
 * @import { Alert, Phase, Severity, Snapshot } from "./records.js"
 * @import { MachineStream } from "./stream.js"
 */

const OVER_S = 8;
const MOST_ALERTS = 2;
/** @type {Severity[]} */
const SEVERITIES = ["error", "warning", "info"];
const SIGNS = { error: "Error", warning: "Warning", info: "Note" };
/** @type {Partial<Record<Phase, (snapshot: Snapshot) => string>>} */
const FROZEN = {
  stale: ({ sampler }) => `No new sample: ${sampler?.text || "the sampler is silent"}.`,
  reconnecting: () => "No new sample: the server does not answer; it is tried again.",
  refused: () => "No new sample: the server refuses this page.",
};

/**
 * An alert that is shown: `on` while it holds, `seen` when it last did.
 * @typedef {{ alert: Alert, on: boolean, seen: number }} Shown
 */

/**
 * The alerts to show after a sample, by key, in the order in which they came: those that hold, and those that are
 * over and held a moment ago.
 * @param {ReadonlyMap<string, Shown>} before
 * @param {Alert[]} alerts
 * @param {number} now
 * @returns {Map<string, Shown>}
 */
export function shownAlerts(before, alerts, now) {
  /** @type {Map<string, Shown>} */
  const holding = new Map();
  /** @type {Map<string, number>} */
  const times = new Map();
  for (const alert of alerts) {
    const kind = kindOf(alert);
    const nth = times.get(kind) ?? 0;
    times.set(kind, nth + 1);
    holding.set(`${kind} ${nth}`, { alert, on: true, seen: now });
  }
  /** @type {Map<string, Shown>} */
  const shown = new Map();
  for (const [key, entry] of before) {
    const news = holding.get(key);
    if (news) shown.set(key, news);
    else if (now - entry.seen <= OVER_S) shown.set(key, { ...entry, on: false });
  }
  for (const [key, entry] of holding) shown.set(key, entry);
  return shown;
}

/**
 * Alerts as they are listed: those that hold, the worst first, then those that are over. Such as are as bad stay in
 * the order in which the server gave them.
 * @param {ReadonlyMap<string, Shown>} shown
 * @param {Alert[]} alerts the server's
 * @returns {[string, Shown][]}
 */
export function listed(shown, alerts) {
  const kinds = [...new Set(alerts.map(kindOf))];
  const place = new Map(kinds.map((kind, at) => [kind, at]));
  /** @param {Shown} entry */
  const rank = ({ alert, on }) => (on ? 0 : 1e6) + SEVERITIES.indexOf(alert.severity) * 1e3;
  /** @param {Shown} entry */
  const given = ({ alert }) => place.get(kindOf(alert)) ?? 0;
  return [...shown].sort(([, a], [, b]) => rank(a) - rank(b) || given(a) - given(b));
}

/** @param {Alert} alert */
function kindOf(alert) {
  return JSON.stringify([alert.code, alert.gpu]);
}

/**
 * The severity of the worst alert of a card; '' where there is none that marks it.
 * @param {Alert[]} alerts
 * @param {number} gpu
 */
export function worstOf(alerts, gpu) {
  const worst = SEVERITIES.find((severity) => alerts.some((alert) => alert.gpu === gpu && alert.severity === severity));
  return worst === undefined || worst === "info" ? "" : worst;
}

/**
 * Why nothing new is shown, '' while it is.
 * @param {Phase} phase
 * @param {Snapshot | null} snapshot
 */
export function frozenText(phase, snapshot) {
  return (snapshot && FROZEN[phase]?.(snapshot)) ?? "";
}

/**
 * What the button says that unfolds the alerts beyond the first.
 * @param {Severity[]} severities of all, in their order
 */
export function moreText(severities) {
  const rest = severities.slice(MOST_ALERTS);
  const errors = rest.filter((severity) => severity === "error").length;
  return `${rest.length} more${errors ? `, ${errors} of them errors` : ""}`;
}

/**
 * @typedef {{ line: HTMLElement, sign: HTMLElement, swatch: HTMLElement, text: HTMLElement, advice: HTMLElement }} Line
 */

export class Alerts {
  /** @param {Element} parent */
  constructor(parent) {
    this.all = false;
    this.driven = false;
    this.frozen = false;
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
    /** @type {Map<string, Shown>} */
    this.shown = new Map();
    /** @type {Map<string, Line>} */
    this.lines = new Map();
    /** @type {{ line: HTMLElement, severity: Severity }[]} */
    this.order = [];
  }

  /**
   * While nothing comes it is said first why; what was known then is no news.
   * @param {Phase} phase
   * @param {Pick<MachineStream, "snapshot">} stream
   */
  follow(phase, { snapshot }) {
    const why = frozenText(phase, snapshot);
    toggle(this.root, "frozen", Boolean(why));
    if (this.stopped.hidden === Boolean(why)) this.stopped.hidden = !why;
    this.frozen = Boolean(why);
    if (why) {
      put(this.why, why);
      put(this.asOf, snapshot?.t ? `What is shown is as of ${clockOf(snapshot.t)}.` : "");
    }
    this.settle();
  }

  /**
   * @param {Alert[]} alerts
   * @param {number} now
   * @param {boolean} driven whether there are cards
   */
  update(alerts, now, driven) {
    this.driven = driven;
    this.shown = shownAlerts(this.shown, alerts, now);
    for (const [key, { line }] of this.lines) {
      if (this.shown.has(key)) continue;
      line.remove();
      this.lines.delete(key);
    }
    this.order = listed(this.shown, alerts).map(([key, entry]) => {
      const line = this.lines.get(key) ?? this.add(key);
      this.write(line, entry);
      return { line: line.line, severity: entry.alert.severity };
    });
    const order = this.order.map(({ line }) => line);
    if (order.some((line, at) => this.list.children[at] !== line)) this.list.replaceChildren(...order);
    this.fold();
    this.settle();
  }

  // Where there are cards a line is always kept, so that the first alert moves nothing.
  settle() {
    const calm = this.driven && !this.shown.size && !this.frozen;
    if (this.calm.hidden === calm) this.calm.hidden = !calm;
    const empty = !calm && !this.shown.size && !this.frozen;
    if (this.root.hidden !== empty) this.root.hidden = empty;
  }

  // However many there are, the cards stay in sight.
  fold() {
    this.order.forEach(({ line }, at) => {
      const hidden = !this.all && at >= MOST_ALERTS;
      if (line.hidden !== hidden) line.hidden = hidden;
    });
    const few = this.order.length <= MOST_ALERTS;
    if (this.more.hidden !== few) this.more.hidden = few;
    put(this.more, this.all ? "Fewer" : moreText(this.order.map(({ severity }) => severity)));
  }

  /** @param {string} key */
  add(key) {
    const line = node("div", { class: "alert-line" });
    const sign = span(line, "", "sign");
    const swatch = node("span", { class: "swatch", "aria-hidden": "true" }, line);
    const words = span(line, "", "alert-words");
    const entry = { line, sign, swatch, text: span(words, "", "alert-text"), advice: adviceIn(words) };
    this.lines.set(key, entry);
    return entry;
  }

  /**
   * @param {Line} parts
   * @param {Shown} shown
   */
  write({ line, sign, swatch, text, advice }, { alert, on }) {
    mark(line, "severity", alert.severity);
    mark(line, "code", alert.code);
    toggle(line, "over", !on);
    put(sign, on ? SIGNS[alert.severity] ?? alert.severity : "Over");
    const gpu = alert.gpu ?? null;
    const one = gpu !== null;
    if (swatch.hidden === one) swatch.hidden = !one;
    if (gpu !== null) swatch.style.background = `var(--hs-${hueOf(gpu)})`;
    put(text, alert.text);
    put(advice, on ? alert.advice ?? "" : "");
  }
}

/** @param {Element} words */
function adviceIn(words) {
  words.append(" ");
  return span(words, "", "advice");
}
