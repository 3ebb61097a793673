// Turns rows of events into JSON texts of statements, bounded by rows and by length, so that a
// commit of any size takes the memory of one statement.

import type { Pacer } from "../../base/pacer.ts";
import { mayNeedEscape } from "./postgres-text.ts";
import { writeJson } from "./row-json.ts";

/** A row in the form that jsonb_to_recordset reads. */
export type Row = { readonly project_id: string; readonly event_id: string } & Readonly<
  Record<string, unknown>
>;

// A commit of usual size is one statement. The content of a statement is in memory several times:
// as rows, as text and as bytes, here and in Postgres.
const rowsPerStatementMax = 2_000;

/** Maximum length of a statement's rows as JSON; a longer row is a statement by itself. */
const statementLengthMax = 16_000_000;

export type Statement = {
  /** A JSON array of the rows. */
  readonly text: string;
  readonly rows: readonly Row[];
};

export type RowStatementsOptions = {
  readonly pacer: Pacer;
  /** Maximum length of one row's JSON. */
  readonly rowLengthMax: number;
  /** Called with each longer row, which is left out. */
  readonly onTooLong: (row: Row) => void;
  /**
   * True if all rows together are a few megabytes: they are written at once, without measuring
   * each.
   */
  readonly isSmall?: boolean;
};

/**
 * Yields rows as statements. Several statements come in the order of the rows' keys, the order of
 * every writer: parallel upserts in different orders deadlock.
 */
export async function* toStatements(
  rows: readonly Row[],
  options: RowStatementsOptions,
): AsyncGenerator<Statement> {
  if (rows.length === 0) return;
  if (options.isSmall === true && rows.length <= rowsPerStatementMax) {
    const text = JSON.stringify(rows);
    if (!mayNeedEscape(text)) {
      yield { text, rows };
      return;
    }
  }
  if (rows.length <= rowsPerStatementMax) {
    const whole = await readGroup(rows, 0, options);
    if (whole.end === rows.length) {
      if (whole.rows.length > 0) yield whole;
      return;
    }
  }
  const sorted = await sortByKey(rows, options.pacer);
  for (let at = 0; at < sorted.length;) {
    const { end, ...statement } = await readGroup(sorted, at, options);
    if (statement.rows.length > 0) yield statement;
    at = end;
  }
}

/**
 * Returns the rows of a small commit, as objects or as lists of cells, as the text of one
 * statement; undefined if they take more than one.
 */
export async function toOneStatement(
  rows: readonly (Row | readonly unknown[])[],
  pacer: Pacer,
): Promise<string | undefined> {
  if (rows.length > rowsPerStatementMax) return undefined;
  const plain = JSON.stringify(rows);
  const text = mayNeedEscape(plain) ? await writeJson(rows, pacer) : plain;
  return text.length > statementLengthMax ? undefined : text;
}

type Group = Statement & { readonly end: number };

/**
 * Reads rows from `start` until a statement is full. The statement is empty if all rows were too
 * long.
 */
async function readGroup(
  rows: readonly Row[],
  start: number,
  { pacer, rowLengthMax, onTooLong }: RowStatementsOptions,
): Promise<Group> {
  const texts: string[] = [];
  const taken: Row[] = [];
  let length = 0;
  let end = start;
  for (; end < rows.length && texts.length < rowsPerStatementMax; end += 1) {
    const row = rows[end];
    if (row === undefined) break;
    const text = await writeJson(row, pacer);
    if (text.length > rowLengthMax) onTooLong(row);
    else if (texts.length > 0 && length + text.length > statementLengthMax) break;
    else {
      texts.push(text);
      taken.push(row);
      length += text.length;
    }
    if (pacer.due()) await pacer.rest();
  }
  return { text: `[${texts.join(",")}]`, rows: taken, end };
}

async function sortByKey(rows: readonly Row[], pacer: Pacer): Promise<Row[]> {
  const keyed = rows.map((row) => ({ key: `${row.project_id} ${row.event_id}`, row }));
  if (pacer.due()) await pacer.rest();
  keyed.sort((a, b) => (a.key < b.key ? -1 : 1));
  return keyed.map(({ row }) => row);
}
