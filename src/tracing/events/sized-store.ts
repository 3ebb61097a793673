// Rows of events with their sizes, in Postgres: a row's texts are made once, measured, and sent
// only as long as all of the statement's rows together stay within a bound. Every source names its
// project.

import type { PendingQuery, Row } from "postgres";
import type { Sql } from "../../postgres/database.ts";
import {
  columnsFor,
  listColumns,
  payloadText,
  type Projections,
  type SelectedRow,
} from "./event-row.ts";
import { escapeText } from "./postgres-text.ts";

type Fragment = PendingQuery<Row[]>;

/** A row with its sizes; its texts are null unless it was sent. */
export type SizedRow = SelectedRow & {
  readonly is_sent: boolean;
  /** Bytes of its texts, exactly; null where they were not made, being too many by the estimate. */
  readonly bytes: number | null;
  /**
   * Bytes that it takes in the table, more where values are compressed there. The texts are seldom
   * larger: where they are mostly numbers with many zeros, or control characters.
   */
  readonly estimate: number;
};

/** How much one statement may make and send. */
export type SizeLimits = {
  /** Rows with larger estimates are neither made nor sent. */
  readonly estimateMax: number;
  /** Rows are sent, in their order, until their bytes together are more. */
  readonly bytesMax: number;
};

/** Which columns of rows are read. */
export type RowShape = {
  readonly projections: Projections;
  /** Numeric columns of `t` in the source, which rows have whether they are sent or not. */
  readonly extras?: readonly string[];
};

/** Selects rows in their order: `select ${columns} from events as e …`. */
export type RowSource = (sql: Sql, columns: Fragment) => Fragment;

/**
 * Times that a row with a compressed value counts. Text shrinks to a third or so; what repeats may
 * shrink to an eightieth, so that a statement makes at most four times what it is allowed.
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

/** Selects the events of ids, in the order of the ids; none of an id that is gone. */
export function rowsOfIds(projectId: string, eventIds: readonly string[]): RowSource {
  // Each is looked up by its key, as `limit` makes Postgres do inside `lateral`: a join would at
  // times read all of the project's.
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

/** Parts of the statement, which hold nothing but names of columns. */
type StatementText = {
  readonly raw: string;
  readonly estimated: string;
  readonly made: string;
  readonly payload: string;
  readonly measured: string;
  readonly summed: string;
  readonly sent: string;
};

/** By the columns; the driver would take longer to put the parts together than Postgres to run. */
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

/** Sets of projections that are remembered; programs ask for the same few. */
const statementsMax = 100;

// From the inside out. `offset 0` has each part computed once. The window runs over the rows as
// they come, which is in the order of the source: an order of its own would sort them again.
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

/** The lengths of texts stand in their headers; none is read for them. */
function lengthText(texts: readonly string[]): string {
  return ["0", ...texts.map((name) => `coalesce(octet_length(e.${name}), 0)`)].join(" + ");
}

/** `cost_estimate` is the service's own, and small. */
function estimateText(texts: readonly string[], members: readonly string[]): string {
  const sized = members.filter((name) => name !== "cost_estimate");
  if (sized.length === 0) return `(${lengthText(texts)})::bigint`;
  const sizes = sized.map((name) => `pg_column_size(e.${name})`).join(" + ");
  const compressions = sized.map((name) => `pg_column_compression(e.${name})`).join(", ");
  return `(${lengthText(texts)} + ${sizes})
    * case when coalesce(${compressions}, null) is null
        then 1 else ${compressedFactor} end::bigint`;
}
