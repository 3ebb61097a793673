// The interface of every convention file.

import type { Draft } from "../draft.ts";
import type { FieldTable } from "../fields.ts";

export type Convention = {
  /** Attributes that fill single fields. */
  readonly fields?: FieldTable;
  /**
   * Counts of tokens and money. Not applied to events that repeat the counts of others, as chains
   * do.
   */
  readonly usage?: FieldTable;
  /** Adds attributes from other places, such as span events, before any table is applied. */
  readonly prepare?: (draft: Draft) => void;
  /** Reads messages, payloads and other values that need more than a table. */
  readonly read?: (draft: Draft) => void;
};
