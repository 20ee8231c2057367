// What the server sends to the Machine page: snapshots as probes/nvml/snapshot.py describes them, with the alerts,
// runs and times that app/components/stream adds.

/** Why a field has no value. */
export interface Missing {
  state: string;
  reason: string;
}

export type Field<Value> = Value | Missing;

/** Fields of a GPU; one that the card does not have at all, or of which no sample came yet, is left out. */
export interface Gpu {
  index: number;
  unreadable?: Missing;
  uuid?: Field<string>;
  name?: Field<string>;
  pci_bus_id?: Field<string>;
  compute_capability?: Field<string>;
  serial?: Field<string>;
  vbios?: Field<string>;
  performance_state?: Field<string>;
  utilization_gpu_percent?: Field<number>;
  utilization_memory_percent?: Field<number>;
  memory_used_bytes?: Field<number>;
  memory_reserved_bytes?: Field<number>;
  memory_free_bytes?: Field<number>;
  memory_total_bytes?: Field<number>;
  temperature_celsius?: Field<number>;
  temperature_memory_celsius?: Field<number>;
  temperature_slowdown_celsius?: Field<number>;
  power_watts?: Field<number>;
  power_limit_watts?: Field<number>;
  clock_sm_mhz?: Field<number>;
  clock_sm_max_mhz?: Field<number>;
  clock_memory_mhz?: Field<number>;
  clock_memory_max_mhz?: Field<number>;
  fan_percent?: Field<number>;
  encoder_percent?: Field<number>;
  decoder_percent?: Field<number>;
  pcie_generation?: Field<number>;
  pcie_generation_max?: Field<number>;
  pcie_width?: Field<number>;
  pcie_width_max?: Field<number>;
  pcie_rx_bytes_per_second?: Field<number>;
  pcie_tx_bytes_per_second?: Field<number>;
  nvlinks?: Field<number>;
  nvlink?: Field<{ state: string }[]>;
  nvlink_rx_bytes_per_second?: Field<number>;
  nvlink_tx_bytes_per_second?: Field<number>;
  throttle_reasons?: Field<string[]>;
  ecc_corrected_volatile?: Field<number>;
  ecc_uncorrected_volatile?: Field<number>;
  retired_pages_pending?: Field<boolean>;
  remapped_rows_pending?: Field<boolean>;
  remapped_rows_failure?: Field<boolean>;
  xid?: Field<{ code: number; text: string; t: number }[]>;
  mig?: Field<MigInstance[]>;
  processes?: Field<GpuProcess[]>;
}

export interface MigInstance {
  uuid: string;
  name?: Field<string>;
  memory_used_bytes?: Field<number>;
  memory_total_bytes?: Field<number>;
}

export interface GpuProcess {
  pid: number;
  type: Field<string>;
  where: "here" | "elsewhere" | "gone";
  user: Field<string>;
  command: Field<string>;
  gpu_instance?: number | null;
  memory_bytes: Field<number>;
  sm_percent: Field<number>;
}

export interface Host {
  hostname?: Field<string>;
  cpu_cores?: Field<number>;
  cpu_percent?: Field<number>;
  memory_total_bytes?: Field<number>;
  memory_used_bytes?: Field<number>;
  swap_used_bytes?: Field<number>;
  load_1m?: Field<number>;
  uptime_seconds?: Field<number>;
}

/** A run that goes on now. */
export interface LiveRun {
  id: string;
  name: string;
  state: string;
  framework: string;
  devices: string[];
  stand_ins: string[];
  processes: { pid: number; command: string; cpu_percent: number | null; memory_bytes: number | null }[];
}

export type Severity = "error" | "warning" | "info";

export interface Alert {
  code: string;
  severity: Severity;
  gpu?: number | null;
  text: string;
  advice?: string;
}

/** Why the driver cannot be asked. */
export interface NvmlProblem extends Missing {
  text?: string;
}

/** How a replay goes. */
export interface Recording {
  host: string;
  made: number;
  length?: number;
  speed?: number;
  paused?: boolean;
}

/** The machine as it is shown now. */
export interface Snapshot {
  seq?: number;
  t?: number;
  hz?: number;
  now?: number;
  starting?: boolean;
  nvml?: "ok" | NvmlProblem;
  driver?: Field<string>;
  cuda_driver?: Field<string>;
  gpus?: Gpu[];
  host?: Host;
  alerts?: Alert[];
  runs?: LiveRun[];
  sampler?: { state: string; text: string };
  recording?: Recording;
  position?: number;
  sought?: boolean;
}

/** Values by name, a list each, as long as the list of times. */
export type Series = Record<string, (number | null)[]>;

export interface Past {
  t: number[];
  host: Series;
  gpus: Record<string, Series>;
}

/** What changed since the last message, or with `full` all; the first ones bring the last two minutes. */
export interface Message extends Snapshot {
  full?: boolean;
  history?: Past;
}

/** The answer to a wish for more history; values are means of `step` seconds. */
export interface PastAnswer {
  span: number;
  step: number;
  fields: string[];
  history: Past;
}

/** Samples of one moment by device and field; the host's name is ''. */
export type Values = Map<string, Record<string, number | null>>;

export type Phase = "connecting" | "starting" | "live" | "stale" | "reconnecting" | "refused" | "paused" | "recording";

/** What a component hears of the stream. */
export interface Listener {
  sampled?(message: Message | null): void;
  told?(): void;
  past?(answer: PastAnswer): void;
}

/** What app/components/machine/machine.py gives. */
export interface MachineData {
  part: "head" | "processes";
  replay: string;
  shape: string;
  operator: boolean;
}

/** What app/components/machine/history.py gives. */
export interface HistoryData {
  replay: string;
  metric: string;
  span: number;
}
