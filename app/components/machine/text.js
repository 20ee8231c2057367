// @ts-check
// A text of the server's that is read anew with each sample while it can be seen.

import { node, put, span } from "../shared/cells.js";
import { mount } from "../shared/mount.js";
import { applyPalette } from "../shared/theme.js";
import { toggle } from "./fields.js";
import { MachineStream } from "./stream.js";

/** @import { Call } from "../shared/records.js" */

const COPIED_MS = 1500;

class LiveText {
  /**
   * @param {HTMLElement} root
   * @param {string} address
   */
  constructor(root, address) {
    this.seen = false;
    this.reading = false;
    this.root = root;
    this.address = address;
    const bar = node("div", { class: "text-bar" }, root);
    this.copy = node("button", { type: "button", "data-action": "copy" }, bar);
    this.copy.textContent = "Copy";
    this.copy.addEventListener("click", () => this.copyAll());
    this.note = span(bar, "", "remark");
    this.text = node("pre", { tabindex: 0, "data-testid": "machine-text" }, root);
    this.observer = new IntersectionObserver(([entry]) => {
      this.seen = entry.isIntersecting;
      if (this.seen) this.read();
    });
    this.observer.observe(root);
    this.leave = MachineStream.of("").subscribe({ sampled: () => this.sampled() });
  }

  sampled() {
    toggle(this.root, "long", (MachineStream.of("").snapshot?.gpus ?? []).length > 0);
    this.read();
  }

  async read() {
    if (!this.seen || this.reading || document.getSelection()?.containsNode(this.text, true)) return;
    this.reading = true;
    try {
      const answer = await fetch(this.address, { cache: "no-store" });
      if (!answer.ok) throw new Error(`status ${answer.status}`);
      put(this.text, await answer.text());
      put(this.note, "");
    } catch (error) {
      put(this.note, `not up to date: ${this.address} did not answer (${error instanceof Error ? error.message : error})`);
    }
    this.reading = false;
  }

  async copyAll() {
    try {
      await navigator.clipboard.writeText(this.text.textContent ?? "");
      this.copy.textContent = "Copied";
    } catch {
      // Without https the browser gives no clipboard: select it all, so that the keys do.
      document.getSelection()?.selectAllChildren(this.text);
      this.copy.textContent = "Selected: press Ctrl+C";
    }
    setTimeout(() => (this.copy.textContent = "Copy"), COPIED_MS);
  }

  destroy() {
    this.observer.disconnect();
    this.leave();
    this.root.replaceChildren();
  }
}

/** @param {Call<{ address: string }>} call */
export default function ({ data, parentElement }) {
  const [text, leave] = mount(parentElement, ".hopscope", (root) => new LiveText(root, data.address));
  applyPalette(text.root);
  return leave;
}
