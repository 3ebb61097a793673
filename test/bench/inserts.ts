// The baseline of `bench small`, a separate process: single-row inserts of new events into the
// table `events` of a database of its own, by the service's driver with prepared statements. Takes
// an InsertJob as its argument and prints an InsertResult.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import postgres from "postgres";
import { createRandom, payloadOf } from "./events.ts";

export type InsertJob = {
  readonly url: string;
  readonly connections: number;
  readonly requests: number;
};

export type InsertResult = { readonly seconds: number; readonly p50Ms: number };

/** Runs a job in a process of its own. */
export async function runInserts(job: InsertJob): Promise<InsertResult> {
  const words = [import.meta.filename, JSON.stringify(job)];
  const { stdout } = await promisify(execFile)(process.execPath, words);
  return JSON.parse(stdout) as InsertResult;
}

const projectId = "00000000-0000-4000-8000-000000000001";
const payloadsEach = 32;

async function main({ url, connections, requests }: InsertJob): Promise<InsertResult> {
  const target = new URL(url);
  const host = target.searchParams.get("host") ?? "";
  target.searchParams.delete("host");
  const sql = postgres(target.toString(), { host, max: connections });
  const random = createRandom(1);
  const payloads = Array.from({ length: payloadsEach }, (_, index) =>
    payloadOf(random, index, 2_048),
  );
  const times: number[] = [];
  let sent = 0;
  const insert = async (): Promise<void> => {
    const event = payloads[sent % payloads.length];
    sent += 1;
    if (!event) throw new Error("no payload");
    const id = crypto.randomUUID();
    const startUs = 1_760_000_000_000_000 + sent;
    const begunAt = performance.now();
    await sql`
      insert into events (
        project_id, event_id, session_id, event_type, event_name, source, parent_id,
        start_time_us, end_time_us, duration_ms, config, inputs, outputs, metadata, user_properties
      )
      values (
        ${projectId}, ${id}, ${crypto.randomUUID()}, ${event.event_type}, ${event.event_name},
        'bench', ${id}, ${startUs}, ${startUs + 250_000}, 250, ${sql.json(event.config)},
        ${sql.json(event.inputs)}, ${sql.json(event.outputs)}, ${sql.json(event.metadata)},
        ${sql.json(event.user_properties)}
      )`;
    times.push(performance.now() - begunAt);
  };
  // Each connection prepares the statement once, outside the measured time.
  await Promise.all(Array.from({ length: connections }, insert));
  times.length = 0;
  sent = 0;
  const begunAt = performance.now();
  const work = async (): Promise<void> => {
    while (sent < requests) await insert();
  };
  await Promise.all(Array.from({ length: connections }, work));
  const seconds = (performance.now() - begunAt) / 1_000;
  await sql.end();
  times.sort((a, b) => a - b);
  return { seconds, p50Ms: times[Math.ceil(times.length / 2) - 1] ?? NaN };
}

if (import.meta.main) {
  const result = await main(JSON.parse(process.argv[2] ?? "") as InsertJob);
  process.stdout.write(JSON.stringify(result), () => process.exit(0));
}
