// What app/components/table/table.py gives.

import type { Cell, Kind } from "../shared/records.js";

export interface Column {
  name: string;
  title: string;
  kind: Kind;
  help: string;
  width: string;
}

export interface Row {
  id: string;
  cells: Record<string, Cell>;
}

export interface TableData {
  columns: Column[];
  rows: Row[];
  selected: string[];
  pickable: boolean;
  height: number;
  empty: string;
  label: string;
  searchable: number;
  testid: string;
}

/** By which column rows are sorted; `way` is 1 or -1. */
export interface Sort {
  name: string;
  way: number;
}
