// What every convention file offers to map-span.ts.

import type { Draft } from "../draft.ts";
import type { FieldTable } from "../fields.ts";

export type Convention = {
  /** Attributes that are one field each. */
  readonly fields: FieldTable;
  /** Counts of tokens and money; not applied to chain events, which repeat their children's. */
  readonly usage: FieldTable;
  /** Adds attributes that arrived elsewhere, as on span events, before any table is applied. */
  readonly prepare?: (draft: Draft) => void;
  /** Reads messages, payloads and whatever else takes more than a table. */
  readonly read: (draft: Draft) => void;
};
