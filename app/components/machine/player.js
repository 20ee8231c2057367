// @ts-check
// Where a replay is, and the means to hold it and to go elsewhere in it.

import { node, put, span } from "../shared/cells.js";

/** @import { Snapshot } from "./records.js" */
/** @import { MachineStream } from "./stream.js" */

export class Player {
  /**
   * @param {Element} parent
   * @param {MachineStream} stream
   */
  constructor(parent, stream) {
    this.paused = false;
    this.dragged = false;
    this.length = 0;
    this.root = node("div", { class: "player", role: "group", "aria-label": "The replay" }, parent);
    this.root.hidden = true;
    this.hold = node("button", { type: "button", "data-action": "pause" }, this.root);
    this.hold.addEventListener("click", () => stream.send({ paused: !this.paused }));
    this.bar = node("input", { type: "range", min: 0, step: 0.1, "aria-label": "Position in the recording" }, this.root);
    this.where = span(this.root, "", "player-where");
    span(this.root, "loops", "calm").title = "At its end the recording begins again";
    this.bar.addEventListener("input", () => {
      this.dragged = true;
      this.tell(Number(this.bar.value));
    });
    // Only where it is let go it is gone to: to get there takes the server a moment.
    this.bar.addEventListener("change", () => {
      stream.send({ seek: Number(this.bar.value) });
      this.dragged = false;
    });
  }

  /** @param {Snapshot | null} snapshot of a recording; null for none */
  update(snapshot) {
    if (this.root.hidden === Boolean(snapshot)) this.root.hidden = !snapshot;
    if (!snapshot?.recording) return;
    const { paused = false, length = 0 } = snapshot.recording;
    this.paused = paused;
    this.length = length;
    put(this.hold, paused ? "Resume" : "Pause");
    if (Number(this.bar.max) !== length) this.bar.max = String(length);
    if (this.dragged) return;
    this.bar.value = String(snapshot.position ?? 0);
    this.tell(snapshot.position ?? 0);
  }

  /** @param {number} seconds */
  tell(seconds) {
    put(this.where, `${playTime(seconds)} / ${playTime(this.length)}`);
    this.bar.setAttribute("aria-valuetext", this.where.textContent ?? "");
  }
}

/**
 * Minutes and seconds, with hours where there are any.
 * @param {number} seconds
 */
export function playTime(seconds) {
  const whole = Math.floor(seconds);
  /** @param {number} number */
  const two = (number) => String(number).padStart(2, "0");
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return hours ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}
