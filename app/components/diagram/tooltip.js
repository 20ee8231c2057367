// The box beside the pointer, and what it says about a group or a crossing.

import { el } from "./scene.js";

export function makeTooltip(root) {
  const box = el("html:div", { class: "tip", role: "tooltip", "data-testid": "tooltip", hidden: true }, root);
  return {
    box,
    hide() {
      box.hidden = true;
    },
    show(lines, clientX, clientY) {
      box.replaceChildren(...lines.map(({ kind, value, color }) => {
        const line = el("html:div", { class: `tip-${kind}` });
        line.textContent = value;
        if (color) line.style.setProperty("--hue", color);
        return line;
      }));
      box.hidden = false;
      const frame = root.getBoundingClientRect();
      const x = clientX - frame.left;
      const y = clientY - frame.top;
      const flipX = x + 16 + box.offsetWidth > frame.width;
      const flipY = y + 18 + box.offsetHeight > Math.max(frame.height, window.innerHeight - frame.top);
      box.style.left = `${Math.max(4, flipX ? x - box.offsetWidth - 12 : x + 16)}px`;
      box.style.top = `${Math.max(4 - frame.top, flipY ? y - box.offsetHeight - 12 : y + 18)}px`;
    },
  };
}

export function groupLines(item, hue) {
  const lines = [
    { kind: "head", value: item.scope || item.label },
    { kind: "device", value: `${item.device} · ${item.ops} ${item.ops === 1 ? "op" : "ops"} · ${item.hops} ${item.hops === 1 ? "hop" : "hops"}`, color: hue },
  ];
  if (item.types.length) lines.push({ kind: "text", value: item.types.join(" · ") });
  if (item.series.length) {
    lines.push({ kind: "text", value: `${item.series.length} equal blocks: ${item.series[0]} … ${item.series.at(-1)}` });
  }
  if (item.mix.length) {
    const shares = item.mix.map(([, number, device]) => `${device} ${number}`).join(" · ");
    lines.push({ kind: "text", value: `Whole scope: ${shares} ops` });
  }
  if (item.site) lines.push({ kind: "site", value: item.site });
  if (item.expandable) lines.push({ kind: "hint", value: "Double-click or + opens it" });
  if (item.expanded) lines.push({ kind: "hint", value: "Opened; − closes it" });
  return lines;
}

export function crossingLines(item) {
  const lines = [
    { kind: "head", value: `${item.from} → ${item.to}` },
    { kind: "figure", value: `${item.text}  (${item.basis})` },
    ...(item.collective ? [{ kind: "text", value: `${item.share} of it on this way, not among the hops` }] : []),
    { kind: item.alert ? "alert" : "quiet", value: item.cause },
  ];
  if (item.details.length) {
    for (const { tensor, size, site } of item.details) {
      lines.push({ kind: "text", value: `${tensor}: ${size}` });
      if (site && item.sites.length > 1) lines.push({ kind: "site", value: site });
    }
    const left = item.hops.length - item.details.length;
    if (left > 0) lines.push({ kind: "hint", value: `${left} more in the hop table` });
    if (item.sites.length === 1) lines.push({ kind: "site", value: item.sites[0] });
  } else if (item.collective) {
    if (item.sites.length) lines.push({ kind: "site", value: item.sites[0] });
  } else if (item.tensors.length) {
    lines.push({ kind: "text", value: item.tensors.join(" · ") });
  }
  return lines;
}
