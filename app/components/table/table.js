// @ts-check
// The table as a component of its own.

import { mount } from "../shared/mount.js";
import { applyPalette } from "../shared/theme.js";
import { Table } from "./rows.js";

/**
 * @import { Call } from "../shared/records.js"
 * @import { TableData } from "./records.js"
 */

/** @param {Call<TableData>} call */
export default function ({ data, parentElement, setTriggerValue }) {
  const [table, leave] = mount(parentElement, ".hopscope", (root) => new Table(root));
  applyPalette(table.root);
  table.update(data, (event) => setTriggerValue("event", event));
  return leave;
}
