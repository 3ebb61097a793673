// Values that the driver cannot send. It converts the values of a statement when that has its place
// behind others on a connection: if it cannot, it fails another statement, and the next ones wait
// for good or get each other's rows.

/** Throws a TypeError for a value that the driver cannot send: undefined, or a Date of no time. */
export function assertSendable(values: readonly unknown[]): void {
  for (const value of values) if (!isSendable(value)) throw notSendable();
}

/** The driver's parts of statements: a typed value, a name, or rows or names with their columns. */
type Part = { readonly value?: unknown; readonly first?: unknown; readonly rest?: unknown };

function isSendable(value: unknown): boolean {
  if (value === undefined) return false;
  if (value === null || typeof value !== "object" || value instanceof Promise) return true;
  if (value instanceof Date) return !Number.isNaN(value.getTime());
  if (Array.isArray(value)) return value.every(isSendable);
  const part = value as Part;
  if ("first" in part && Array.isArray(part.rest)) return isSendableRows(part.first, part.rest);
  return !("value" in part) || isSendable(part.value);
}

function isSendableRows(first: unknown, names: readonly unknown[]): boolean {
  const rows: readonly unknown[] = Array.isArray(first) ? first : [first];
  const columns = names.length > 0 ? names.flat() : undefined;
  return rows.every((row) => {
    if (row === null || typeof row !== "object" || Array.isArray(row)) return isSendable(row);
    const fields = row as Record<string, unknown>;
    return (columns ?? Object.keys(fields)).every((column) => isSendable(fields[String(column)]));
  });
}

function notSendable(): TypeError {
  return new TypeError("a value of a statement is undefined, or a Date of no time");
}
