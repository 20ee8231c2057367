// What was changed in files, each beneath its name.

import { span } from "../shared/cells.js";
import { change } from "../shared/change.js";
import { applyPalette } from "../shared/theme.js";

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".hopscope");
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
