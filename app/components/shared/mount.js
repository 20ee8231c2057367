// One instance in a component's place. Streamlit imports a component's script before each call, and cleans up
// after a call that a newer one overtook meanwhile, though its place is in use: only what has left the page ends.

const instances = new WeakMap();

export function mount(parentElement, selector, make, fits = () => true) {
  const root = parentElement.querySelector(selector);
  let instance = instances.get(parentElement);
  if (!instance || instance.root !== root || !fits(instance)) {
    instance?.destroy?.();
    instance = make(root);
    instances.set(parentElement, instance);
  }
  const leave = () => {
    if (parentElement.isConnected) return;
    instance.destroy?.();
    if (instances.get(parentElement) === instance) instances.delete(parentElement);
  };
  return [instance, leave];
}
