// kill -9 of the service, of Postgres and of both, in the middle of batches: what was acknowledged
// is there once, and no batch is there by half. Source: docs/decisions.md, 7.

import { createUuid } from "../../src/base/ids.ts";
import { describe, expect, test, vi } from "vitest";
import {
  findPostmaster,
  givenADataFolder,
  type Process,
  readCredentials,
  startOnce,
} from "../support/process.ts";

const rounds = 20;
const writersPerRound = 4;
const eventsPerBatch = 50;

type Target = "the service" | "Postgres" | "both";
const targets: readonly Target[] = ["the service", "Postgres", "both"];

type Batch = { readonly id: string; readonly eventIds: readonly string[]; isAcknowledged: boolean };

type Client = { readonly url: string; readonly key: string };

function post({ url, key }: Client, path: string, body: unknown): Promise<Response> {
  return fetch(url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(10_000),
  });
}

async function writeUntil(stop: AbortSignal, client: Client, round: number, batches: Batch[]) {
  while (!stop.aborted) {
    const id = createUuid();
    const eventIds = Array.from({ length: eventsPerBatch }, () => createUuid());
    const batch: Batch = { id, eventIds, isAcknowledged: false };
    batches.push(batch);
    const events = eventIds.map((event_id) => ({
      event_id,
      session_id: id,
      event_type: "tool",
      source: "faults",
      inputs: { text: "x".repeat(500) },
      metadata: { batch: id, round: `r${round}` },
    }));
    try {
      const response = await post(client, "/events/batch", { events });
      batch.isAcknowledged = response.status === 200;
    } catch {
      // The connection broke: the batch may or may not be there, but never by half.
    }
  }
}

async function kill(target: Target, service: Process, folder: string): Promise<void> {
  const postmaster = await findPostmaster(folder);
  if (target !== "the service" && postmaster !== undefined) process.kill(postmaster, "SIGKILL");
  if (target !== "Postgres") service.kill("SIGKILL");
}

/** Every event of the round, by batch; read again until the database is back. */
async function readBatches(client: Client, round: number): Promise<Map<string, string[]>> {
  const filters = [{ field: "metadata.round", operator: "is", value: `r${round}` }];
  return vi.waitUntil(
    async () => {
      const response = await post(client, "/v1/events/stream", { filters }).catch(() => undefined);
      if (response?.status !== 200) return undefined;
      const lines = (await response.text()).trim().split("\n");
      const end = JSON.parse(lines.pop() ?? "{}") as { done?: boolean; count?: number };
      if (end.done !== true || end.count !== lines.length) return undefined;
      const found = new Map<string, string[]>();
      for (const line of lines) {
        const event = JSON.parse(line) as { event_id: string; metadata: { batch: string } };
        const ids = found.get(event.metadata.batch) ?? [];
        found.set(event.metadata.batch, [...ids, event.event_id]);
      }
      return found;
    },
    { timeout: 30_000, interval: 100 },
  );
}

describe("kill -9 during batches", () => {
  test("loses nothing acknowledged and leaves no half batch", { timeout: 300_000 }, async () => {
    const folder = await givenADataFolder();
    // Without a supervisor, whose pauses would grow with each round.
    let service = await startOnce(folder);
    let acknowledged = 0;

    for (let round = 0; round < rounds; round += 1) {
      const credentials = await readCredentials(folder);
      const client = { url: credentials.url, key: credentials.project_api_key };
      const target = targets[round % targets.length] ?? "both";
      const batches: Batch[] = [];
      const stop = new AbortController();
      const writers = Array.from({ length: writersPerRound }, () =>
        writeUntil(stop.signal, client, round, batches),
      );
      // The kill comes in the middle of batches, at another point of them each round.
      const enough = 2 + Math.floor(Math.random() * 12);
      await vi.waitUntil(() => batches.filter((batch) => batch.isAcknowledged).length >= enough, {
        timeout: 30_000,
        interval: 1,
      });
      await kill(target, service, folder);
      stop.abort();
      await Promise.all(writers);
      if (target !== "Postgres") {
        await service.ended();
        service = await startOnce(folder);
      }

      const { url } = await readCredentials(folder);
      const found = await readBatches({ ...client, url }, round);

      for (const { id, eventIds, isAcknowledged } of batches) {
        const got = found.get(id)?.toSorted() ?? [];
        if (isAcknowledged || got.length > 0) {
          expect({ target, round, got }).toEqual({ target, round, got: eventIds.toSorted() });
        }
      }
      acknowledged += batches.filter((batch) => batch.isAcknowledged).length;
    }

    expect(acknowledged).toBeGreaterThanOrEqual(rounds * 2);
  });
});
