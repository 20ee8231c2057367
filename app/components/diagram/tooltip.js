// @ts-check
// The box beside the pointer, and what it says about a group or a crossing.

import { html } from "./scene.js";

/** @import { Crossing, Group } from "./records.js" */

/** @typedef {{ kind: string, value: string, color?: string }} TipLine */

/** @param {HTMLElement} root */
export function makeTooltip(root) {
  const box = html("div", { class: "tip", role: "tooltip", "data-testid": "tooltip", hidden: true }, root);
  return {
    box,
    hide() {
      box.hidden = true;
    },
    /**
     * @param {TipLine[]} lines
     * @param {number} clientX
     * @param {number} clientY
     */
    show(lines, clientX, clientY) {
      box.replaceChildren(...lines.map(({ kind, value, color }) => {
        const line = html("div", { class: `tip-${kind}` });
        line.textContent = value;
        if (color) line.style.setProperty("--hue", color);
        return line;
      }));
      box.hidden = false;
      const frame = root.getBoundingClientRect();
      const pointer = { x: clientX - frame.left, y: clientY - frame.top };
      const tip = { width: box.offsetWidth, height: box.offsetHeight };
      const { left, top } = besidePointer(pointer, tip, frame, window.innerHeight);
      box.style.left = `${left}px`;
      box.style.top = `${top}px`;
    },
  };
}

/**
 * Where the box stands in the diagram: right of and below the pointer, or on the other side where it would leave
 * the diagram, and below that the window.
 * @param {{ x: number, y: number }} pointer in the diagram
 * @param {{ width: number, height: number }} tip
 * @param {{ top: number, width: number, height: number }} frame the diagram's, in the window
 * @param {number} windowHeight
 */
export function besidePointer({ x, y }, tip, frame, windowHeight) {
  const flipX = x + 16 + tip.width > frame.width;
  const flipY = y + 18 + tip.height > Math.max(frame.height, windowHeight - frame.top);
  return {
    left: Math.max(4, flipX ? x - tip.width - 12 : x + 16),
    top: Math.max(4 - frame.top, flipY ? y - tip.height - 12 : y + 18),
  };
}

/**
 * @param {Group} item
 * @param {string} [hue]
 * @returns {TipLine[]}
 */
export function groupLines(item, hue) {
  /** @type {TipLine[]} */
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

/**
 * @param {Crossing} item
 * @returns {TipLine[]}
 */
export function crossingLines(item) {
  /** @type {TipLine[]} */
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
