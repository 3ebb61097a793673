// The service with its workflows: metrics over its API, and their scores in its database.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Database, openDatabase } from "../../src/postgres/database.ts";
import { openTemporalFolder } from "../../src/embedded/temporal-folder.ts";
import type { LoadResult } from "./generator.ts";
import { type LoadName, loads } from "./loads.ts";
import { cpuSecondsOf, cpuSecondsOfTree } from "./processes.ts";
import { runLoad } from "./run-load.ts";
import { type BenchService, startService } from "./service.ts";
import { firstStartMs } from "./template.ts";

/** Range of event numbers, which determine the start times. */
export type EventRange = { readonly first: number; readonly events: number };

export type MadeMetric = { readonly id: string; readonly name: string };

/** Processor seconds by process. */
export type Cpu = {
  /** Service, including the worker, which runs in the same process. */
  readonly service: number;
  readonly postgres: number;
  readonly temporal: number;
  readonly sandboxes: number;
};

export const cpuHead = ["service", "Postgres", "Temporal", "sandboxes"];

/** Returns the columns of `cpuHead`, rounded to hundredths as the kernel counts. */
export function listCpu({ service, postgres, temporal, sandboxes }: Cpu): number[] {
  const seconds = [service, postgres, temporal, sandboxes];
  return seconds.map((used) => Math.round(used * 100) / 100);
}

export type Scoring = {
  readonly service: BenchService;
  readonly database: Database;
  /** Reserves numbers for events to send. */
  take(events: number): EventRange;
  /** Sends whole requests of a load with at least `events` events, as `bench ingest` does. */
  load(load: LoadName, events: number): Promise<LoadResult & { readonly range: EventRange }>;
  /** Calls a route, such as `GET /v1/metrics`; throws unless it answers 200. */
  call(route: string, body?: unknown): Promise<Record<string, unknown>>;
  /** Creates a metric with the trivial evaluator. */
  make(fields?: Readonly<Record<string, unknown>>): Promise<MadeMetric>;
  cpu(): Promise<Cpu>;
  stop(): Promise<void>;
};

/** Evaluator of all these benches. */
export const evaluatorCode = 'def evaluate(event):\n    return len(event["outputs"]["content"])\n';

/** Excludes the sessions of the events, which have no outputs. */
const filters = {
  filterArray: [{ field: "event_type", operator: "is not", value: "session", type: "string" }],
};

const connections = 8;
const workflowsTimeoutMs = 120_000;

/** Starts the service and waits until its workflows run. */
export async function startScoring(nodeFlags: readonly string[]): Promise<Scoring> {
  const service = await startService(nodeFlags, ["--workflows", "on"]);
  const database = openDatabase({
    url: service.databaseUrl,
    connectionsMax: 2,
    statementTimeoutMs: 0,
  });
  const stop = async (): Promise<void> => {
    await database.close();
    await service.stop();
  };
  try {
    await workflowsRun(service);
    const { pidPath } = await openTemporalFolder(service.folder);
    const temporalPid = Number(await readFile(pidPath, "utf8"));
    return composeScoring({ service, temporalPid, database, stop });
  } catch (error) {
    await stop();
    throw error;
  }
}

function composeScoring({
  service,
  temporalPid,
  database,
  stop,
}: Pick<Scoring, "service" | "database" | "stop"> & { readonly temporalPid: number }): Scoring {
  const { url, project_api_key: key } = service.credentials;
  let sent = 0;
  let made = 0;

  function take(events: number): EventRange {
    sent += events;
    return { first: sent - events, events };
  }

  async function call(route: string, body?: unknown): Promise<Record<string, unknown>> {
    const [method = "", path = ""] = route.split(" ");
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${route}: ${response.status}: ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  }

  return {
    service,
    database,
    take,
    call,
    stop,
    async load(load, events) {
      const requests = Math.ceil(events / loads[load].events);
      const range = take(requests * loads[load].events);
      const job = { load, url, key, connections, requests, firstEvent: range.first };
      return { ...(await runLoad(job)), range };
    },
    async make(fields = {}) {
      made += 1;
      const name = `length ${made}`;
      const metric = { name, type: "PYTHON", criteria: evaluatorCode, filters };
      const all = { sampling_percentage: 100 };
      const answer = await call("POST /v1/metrics", { ...metric, ...all, ...fields });
      return { id: String(answer["metric_id"]), name };
    },
    async cpu() {
      const { pid, postgresPid } = service;
      const [own, tree, postmaster, postgres, temporal] = await Promise.all([
        cpuSecondsOf(pid),
        cpuSecondsOfTree(pid),
        cpuSecondsOf(postgresPid),
        cpuSecondsOfTree(postgresPid),
        cpuSecondsOf(temporalPid),
      ]);
      // All are children of the service; its tree does not include grandchildren.
      return { service: own, postgres, temporal, sandboxes: tree - own - postmaster - temporal };
    },
  };
}

/** Returns the processor seconds between two measurements. */
export function cpuBetween(before: Cpu, after: Cpu): Cpu {
  return {
    service: after.service - before.service,
    postgres: after.postgres - before.postgres,
    temporal: after.temporal - before.temporal,
    sandboxes: after.sandboxes - before.sandboxes,
  };
}

async function workflowsRun({ folder }: BenchService): Promise<void> {
  const deadline = Date.now() + workflowsTimeoutMs;
  for (;;) {
    const output = await readFile(join(folder, "service.log"), "utf8");
    if (output.includes("Temporal is reached; workflows run")) return;
    if (output.includes("no Temporal: ") || Date.now() > deadline) {
      throw new Error(`no workflows run: ${output.slice(-2_000)}`);
    }
    await delay(100);
  }
}

/** Returns the bounds of start times: from inclusive, to exclusive. */
export function microsecondsOf({ first, events }: EventRange): { fromUs: number; toUs: number } {
  const fromUs = (firstStartMs + first) * 1_000;
  return { fromUs, toUs: fromUs + events * 1_000 };
}
