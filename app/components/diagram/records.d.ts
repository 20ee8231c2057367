// What app/views/placement.py gives the diagram, and what the diagram makes of it.

export interface Lane {
  device: string;
  hue: string;
  remark: string;
  ops: string;
}

export interface Group {
  id: string;
  label: string;
  scope: string;
  device: string;
  rank: number;
  ops: number;
  hops: number;
  kind: string;
  expandable: boolean;
  expanded: boolean;
  expand: string;
  site: string;
  types: string[];
  /** Hue, number of ops, and device of each share of a scope that is on several devices. */
  mix: [string, number, string][];
  series: string[];
}

/** What a path is found for: a crossing, or a link between groups. */
export interface Line {
  id: string;
  src: string;
  dst: string;
  weight: number;
  collective?: boolean;
}

export interface Crossing extends Line {
  from: string;
  to: string;
  bytes: number | null;
  count: number | null;
  text: string;
  share: string;
  collective: boolean;
  alert: boolean;
  severity: string;
  cause: string;
  basis: string;
  hops: number[];
  tensors: string[];
  details: { tensor: string; size: string; site: string }[];
  sites: string[];
}

/** What is picked; `filtered` where other views show only that. */
export interface Picked {
  group: string;
  crossings: string[];
  filtered: boolean;
}

export interface DiagramData {
  lanes: Lane[];
  groups: Group[];
  crossings: Crossing[];
  links: [string, string][];
  selection: Picked;
  opened: { expand: string; label: string }[];
  causes: { cause: string; label: string; alert: boolean; number: number; dashed: boolean }[];
  badges: boolean;
  scale: { label: string; weight: number }[];
  title: string;
  traces: string;
  note: string;
  empty: string;
}

/** Width of a text in pixels. */
export type Measure = (text: string, font?: string) => number;

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Where a group stands at zoom 1, before it is panned. */
export interface Place extends Box {
  group: Group;
  column: number;
  lane: number;
  row: number;
  /** The width that its label needs. */
  desired: number;
}

export interface LanePlace {
  lane: Lane;
  y: number;
  height: number;
  top: number;
}

export interface Layout {
  places: Map<string, Place>;
  byId: Map<string, Group>;
  tight: boolean;
  width: number;
  height: number;
  gap: number;
  pitch: number;
  fitPitch: number;
  columns: number;
  laneRows: number[];
  gaps: number[];
  lanes: LanePlace[];
  channels: number[];
}

/** The way of a line between two bars. */
export interface Route<Drawn extends Line = Line> {
  crossing: Drawn;
  a: Box;
  b: Box;
  from: Place;
  to: Place;
  width: number;
  aPort: number;
  bPort: number;
  head: number;
  x1: number;
  y1: number;
  x2: number;
  y2: number;
  tip: number;
  direct: boolean;
  bow: boolean;
  channel?: number;
  path: string;
  arrow: string;
}

/** A stretch of the drawing. */
export interface Area {
  left: number;
  right: number;
  top: number;
  bottom: number;
}
