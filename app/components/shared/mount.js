// @ts-check
// One instance in a component's place. Streamlit imports a component's script before each call, and cleans up
// after a call that a newer one overtook meanwhile, though its place is in use: only what has left the page ends.

/**
 * What stands in a component's place.
 * @typedef {{ root: Element, destroy?: () => void }} Instance
 */

/** @type {WeakMap<Element, Instance>} */
const instances = new WeakMap();

/**
 * The instance in a place, made where there is none that fits, and what ends it once it has left the page.
 * @template {Instance} Made
 * @param {Element} parentElement
 * @param {string} selector of the instance's root
 * @param {(root: HTMLElement) => Made} make
 * @param {(instance: Made) => boolean} [fits]
 * @returns {[Made, () => void]}
 */
export function mount(parentElement, selector, make, fits = () => true) {
  const root = /** @type {HTMLElement} */ (parentElement.querySelector(selector));
  let instance = /** @type {Made | undefined} */ (instances.get(parentElement));
  if (!instance || instance.root !== root || !fits(instance)) {
    instance?.destroy?.();
    instance = make(root);
    instances.set(parentElement, instance);
  }
  const mounted = instance;
  const leave = () => {
    if (parentElement.isConnected) return;
    mounted.destroy?.();
    if (instances.get(parentElement) === mounted) instances.delete(parentElement);
  };
  return [mounted, leave];
}
