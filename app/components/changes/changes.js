// @ts-check
// What was changed in files, each beneath its name.

import { span } from "../shared/cells.js";
import { change } from "../shared/change.js";
import { applyPalette } from "../shared/theme.js";

/** @import { Call, ChangedLine } from "../shared/records.js" */

/** @param {Call<{ files: { name: string, lines: ChangedLine[] }[] }>} call */
export default function ({ data, parentElement }) {
  const root = /** @type {HTMLElement} */ (parentElement.querySelector(".hopscope"));
  applyPalette(root);
  const told = JSON.stringify(data);
  if (root.dataset.told === told) return;
  root.dataset.told = told;
  root.replaceChildren();
  for (const { name, lines } of data.files) {
    span(root, name, "file");
    change(root, lines);
  }
}
