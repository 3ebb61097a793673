// Conditions on events: what filters are parsed to and SQL is made from. Made by filter.ts, read by
// filter-sql.ts. Source: docs/decisions.md, 16.

import type { Bucket } from "../events/event.ts";
import type { Path } from "../fields/path.ts";
import type { Instant } from "./instant.ts";

/**
 * Where a condition looks. A bucket's `paths` are ways to read one dotted name: the first that is
 * there in an event counts. A path with an array's any position stands for all the values it finds.
 */
export type Target =
  | { readonly kind: "column"; readonly name: string; readonly holds: ColumnKind }
  | { readonly kind: "bucket"; readonly bucket: Bucket; readonly paths: readonly Path[] };

/** What a column holds: a text, a number, a boolean, a time in microseconds, or a list of texts. */
export type ColumnKind = "text" | "number" | "boolean" | "time" | "list";

/**
 * What has to be true of the value, or of one of the values, at a target. `present`: it is there
 * and not null. Nothing else is ever true of what is absent.
 */
export type Test =
  | { readonly kind: "present" }
  | { readonly kind: "equals"; readonly value: string | number | boolean }
  | { readonly kind: "contains"; readonly text: string }
  | { readonly kind: "above" | "below"; readonly bound: number }
  | { readonly kind: "during" | "after" | "before"; readonly instant: Instant };

/** A test on a target, or the contrary: `negated` also holds where the target is absent. */
export type Condition = {
  readonly target: Target;
  readonly test: Test;
  readonly negated: boolean;
};
