// @ts-check
// The page's real background decides between the light and the dark palette.

import PALETTES from "./palette.json" with { type: "json" };

/** @import { Palette } from "./records.js" */

/** @param {Element} root */
function isDark(root) {
  const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  if (!probe) return false;
  probe.fillStyle = getComputedStyle(root).getPropertyValue("--st-background-color").trim() || "#ffffff";
  probe.fillRect(0, 0, 1, 1);
  const [red, green, blue] = probe.getImageData(0, 0, 1, 1).data;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 128;
}

/**
 * @param {Element} root
 * @returns {Palette}
 */
export function paletteOf(root) {
  return PALETTES[isDark(root) ? "dark" : "light"];
}

/**
 * Makes `var(--hs-NAME)` mean something in the style sheet below this element.
 * @param {HTMLElement} root
 */
export function applyPalette(root) {
  root.classList.toggle("hopscope-dark", isDark(root));
  for (const [name, value] of Object.entries(paletteOf(root))) root.style.setProperty(`--hs-${name}`, value);
}
