// The table as a component of its own.

export default function ({ data, parentElement, setTriggerValue }) {
  const [table, leave] = mount(parentElement, ".hopscope", (root) => new Table(root));
  applyPalette(table.root);
  table.update(data, (event) => setTriggerValue("event", event));
  return leave;
}
