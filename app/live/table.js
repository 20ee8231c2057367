// The table as a component of its own.

const tables = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".hopscope");
  let table = tables.get(parentElement);
  if (!table || table.root !== root) {
    table = new Table(root);
    tables.set(parentElement, table);
  }
  applyPalette(root);
  table.update(data, (event) => setTriggerValue("event", event));
  return () => tables.delete(parentElement);
}
