// One WebSocket for all components of the page: the newest snapshot, two minutes of samples, and how fresh both are.

const STREAM_ADDRESS = "/hopscope/machine";
const RECENT_S = 130;
const RETRY_MS = [300, 700, 1500, 3000, 6000, 10000];
const LINGER_MS = 1000;
const CURVES = [
  "utilization_gpu_percent", "memory_used_bytes", "power_watts", "temperature_celsius", "clock_sm_mhz",
  "pcie_tx_bytes_per_second", "pcie_rx_bytes_per_second", "nvlink_tx_bytes_per_second", "nvlink_rx_bytes_per_second",
];
const HOST_CURVES = ["cpu_percent", "memory_used_bytes"];

export function isMissing(value) {
  return value === undefined || (value !== null && typeof value === "object" && "state" in value && "reason" in value);
}

function merged(snapshot, message) {
  const { full, history, ...rest } = message;
  if (full) return rest;
  const next = { ...snapshot, ...rest };
  if (message.host) next.host = { ...snapshot.host, ...message.host };
  if (message.gpus) {
    const news = new Map(message.gpus.map((gpu) => [gpu.index, gpu]));
    next.gpus = snapshot.gpus.map((gpu) => (news.has(gpu.index) ? { ...gpu, ...news.get(gpu.index) } : gpu));
    for (const gpu of message.gpus) if (!snapshot.gpus.some((other) => other.index === gpu.index)) next.gpus.push(gpu);
  }
  return next;
}

// Samples by time: `t` and, as long as it, a list a field of each device; the host's name is "".
export class Samples {
  constructor(span) {
    this.span = span;
    this.clear();
  }

  clear() {
    this.t = [];
    this.devices = new Map();
  }

  series(device, field) {
    return this.devices.get(device)?.[field] ?? [];
  }

  // What is older than the answer stays: a server that was started anew knows nothing of it.
  fill(history) {
    const first = history.t[0] ?? Infinity;
    let kept = this.t.findIndex((t) => t >= first);
    if (kept < 0) kept = this.t.length;
    const tail = this.since(history.t.at(-1) ?? -Infinity, kept);
    this.cut(kept);
    const before = this.t.length;
    this.t.push(...history.t);
    for (const [device, values] of [["", history.host], ...Object.entries(history.gpus)]) {
      for (const [field, list] of Object.entries(values)) this.list(device, field, before).push(...list);
    }
    for (const { t, values } of tail) this.add(t, values);
    this.align();
    this.trim();
  }

  // The samples that came after an answer was made and before it was here.
  since(t, from) {
    const found = [];
    for (let at = from; at < this.t.length; at += 1) {
      if (this.t[at] <= t) continue;
      const values = new Map();
      for (const [device, fields] of this.devices) {
        values.set(device, Object.fromEntries(Object.entries(fields).map(([name, list]) => [name, list[at]])));
      }
      found.push({ t: this.t[at], values });
    }
    return found;
  }

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

  list(device, field, length) {
    let fields = this.devices.get(device);
    if (!fields) this.devices.set(device, (fields = {}));
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

  cut(length) {
    this.t.length = length;
    for (const fields of this.devices.values()) for (const list of Object.values(fields)) list.length = Math.min(list.length, length);
    this.align();
  }
}

export class MachineStream {
  // The components' scripts are modules of their own; whichever comes first makes the stream for all.
  static of(replay) {
    const all = (window.hopscopeMachine ??= new Map());
    if (!all.has(replay)) all.set(replay, new MachineStream(replay));
    return all.get(replay);
  }

  constructor(replay) {
    this.replay = replay;
    this.listeners = new Set();
    this.snapshot = null;
    this.recent = new Samples(RECENT_S);
    this.known = new Map();
    this.tries = 0;
    this.offset = 0;
    this.received = null;
    this.refused = false;
    this.turned = () => this.turn();
  }

  // A listener is {sampled(message), told(), past(answer)}, each of which it may lack.
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
      if (!this.listeners.size) this.leaving = setTimeout(() => this.leave(), LINGER_MS);
    };
  }

  send(wish) {
    // How a replay goes is told anew to a server that it is begun anew on.
    for (const name of ["speed", "paused"]) if (this.replay && name in wish) this.wishes = { ...this.wishes, [name]: wish[name] };
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(wish));
  }

  // What is true now: starting, live, stale, reconnecting, refused, paused or recording.
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
    this.tell("told");
  }

  connect() {
    const address = new URL(STREAM_ADDRESS, location.href);
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    if (this.replay) {
      // One that was interrupted goes on where it was; messages are counted from 1 here, from 0 there.
      const from = String(Math.max(0, (this.snapshot?.seq ?? 1) - 1));
      address.search = new URLSearchParams({ replay: this.replay, from, ...this.wishes });
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
      this.tell("told");
    });
  }

  hear(message) {
    if (message.history && message.span) {
      this.tell("past", message);
      return;
    }
    if (!message.full && !this.snapshot) {
      if (message.starting) this.begin(message);
      return;
    }
    this.snapshot = merged(this.snapshot, message);
    this.remember();
    if (message.now) this.begin(message);
    if (message.sought) this.recent.clear();
    if (message.history) this.recent.fill(message.history);
    if (message.t !== undefined && message.t !== this.recent.t.at(-1)) this.recent.add(message.t, this.values());
    this.tell("sampled", message);
  }

  begin(message) {
    this.offset = message.now - Date.now() / 1000;
    this.open = true;
    this.refused = false;
    this.tries = 0;
    this.tell("told");
  }

  // A card that is lost says nothing any more, not even who it is.
  remember() {
    for (const gpu of this.snapshot.gpus ?? []) {
      const known = this.known.get(gpu.index) ?? {};
      for (const name of ["uuid", "name", "pci_bus_id"]) if (!isMissing(gpu[name])) known[name] = gpu[name];
      this.known.set(gpu.index, known);
    }
  }

  values() {
    const pick = (from, names) =>
      Object.fromEntries(names.map((name) => [name, isMissing(from[name]) ? null : from[name]]));
    const values = new Map([["", pick(this.snapshot.host ?? {}, HOST_CURVES)]]);
    for (const gpu of this.snapshot.gpus ?? []) {
      const { uuid } = this.known.get(gpu.index) ?? {};
      if (uuid) values.set(uuid, pick(gpu, CURVES));
    }
    return values;
  }

  // A server that answers and yet refuses wants another token than this page has.
  ask() {
    fetch("/hopscope/health", { cache: "no-store" })
      .then((answer) => {
        this.refused = answer.status === 403;
        this.tell("told");
      })
      .catch(() => {
        this.refused = false;
      });
  }

  wait() {
    const pause = RETRY_MS[Math.min(this.tries, RETRY_MS.length - 1)];
    this.tries += 1;
    clearTimeout(this.retry);
    this.retry = setTimeout(() => this.turn(), pause * (0.8 + 0.4 * Math.random()));
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
    window.hopscopeMachine.delete(this.replay);
  }

  tell(what, message) {
    for (const listener of this.listeners) listener[what]?.(message);
  }
}
