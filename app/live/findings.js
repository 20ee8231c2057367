// What the reader should know: a sentence, the fix, the line; quiet ones folded away.

const lists = new WeakMap();

class Findings {
  constructor(root) {
    this.root = root;
    this.unseen = node("section", { class: "unseen", "data-testid": "unseen" }, root);
    this.loud = node("div", { class: "cards" }, root);
    this.fold = node("details", { class: "fold" }, root);
    this.foldTitle = node("summary", {}, this.fold);
    this.quiet = node("div", { class: "cards" }, this.fold);
  }

  update(data, send) {
    applyPalette(this.root);
    this.root.dataset.testid = "findings";
    const stamp = JSON.stringify(data);
    if (stamp === this.stamp) return;
    this.stamp = stamp;
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
    const quiet = data.findings.filter((finding) => finding.quiet);
    const loud = data.findings.filter((finding) => !finding.quiet);
    this.draw(this.loud, loud, data.selected, send);
    this.draw(this.quiet, quiet, data.selected, send);
    this.fold.hidden = !quiet.length;
    put(this.foldTitle, data.fold);
    if (quiet.some((finding) => picked(finding, data.selected))) this.fold.open = true;
  }

  draw(holder, findings, selected, send) {
    holder.replaceChildren();
    for (const finding of findings) {
      const on = picked(finding, selected);
      const tone = finding.quiet ? "quiet" : "alert";
      const card = node("article", { class: `card ${tone}${on ? " on" : ""}`, "data-testid": "finding", "data-code": finding.code, "data-severity": finding.severity }, holder);
      const head = node("div", { class: "card-head" }, card);
      span(head, finding.severity === "info" ? finding.code : `${finding.severity} · ${finding.code}`, `badge ${tone}`);
      if (finding.site) {
        const site = node("button", { type: "button", class: "site", "data-action": "source", title: "Show this line in the source" }, head);
        site.textContent = finding.site;
        site.addEventListener("click", () => send({ type: "site", site: finding.site }));
      }
      const actions = node("span", { class: "actions" }, head);
      if (finding.show) {
        const button = node("button", { type: "button", "data-action": "show", "aria-pressed": String(on) }, actions);
        button.textContent = on ? "Show everything" : finding.show;
        button.addEventListener("click", () => send({ type: "finding", id: on ? "" : finding.id }));
      }
      if (finding.verify) {
        const button = node("button", { type: "button", "data-action": "verify", title: "Change a copy, run it again, and compare" }, actions);
        button.textContent = finding.verify;
        button.addEventListener("click", () => send({ type: "verify", name: finding.name }));
      }
      node("p", { class: "summary" }, card).textContent = finding.summary;
      if (finding.because) node("p", { class: "because" }, card).textContent = finding.because;
      const both = finding.excerpt || finding.change.length ? node("div", { class: "both" }, card) : null;
      if (finding.excerpt) excerpt(node("div", { class: "side" }, both), finding.excerpt);
      if (finding.fix || finding.change.length) {
        const side = both ? node("div", { class: "side" }, both) : card;
        const fix = node("p", { class: "fix" }, side);
        span(fix, "Fix  ", "fix-lead");
        span(fix, finding.fix);
        if (finding.change.length) change(side, finding.change);
      }
      if (finding.evidence) {
        const why = node("details", { class: "why" }, card);
        node("summary", {}, why).textContent = "Evidence";
        node("p", {}, why).textContent = finding.evidence;
      }
    }
  }
}

// The statement as it ran, its line marked.
function excerpt(parent, { first, line, lines, words }) {
  const table = node("table", { class: "code-lines" }, node("div", { class: "code-box", tabindex: 0 }, parent));
  lines.forEach((text, index) => {
    const row = node("tr", { class: first + index === line ? "here" : "" }, table);
    node("td", { class: "number" }, row).textContent = String(first + index);
    drawCode(node("td", { class: "code" }, row), text, words[index] ?? []);
  });
}

function change(parent, lines) {
  const box = node("div", { class: "code-box change", tabindex: 0, "data-testid": "change" }, parent);
  const marks = { added: "+", removed: "\u2212", kept: " ", part: "" };
  for (const { kind, text } of lines) {
    const row = node("div", { class: `diff ${kind}` }, box);
    span(row, marks[kind], "mark");
    span(row, text || "\u200b");
  }
}

// What is about no hop has no id, and can't be picked.
function picked(finding, selected) {
  return finding.id !== "" && finding.id === selected;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".hopscope");
  let list = lists.get(parentElement);
  if (!list || list.root !== root) {
    list = new Findings(root);
    lists.set(parentElement, list);
  }
  list.update(data, (event) => setTriggerValue("event", event));
  return () => lists.delete(parentElement);
}
