// @ts-check
// How fresh all this is, how often it comes; and throughout a replay, that it is one.

import { node, put, span } from "../shared/cells.js";
import { clockOf, mark } from "./fields.js";
import { Player } from "./player.js";

/**
 * @import { Send } from "../shared/records.js"
 * @import { Phase, Recording, Snapshot } from "./records.js"
 * @import { MachineStream } from "./stream.js"
 */

const TICK_MS = 500;
const RATES = [1, 2, 5, 10];
const SPEEDS = [1, 4, 16];
/**
 * What is said of each phase, and how old what is shown is.
 * @typedef {{ snapshot: Snapshot | null, age: number }} Freshness
 * @type {Record<Phase, (stream: Freshness) => [string, string?]>}
 */
export const PHASES = {
  connecting: () => ["connecting"],
  starting: () => ["starting: no sample yet"],
  live: (stream) => [`live · ${stream.snapshot?.hz} Hz`, ` · ${stream.age.toFixed(1)} s ago`],
  stale: (stream) => ["stale: no sample for", ` ${Math.floor(stream.age)} s`],
  reconnecting: () => ["reconnecting"],
  refused: () => ["refused: open the address that the server printed when it started"],
  paused: () => ["paused (tab hidden)"],
  recording: ({ snapshot }) => [`RECORDING of ${recorded(snapshot?.recording)}`],
};

/**
 * Of which machine a recording is, and when it was made.
 * @param {Recording | undefined} recording
 */
export function recorded(recording) {
  return recording ? `${recording.host}, ${dateOf(recording.made)}` : "";
}

/** @param {number} t epoch seconds */
function dateOf(t) {
  return new Date(t * 1000).toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric" });
}

export class Status {
  /**
   * @param {Element} parent
   * @param {MachineStream} stream
   * @param {Send} act
   */
  constructor(parent, stream, act) {
    this.stream = stream;
    /** @type {((phase: Phase) => void) | null} */
    this.changed = null;
    this.root = node("div", { class: "status" }, parent);
    node("h1", {}, this.root).textContent = "Machine";
    const badge = node("div", { class: "phase", "data-testid": "machine-status" }, this.root);
    node("span", { class: "dot", "aria-hidden": "true" }, badge);
    const words = node("span", {}, badge);
    // What is read out is that it is live or not, and not its age twice a second.
    this.text = node("span", { role: "status" }, words);
    this.age = span(words, "");
    this.calm = span(this.root, "", "calm");
    this.rates = this.choice("Samples a second, for all who look at this machine", RATES, (hz) => `${hz} Hz`, (hz) => stream.send({ hz }));
    this.speeds = this.choice("Speed of the replay", SPEEDS, (speed) => `${speed}×`, (speed) => stream.send({ speed }));
    this.player = new Player(this.root, stream);
    this.back = node("button", { type: "button", class: "back", "data-action": "live" }, this.root);
    this.back.textContent = "End the replay";
    this.back.addEventListener("click", () => act({ type: "live" }));
    this.timer = window.setInterval(() => this.tick(), TICK_MS);
  }

  /**
   * @param {string} label
   * @param {number[]} values
   * @param {(value: number) => string} word
   * @param {(value: number) => void} choose
   */
  choice(label, values, word, choose) {
    const box = node("div", { class: "choice", role: "group", "aria-label": label, title: label }, this.root);
    const buttons = values.map((value) => {
      const button = node("button", { type: "button", "data-value": value }, box);
      button.textContent = word(value);
      button.addEventListener("click", () => choose(value));
      return button;
    });
    return { box, buttons };
  }

  /** @param {boolean} operator */
  update(operator) {
    const { snapshot } = this.stream;
    const recording = snapshot?.recording;
    const replay = Boolean(recording);
    this.rates.box.hidden = replay || !operator || !snapshot;
    this.speeds.box.hidden = !replay;
    this.player.update(replay ? snapshot : null);
    this.back.hidden = !this.stream.replay;
    for (const { buttons } of [this.rates, this.speeds]) {
      for (const button of buttons) {
        const on = Number(button.dataset.value) === (recording ? recording.speed ?? 1 : snapshot?.hz);
        const pressed = String(on);
        if (button.getAttribute("aria-pressed") !== pressed) button.setAttribute("aria-pressed", pressed);
      }
    }
    this.tick();
  }

  tick() {
    const { phase, snapshot } = this.stream;
    mark(this.root, "phase", phase);
    const [word, age = ""] = PHASES[phase](this.stream);
    put(this.text, this.stream.replay && phase !== "recording" ? `RECORDING · ${word}` : word);
    put(this.age, age);
    put(this.calm, this.remark(phase, snapshot));
    this.changed?.(phase);
  }

  /**
   * @param {Phase} phase
   * @param {Snapshot | null} snapshot
   */
  remark(phase, snapshot) {
    if (phase === "recording") return `not this machine · as it was at ${clockOf(snapshot?.t ?? 0)}`;
    return "";
  }

  destroy() {
    clearInterval(this.timer);
  }
}
