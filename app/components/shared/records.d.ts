// What Python gives to components, and what they give back.

/** What Streamlit calls a component's script with. */
export interface Call<Data> {
  data: Data;
  parentElement: HTMLElement;
  setTriggerValue(name: string, value: unknown): void;
  setStateValue(name: string, value: unknown): void;
}

/** Gives Python what the reader did. */
export type Send = (event: Record<string, unknown>) => void;

/** Colors by name, as in palette.json. */
export type Palette = Record<string, string>;

/** A device with its hue. */
export interface Badge {
  device: string;
  hue: string;
  remark?: string;
}

/** A button; one with `confirm` asks that question first. */
export interface Action {
  name: string;
  label: string;
  title?: string;
  confirm?: string;
  yes?: string;
  doing?: string;
}

/** One value of a table or a fact; app/components/table/table.py says which kind has which fields. */
export interface Cell {
  text?: string;
  title?: string;
  sort?: string | number | null;
  remark?: string;
  faint?: boolean;
  shade?: number | null;
  tone?: string;
  devices?: Badge[];
  arrow?: boolean;
  fraction?: number | null;
  href?: string;
  kind?: string;
  of?: { lead: string; text: string; href?: string };
  note?: string;
  calm?: boolean;
  actions?: Action[];
}

type Has<Name extends keyof Cell> = Cell & { [Field in Name]-?: NonNullable<Cell[Field]> };

/** What a cell has by its kind. */
export interface Cells {
  text: Has<"text">;
  label: Has<"text">;
  code: Has<"text">;
  site: Has<"text">;
  number: Has<"text">;
  devices: Has<"devices">;
  badge: Has<"text">;
  progress: Has<"text">;
  link: Has<"text" | "href">;
  actions: Has<"actions">;
}

export type Kind = keyof Cells;

/** A colored part of a line of code: from, to, and its kind. */
export type Word = [number, number, string];

/** A line of a patch. */
export interface ChangedLine {
  kind: "added" | "removed" | "kept" | "part";
  text: string;
}
