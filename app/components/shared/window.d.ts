// What the components' modules share over the page's window: each component's bundle has modules of its own.

import type { MachineStream } from "../machine/stream.js";

/** The part of Plotly that the components call. */
export interface PlotlyLibrary {
  react(plot: HTMLElement, data: unknown[], layout: object, config: object): Promise<unknown>;
  update(plot: HTMLElement, data: object, layout: object): Promise<unknown>;
  relayout(plot: HTMLElement, layout: object): Promise<unknown>;
  purge(plot: HTMLElement): void;
}

/** A changed axis as Plotly reports it: `xaxis.range[0]`, `xaxis.autorange`, and so on. */
export type Relayout = Record<string, any>; // Plotly gives its values no one type.

/** An element that Plotly has drawn in. */
export interface PlotElement extends HTMLDivElement {
  on(event: "plotly_relayout", listener: (change: Relayout) => void): void;
  on(event: "plotly_click", listener: (clicked: { points?: PlotPoint[] }) => void): void;
  on(event: "plotly_selected", listener: (selected?: { range?: { x?: (string | number)[] } }) => void): void;
  layout: { xaxis: { range: [string | number, string | number] } };
  _fullLayout?: { width: number };
}

export interface PlotPoint {
  x?: string | number;
  y?: string | number;
  customdata?: unknown;
  curveNumber: number;
  data?: { name?: string };
}

declare global {
  interface Window {
    Plotly?: PlotlyLibrary;
    hopscopePlotly?: Promise<PlotlyLibrary>;
    hopscopeMachine?: Map<string, MachineStream>;
    hopscopePage?: string;
  }
}
