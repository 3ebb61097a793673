// `npm run bench -- charts`: charts over HTTP on a project of a million events among five million,
// beside the time that Postgres takes for the same statements, and beside DuckDB on the same rows.

import { DuckDBInstance } from "@duckdb/node-api";
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { ProjectId } from "../../src/base/ids.ts";
import { type Database, openDatabase, type Sql } from "../../src/postgres/database.ts";
import type { ChartRequest } from "../../src/tracing/charts/chart-query.ts";
import { createCharts } from "../../src/tracing/charts/charts.ts";
import { createFieldCatalogue } from "../../src/tracing/fields/fields.ts";
import { dropIndexes } from "./indexes.ts";
import { type BenchService, startService } from "./service.ts";
import { createExplainer } from "./statements.ts";
import { describeMachine, formatTable, median, percentile, printAim } from "./table.ts";

export type ChartsOptions = {
  readonly runs: number;
  /** Events of the project; four other projects have as many each. */
  readonly events: number;
  readonly nodeFlags: readonly string[];
};

const otherProjects = 4;
const startMs = 1_760_000_000_000;
const days = 30;
const users = 50_000;
const dayMs = 86_400_000;
/** Greatest p95 that is aimed at, in milliseconds and as a multiple of DuckDB's p95. */
const aimMs = 100;
const aimFactor = 1.5;

export async function benchCharts({ runs, events, nodeFlags }: ChartsOptions): Promise<void> {
  console.log(describeMachine());
  const service = await startService(nodeFlags);
  try {
    const { project_id: projectId } = service.credentials;
    const database = openDatabase({ url: service.databaseUrl, statementTimeoutMs: 0 });
    const begunAt = performance.now();
    await recordCatalogue(service);
    const sql = database.sql();
    await fill(database, projectId, events);
    console.log(`filled in ${Math.round((performance.now() - begunAt) / 1_000)} s`);
    const peer = await openPeer(sql, projectId, service.folder);
    await database.close();
    const explainer = createExplainer(service.databaseUrl);
    const rows: (string | number)[][] = [];
    const aims: (readonly [title: string, isMet: boolean])[] = [];
    for (const chart of charts) {
      const times = await measure(service, chart, runs);
      const postgresMs = await explainer.explain((connection) => {
        const fields = createFieldCatalogue({ database: connection });
        const request = { ...chart.request, ...range, filters: models };
        return createCharts({ database: connection, fields }).query(
          projectId as ProjectId,
          request,
        );
      }, 1);
      const duckTimes = await peer.measure(chart.duckSql, runs);
      const own = [median(times), percentile(times, 0.95)] as const;
      const duck = [median(duckTimes), percentile(duckTimes, 0.95)] as const;
      console.log(`${chart.title}: p95 ${own[1]} ms, DuckDB ${duck[1]} ms`);
      rows.push([chart.title, ...own, postgresMs, ...duck, own[1] / duck[1]]);
      aims.push([chart.title, own[1] <= aimMs && own[1] <= aimFactor * duck[1]]);
    }
    peer.close();
    await explainer.close();
    console.log(`\n${events} events of ${events * (otherProjects + 1)}, ${runs} answers each`);
    const duckHead = ["DuckDB p50 ms", "DuckDB p95 ms", "p95 ÷ DuckDB p95"];
    const head = ["chart", "p50 ms", "p95 ms", "Postgres ms", ...duckHead];
    console.log(formatTable(head, rows));
    for (const [title, isMet] of aims) {
      printAim(`${title}: p95 of at most ${aimMs} ms and ${aimFactor} times DuckDB's`, isMet);
    }
  } finally {
    await service.stop();
  }
}

type Chart = {
  readonly title: string;
  readonly request: Pick<ChartRequest, "kind" | "measures" | "unit" | "splitBy" | "splitLimit">;
  readonly duckSql: string;
};

const models = [{ field: "event_type", operator: "is", value: "model" }];
const range = { startTimeMs: startMs, endTimeMs: startMs + days * dayMs };

const charts: readonly Chart[] = [
  {
    title: "cost by hour and model: average, sum",
    request: {
      kind: "time_series",
      unit: "hour",
      splitBy: "model",
      measures: [
        { metric: "cost", aggregation: "avg" },
        { id: "sum", metric: "cost", aggregation: "sum" },
      ],
    },
    duckSql: `select date_trunc('hour', start_time), model, avg(cost), sum(cost)
      from events where event_type = 'model' group by all`,
  },
  {
    title: "p95 of duration by day",
    request: {
      kind: "time_series",
      unit: "day",
      measures: [{ metric: "duration", aggregation: "p95" }],
    },
    duckSql: `select date_trunc('day', start_time), quantile_cont(duration, 0.95)
      from events where event_type = 'model' group by all`,
  },
  {
    title: "top 10 users by cost",
    request: {
      kind: "table",
      splitBy: "metadata.account",
      splitLimit: 10,
      measures: [{ metric: "cost", aggregation: "sum" }],
    },
    duckSql: `select account, sum(cost) as cost
      from events where event_type = 'model' group by account order by cost desc limit 10`,
  },
  {
    title: "tokens in all",
    request: {
      kind: "scalar",
      measures: ["total_tokens", "prompt_tokens", "completion_tokens"].map((metric) => ({
        id: metric,
        metric,
        aggregation: "sum",
      })),
    },
    duckSql: `select sum(total_tokens), sum(prompt_tokens), sum(completion_tokens)
      from events where event_type = 'model'`,
  },
];

/** Sends one event over HTTP, so that the catalogue has the fields. */
async function recordCatalogue({ credentials }: BenchService): Promise<void> {
  const metadata = {
    cost: 0.25,
    total_tokens: 3,
    prompt_tokens: 2,
    completion_tokens: 1,
    account: "user-0",
  };
  const event = { event_type: "model", event_name: "call", source: "bench", inputs: {}, metadata };
  const config = { model: "model-0" };
  await post(credentials, "/events", { event: { ...event, config, start_time: 1_000 } });
}

async function post(
  { url, project_api_key: key }: BenchService["credentials"],
  path: string,
  body: object,
): Promise<string> {
  const response = await fetch(url + path, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "accept-encoding": "identity",
    },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text.slice(0, 500)}`);
  return text;
}

const textsMax = 1_000;

/** Stores the events of all projects, two at a time, and builds the indexes at the end. */
async function fill(database: Database, projectId: string, events: number): Promise<void> {
  const sql = database.sql();
  const indexes = await dropIndexes(sql, "events");
  await sql`
    create table bench_texts as
    select place, (
      select string_agg(md5(place::text || part), '') from generate_series(1, 24) as part) as text
    from generate_series(0, ${textsMax}::integer - 1) as place`;
  const projects = [projectId, ...Array.from({ length: otherProjects }, () => randomUUID())];
  const fillNext = async (): Promise<void> => {
    for (let next = projects.shift(); next !== undefined; next = projects.shift()) {
      await insertEvents(sql, next, events);
    }
  };
  await Promise.all([fillNext(), fillNext()]);
  await database.transaction(async (own) => {
    await own`set local maintenance_work_mem = '512MB'`;
    for (const definition of indexes) await own.unsafe(definition);
  });
  await sql`drop table bench_texts`;
  await sql`vacuum (analyze) events`;
  await sql`checkpoint`;
}

/** Nine of ten events are calls of models; each event has about a kilobyte. */
async function insertEvents(sql: Sql, projectId: string, events: number): Promise<void> {
  await sql`
    insert into events (
      project_id, event_id, session_id, event_type, event_name, source, start_time_us, end_time_us,
      duration_ms, config, inputs, metadata)
    select
      ${projectId}::uuid, md5(${projectId}::text || n)::uuid::text, 'session ' || n / 50,
      case when n % 10 = 0 then 'tool' else 'model' end, 'call', 'bench',
      ${startMs * 1_000}::bigint + n * ${Math.floor((days * dayMs * 1_000) / events)}::bigint,
      null, (hashint4(n) & 65535)::double precision / 16,
      jsonb_build_object('model', 'model-' || hashint4(n) % 8),
      jsonb_build_object('text', bench_texts.text),
      jsonb_build_object(
        'cost', ((hashint4(n) & 1023) + 1)::double precision / 100000,
        'total_tokens', 300 + n % 700, 'prompt_tokens', 200 + n % 500,
        'completion_tokens', 100 + n % 200,
        'account', 'user-' || (n::bigint * 7919) % ${users}::bigint)
    from generate_series(0, ${events}::integer - 1) as n
    join bench_texts on place = n % ${textsMax}::integer`;
}

/** Measures the answers to a chart in milliseconds; the first two warm up and are not counted. */
async function measure(
  { credentials }: BenchService,
  { request }: Chart,
  runs: number,
): Promise<number[]> {
  const { kind, measures, unit, splitBy, splitLimit } = request;
  const body = {
    date_range: { start_time: range.startTimeMs, end_time: range.endTimeMs },
    filters: models,
    query: {
      kind,
      measures,
      split_by: splitBy,
      ...(unit !== undefined && { bucket: { unit } }),
      ...(splitLimit !== undefined && { split_ranking: { limit: splitLimit } }),
    },
  };
  const times: number[] = [];
  for (let run = -2; run < runs; run += 1) {
    const begunAt = performance.now();
    const text = await post(credentials, "/v1/charts/query", body);
    if (run >= 0) times.push(performance.now() - begunAt);
    const { data } = JSON.parse(text) as { data: { meta: { matched_event_count: number } } };
    if (data.meta.matched_event_count === 0) throw new Error("the chart is about no event");
  }
  return times;
}

/** Loads the narrow columns of the project into DuckDB, on two threads. */
async function openPeer(sql: Sql, projectId: string, folder: string) {
  const path = join(folder, "postgres/peer.csv");
  // Written by Postgres itself, in the only folder that is its own.
  await sql.unsafe(`
    copy (
      select
        to_timestamp(start_time_us / 1000000.0) at time zone 'UTC' as start_time, event_type,
        model, duration_ms as duration, (metadata ->> 'cost')::double precision as cost,
        (metadata ->> 'total_tokens')::bigint as total_tokens,
        (metadata ->> 'prompt_tokens')::bigint as prompt_tokens,
        (metadata ->> 'completion_tokens')::bigint as completion_tokens,
        metadata ->> 'account' as account
      from events where project_id = '${projectId}'
    ) to '${path}' (format csv, header)`);
  const instance = await DuckDBInstance.create(":memory:", { threads: "2" });
  const connection = await instance.connect();
  await connection.run(`create table events as select * from read_csv('${path}')`);
  await rm(path, { force: true });
  return {
    async measure(text: string, runs: number): Promise<number[]> {
      const times: number[] = [];
      for (let run = -2; run < runs; run += 1) {
        const begunAt = performance.now();
        await connection.runAndReadAll(text);
        if (run >= 0) times.push(performance.now() - begunAt);
      }
      return times;
    },
    close: () => connection.closeSync(),
  };
}
