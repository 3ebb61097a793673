// Conditions on events: the typed form between parsed filters and SQL.
// Source: docs/decisions.md, 16.

import type { Bucket } from "../events/event.ts";
import type { Path } from "../fields/path.ts";
import type { Instant } from "./instant.ts";

/**
 * Column or bucket that a condition tests. A bucket's `paths` are alternative readings of one
 * dotted name: the first path present in an event counts. A path with the any-position segment of
 * an array stands for all matching values.
 */
export type Target =
  | { readonly kind: "column"; readonly name: string; readonly holds: ColumnKind }
  | { readonly kind: "bucket"; readonly bucket: Bucket; readonly paths: readonly Path[] };

/** Type of a column's value: text, number, boolean, time in microseconds, or list of texts. */
export type ColumnKind = "text" | "number" | "boolean" | "time" | "list";

/**
 * Test of the value, or of any of the values, at a target. `present` means that the value exists
 * and is not null. Every test fails on an absent value.
 */
export type Test =
  | { readonly kind: "present" }
  | { readonly kind: "equals"; readonly value: string | number | boolean }
  | { readonly kind: "contains"; readonly text: string }
  | { readonly kind: "above" | "below"; readonly bound: number }
  | { readonly kind: "during" | "after" | "before"; readonly instant: Instant };

/**
 * A test on a target. `negated` inverts the test and therefore also holds if the target is absent.
 */
export type Condition = {
  readonly target: Target;
  readonly test: Test;
  readonly negated: boolean;
};
