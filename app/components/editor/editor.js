// @ts-check
// A plain text area beside the numbers of its lines. Lines are never wrapped, so that all are of one height.

import { node } from "../shared/cells.js";
import { mount } from "../shared/mount.js";
import { applyPalette } from "../shared/theme.js";

/** @import { Call } from "../shared/records.js" */

/**
 * What app/components/editor/editor.py gives.
 * @typedef {{ text: string, line: number, height: number, label: string }} EditorData
 */

const ABOVE = 5; // lines shown above the one that it opens at
const PAUSE_MS = 400; // of typing, after which the text is told

class Editor {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    /** @type {(text: string) => void} */
    this.send = () => {};
    this.height = 0;
    /** @type {string | undefined} */
    this.given = undefined;
    /** @type {string | undefined} */
    this.told = undefined;
    this.touched = false;
    this.pause = 0;
    this.box = node("div", { class: "editor" }, root);
    this.numbers = node("div", { class: "numbers", "aria-hidden": "true" }, node("div", { class: "gutter", "aria-hidden": "true" }, this.box));
    this.pane = node("div", { class: "pane" }, this.box);
    this.mark = node("div", { class: "mark" }, this.pane);
    this.area = node("textarea", { wrap: "off", spellcheck: "false", autocapitalize: "off", autocomplete: "off" }, this.pane);
    this.count = 0;
    this.line = 0;
    this.area.addEventListener("scroll", () => this.follow());
    this.area.addEventListener("input", () => this.typed());
    this.area.addEventListener("change", () => this.tell());
    this.area.addEventListener("keydown", (event) => {
      // Escape may close what the editor is in.
      if (event.key === "Escape" || (event.key === "Enter" && (event.ctrlKey || event.metaKey))) this.tell();
    });
  }

  /**
   * @param {EditorData} data
   * @param {(text: string) => void} send
   */
  update(data, send) {
    this.send = send;
    applyPalette(this.root);
    this.root.dataset.testid = "editor";
    this.area.setAttribute("aria-label", data.label);
    if (!this.height) this.box.style.height = `${data.height}px`; // later the reader's own
    this.height = data.height;
    const first = this.given === undefined;
    if (first || (!this.touched && data.text !== this.given)) {
      this.given = data.text;
      this.area.value = data.text;
      this.area.setSelectionRange(0, 0);
      this.told = this.area.value; // its line ends are not always those of the given text
    }
    if (this.area.value === this.told) this.line = data.line; // else it is of a text that is no more
    this.draw();
    if (first) this.lead();
  }

  draw() {
    const count = this.area.value.split("\n").length;
    if (count !== this.count) this.numbers.textContent = Array.from({ length: count }, (_, index) => index + 1).join("\n");
    this.count = count;
    this.mark.hidden = !this.line;
    this.follow();
  }

  typed() {
    this.touched = true;
    const more = this.area.value.split("\n").length - this.count;
    const at = this.area.value.slice(0, this.area.selectionStart).split("\n").length;
    this.line = movedLine(this.line, at, more);
    this.draw();
    clearTimeout(this.pause);
    this.pause = window.setTimeout(() => this.tell(), PAUSE_MS);
  }

  tell() {
    clearTimeout(this.pause);
    if (this.area.value === this.told) return;
    this.told = this.area.value;
    this.send(this.area.value);
  }

  tall() {
    return parseFloat(getComputedStyle(this.area).lineHeight);
  }

  follow() {
    const { scrollTop } = this.area;
    this.numbers.style.transform = `translateY(${-scrollTop}px)`;
    this.mark.style.transform = `translateY(${(this.line - 1) * this.tall() - scrollTop}px)`;
  }

  lead() {
    const place = () => {
      const above = this.line - 1 - ABOVE;
      // So that the uppermost line in sight is a whole one.
      this.area.scrollTop = above > 0 ? above * this.tall() + parseFloat(getComputedStyle(this.area).paddingTop) : 0;
      this.follow();
    };
    // Before it has been laid out, nothing can be scrolled.
    if (this.area.clientHeight) place();
    else requestAnimationFrame(place);
  }

  destroy() {
    clearTimeout(this.pause);
  }
}

/**
 * Where the marked line is after typing: 0 where none is.
 * @param {number} line before
 * @param {number} at the line of the cursor, after typing
 * @param {number} more lines that there are now than before; fewer are negative
 */
export function movedLine(line, at, more) {
  return line && at - Math.max(more, 0) < line ? Math.max(1, line + more) : line;
}

/** @param {Call<EditorData>} call */
export default function ({ data, parentElement, setStateValue }) {
  const [editor, leave] = mount(parentElement, ".hopscope", (root) => new Editor(root));
  editor.update(data, (text) => setStateValue("text", text));
  return leave;
}
