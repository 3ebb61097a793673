// Fills a database for `bench read`: events of several projects by SQL, from generated payloads,
// with the totals that the recorder would keep. The recorder itself makes the catalogue, from one
// batch over HTTP with every payload.

import { createHash, randomUUID } from "node:crypto";
import { formatUuid } from "../../src/base/ids.ts";
import type { Sql } from "../../src/postgres/database.ts";
import { createRandom, payloadOf } from "./events.ts";
import type { BenchService } from "./service.ts";

export type Filled = {
  readonly longSessionId: string;
  readonly payloadSessionId: string;
  /** A customer with about twenty of a million events. */
  readonly customer: string;
  /** Words of one event in a thousand. */
  readonly phrase: string;
  /** Start of the newest event, Unix milliseconds; each event begins 1 ms after the one before. */
  readonly endMs: number;
};

const firstStartMs = 1_760_000_000_000;
const payloads = 1_000;
const payloadBytes = 1_700;
export const longSessionEvents = 100_000;
export const payloadSessionEvents = 5_000;
const sessionEvents = 50;
/** Events in each of the other projects. */
const otherEvents = 100_000;
const otherProjects = 3;

/** Stores `events` events in the service's project, and some in other projects. */
export async function fill(sql: Sql, service: BenchService, events: number): Promise<Filled> {
  const { project_id: projectId } = service.credentials;
  await recordCatalogue(service);
  await sql`create unlogged table bench_payloads (n integer primary key, payload jsonb)`;
  const rows = listPayloads().map((payload, n) => ({ n, payload }));
  await sql`
    insert into bench_payloads
    select n, payload
    from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as p (n integer, payload jsonb)`;
  await insertEvents(sql, projectId, events);
  for (let other = 0; other < otherProjects; other += 1) {
    await insertEvents(sql, randomUUID(), Math.min(otherEvents, events));
  }
  await sql`drop table bench_payloads`;
  await insertSessions(sql);
  await sql`vacuum (analyze) events`;
  await sql`vacuum (analyze) session_totals`;
  await sql`checkpoint`;
  return {
    longSessionId: idOf(`session ${projectId} 0`),
    payloadSessionId: idOf(`session ${projectId} 1`),
    customer: "account-7777",
    phrase: phraseOf(listPayloads()),
    endMs: firstStartMs + events - 1,
  };
}

function listPayloads() {
  const random = createRandom(7);
  return Array.from({ length: payloads }, (_, index) => ({
    ...payloadOf(random, index, payloadBytes),
    error: index % 50 === 0 ? "TimeoutError: the tool did not answer in 5000 ms" : null,
  }));
}

function phraseOf(payloads: ReturnType<typeof listPayloads>): string {
  const text = payloads[777]?.outputs.content ?? "";
  const phrase = text.slice(20, 60).trim();
  const found = payloads.filter((payload) => JSON.stringify(payload).includes(phrase)).length;
  if (found !== 1) throw new Error(`${found} payloads have the words "${phrase}"`);
  return phrase;
}

/** Sends the same payloads over HTTP, into a separate session. */
async function recordCatalogue({ credentials }: BenchService): Promise<void> {
  const events = listPayloads().map((payload, index) => ({
    ...payload,
    source: "bench",
    session_id: "catalogue",
    start_time: 1_700_000_000_000 + index,
    end_time: 1_700_000_000_250 + index,
    metadata: { ...payload.metadata, account: "account-0" },
  }));
  const response = await fetch(`${credentials.url}/events/batch`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${credentials.project_api_key}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({ events }),
  });
  if (!response.ok) throw new Error(`the service answered ${response.status}`);
}

// The parent of event n of a session is its event n - n % 10, so that trees have three levels.
async function insertEvents(sql: Sql, projectId: string, events: number): Promise<void> {
  const split = longSessionEvents + payloadSessionEvents;
  await sql`
    with numbered as (
      select n,
        case
          when n < ${longSessionEvents}::integer then 0
          when n < ${split}::integer then 1
          else 2 + (n - ${split}::integer) / ${sessionEvents}::integer
        end as session,
        case
          when n < ${longSessionEvents}::integer then n
          when n < ${split}::integer then n - ${longSessionEvents}::integer
          else (n - ${split}::integer) % ${sessionEvents}::integer
        end as place
      from generate_series(0, ${events}::integer - 1) as n)
    insert into events (
      project_id, event_id, session_id, event_type, event_name, source, parent_id, error,
      start_time_us, end_time_us, config, inputs, outputs, metadata, user_properties)
    select
      ${projectId}::uuid,
      md5('event ' || ${projectId}::text || ' ' || numbered.n)::uuid::text,
      md5('session ' || ${projectId}::text || ' ' || session)::uuid::text,
      payload ->> 'event_type', payload ->> 'event_name', 'bench',
      case
        when place = 0 then md5('session ' || ${projectId}::text || ' ' || session)::uuid::text
        when place % 10 = 0 then
          md5('event ' || ${projectId}::text || ' ' || (numbered.n - place))::uuid::text
        else md5('event ' || ${projectId}::text || ' ' || (numbered.n - place % 10))::uuid::text
      end,
      payload ->> 'error',
      (${firstStartMs}::bigint + numbered.n) * 1000,
      (${firstStartMs}::bigint + 250 + numbered.n) * 1000,
      payload -> 'config', payload -> 'inputs', payload -> 'outputs',
      payload -> 'metadata'
        || jsonb_build_object('account', 'account-' || (numbered.n::bigint * 7919) % 50000),
      payload -> 'user_properties'
    from numbered join bench_payloads on bench_payloads.n = numbered.n % ${payloads}::integer
    order by numbered.n`;
}

async function insertSessions(sql: Sql): Promise<void> {
  await sql`
    insert into session_totals (
      project_id, session_id, num_events, num_model_events, num_errors, num_costs, num_feedback,
      prompt_tokens, completion_tokens, total_tokens, cost)
    select project_id, session_id, count(*), count(*) filter (where event_type = 'model'),
      count(error), count(*), 0, sum((metadata ->> 'prompt_tokens')::numeric),
      sum((metadata ->> 'completion_tokens')::numeric),
      sum((metadata ->> 'total_tokens')::numeric),
      sum((metadata ->> 'cost')::numeric)
    from events
    where event_type <> 'session'
    group by project_id, session_id
    on conflict do nothing`;
  await sql`
    insert into events (
      project_id, event_id, session_id, event_type, event_name, source, start_time_us, end_time_us)
    select project_id, session_id, session_id, 'session', 'agent run', 'bench', min(start_time_us),
      max(end_time_us)
    from events
    where event_type <> 'session'
    group by project_id, session_id
    on conflict do nothing`;
}

/** Returns the id that the SQL above makes from the same text. */
function idOf(text: string): string {
  return formatUuid(createHash("md5").update(text).digest("hex"));
}
