// What app/components/findings/findings.py gives, as app/web/run/finding_rows.py and proof_rows.py make it.

import type { Badge, ChangedLine, Word } from "../shared/records.js";

/** Lines of the source; `line` is the marked one, `first` the number of the first. */
export interface Excerpt {
  first: number;
  line: number;
  lines: string[];
  words: Word[][];
}

/** A line of the source; its code only the first time that it is shown. */
export interface Place {
  site: string;
  code: string;
  words: Word[];
}

/** An op on a tensor's path. */
export interface Stop {
  role: string;
  op: string;
  at: Place | null;
  asked: Badge | null;
  nothing: string;
  scope: Place | null;
  by: string;
  device: Badge;
  why: string;
}

export interface Proof {
  ways: { moved: string; stops: Stop[] }[];
  more: string;
  facts: { label: string; text: string; devices: Badge[]; places: Place[] }[];
}

export interface Finding {
  id: string;
  name: string;
  code: string;
  severity: string;
  quiet: boolean;
  site: string;
  summary: string;
  because: string;
  excerpt: Excerpt | null;
  fix: string;
  change: ChangedLine[];
  proof: Proof | null;
  evidence: string;
  href: string;
  show: string;
  verify: string;
  tries: { text: string; href: string; state: string }[];
}

export interface FindingsData {
  findings: Finding[];
  unseen: { what: string; why?: string }[];
  selected: string;
  fold: string;
}
