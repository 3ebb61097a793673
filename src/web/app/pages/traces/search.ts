// The parts of the address of the traces.

import type { FilterRow } from "../../design/filters.ts";
import type { TimeRange } from "../../design/time-range.ts";

export type TracesTab = "sessions" | "events";

export type EventKind = "model" | "tool" | "chain";

export type TracesSearch = {
  /** Default: sessions. */
  readonly tab?: TracesTab;
  readonly range?: TimeRange;
  readonly filters?: readonly FilterRow[];
  /** Words that names, errors, inputs or outputs must contain. */
  readonly q?: string;
  /** Only events of this type. */
  readonly kind?: EventKind;
  /** Columns in their order, where they are not those of the page. */
  readonly columns?: readonly string[];
  /** Whether the list is followed as it grows. */
  readonly live?: boolean;
  /** Id of the saved view that was applied. */
  readonly view?: string;
};

/** A change of the address; undefined takes a part away. */
export type Changes = { readonly [K in keyof TracesSearch]?: TracesSearch[K] | undefined };
