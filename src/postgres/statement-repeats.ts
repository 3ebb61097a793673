// Repeats of statements, in place of the driver's own. It repeats a statement that a change of the
// schema made stale, but with values that it converted already (true became false, an object of
// JSON a text, bytes their hexadecimal text), and behind statements that were sent without
// knowledge of it: rows of one went to another. It does not repeat a statement that it never sent.

import { endsSession } from "./faults.ts";

/** The properties of the driver's statements that decide about repeats. */
export type Repeatable = {
  /** The connection that the statement was sent on; null before. */
  readonly state: unknown;
  /** Gives the statement to a connection of its pool. */
  readonly handler: (statement: unknown) => void;
  reject: (error: unknown) => void;
  active: boolean;
  cancelled: unknown;
  parameters: unknown;
  isInTransaction?: boolean;
  repeats?: number;
};

/** Each repeat renews a statement on one connection; a pool has fewer connections than this. */
const repeatsMax = 200;

/** Takes over the repeats of stale statements. */
export function mendRepeats(statement: Repeatable): void {
  const prototype = Object.getPrototypeOf(statement) as object;
  if (Object.hasOwn(prototype, "retried")) return;
  // The driver asks whether a statement was repeated, sets this property, and sends the statement
  // at once if it is not cancelled.
  Object.defineProperty(prototype, "retried", { get: () => undefined, set: repeatStale });
}

function repeatStale(this: Repeatable, error: unknown): void {
  this.active = false;
  this.cancelled = true;
  // The driver has forgotten the stale statement, so that the next try prepares it anew.
  if (this.isInTransaction === true || (this.repeats ?? 0) >= repeatsMax) this.reject(error);
  else repeat(this);
}

/**
 * Repeats once a statement that was not sent because its connection could not be opened, and tells
 * whether it did. The error may be that of the previous session: if that ended amid a statement,
 * the driver fails the first statement of the next session with the error that ended it.
 */
export function repeatUnsent(statement: Repeatable, error: unknown): boolean {
  if (statement.state !== null || statement.repeats !== undefined) return false;
  if (!endsSession(error)) return false;
  repeat(statement);
  return true;
}

function repeat(statement: Repeatable): void {
  statement.repeats = (statement.repeats ?? 0) + 1;
  statement.parameters = null;
  setImmediate(() => {
    statement.cancelled = null;
    statement.handler(statement);
  });
}
