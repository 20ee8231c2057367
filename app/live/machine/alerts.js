// What a person would want to know. What is over stays a moment in grey, so that nothing jumps to and fro.

const OVER_S = 8;
const MOST_ALERTS = 3;
const SEVERITIES = ["error", "warning", "info"];

class Alerts {
  constructor(parent) {
    this.root = node("section", { class: "alerts", "aria-label": "Alerts", "aria-live": "polite", "aria-relevant": "additions" }, parent);
    this.list = node("div", { class: "alert-list" }, this.root);
    this.more = node("button", { type: "button", "data-action": "more" }, this.root);
    this.more.addEventListener("click", () => {
      this.all = !this.all;
      this.fold();
    });
    this.shown = new Map();
  }

  update(alerts, now) {
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
    const rank = ({ alert }) => SEVERITIES.indexOf(alert.severity) * 1000 + (alert.gpu ?? 999);
    const order = [...this.shown.values()].sort((a, b) => rank(a) - rank(b)).map((entry) => entry.line);
    if (order.some((line, at) => this.list.children[at] !== line)) this.list.replaceChildren(...order);
    if (this.root.hidden === Boolean(this.shown.size)) this.root.hidden = !this.shown.size;
    this.fold();
  }

  // However many there are, the cards stay in sight.
  fold() {
    const number = this.list.children.length;
    [...this.list.children].forEach((line, at) => {
      const hidden = !this.all && number > MOST_ALERTS + 1 && at >= MOST_ALERTS;
      if (line.hidden !== hidden) line.hidden = hidden;
    });
    const few = number <= MOST_ALERTS + 1;
    if (this.more.hidden !== few) this.more.hidden = few;
    put(this.more, this.all ? "Fewer" : `${number - MOST_ALERTS} more`);
  }

  add(key) {
    const line = node("div", { class: "alert-line" });
    const entry = {
      line,
      sign: node("span", { class: "sign", "aria-hidden": "true" }, line),
      swatch: node("span", { class: "swatch", "aria-hidden": "true" }, line),
      text: span(line, "", "alert-text"),
      advice: span(line, "", "advice"),
    };
    this.shown.set(key, entry);
    return entry;
  }

  write({ line, sign, swatch, text, advice, alert, on }) {
    mark(line, "severity", alert.severity);
    mark(line, "code", alert.code);
    toggle(line, "over", !on);
    put(sign, alert.severity === "info" ? "i" : "!");
    const one = alert.gpu !== null && alert.gpu !== undefined;
    if (swatch.hidden === one) swatch.hidden = !one;
    if (one) swatch.style.background = `var(--hs-${hueOf(alert.gpu)})`;
    put(text, alert.text);
    put(advice, on ? alert.advice ?? "" : "over");
  }
}
