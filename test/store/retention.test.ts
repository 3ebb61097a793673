// Deletion of old sessions beside writers and faults, on a real database.

import { parquetReadObjects } from "hyparquet";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createUuid } from "../../src/base/ids.ts";
import type { FileStore } from "../../src/tracing/retention/file-store.ts";
import { listRuns, putRetention } from "../../src/tracing/retention/store.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { givenADeletion as givenADeletionIn } from "../support/retention.ts";

let own: TestDatabase;
beforeEach(async () => {
  own = await createTestDatabase();
});
afterEach(() => own.drop());

const dayMs = 86_400_000;

function givenADeletion(put: FileStore["put"], sessions?: readonly string[]) {
  return givenADeletionIn(own.database, { files: { put }, sessions });
}

async function drain(bytes: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of bytes);
}

test("a session that changes after its file is written is kept for the next run", async () => {
  const { step, ids, events, projectId } = await givenADeletion(async (_name, bytes) => {
    await drain(bytes);
    await events.update(projectId, "a1", { metadata: { late: true } });
  });

  const first = await step();
  const second = await step();

  expect(first).toEqual({ isDone: false, sessions: 1, events: 2 });
  expect(second.isDone).toBe(true);
  expect(await ids()).toEqual(["a", "a1"]);
});

test("a session that gets an event after its file is written is kept", async () => {
  const { step, ids, events, projectId } = await givenADeletion(async (_name, bytes) => {
    await drain(bytes);
    await events.create(projectId, {
      event_id: "b2",
      session_id: "b",
      event_type: "tool",
      source: "test",
      inputs: {},
      start_time: Date.now() - 40 * dayMs,
    });
  });

  await step();

  expect(await ids()).toEqual(["b", "b1", "b2"]);
});

test("a session whose id Postgres stores escaped is in its file", async () => {
  const written: string[] = [];
  const { step, ids } = await givenADeletion(
    async (_name, bytes) => {
      const file = Buffer.concat(await Array.fromAsync(bytes));
      const rows = await parquetReadObjects({ file: new Uint8Array(file).buffer });
      written.push(...rows.map(({ event_id }) => String(event_id)));
    },
    ["a\uE000", "\uE000b"],
  );

  await step();

  const [a, b] = ["a\uE000", "\uE000b"];
  expect(written.toSorted()).toEqual([a, `${a}1`, b, `${b}1`]);
  expect(await ids()).toEqual([]);
});

test("nothing goes while its file cannot be written, and its name stays the same", async () => {
  const names: string[] = [];
  const { step, ids, errors } = await givenADeletion(async (name, bytes) => {
    names.push(name);
    await drain(bytes);
    if (names.length === 1) throw Object.assign(new Error("no space left"), { code: "ENOSPC" });
  });

  await expect(step()).rejects.toThrow("no space left");
  const [kept, failed] = [await ids(), await errors()];
  await step();

  expect(kept).toEqual(["a", "a1", "b", "b1"]);
  expect(failed).toEqual([
    "the file of the next sessions cannot be written (ENOSPC); it is tried again",
  ]);
  expect(await errors()).toEqual([null]);
  expect(await ids()).toEqual([]);
  expect(names[0]).toMatch(/\/000001\.parquet$/);
  expect(names[1]).toBe(names[0]);
});

test("a batch has up to 5,000 events, or one larger session", async () => {
  const { step, projectId } = await givenADeletion((_name, bytes) => drain(bytes), []);
  const startUs = (Date.now() - 40 * dayMs) * 1_000;
  for (const [at, count] of [3_000, 1_990, 5_100, 10].entries()) {
    const session = `s${at}`;
    await own.database.sql()`
      insert into events (
        project_id, event_id, session_id, event_type, event_name, source, start_time_us)
      select ${projectId}, case n when 0 then ${session} else ${session} || '-' || n end,
        ${session}, case n when 0 then 'session' else 'tool' end, 'e', 'test', ${startUs + at}
      from generate_series(0, ${count - 1}::integer) as n`;
    await own.database.sql()`
      insert into session_totals (
        project_id, session_id, num_events, num_model_events, num_errors, num_costs, num_feedback,
        prompt_tokens, completion_tokens, total_tokens, cost)
      values (${projectId}, ${session}, ${count - 1}, 0, 0, 0, 0, 0, 0, 0, 0)`;
  }

  expect(await step()).toMatchObject({ isDone: false, sessions: 2, events: 4_990 });
  expect(await step()).toMatchObject({ isDone: false, sessions: 3, events: 10_090 });
  expect(await step()).toMatchObject({ isDone: false, sessions: 4, events: 10_100 });
  expect(await step()).toMatchObject({ isDone: true });
});

test("a run that fails ends once a newer run has begun", async () => {
  const { step, ids } = await givenADeletion(() => Promise.reject(new Error("no space left")));
  const newer = createUuid();

  await expect(step()).rejects.toThrow("no space left");
  await expect(step()).rejects.toThrow("no space left");
  await expect(step(newer)).rejects.toThrow("no space left");

  expect(await step()).toEqual({ isDone: true, sessions: 0, events: 0 });
  await expect(step(newer)).rejects.toThrow("no space left");
  expect(await ids()).toHaveLength(4);
});

test("a run that was asked for deletes nothing once the days are raised", async () => {
  const { step, ids, projectId } = await givenADeletion(() => Promise.resolve());
  await putRetention(own.database.sql(), projectId, { days: 60, updatedBy: "test" });

  expect(await step()).toEqual({ isDone: true, sessions: 0, events: 0 });
  expect(await ids()).toHaveLength(4);
});

test("updates that wait for an event go when the last one is old", async () => {
  const { step, ids, events, projectId } = await givenADeletion((_name, bytes) => drain(bytes));
  const sql = own.database.sql();
  const setTime = (id: string, timeMs: number) => sql`
    update events set start_time_us = ${timeMs * 1_000}
    where project_id = ${projectId} and event_id = ${id}`;
  const update = { metadata: { late: true } };
  for (const id of ["undated", "old", "renewed", "new"]) await events.enrich(projectId, id, update);
  await setTime("undated", 0);
  for (const id of ["old", "renewed"]) await setTime(id, Date.now() - 40 * dayMs);
  await events.enrich(projectId, "renewed", update);

  const first = await step();
  const second = await step();

  expect([first.isDone, second.isDone]).toEqual([false, true]);
  expect(await ids()).toEqual(["new", "renewed", "undated"]);
  const [run] = await listRuns(sql, projectId, { limit: 1, after: undefined });
  expect(run).toMatchObject({ state: "completed", sessions: 2, updates: 1 });
  const times = await sql<{ us: number }[]>`
    select start_time_us as us from events where project_id = ${projectId}`;
  for (const { us } of times) expect(us).toBeGreaterThan((Date.now() - dayMs) * 1_000);
});

test("a batch has up to 16 MB, or one larger session", async () => {
  const { step, projectId } = await givenADeletion((_name, bytes) => drain(bytes), []);
  const startUs = (Date.now() - 40 * dayMs) * 1_000;
  // Digits at random, 32 bytes each, which Postgres does not compress.
  for (const [at, megabytes] of [9, 6, 17, 1].entries()) {
    await own.database.sql()`
      insert into events (
        project_id, event_id, session_id, event_type, event_name, source, start_time_us, metadata)
      select ${projectId}, ${`s${at}`}, ${`s${at}`}, 'session', 'e', 'test', ${startUs + at},
        jsonb_build_object('text', string_agg(md5(random()::text), ''))
      from generate_series(1, ${megabytes * 31_250}::integer)`;
  }

  expect(await step()).toMatchObject({ isDone: false, sessions: 2 });
  expect(await step()).toMatchObject({ isDone: false, sessions: 3 });
  expect(await step()).toMatchObject({ isDone: false, sessions: 4 });
  expect(await step()).toMatchObject({ isDone: true });
});
