// Small graphs to lay out.

/** A group of one op. */
export function group(id, device, rank, more = {}) {
  return {
    id, label: id, scope: id, device, rank, ops: 1, hops: 0, kind: "scope", expandable: false, expanded: false,
    expand: "", site: "", types: [], mix: [], series: [], ...more,
  };
}

/** A crossing between groups, named after them. */
export function crossing(src, dst, more = {}) {
  return {
    id: `${src}>${dst}`, src, dst, from: "gpu:0", to: "gpu:1", bytes: 1024, count: 1, text: `${src}>${dst}`, share: "",
    collective: false, weight: 0, alert: false, severity: "info", cause: "explicit", basis: "recorded", hops: [],
    tensors: [], details: [], sites: [], ...more,
  };
}

/** What the diagram draws. */
export function graph(devices, groups, crossings = [], links = []) {
  return { lanes: devices.map((device) => ({ device, hue: "#123456", remark: "", ops: "1 op" })), groups, crossings, links };
}

/** Seven pixels a letter. */
export const measure = (text) => 7 * text.length;

/** Columns, lanes and rows by group. */
export function cells(layout) {
  return Object.fromEntries([...layout.places].map(([id, { column, lane, row }]) => [id, [column, lane, row]]));
}
