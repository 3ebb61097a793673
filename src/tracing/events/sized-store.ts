// Rows of events with their sizes: Postgres makes a row's texts once, measures them, and sends them
// only while the total of the statement stays within a bound. Every source names its project.

import type { PendingQuery } from "postgres";
import type { Fragment, Sql } from "../../postgres/database.ts";
import {
  columnsFor,
  listColumns,
  payloadText,
  type Projections,
  type SelectedRow,
} from "./event-row.ts";
import { escapeText } from "./postgres-text.ts";

/** A row with its sizes; its texts are null unless `is_sent`. */
export type SizedRow = SelectedRow & {
  readonly is_sent: boolean;
  /** Exact bytes of its texts; null if the estimate was too large to make them. */
  readonly bytes: number | null;
  /**
   * Bytes of the row in the table, multiplied if values are compressed there. The texts are seldom
   * larger: if they are mostly numbers with many zeros, or control characters.
   */
  readonly estimate: number;
};

/** Limits of the text that one statement makes and sends. */
export type SizeLimits = {
  /** Rows with larger estimates are neither made nor sent. */
  readonly estimateMax: number;
  /** Rows are sent, in their order, until their total exceeds this. */
  readonly bytesMax: number;
};

/** Columns of rows to read. */
export type RowShape = {
  readonly projections: Projections;
  /** Numeric columns of `t` in the source, present in rows whether or not they are sent. */
  readonly extras?: readonly string[];
};

/** Selects rows in their order: `select ${columns} from events as e …`. */
export type RowSource = (sql: Sql, columns: Fragment) => Fragment;

/**
 * Factor for a row with a compressed value. Text shrinks to about a third; repetitive text may
 * shrink to an eightieth, so a statement makes at most four times its limit.
 */
const compressedFactor = 20;

/** Returns the rows of a source with their sizes, in the order of the source. */
export function sizedRows(
  sql: Sql,
  source: RowSource,
  shape: RowShape,
  { estimateMax, bytesMax }: SizeLimits,
): PendingQuery<SizedRow[]> {
  const text = statementOf(shape);
  return sql<SizedRow[]>`
    ${sql.unsafe(text.sent)}
    from (
      ${sql.unsafe(text.summed)} <= ${bytesMax}::bigint as is_sent
      from (
        ${sql.unsafe(text.measured)}
        from (
          ${sql.unsafe(text.made)} case when e.estimate <= ${estimateMax}::bigint
            then ${sql.unsafe(text.payload)} end as payload
          from (
            ${sql.unsafe(text.estimated)}
            from (${source(sql, sql.unsafe(text.raw))}) as e
            offset 0
          ) as e
          offset 0
        ) as e
        offset 0
      ) as e
    ) as e`;
}

/** Selects events by id, in the order of the ids; deleted events are left out. */
export function rowsOfIds(projectId: string, eventIds: readonly string[]): RowSource {
  // `limit` inside `lateral` makes Postgres look up each id by its key; a join sometimes reads all
  // events of the project.
  return (sql, columns) => sql`
    select ${columns}
    from unnest(${eventIds.map(escapeText)}::text[])
      with ordinality as wanted (event_id, position)
    cross join lateral (
      select ${columns}
      from events as e
      where e.project_id = ${projectId} and e.event_id = wanted.event_id
        and e.event_type <> 'pending'
      limit 1
    ) as e
    order by wanted.position`;
}

/** Parts of the statement, which contain only column names. */
type StatementText = {
  readonly raw: string;
  readonly estimated: string;
  readonly made: string;
  readonly payload: string;
  readonly measured: string;
  readonly summed: string;
  readonly sent: string;
};

/**
 * Statements by their columns: assembling the parts in the driver takes longer than Postgres takes
 * to run.
 */
const statements = new Map<string, StatementText>();

function statementOf({ projections, extras = [] }: RowShape): StatementText {
  const key = [...(projections ?? ["*"]), "+", ...extras].join(" ");
  let text = statements.get(key);
  if (text === undefined) {
    text = writeStatement({ projections, extras });
    if (statements.size >= statementsMax) statements.clear();
    statements.set(key, text);
  }
  return text;
}

/** Maximum remembered sets of projections; programs ask for the same few. */
const statementsMax = 100;

// The parts from the inside out. `offset 0` makes Postgres compute each part once. The window has
// no order and follows the rows, which come in the order of the source; its own order would sort
// them again.
function writeStatement({ projections, extras = [] }: RowShape): StatementText {
  const { texts, plain, members } = columnsFor(projections);
  const kept = [...plain, ...extras];
  const raw = listColumns([...texts, ...plain, ...members]);
  const columns = listColumns([...texts, ...kept]);
  const isSent = (name: string): string => `case when e.is_sent then e.${name} end as ${name}`;
  const ofTotals = extras.map((name) => `, t.${name}::double precision as ${name}`);
  return {
    raw: raw + ofTotals.join(""),
    estimated: `select ${listColumns([...texts, ...kept, ...members])},
      ${estimateText(texts, members)} as estimate`,
    made: `select ${columns}, e.estimate,`,
    payload: payloadText(members),
    measured: `select ${columns}, e.estimate, e.payload,
      octet_length(e.payload) + ${lengthText(texts)} as bytes`,
    summed: `select ${columns}, e.estimate, e.payload, e.bytes, e.bytes is not null
      and sum(e.bytes) over (rows unbounded preceding)`,
    sent: `select ${listColumns(kept)}, e.estimate, e.bytes, e.is_sent,
      ${[...texts, "payload"].map(isSent).join(", ")}`,
  };
}

/** Text lengths are in the value headers, so no text is read for them. */
function lengthText(texts: readonly string[]): string {
  return ["0", ...texts.map((name) => `coalesce(octet_length(e.${name}), 0)`)].join(" + ");
}

/** `cost_estimate` is written by the service, and small. */
function estimateText(texts: readonly string[], members: readonly string[]): string {
  const sized = members.filter((name) => name !== "cost_estimate");
  if (sized.length === 0) return `(${lengthText(texts)})::bigint`;
  const sizes = sized.map((name) => `pg_column_size(e.${name})`).join(" + ");
  const compressions = sized.map((name) => `pg_column_compression(e.${name})`).join(", ");
  return `(${lengthText(texts)} + ${sizes})
    * case when coalesce(${compressions}, null) is null
        then 1 else ${compressedFactor} end::bigint`;
}
