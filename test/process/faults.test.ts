// kill -9 of the service, of Postgres and of both, in the middle of batches, spans, single events
// and updates: acknowledged data is there once, no batch is there by half, and totals are exact.
// Source: docs/decisions.md, 7.

import { createUuid } from "../../src/base/ids.ts";
import { describe, expect, test, vi } from "vitest";
import { findRunningPostgres } from "../../src/embedded/postgres.ts";
import { openDatabase } from "../../src/postgres/database.ts";
import { createRandom } from "../bench/events.ts";
import { printFinding } from "../support/findings.ts";
import { listWrongTotals } from "../support/load.ts";
import { patience } from "../support/patience.ts";
import {
  findPostmaster,
  givenADataFolder,
  type Process,
  readCredentials,
  startOnce,
} from "../support/process.ts";

/** KILL_ROUNDS raises it for longer runs; three kill each target once. */
const rounds = Number(process.env["KILL_ROUNDS"] ?? 3);
/** PROOF_SEED repeats the numbers of writes before the kills; their moments still differ. */
const seed = Number(process.env["PROOF_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
const writersPerRound = 8;
const eventsPerBatch = 50;
const spansPerExport = 20;

type Target = "the service" | "Postgres" | "both";
const targets: readonly Target[] = ["the service", "Postgres", "both"];

/** Events of one request, and of the updates of it. */
type Batch = {
  readonly id: string;
  readonly eventIds: readonly string[];
  isAcknowledged: boolean;
  readonly isOfSpans?: true;
  /** Acknowledged tokens of an update of the only event. */
  tokens?: number;
};

type Client = { readonly url: string; readonly key: string };

function send({ url, key }: Client, method: string, path: string, body: unknown) {
  return fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(10_000),
  });
}

/** Returns an export of spans by their event ids, in a session of its own. */
function toExport(batch: string, round: number, eventIds: readonly string[]) {
  const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
  const digits = batch.replaceAll("-", "");
  const spans = eventIds.map((eventId, index) => ({
    traceId: digits,
    spanId: `${digits.slice(0, 14)}${(index + 16).toString(16)}`,
    name: "step",
    startTimeUnixNano: `${Date.now()}000000`,
    endTimeUnixNano: `${Date.now() + 1}000000`,
    attributes: [
      text("honeyhive.event_id", eventId),
      text("batch", batch),
      text("round", `r${round}`),
      { key: "gen_ai.usage.total_tokens", value: { intValue: "1" } },
    ],
  }));
  return { resourceSpans: [{ scopeSpans: [{ spans }] }] };
}

/**
 * Writes a batch, an export of spans, a single event, and an update of it in turn; single events
 * share a session.
 */
async function writeUntil(stop: AbortSignal, client: Client, round: number, batches: Batch[]) {
  const singles = createUuid();
  const toEvent = (event_id: string, batch: string, session_id: string) => ({
    event_id,
    session_id,
    event_type: "tool",
    source: "faults",
    inputs: { text: "x".repeat(500) },
    metadata: { batch, round: `r${round}`, total_tokens: 1 },
  });
  const isStored = async (method: string, path: string, body: unknown): Promise<boolean> => {
    // Where the connection broke the batch may or may not be there, but never by half.
    const response = await send(client, method, path, body).catch(() => undefined);
    return response?.status === 200;
  };
  while (!stop.aborted) {
    const id = createUuid();
    const eventIds = Array.from({ length: eventsPerBatch }, () => createUuid());
    const batch: Batch = { id, eventIds, isAcknowledged: false };
    batches.push(batch);
    const events = eventIds.map((eventId) => toEvent(eventId, id, id));
    batch.isAcknowledged = await isStored("POST", "/events/batch", { events });

    const spans: Batch = {
      id: createUuid(),
      eventIds: Array.from({ length: spansPerExport }, () => createUuid()),
      isAcknowledged: false,
      isOfSpans: true,
    };
    batches.push(spans);
    const request = toExport(spans.id, round, spans.eventIds);
    spans.isAcknowledged = await isStored("POST", "/v1/traces", request);

    const event = toEvent(createUuid(), createUuid(), singles);
    const single: Batch = {
      id: event.metadata.batch,
      eventIds: [event.event_id],
      isAcknowledged: false,
    };
    batches.push(single);
    single.isAcknowledged = await isStored("POST", "/events", { event });
    if (!single.isAcknowledged) continue;
    const update = { event_id: event.event_id, metadata: { total_tokens: 3 } };
    if (await isStored("PUT", "/events", update)) single.tokens = 3;
  }
}

async function kill(target: Target, service: Process, folder: string): Promise<void> {
  const postmaster = await findPostmaster(folder);
  if (target !== "the service" && postmaster !== undefined) process.kill(postmaster, "SIGKILL");
  if (target !== "Postgres") service.kill("SIGKILL");
}

type Found = { readonly event_id: string; readonly metadata: Readonly<Record<string, unknown>> };

/** Every event of the round, by batch; read again until the database is back. */
async function readBatches(client: Client, round: number): Promise<Map<string, Found[]>> {
  const filters = [{ field: "metadata.round", operator: "is", value: `r${round}` }];
  return vi.waitUntil(
    async () => {
      const response = await send(client, "POST", "/v1/events/stream", { filters }).catch(
        () => undefined,
      );
      if (response?.status !== 200) return undefined;
      const lines = (await response.text()).trim().split("\n");
      const end = JSON.parse(lines.pop() ?? "{}") as { done?: boolean; count?: number };
      if (end.done !== true || end.count !== lines.length) return undefined;
      const found = new Map<string, Found[]>();
      for (const line of lines) {
        const event = JSON.parse(line) as Found;
        const batch = String(event.metadata["batch"]);
        found.set(batch, [...(found.get(batch) ?? []), event]);
      }
      return found;
    },
    { ...patience, interval: 100 },
  );
}

async function readWrongTotals(folder: string): Promise<readonly unknown[]> {
  const url = await findRunningPostgres(folder);
  if (url === undefined) throw new Error("the embedded Postgres is not running");
  const database = openDatabase({ url, connectionsMax: 1 });
  try {
    return await listWrongTotals(database);
  } finally {
    await database.close();
  }
}

describe("kill -9 during writes", () => {
  test(
    "loses nothing acknowledged and leaves no half batch",
    { timeout: 300_000 + rounds * 15_000 },
    async () => {
      const folder = await givenADataFolder();
      // Without a supervisor, whose pauses would grow with each round.
      let service = await startOnce(folder);
      const counts = { acknowledged: 0, batches: 0, exports: 0, events: 0, updates: 0 };
      const random = createRandom(seed);

      for (let round = 0; round < rounds; round += 1) {
        const credentials = await readCredentials(folder);
        const client = { url: credentials.url, key: credentials.project_api_key };
        const target = targets[round % targets.length] ?? "both";
        const batches: Batch[] = [];
        const stop = new AbortController();
        const writers = Array.from({ length: writersPerRound }, () =>
          writeUntil(stop.signal, client, round, batches),
        );
        // The kill comes in the middle of writes, at another point of them each round, and after an
        // update.
        const enough = 2 + random(30);
        const isTime = (): boolean =>
          batches.filter((batch) => batch.isAcknowledged).length >= enough &&
          batches.some((batch) => batch.tokens !== undefined);
        await vi.waitUntil(isTime, { ...patience, interval: 1 });
        await kill(target, service, folder);
        stop.abort();
        await Promise.all(writers);
        if (target !== "Postgres") {
          await service.ended();
          service = await startOnce(folder);
        }

        const { url } = await readCredentials(folder);
        const found = await readBatches({ ...client, url }, round);

        for (const { id, eventIds, isAcknowledged, tokens } of batches) {
          const events = found.get(id) ?? [];
          if (!isAcknowledged && events.length === 0) continue;
          const got = events.map(({ event_id }) => event_id).toSorted();
          expect({ target, round, got }).toEqual({ target, round, got: eventIds.toSorted() });
          if (tokens !== undefined) expect(events[0]?.metadata["total_tokens"]).toBe(tokens);
        }
        expect(await readWrongTotals(folder)).toEqual([]);
        const acknowledged = batches.filter((batch) => batch.isAcknowledged);
        for (const { eventIds, tokens, isOfSpans } of acknowledged) {
          counts.acknowledged += 1;
          counts.events += eventIds.length;
          if (isOfSpans) counts.exports += 1;
          else if (eventIds.length > 1) counts.batches += 1;
          if (tokens !== undefined) counts.updates += 1;
        }
      }

      expect(counts.acknowledged).toBeGreaterThanOrEqual(rounds * 2);
      printFinding({ seed, rounds, ...counts });
    },
  );
});
