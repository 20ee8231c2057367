// @ts-check
// One WebSocket for all components of the page: the newest snapshot, two minutes of samples, and how fresh both are.

/** @import { Gpu, Host, Listener, Message, Missing, Past, PastAnswer, Phase, Series, Snapshot, Values } from "./records.js" */

const STREAM_ADDRESS = "/hopscope/machine";
const RECENT_S = 130;
const RETRY_MS = [300, 700, 1500, 3000, 6000, 10000];
const LINGER_MS = 1000;
/** @type {(keyof Gpu)[]} */
const CURVES = [
  "utilization_gpu_percent", "memory_used_bytes", "power_watts", "temperature_celsius", "clock_sm_mhz",
  "pcie_tx_bytes_per_second", "pcie_rx_bytes_per_second", "nvlink_tx_bytes_per_second", "nvlink_rx_bytes_per_second",
];
/** @type {(keyof Host)[]} */
const HOST_CURVES = ["cpu_percent", "memory_used_bytes"];

/**
 * Whether a field has no value; most often there is a reason in its place.
 * @param {unknown} value
 * @returns {value is Missing | undefined}
 */
export function isMissing(value) {
  return value === undefined || (value !== null && typeof value === "object" && "state" in value && "reason" in value);
}

/**
 * The snapshot after a message, a new one: only what changed is in a message.
 * @param {Snapshot | null} snapshot
 * @param {Message} message
 * @returns {Snapshot}
 */
export function merged(snapshot, message) {
  const { full, history, ...rest } = message;
  if (full || !snapshot) return rest;
  const next = { ...snapshot, ...rest };
  if (message.host) next.host = { ...snapshot.host, ...message.host };
  if (message.gpus) {
    const news = new Map(message.gpus.map((gpu) => [gpu.index, gpu]));
    const known = snapshot.gpus ?? [];
    const fresh = message.gpus.filter((gpu) => !known.some((other) => other.index === gpu.index));
    next.gpus = [...known.map((gpu) => (news.has(gpu.index) ? { ...gpu, ...news.get(gpu.index) } : gpu)), ...fresh];
  }
  return next;
}

/** Samples by time: `t` and, as long as it, a list a field of each device; the host's name is "". */
export class Samples {
  /** @param {number} span seconds that are kept */
  constructor(span) {
    this.span = span;
    /** @type {number[]} */
    this.t = [];
    /** @type {Map<string, Series>} */
    this.devices = new Map();
  }

  clear() {
    this.t = [];
    this.devices = new Map();
  }

  /**
   * @param {string} device
   * @param {string} field
   */
  series(device, field) {
    return this.devices.get(device)?.[field] ?? [];
  }

  /**
   * Puts a server's history in. What is older stays: a server that was started anew knows nothing of it.
   * @param {Past} history
   */
  fill(history) {
    const first = history.t[0] ?? Infinity;
    let kept = this.t.findIndex((t) => t >= first);
    if (kept < 0) kept = this.t.length;
    const tail = this.since(history.t.at(-1) ?? -Infinity, kept);
    this.cut(kept);
    const before = this.t.length;
    this.t.push(...history.t);
    for (const [device, values] of Object.entries({ "": history.host, ...history.gpus })) {
      for (const [field, list] of Object.entries(values)) this.list(device, field, before).push(...list);
    }
    for (const { t, values } of tail) this.add(t, values);
    this.align();
    this.trim();
  }

  /**
   * The samples that came after an answer was made and before it was here.
   * @param {number} t
   * @param {number} from the place of the first that may be one
   */
  since(t, from) {
    /** @type {{ t: number, values: Values }[]} */
    const found = [];
    for (let at = from; at < this.t.length; at += 1) {
      if (this.t[at] <= t) continue;
      /** @type {Values} */
      const values = new Map();
      for (const [device, fields] of this.devices) {
        values.set(device, Object.fromEntries(Object.entries(fields).map(([name, list]) => [name, list[at]])));
      }
      found.push({ t: this.t[at], values });
    }
    return found;
  }

  /**
   * @param {number} t
   * @param {Values} values
   */
  add(t, values) {
    // A clock that was set back, or a recording that begins again.
    if (t < (this.t.at(-1) ?? t)) this.cut(this.t.findIndex((other) => other >= t));
    const before = this.t.length;
    this.t.push(t);
    for (const [device, fields] of values) {
      for (const [field, value] of Object.entries(fields)) this.list(device, field, before).push(value);
    }
    this.align();
    this.trim();
  }

  /**
   * A field's values, as many as there were samples before those that are added now.
   * @param {string} device
   * @param {string} field
   * @param {number} length
   */
  list(device, field, length) {
    const fields = this.devices.get(device) ?? {};
    this.devices.set(device, fields);
    const list = (fields[field] ??= []);
    while (list.length < length) list.push(null);
    return list;
  }

  align() {
    for (const fields of this.devices.values()) {
      for (const list of Object.values(fields)) while (list.length < this.t.length) list.push(null);
    }
  }

  trim() {
    const first = (this.t.at(-1) ?? 0) - this.span;
    let old = 0;
    while (old < this.t.length && this.t[old] < first) old += 1;
    if (!old) return;
    this.t.splice(0, old);
    for (const fields of this.devices.values()) for (const list of Object.values(fields)) list.splice(0, old);
  }

  /** @param {number} length */
  cut(length) {
    this.t.length = length;
    for (const fields of this.devices.values()) for (const list of Object.values(fields)) list.length = Math.min(list.length, length);
    this.align();
  }
}

export class MachineStream {
  /**
   * The components' scripts are modules of their own; whichever comes first makes the stream for all.
   * @param {string} replay
   * @returns {MachineStream}
   */
  static of(replay) {
    const all = (window.hopscopeMachine ??= new Map());
    const stream = all.get(replay) ?? new MachineStream(replay);
    all.set(replay, stream);
    return stream;
  }

  /** @param {string} replay the recording's name; '' for this machine */
  constructor(replay) {
    this.replay = replay;
    /** @type {Set<Listener>} */
    this.listeners = new Set();
    /** @type {Snapshot | null} */
    this.snapshot = null;
    this.recent = new Samples(RECENT_S);
    /**
     * Who each card is, by its index.
     * @type {Map<number, { uuid?: string, name?: string, pci_bus_id?: string }>}
     */
    this.known = new Map();
    /** @type {WebSocket | null} */
    this.socket = null;
    this.open = false;
    this.listening = false;
    this.retry = 0;
    this.leaving = 0;
    /** @type {Record<string, string>} */
    this.wishes = {};
    this.tries = 0;
    this.offset = 0;
    this.refused = false;
    this.turned = () => this.turn();
  }

  /**
   * Has a listener hear what comes; gives what ends that.
   * @param {Listener} listener
   */
  subscribe(listener) {
    this.listeners.add(listener);
    clearTimeout(this.leaving);
    if (!this.listening) {
      this.listening = true;
      document.addEventListener("visibilitychange", this.turned);
      window.addEventListener("online", this.turned);
      this.turn();
    } else if (this.snapshot) {
      listener.sampled?.(null);
    }
    return () => {
      this.listeners.delete(listener);
      // Where a page is drawn anew its components leave and come back at once.
      if (!this.listeners.size) this.leaving = window.setTimeout(() => this.leave(), LINGER_MS);
    };
  }

  /** @param {Record<string, unknown>} wish */
  send(wish) {
    // How a replay goes is told anew to a server that it is begun anew on.
    for (const name of ["speed", "paused"]) if (this.replay && name in wish) this.wishes = { ...this.wishes, [name]: String(wish[name]) };
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(wish));
  }

  /**
   * What is true now.
   * @returns {Phase}
   */
  get phase() {
    if (document.hidden) return "paused";
    if (this.refused) return "refused";
    if (!this.open) return this.snapshot || this.tries ? "reconnecting" : "connecting";
    if (!this.snapshot?.host) return "starting";
    if (this.snapshot.recording) return "recording";
    return this.age > this.patience ? "stale" : "live";
  }

  // How old the newest sample is by the server's clock, seconds.
  get age() {
    return Math.max(0, Date.now() / 1000 + this.offset - (this.snapshot?.t ?? 0));
  }

  get patience() {
    return Math.max(3, 3 / (this.snapshot?.hz || 1));
  }

  turn() {
    clearTimeout(this.retry);
    if (document.hidden) this.drop();
    else if (!this.socket) this.connect();
    this.tell((listener) => listener.told?.());
  }

  connect() {
    const address = new URL(STREAM_ADDRESS, location.href);
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    if (this.replay) {
      // One that was interrupted goes on where it was; messages are counted from 1 here, from 0 there.
      const from = String(Math.max(0, (this.snapshot?.seq ?? 1) - 1));
      address.search = String(new URLSearchParams({ replay: this.replay, from, ...this.wishes }));
    }
    const socket = (this.socket = new WebSocket(address));
    socket.addEventListener("message", (event) => {
      if (socket === this.socket) this.hear(JSON.parse(event.data));
    });
    socket.addEventListener("close", () => {
      if (socket !== this.socket) return;
      const refused = !this.open;
      this.forget();
      if (refused) this.ask();
      this.wait();
      this.tell((listener) => listener.told?.());
    });
  }

  /** @param {Message | PastAnswer} message */
  hear(message) {
    if ("span" in message) {
      this.tell((listener) => listener.past?.(message));
      return;
    }
    if (!message.full && !this.snapshot) {
      if (message.starting) this.begin(message);
      return;
    }
    this.snapshot = merged(this.snapshot, message);
    this.remember(this.snapshot);
    if (message.now) this.begin(message);
    if (message.sought) this.recent.clear();
    if (message.history) this.recent.fill(message.history);
    if (message.t !== undefined && message.t !== this.recent.t.at(-1)) this.recent.add(message.t, this.values());
    this.tell((listener) => listener.sampled?.(message));
  }

  /** @param {Message} message */
  begin(message) {
    this.offset = (message.now ?? 0) - Date.now() / 1000;
    this.open = true;
    this.refused = false;
    this.tries = 0;
    this.tell((listener) => listener.told?.());
  }

  /**
   * A card that is lost says nothing any more, not even who it is.
   * @param {Snapshot} snapshot
   */
  remember(snapshot) {
    for (const gpu of snapshot.gpus ?? []) {
      const known = this.known.get(gpu.index) ?? {};
      for (const name of /** @type {const} */ (["uuid", "name", "pci_bus_id"])) {
        const value = gpu[name];
        if (!isMissing(value)) known[name] = value;
      }
      this.known.set(gpu.index, known);
    }
  }

  /** @returns {Values} */
  values() {
    const values = new Map([["", numbersOf(this.snapshot?.host ?? {}, HOST_CURVES)]]);
    for (const gpu of this.snapshot?.gpus ?? []) {
      const { uuid } = this.known.get(gpu.index) ?? {};
      if (uuid) values.set(uuid, numbersOf(gpu, CURVES));
    }
    return values;
  }

  // A server that answers and yet refuses wants another token than this page has.
  ask() {
    fetch("/hopscope/health", { cache: "no-store" })
      .then((answer) => {
        this.refused = answer.status === 403;
        this.tell((listener) => listener.told?.());
      })
      .catch(() => {
        this.refused = false;
      });
  }

  wait() {
    const pause = RETRY_MS[Math.min(this.tries, RETRY_MS.length - 1)];
    this.tries += 1;
    clearTimeout(this.retry);
    this.retry = window.setTimeout(() => this.turn(), pause * (0.8 + 0.4 * Math.random()));
  }

  forget() {
    this.socket = null;
    this.open = false;
  }

  drop() {
    const socket = this.socket;
    this.forget();
    socket?.close();
  }

  leave() {
    clearTimeout(this.retry);
    document.removeEventListener("visibilitychange", this.turned);
    window.removeEventListener("online", this.turned);
    this.listening = false;
    this.drop();
    window.hopscopeMachine?.delete(this.replay);
  }

  /** @param {(listener: Listener) => void} what */
  tell(what) {
    for (const listener of this.listeners) what(listener);
  }
}

/**
 * The fields that curves are drawn of; null where there is no number.
 * @template {object} Device
 * @param {Device} device
 * @param {(keyof Device)[]} names
 * @returns {Record<string, number | null>}
 */
function numbersOf(device, names) {
  return Object.fromEntries(
    names.map((name) => {
      const value = device[name];
      return [name, typeof value === "number" ? value : null];
    }),
  );
}
