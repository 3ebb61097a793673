// Frees memory that the driver keeps for statements. It keeps an Error of the first statement with
// a text: until the stack is read, V8 keeps the frames alive, and with them the body, events and
// rows of the first request. Reading the stack once leaves only a few lines of text. The driver
// also assigns functions to properties of each statement: V8 makes such functions old objects, so
// that the statement and its values stay in memory until the whole heap is collected. Each
// collection of new objects would spend half of its time on copying them. Rows that the driver
// misplaces and statements that it repeats wrongly are put right in passing.

import { mendRepeats, type Repeatable, repeatUnsent } from "./statement-repeats.ts";
import { assertSendable } from "./statement-values.ts";

/** A statement of the driver, which is a promise of its rows, or a part of one. */
type Statement = Promise<unknown> &
  Repeatable & {
    readonly origin: string;
    args: readonly unknown[];
    string: string;
    signature: string;
    resolve: (result: unknown) => void;
    /** The driver's own functions of these names. */
    driver?: Pick<Statement, "resolve" | "reject">;
  };

/** Returns the driver's statement function, changed so that it keeps little in memory. */
export function withLittleMemory<Sql extends (...words: never[]) => unknown>(sql: Sql): Sql {
  return new Proxy(sql, {
    apply: (target, self, words) => keepLittle(Reflect.apply(target, self, words)),
  });
}

/**
 * Has a statement forget its values when it is over; other values are returned as they are. Throws
 * a TypeError if the statement has a value that cannot be sent.
 */
export function keepLittle(statement: unknown, isInTransaction = false): unknown {
  if (!(statement instanceof Promise)) return statement;
  const own = statement as Statement;
  assertSendable(own.args);
  mendRepeats(own);
  own.isInTransaction = isInTransaction;
  Reflect.get(own, "origin");
  own.driver = { resolve: own.resolve, reject: own.reject };
  own.resolve = resolve;
  own.reject = reject;
  return own;
}

function resolve(this: Statement, result: unknown): void {
  forget(this);
  closeGap(result);
  this.driver?.resolve(result);
}

/**
 * Removes empty places before the first row. The driver counts rows from 0 again only after a
 * statement that succeeded: if one ended amid its rows, because of an error, a timeout or a caller
 * who left, the rows of the next one on the connection come behind as many empty places.
 * Source: github.com/porsager/postgres, issue 1181.
 */
function closeGap(result: unknown): void {
  if (!Array.isArray(result)) return;
  let empty = 0;
  while (empty < result.length && !(empty in result)) empty += 1;
  if (empty > 0) result.splice(0, empty);
}

function reject(this: Statement, error: unknown): void {
  if (repeatUnsent(this, error)) return;
  forget(this);
  this.driver?.reject(error);
}

function forget(statement: Statement): void {
  statement.args = [];
  statement.parameters = null;
  statement.string = "";
  statement.signature = "";
}
