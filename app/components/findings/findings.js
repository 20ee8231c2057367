// @ts-check
// What the reader should know: a sentence, the fix, the line, the proof; quiet ones folded away.

import { deviceChip, node, put, span } from "../shared/cells.js";
import { change, hanging } from "../shared/change.js";
import { drawCode } from "../shared/code.js";
import { mount } from "../shared/mount.js";
import { applyPalette } from "../shared/theme.js";

/**
 * @import { Call, Send } from "../shared/records.js"
 * @import { Excerpt, Finding, FindingsData, Place, Proof, Stop } from "./records.js"
 */

const FEW = 4; // findings that are all laid out with their lines
const LAID_OUT = 3; // of more than those

class Findings {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    /** @type {Map<string, { stamp: string, card: HTMLElement }>} */
    this.cards = new Map();
    /**
     * What the reader has unfolded, kept while a run goes on.
     * @type {Set<string>}
     */
    this.open = new Set();
    /** @type {Send} */
    this.send = () => {};
    this.stamp = "";
    this.selected = "";
    this.clicked = "";
    this.unseen = node("section", { class: "unseen", "data-testid": "unseen" }, root);
    this.loud = node("div", { class: "cards" }, root);
    this.fold = node("details", { class: "fold" }, root);
    this.foldTitle = node("summary", {}, this.fold);
    this.quiet = node("div", { class: "cards" }, this.fold);
  }

  /**
   * @param {FindingsData} data
   * @param {Send} send
   */
  update(data, send) {
    applyPalette(this.root);
    this.root.dataset.testid = "findings";
    const stamp = JSON.stringify(data);
    if (stamp === this.stamp) return;
    this.stamp = stamp;
    this.send = send;
    this.unseen.hidden = !data.unseen.length;
    this.unseen.replaceChildren();
    if (data.unseen.length) {
      const list = node("ul", {}, this.unseen);
      for (const line of data.unseen) {
        const item = node("li", {}, list);
        span(item, line.what);
        if (line.why) span(item, ` ${line.why}`, "faint");
      }
    }
    const anew = data.selected !== "" && data.selected !== this.selected;
    if (anew) this.open.add(data.selected).add(`${data.selected} lines`);
    const elsewhere = anew && data.selected !== this.clicked;
    this.selected = data.selected;
    this.clicked = "";
    const quiet = data.findings.filter((finding) => finding.quiet);
    const loud = data.findings.filter((finding) => !finding.quiet);
    /** @type {typeof this.cards} */
    const kept = new Map();
    this.draw(this.loud, loud, kept);
    this.draw(this.quiet, quiet, kept);
    this.cards = kept;
    this.fold.hidden = !quiet.length;
    put(this.foldTitle, data.fold);
    if (anew && quiet.some((finding) => finding.id === data.selected)) this.fold.open = true;
    const on = this.root.querySelector(".card.on");
    // By a link, or by going back: the reader has not seen where it stands.
    if (elsewhere && on) requestAnimationFrame(() => on.scrollIntoView({ block: "start" }));
  }

  /**
   * A card is drawn anew only when it changed: what is read, or picked with the mouse, stays as it is.
   * @param {Element} holder
   * @param {Finding[]} findings
   * @param {typeof this.cards} kept
   */
  draw(holder, findings, kept) {
    const cards = findings.map((finding, index) => {
      const key = freeKey(finding, kept);
      const on = finding.id !== "" && finding.id === this.selected;
      const brief = isBrief(finding, index, findings.length);
      const stamp = JSON.stringify([finding, on, brief]);
      const before = this.cards.get(key);
      const known = before && before.stamp === stamp ? before : { stamp, card: this.card(finding, key, on, brief) };
      kept.set(key, known);
      return known.card;
    });
    if (cards.length !== holder.children.length || cards.some((card, index) => holder.children[index] !== card)) {
      holder.replaceChildren(...cards);
    }
  }

  /**
   * @param {Finding} finding
   * @param {string} key
   * @param {boolean} on
   * @param {boolean} brief
   */
  card(finding, key, on, brief) {
    /** @type {Send} */
    const send = (event) => this.send(event);
    const pick = () => {
      this.clicked = on ? "" : finding.id;
      send({ type: "finding", id: this.clicked });
    };
    const tone = finding.quiet ? "quiet" : "alert";
    const card = node("article", { class: `card ${tone} ${finding.severity}${on ? " on" : ""}`, "data-testid": "finding", "data-code": finding.code, "data-severity": finding.severity });
    const head = node("div", { class: "card-head" }, card);
    span(head, finding.severity === "info" ? finding.code : `${finding.severity} · ${finding.code}`, `badge ${tone} ${finding.severity}`);
    if (finding.site) site(head, finding.site, send).setAttribute("data-action", "source");
    const actions = node("span", { class: "actions" }, head);
    if (finding.show) {
      const button = node("button", { type: "button", "data-action": "show", "aria-pressed": String(on) }, actions);
      button.textContent = on ? "Show everything" : finding.show;
      button.addEventListener("click", pick);
    }
    if (finding.verify) {
      const button = node("button", { type: "button", "data-action": "verify", title: "Change a copy, run it again, and compare" }, actions);
      button.textContent = finding.verify;
      button.addEventListener("click", () => send({ type: "verify", name: finding.name }));
    }
    if (finding.href) {
      const anchor = link(actions, finding.href, "#", "permalink");
      anchor.dataset.action = "link";
      anchor.title = on ? "Close it" : "A link that shows this finding opened";
      anchor.setAttribute("aria-label", `Link to ${finding.code} ${finding.site}`);
      plainClick(anchor, pick);
    }
    node("p", { class: "summary" }, card).textContent = finding.summary;
    if (finding.because) node("p", { class: "because" }, card).textContent = finding.because;
    if (finding.tries.length) {
      const tried = node("p", { class: "tried" }, card);
      span(tried, "Tried  ", "fix-lead");
      for (const one of finding.tries) {
        plainClick(link(tried, one.href, one.text), () => send({ type: "open", run: one.text }));
        span(tried, one.state, "remark");
      }
    }
    this.rest(brief ? this.unfolding(card, "Lines, fix and evidence", `${key} lines`, "lines") : card, finding, key, send);
    return card;
  }

  /**
   * The lines, the fix, the proof.
   * @param {Element} card
   * @param {Finding} finding
   * @param {string} key
   * @param {Send} send
   */
  rest(card, finding, key, send) {
    const both = finding.excerpt || finding.change.length ? node("div", { class: "both" }, card) : null;
    if (both && finding.excerpt) excerpt(node("div", { class: "side" }, both), finding.excerpt);
    if (finding.fix || finding.change.length) {
      const side = both ? node("div", { class: "side" }, both) : card;
      const fix = node("p", { class: "fix" }, side);
      span(fix, "Fix  ", "fix-lead");
      span(fix, finding.fix);
      if (finding.change.length) change(side, finding.change);
    }
    if (finding.proof || finding.evidence) {
      const why = this.unfolding(card, "Evidence", key, "why");
      if (finding.proof) proof(why, finding.proof, send);
      if (finding.evidence) {
        const raw = finding.proof ? this.unfolding(why, "What was recorded", `${key} recorded`, "raw") : why;
        node("p", {}, raw).textContent = finding.evidence;
      }
    }
  }

  /**
   * @param {Element} parent
   * @param {string} title
   * @param {string} key
   * @param {string} className
   */
  unfolding(parent, title, key, className) {
    const made = node("details", { class: className }, parent);
    node("summary", {}, made).textContent = title;
    made.open = this.open.has(key);
    made.addEventListener("toggle", () => (made.open ? this.open.add(key) : this.open.delete(key)));
    return made;
  }
}

/**
 * A key that no card has yet.
 * @param {Pick<Finding, "id" | "name">} finding
 * @param {{ has(key: string): boolean }} kept
 */
export function freeKey(finding, kept) {
  let key = finding.id || finding.name;
  while (kept.has(key)) key += "'";
  return key;
}

/**
 * Whether a card's lines are folded: of many findings only the costliest are laid out, or what is below them
 * would be far away.
 * @param {Pick<Finding, "quiet">} finding
 * @param {number} index
 * @param {number} number of all findings beside it
 */
export function isBrief(finding, index, number) {
  return !finding.quiet && number > FEW && index >= LAID_OUT;
}

/**
 * A real address, so that it can be copied and opened in another tab; a plain click stays in this session.
 * @param {Element} parent
 * @param {string} href
 * @param {string} text
 * @param {string} [className]
 */
function link(parent, href, text, className = "") {
  const anchor = node("a", { class: className, href, target: "_self" }, parent);
  anchor.textContent = text;
  return anchor;
}

/**
 * @param {HTMLAnchorElement} anchor
 * @param {() => void} act
 */
function plainClick(anchor, act) {
  anchor.addEventListener("click", (event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    act();
  });
}

/**
 * @param {Element} parent
 * @param {string} text
 * @param {Send} send
 */
function site(parent, text, send) {
  const button = node("button", { type: "button", class: "site", title: "Show this line in the source" }, parent);
  button.textContent = text;
  button.addEventListener("click", () => send({ type: "site", site: text }));
  return button;
}

/**
 * A line of the source with its text.
 * @param {Element} parent
 * @param {Place} at
 * @param {Send} send
 */
function place(parent, at, send) {
  const made = node("span", { class: "place" }, parent);
  site(made, at.site, send);
  if (at.code) drawCode(node("code", {}, made), at.code, at.words);
}

const ASKED = "Asked for, by the scope at";
const STOP_COLUMNS = ["", "Op", "At line", ASKED, "Ran on"];

/**
 * Where a tensor was made, what handed it on and what took it; then what decided.
 * @param {Element} parent
 * @param {Proof} proof
 * @param {Send} send
 */
function proof(parent, { ways, more, facts }, send) {
  if (ways.length) {
    const table = node("table", { class: "ways", "data-testid": "ways" }, node("div", { class: "wide", tabindex: 0 }, parent));
    const asked = ways.some((way) => way.stops.some((stop) => stop.asked || stop.nothing));
    table.classList.toggle("unasked", !asked);
    const head = node("tr", {}, node("thead", {}, table));
    for (const title of STOP_COLUMNS) node("th", { scope: "col", class: title === ASKED ? "asked" : "" }, head).textContent = title;
    for (const way of ways) {
      const body = node("tbody", {}, table);
      const moved = node("tr", { class: "moved" }, body);
      node("td", { colspan: STOP_COLUMNS.length }, moved).textContent = way.moved;
      for (const stop of way.stops) drawStop(node("tr", {}, body), stop, send);
    }
    if (more) node("p", {}, parent).textContent = more;
  }
  const list = node("dl", { class: "facts", "data-testid": "facts" }, parent);
  for (const fact of facts) {
    node("dt", {}, list).textContent = fact.label;
    const value = node("dd", {}, list);
    for (const device of fact.devices) deviceChip(value, device);
    if (fact.text) span(value, fact.text);
    for (const at of fact.places) place(value, at, send);
  }
}

/**
 * @param {Element} row
 * @param {Stop} stop
 * @param {Send} send
 */
function drawStop(row, stop, send) {
  node("th", { scope: "row" }, row).textContent = stop.role;
  node("td", { class: "op" }, row).textContent = stop.op;
  const at = node("td", {}, row);
  if (stop.at) place(at, stop.at, send);
  const asked = node("td", { class: "asked" }, row);
  if (stop.asked) deviceChip(asked, stop.asked);
  if (stop.nothing) span(asked, stop.nothing, "nothing");
  if (stop.scope) place(asked, stop.scope, send);
  if (stop.by) span(asked, stop.by, "below");
  const ran = node("td", { class: "ran" }, row);
  deviceChip(ran, stop.device);
  if (stop.why) span(ran, stop.why, "below");
}

/**
 * The statement as it ran, its line marked.
 * @param {Element} parent
 * @param {Excerpt} shown
 */
function excerpt(parent, { first, line, lines, words }) {
  const table = node("table", { class: "code-lines" }, node("div", { class: "code-box", tabindex: 0 }, parent));
  lines.forEach((text, index) => {
    const row = node("tr", { class: first + index === line ? "here" : "" }, table);
    node("td", { class: "number" }, row).textContent = String(first + index);
    drawCode(hanging(node("td", { class: "code" }, row), text), text, words[index] ?? []);
  });
}

/** @param {Call<FindingsData>} call */
export default function ({ data, parentElement, setTriggerValue }) {
  const [list, leave] = mount(parentElement, ".hopscope", (root) => new Findings(root));
  list.update(data, (event) => setTriggerValue("event", event));
  return leave;
}
