// What app/components/runs gives: the component's data by Python, the list by the server's socket.

import type { Cell } from "../shared/records.js";
import type { Column, Row } from "../table/records.js";

/** The part of the list that is looked at. */
export interface Wish {
  find: string;
  sort: string;
  way: number;
  first: number;
}

export interface RunsData {
  address: string;
  columns: Column[];
  broken: Column[];
  wish: Partial<Wish>;
  empty: boolean;
  height: number;
  page: number;
}

/** A run's row: the page itself counts the time since `at`, and since `since`. */
export interface RunRow extends Row {
  cells: Record<string, Cell> & { started: Cell & { at?: number }; duration: Cell & { since?: number } };
}

/** A message of app/components/runs/listing.py: rows that changed, and the order where it changed. */
export interface ListMessage {
  now: number;
  total: number;
  found: number;
  first: number;
  going_on: number;
  unreadable: number;
  problem: string;
  rows: RunRow[];
  order?: string[];
  broken?: Row[];
}
