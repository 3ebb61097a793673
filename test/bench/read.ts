// `npm run bench -- read`: reads over HTTP from a project of a million events, beside the time that
// Postgres takes for the same statements.

import type { ProjectId } from "../../src/base/ids.ts";
import type { Database } from "../../src/postgres/database.ts";
import { openDatabase } from "../../src/postgres/database.ts";
import { createExports, type PageRequest } from "../../src/tracing/export/export.ts";
import { createFieldCatalogue } from "../../src/tracing/fields/fields.ts";
import type { Recorder } from "../../src/tracing/events/record.ts";
import { createSessions } from "../../src/tracing/sessions/sessions.ts";
import { fill, type Filled, longSessionEvents, payloadSessionEvents } from "./fill.ts";
import { peakMemoryMb } from "./processes.ts";
import { type BenchService, startService } from "./service.ts";
import { createExplainer } from "./statements.ts";
import { describeMachine, formatTable, median } from "./table.ts";

export type ReadOptions = {
  readonly runs: number;
  readonly events: number;
  readonly nodeFlags: readonly string[];
};

type Read = {
  readonly title: string;
  readonly request: { readonly path: string; readonly body?: object };
  /** Runs the statements that the service sends to Postgres for the read. */
  readonly statements: (database: Database) => Promise<unknown>;
  /** Returns whether the answer is right. */
  readonly check: (answer: string) => boolean;
};

export async function benchRead({ runs, events, nodeFlags }: ReadOptions): Promise<void> {
  console.log(describeMachine());
  const service = await startService(nodeFlags);
  try {
    const begunAt = performance.now();
    const database = openDatabase({ url: service.databaseUrl, statementTimeoutMs: 0 });
    const filled = await fill(database.sql(), service, events);
    await database.close();
    console.log(`filled in ${Math.round((performance.now() - begunAt) / 1_000)} s`);
    const explainer = createExplainer(service.databaseUrl);
    const rows: (string | number)[][] = [];
    for (const read of readsOf(service, filled)) {
      const { medianMs, slowestMs, bytes } = await measure(service, read, runs);
      const postgresMs = await explainer.explain(read.statements, Math.min(3, runs));
      rows.push([read.title, medianMs, slowestMs, postgresMs, bytes / 1e6]);
    }
    await explainer.close();
    const head = ["read", "median ms", "slowest ms", "Postgres ms", "answer MB"];
    console.log(`\n${formatTable(head, rows)}\n`);
    console.log(`peak resident memory of the service: ${await peakMemoryMb(service.pid)} MB`);
  } finally {
    await service.stop();
  }
}

/** Recorder for sessions that only read. */
const noRecorder = {} as Recorder;

/** Measures a read; the first answer warms up and is not counted. */
async function measure(service: BenchService, { request, check, title }: Read, runs: number) {
  const times: number[] = [];
  let bytes = 0;
  for (let run = 0; run <= runs; run += 1) {
    const begunAt = performance.now();
    const response = await fetch(`${service.credentials.url}${request.path}`, {
      ...(request.body && { method: "POST", body: JSON.stringify(request.body) }),
      headers: {
        authorization: `Bearer ${service.credentials.project_api_key}`,
        "content-type": "application/json",
        "accept-encoding": "identity",
      },
    });
    const answer = await response.text();
    const ms = performance.now() - begunAt;
    if (!response.ok || !check(answer)) {
      throw new Error(`${title}: ${response.status} ${answer.slice(0, 500)}`);
    }
    if (run > 0) times.push(ms);
    bytes = answer.length;
  }
  return { medianMs: median(times), slowestMs: Math.max(...times), bytes };
}

function readsOf(service: BenchService, filled: Filled): readonly Read[] {
  const { project_id } = service.credentials;
  const projectId = project_id as ProjectId;
  const page = (
    title: string,
    {
      events,
      ...request
    }: Pick<PageRequest, "filters" | "limit" | "estimates"> & {
      /** Number of the newest events of the project that the dates let through; all if absent. */
      readonly events?: number;
    },
  ): Read => ({
    title,
    request: {
      path: "/v1/events/export",
      body: {
        filters: request.filters,
        limit: request.limit,
        ...(request.estimates === true && { total: "estimate" }),
        ...(events !== undefined && {
          dateRange: { $gte: new Date(filled.endMs - events + 1).toISOString() },
        }),
      },
    },
    statements: (database) =>
      createExports({ database, fields: createFieldCatalogue({ database }) }).getPage(
        projectId,
        {
          ...request,
          fromMs: events === undefined ? [] : [filled.endMs - events + 1],
          toMs: [],
          projections: [],
        },
        { limitMax: 7_500 },
      ),
    check: (answer) => {
      const { events } = JSON.parse(answer) as { events: unknown[] };
      return events.length > 0 && events.length <= (request.limit ?? 0);
    },
  });
  const tree = (
    title: string,
    sessionId: string,
    view: "skeleton" | "full",
    count: number,
  ): Read => ({
    title,
    request: { path: `/v1/sessions/${sessionId}?view=${view}` },
    statements: (database) => {
      const fields = createFieldCatalogue({ database });
      const sessions = createSessions({ database, fields, recorder: noRecorder });
      return view === "full"
        ? sessions.tree(projectId, sessionId)
        : sessions.skeleton(projectId, sessionId);
    },
    check: (answer) => answer.split('"start_time":').length - 1 > count,
  });
  const contains = (field: string, value: string) => ({ field, operator: "contains", value });
  const is = (field: string, value: string | number) => ({ field, operator: "is", value });
  return [
    page("page of 100, a model's calls (1 event in 8)", {
      filters: [is("event_type", "model"), is("config.model", "gpt-4o")],
      limit: 100,
    }),
    page("page of 100, no filter", { filters: [], limit: 100 }),
    page("the same with an estimated total", { filters: [], limit: 100, estimates: true }),
    ...[20_000, 100_000, 1_000_000].map((events) =>
      page(`a text contains a phrase, dates of ${events.toLocaleString("en")} events`, {
        filters: [contains("any_text", filled.phrase)],
        limit: 100,
        events,
      }),
    ),
    page("the same, total estimated", {
      filters: [contains("any_text", filled.phrase)],
      limit: 100,
      events: 1_000_000,
      estimates: true,
    }),
    page("selective metadata filter (about 20 events)", {
      filters: [is("metadata.account", filled.customer)],
      limit: 100,
    }),
    page("count of errors (limit 1)", {
      filters: [{ field: "error", operator: "exists", value: undefined }],
      limit: 1,
    }),
    tree(
      "session of 100,000 events, skeleton",
      filled.longSessionId,
      "skeleton",
      longSessionEvents,
    ),
    tree(
      "session of 5,000 events, payloads",
      filled.payloadSessionId,
      "full",
      payloadSessionEvents,
    ),
  ];
}
