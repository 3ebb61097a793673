// SQL of the chat histories of events, those of updates that wait for their event included.

import type { JsonValue } from "../../base/json.ts";
import { addedHistoryBytesMax } from "../../base/limits.ts";
import type { Sql } from "../../postgres/database.ts";
import { escapeText, unescapeJson, unescapeText } from "./postgres-text.ts";

/** Messages of an event, or the fact that they are past `addedHistoryBytesMax`. */
export type History = readonly JsonValue[] | "too long";

type Row = {
  readonly event_id: string;
  /** Null if it has too many bytes. */
  readonly history: string | null;
};

/**
 * Returns the chat histories of events that have one, by event id. Other calls for the project wait
 * until the transaction ends.
 */
export async function readHistories(
  sql: Sql,
  projectId: string,
  eventIds: readonly string[],
): Promise<ReadonlyMap<string, History>> {
  const lock = `chat histories of ${projectId}`;
  await sql`select pg_advisory_xact_lock(hashtextextended(${lock}, 0))`;
  const bytesMax = addedHistoryBytesMax;
  const rows = await sql<Row[]>`
    select event_id, case when octet_length(history) <= ${bytesMax} then history end as history
    from (
      select event_id, (case event_type
          when 'pending' then inputs -> 'inputs' -> 'chat_history'
          else inputs -> 'chat_history'
        end)::text as history
      from events
      where project_id = ${projectId} and event_id = any(${eventIds.map(escapeText)})
    ) as found
    where left(history, 1) = '['`;
  return new Map(rows.map((row) => [unescapeText(row.event_id), readHistory(row)]));
}

function readHistory({ history }: Row): History {
  return history === null ? "too long" : (JSON.parse(unescapeJson(history)) as JsonValue[]);
}
