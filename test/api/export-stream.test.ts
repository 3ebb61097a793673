// POST /v1/events/stream over real sockets: JSON Lines, Parquet, and clients that go.
// Source: docs/decisions.md, 15.2.

import { parquetReadObjects } from "hyparquet";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { givenStarted } from "../support/given.ts";
import { startService } from "../support/service.ts";
import { patience } from "../support/patience.ts";

const eventCount = 1_200;
const service = givenStarted(startService);

beforeAll(async () => {
  for (let sent = 0; sent < eventCount; sent += 300) {
    const events = Array.from({ length: 300 }, (_, index) => ({
      event_id: `e${String(sent + index).padStart(5, "0")}`,
      session_id: "s",
      event_type: "tool",
      source: "test",
      inputs: { text: "x".repeat(2_000) },
      start_time: 1_700_000_000_000 + sent + index,
    }));
    const response = await post("/events/batch", { events });
    expect(response.status).toBe(200);
  }
});

function post(path: string, body: unknown, init: RequestInit = {}): Promise<Response> {
  return fetch(service.url + path, {
    ...init,
    method: "POST",
    headers: {
      authorization: `Bearer ${service.projectKey}`,
      "content-type": "application/json",
      ...(init.headers as Record<string, string> | undefined),
    },
    body: JSON.stringify(body),
  });
}

const onlyTools = { filters: [{ field: "event_type", operator: "is", value: "tool" }] };

describe("POST /v1/events/stream", () => {
  test("sends every event, newest first, and closes with the count", async () => {
    const response = await post("/v1/events/stream", onlyTools);
    const lines = (await response.text()).trim().split("\n");

    expect(response.headers.get("content-type")).toBe("application/x-ndjson");
    expect(JSON.parse(lines.at(-1) ?? "")).toEqual({ done: true, count: eventCount });
    const ids = lines
      .slice(0, -1)
      .map((line) => (JSON.parse(line) as { event_id: string }).event_id);
    expect(ids).toEqual(ids.toSorted().toReversed());
    expect(new Set(ids).size).toBe(eventCount);
  });

  test("sends Parquet to who accepts it", async () => {
    const accept = { headers: { accept: "application/vnd.apache.parquet" } };
    const response = await post("/v1/events/stream", onlyTools, accept);
    const file = await response.arrayBuffer();
    const rows = await parquetReadObjects({ file });

    expect(response.headers.get("content-type")).toBe("application/vnd.apache.parquet");
    expect(rows).toHaveLength(eventCount);
    expect(rows[0]).toMatchObject({ event_id: "e01199", session_id: "s" });
  });

  test.each([
    { projections: [], want: "[]" },
    { projections: ["children_ids"], want: "[]" },
    { projections: ["source"], want: null },
  ])("Parquet holds children_ids where asked for: $projections", async ({ projections, want }) => {
    const accept = { headers: { accept: "application/vnd.apache.parquet" } };
    const response = await post("/v1/events/stream", { ...onlyTools, projections }, accept);
    const [row] = await parquetReadObjects({ file: await response.arrayBuffer() });

    expect(row?.["children_ids"]).toBe(want);
  });

  const parquet = "application/vnd.apache.parquet";
  const jsonLines = "application/x-ndjson";
  test.each([
    { accept: `${parquet};q=0`, want: jsonLines },
    { accept: `${parquet};q=0, */*`, want: jsonLines },
    { accept: `${parquet};q=0.5, ${jsonLines}`, want: jsonLines },
    { accept: `${parquet}; q=0.5, */*;q=0.8`, want: jsonLines },
    { accept: `${jsonLines};q=0.4, ${parquet};q=0.5`, want: parquet },
    { accept: `${jsonLines};q=0.4, ${parquet};q=0.5, */*`, want: parquet },
    { accept: `text/csv, Application/Vnd.Apache.Parquet, */*`, want: parquet },
    { accept: "*/*", want: jsonLines },
  ])("answers Accept: $accept by its weights", async ({ accept, want }) => {
    const response = await post("/v1/events/stream", onlyTools, { headers: { accept } });
    await response.body?.cancel();
    expect(response.headers.get("content-type")).toBe(want);
  });

  test("stops reading when the client goes, and frees its place", async () => {
    for (let round = 0; round < 8; round += 1) {
      const gone = new AbortController();
      const response = await post("/v1/events/stream", onlyTools, { signal: gone.signal });
      await response.body?.getReader().read();
      gone.abort();
    }

    // A project may have four streams: a ninth is served only if the eight have ended.
    await vi.waitFor(async () => {
      const response = await post("/v1/events/stream", onlyTools);
      expect((await response.text()).endsWith(`"count":${eventCount}}\n`)).toBe(true);
    }, patience);
    const sql = service.database.sql();
    const readOpen = () => sql`
      select pid from pg_stat_activity
      where datname = current_database() and state like 'idle in transaction%'`;
    await expect.poll(readOpen, patience).toHaveLength(0);
  });

  test("ends without its last line soon after its key is revoked", async () => {
    const inputs = { text: "x".repeat(200_000) };
    const large = Array.from({ length: 150 }, () => ({
      event_type: "chain",
      source: "large",
      inputs,
    }));
    // More than the buffers of a connection hold, on any machine.
    for (let batch = 0; batch < 4; batch += 1) await post("/events/batch", { events: large });
    const keys = `/v1/projects/${service.projectId}/ro_project_api_keys`;
    const byOwner = { headers: { authorization: `Bearer ${service.dataPlaneKey}` } };
    const made = (await (await post(keys, { name: "to be revoked" }, byOwner)).json()) as {
      data: { key_id: string; key_value: string };
    };
    const byKey = { headers: { authorization: `Bearer ${made.data.key_value}` } };
    const onlyLarge = { filters: [{ field: "source", operator: "is", value: "large" }] };

    const response = await post("/v1/events/stream", onlyLarge, byKey);
    const startedAtMs = Date.now();
    const revoked = await post(`${keys}/${made.data.key_id}/revoke`, {}, byOwner);
    await expect.poll(() => Date.now() - startedAtMs, patience).toBeGreaterThan(1_000);
    const text = response.text();

    expect([response.status, revoked.status]).toEqual([200, 200]);
    await expect(text).rejects.toThrow("terminated");
  });

  test("a bad filter is a 400 before anything is sent", async () => {
    const filters = [{ field: "nowhere", operator: "is", value: "x" }];
    const response = await post("/v1/events/stream", { filters });

    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ errorCode: "INVALID_FILTER" });
  });
});
