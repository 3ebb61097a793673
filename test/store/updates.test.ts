// Commits of small updates in one round trip (apply-unread.ts) or in two (apply-updates.ts) leave
// what the general way leaves.

import fc from "fast-check";
import { afterAll, describe, expect, test, vi } from "vitest";
import { createUuid, type ProjectId } from "../../src/base/ids.ts";
import { createApplyUnread } from "../../src/tracing/events/apply-unread.ts";
import { createApplyUpdates } from "../../src/tracing/events/apply-updates.ts";
import { applyWrites } from "../../src/tracing/events/apply-writes.ts";
import type { EventWrite, Pricing } from "../../src/tracing/events/event.ts";
import type { WriteKind, WriteSet, WrittenListener } from "../../src/tracing/events/write-set.ts";
import { createFieldCatalogue } from "../../src/tracing/fields/fields.ts";
import { type Database, openDatabase } from "../../src/postgres/database.ts";
import { citusUrl } from "../support/citus.ts";
import { createTestDatabase, openTestClusters } from "../support/database.ts";
import { createTestProject } from "../support/project.ts";
import { patience } from "../support/patience.ts";
import { givenScoring } from "../support/scored.ts";
import { readQueued, readStored } from "../support/writes.ts";

const testDatabase = await createTestDatabase();
afterAll(() => testDatabase.drop());
const fields = createFieldCatalogue({ database: testDatabase.database });
const other = openDatabase({ url: testDatabase.url, connectionsMax: 1 });

const clusters = openTestClusters(testDatabase.database);
const { queue } = givenScoring(clusters, { mayHaveEnabled: () => true });
afterAll(() => other.close());

/** Estimates by a field that updates change. */
const estimateCost = ({ metadata }: { readonly metadata: Readonly<Record<string, unknown>> }) =>
  typeof metadata["total_tokens"] === "number"
    ? { cost: metadata["total_tokens"] / 1_000, price_table: "test" }
    : null;

const pricing: Pricing = { estimateCost, priceTable: "test" };
const derivations = () => ({ fields });

function setOf(
  projectId: ProjectId,
  writes: readonly EventWrite[],
  kind: WriteKind = "update",
): WriteSet {
  const request = { sessionNames: new Map(), receivedAtMs: 2_000, bytes: 2_000, pricing };
  return { projectId, writes, kind, ...request };
}

const given: readonly EventWrite[] = [
  { event_id: "model", event_type: "model", end_time: 9, metadata: { total_tokens: 5 } },
  { event_id: "tool", event_type: "tool", duration: 1, error: "broken" },
].map(
  (event) =>
    ({ ...event, session_id: "session", event_name: "a", source: "test", start_time: 1 }) as never,
);

/** Creates a project with two events in a session, whose catalogue knows the fields of updates. */
async function givenProject(): Promise<ProjectId> {
  const project = await createTestProject(testDatabase.database);
  const known = { a: 1, cost: 1.5, total_tokens: 1, "b\u0000": "text" };
  const buckets = { config: known, inputs: known, metadata: known, feedback: known };
  const rest = {
    session_id: "session",
    parent_id: "session",
    duration: 1,
    source: "x",
    error: "x",
  };
  const writes = ["model", "tool", "session"].map((event_type) => {
    const event_id = event_type === "session" ? "session" : `known-${event_type}`;
    return { event_id, event_type, ...rest, ...buckets } as never;
  });
  await applyWrites(testDatabase.database, derivations(), [
    setOf(project, writes, "create"),
    setOf(project, given, "create"),
  ]);
  return project;
}

async function readAll(project: ProjectId): Promise<unknown> {
  const { database } = testDatabase;
  return [await readStored(database, project), await readQueued(database, project)];
}

const bucket = fc.record(
  {
    a: fc.nat(9),
    cost: fc.constantFrom(0.1, 0.25, 2.5),
    total_tokens: fc.nat(9),
    "b\u0000": fc.string(),
  },
  { requiredKeys: [] },
);

const plain = {
  event_id: fc.constantFrom("model", "tool", "session"),
  event_name: fc.constantFrom("a", "b\u0000"),
  source: fc.constantFrom("test", "other"),
  parent_id: fc.constantFrom("tool", "session"),
  error: fc.constantFrom("", "broken"),
  config: bucket,
  inputs: bucket,
  metadata: bucket,
  feedback: bucket,
};

const requiredKeys: ["event_id"] = ["event_id"];
const aPlainUpdate = fc.record({ ...plain, duration: fc.constantFrom(1, 12.5) }, { requiredKeys });
const uncounted = fc.record({ a: fc.nat(9), "b\u0000": fc.string() }, { requiredKeys: [] });
const anUncountedUpdate = fc.record(
  { ...plain, config: uncounted, inputs: bucket, metadata: uncounted },
  { requiredKeys },
);
const anUpdate = fc.record(
  {
    ...plain,
    event_id: fc.constantFrom("model", "tool", "session", "absent"),
    event_type: fc.constantFrom("model", "tool", "session"),
    session_id: fc.constantFrom("session", "other"),
    children_ids: fc.subarray(["tool", "other"]),
    duration: fc.constantFrom(1.5, 12.5),
    start_time: fc.constantFrom(1, 2),
    end_time: fc.constantFrom(9, 20),
    metadata: fc.dictionary(fc.string(), fc.jsonValue()),
  },
  { requiredKeys },
);
const aRequest = fc.oneof(
  { arbitrary: fc.array(aPlainUpdate, { minLength: 1, maxLength: 3 }), weight: 3 },
  { arbitrary: fc.array(anUpdate, { minLength: 1, maxLength: 3 }), weight: 1 },
);

const anUncountedRequest = fc.oneof(
  { arbitrary: fc.array(anUncountedUpdate, { minLength: 1, maxLength: 3 }), weight: 4 },
  { arbitrary: aRequest, weight: 1 },
);

/** Counts the locks that a backend waits for; on Citus it waits through a worker. */
async function countWaits(pid: number): Promise<number> {
  const sql = testDatabase.database.sql();
  const [row] = await sql<{ count: number }[]>`
    select count(*)::integer as count
    from ${
      citusUrl === undefined
        ? sql`pg_locks where pid = ${pid} and not granted`
        : sql`citus_lock_waits where waiting_gpid % 10000000000 = ${pid}`
    }`;
  return row?.count ?? 0;
}

/** Returns the database for work outside the transaction that calls it. */
function anotherConnection(): Database {
  const { database } = testDatabase;
  return { ...database, sql: () => other.sql(), isInTransaction: () => false };
}

describe("applyUnread", () => {
  test("leaves what the general way leaves", async () => {
    let applied = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(anUncountedRequest, { maxLength: 6 }),
        fc.constantFrom("update" as const, "enrich" as const),
        async (requests, kind) => {
          const [ours, general] = [await givenProject(), await givenProject()];
          const applyUnread = createApplyUnread(testDatabase.database, derivations());
          for (const request of requests) {
            const sets = (project: ProjectId) =>
              request.map((write) => setOf(project, [write as EventWrite], kind));
            const want = await applyWrites(testDatabase.database, derivations(), sets(general));
            const outcomes = await applyUnread(sets(ours));
            if (outcomes === undefined) {
              await applyWrites(testDatabase.database, derivations(), sets(ours));
            } else {
              applied += 1;
              expect(outcomes).toEqual(want);
            }
          }

          expect(await readAll(ours)).toEqual(await readAll(general));
        },
      ),
      { numRuns: 60 },
    );
    expect(applied).toBeGreaterThan(20);
  });

  test.each<{ name: string; update: Partial<EventWrite> }>([
    { name: "an absent event", update: { event_id: "absent", inputs: { a: 1 } } },
    { name: "an unknown field", update: { inputs: { [createUuid()]: 1 } } },
    { name: "another kind of value", update: { inputs: { a: "text" } } },
    { name: "a count of tokens", update: { metadata: { total_tokens: 7 } } },
    { name: "a cost", update: { metadata: { cost: 2.5 } } },
    { name: "another session", update: { session_id: "other" } },
    { name: "another type", update: { event_type: "tool" } },
    { name: "other times", update: { end_time: 20 } },
    { name: "children", update: { children_ids: ["tool"] } },
  ])("stores nothing for $name", async ({ update }) => {
    const project = await givenProject();
    const before = await readAll(project);
    const applyUnread = createApplyUnread(testDatabase.database, derivations());
    const writes = [
      setOf(project, [{ event_id: "tool", inputs: { a: 2 } }]),
      setOf(project, [{ event_id: "model", ...update }]),
    ];

    expect(await applyUnread(writes)).toBeUndefined();

    expect(await readAll(project)).toEqual(before);
  });

  test("leaves an event with an estimate by another table to be estimated anew", async () => {
    const project = await givenProject();
    const update = setOf(project, [{ event_id: "model", inputs: { a: 2 } }]);
    const { database } = testDatabase;
    const newer = { ...update, pricing: { ...pricing, priceTable: "new" } };
    const applyUnread = createApplyUnread(database, derivations());

    expect(await applyUnread([newer])).toBeUndefined();
    expect(await applyUnread([update, newer])).toBeUndefined();
    expect(await applyUnread([update])).toEqual([["applied"]]);
  });

  test("leaves large events, and projects with a listener, to the general way", async () => {
    const project = await givenProject();
    const listener: WrittenListener = { wants: () => true, onWritten: async () => undefined };
    const { database } = testDatabase;
    const update = setOf(project, [{ event_id: "model", inputs: { a: 2 } }]);
    const listening = createApplyUnread(database, { ...derivations(), listener });
    expect(await listening([update])).toBeUndefined();
    // Enough for the event, once decompressed, to have no room for an update.
    await database.sql()`
      update events set outputs = jsonb_build_object('text', (
        select string_agg(md5(number::text), '') from generate_series(1, 20000) as number))
      where project_id = ${project} and event_id = 'model'`;

    expect(await createApplyUnread(database, derivations())([update])).toBeUndefined();
  });

  test("updates of one event at once are all merged, and counted once", async () => {
    const project = await givenProject();
    const applyUnread = createApplyUnread(testDatabase.database, derivations());
    const numbers = Array.from({ length: 9 }, (_, number) => number);

    const outcomes = await Promise.all(
      numbers.map((number) =>
        applyUnread([
          setOf(project, [{ event_id: "tool", inputs: { a: number }, feedback: { a: number } }]),
          setOf(project, [{ event_id: "model", error: number % 2 ? "broken" : "" }]),
          setOf(project, [{ event_id: "session", feedback: { a: number }, error: "broken" }]),
        ]),
      ),
    );

    expect(new Set(outcomes.map((one) => JSON.stringify(one)))).toEqual(
      new Set(['[["applied"],["applied"],["applied"]]']),
    );
    const [totals] = await testDatabase.database.sql()`
      select totals.num_errors, totals.num_feedback,
        (select count(*)::integer from events
          where project_id = ${project} and session_id = 'session' and event_type <> 'session'
            and error is not null) as errors,
        (select count(*)::integer from events
          where project_id = ${project} and session_id = 'session' and feedback <> '{}') as feedback
      from session_totals as totals
      where project_id = ${project} and session_id = 'session'`;
    expect(totals?.["num_errors"]).toBe(totals?.["errors"]);
    expect(totals?.["num_feedback"]).toBe(totals?.["feedback"]);
  });
});

describe("applyUpdates", () => {
  test("leaves what the general way leaves", async () => {
    let applied = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(aRequest, { maxLength: 6 }),
        fc.constantFrom("update" as const, "enrich" as const),
        async (requests, kind) => {
          const [ours, general] = [await givenProject(), await givenProject()];
          const queuing = { ...derivations(), listener: queue };
          const applyUpdates = createApplyUpdates(testDatabase.database, queuing);
          for (const request of requests) {
            const sets = (project: ProjectId) =>
              request.map((write) => setOf(project, [write as EventWrite], kind));
            const want = await applyWrites(testDatabase.database, queuing, sets(general));
            const outcomes = await applyUpdates(sets(ours));
            if (outcomes === undefined) {
              await applyWrites(testDatabase.database, queuing, sets(ours));
            } else {
              applied += 1;
              expect(outcomes).toEqual(want);
            }
          }

          expect(await readAll(ours)).toEqual(await readAll(general));
        },
      ),
      { numRuns: 60 },
    );
    expect(applied).toBeGreaterThan(20);
  });

  test("stores nothing where an event changes between the read and the merge", async () => {
    const project = await givenProject();
    const { database } = testDatabase;
    const update: EventWrite = { event_id: "model", metadata: { cost: 7.5 } };
    let updating: Promise<unknown> | undefined;
    const [backend] = await other.sql()<{ pid: number }[]>`select pg_backend_pid() as pid`;

    await database.transaction(async (sql) => {
      await sql`
        update events set source = 'changed'
        where project_id = ${project} and event_id = 'model'`;
      const applyUpdates = createApplyUpdates(anotherConnection(), derivations());
      updating = applyUpdates([setOf(project, [update])]);
      await vi.waitUntil(async () => (await countWaits(backend?.pid ?? 0)) === 1, patience);
    });
    expect(await updating).toBeUndefined();

    const [row] = await database.sql()`
      select source, metadata ->> 'cost' as cost
      from events
      where project_id = ${project} and event_id = 'model'`;
    expect(row).toMatchObject({ source: "changed" });
    expect(row?.["cost"]).not.toBe("7.5");
  });

  test("leaves projects with a listener to the general way", async () => {
    const project = await givenProject();
    const listener: WrittenListener = { wants: () => true, onWritten: async () => undefined };
    const applyUpdates = createApplyUpdates(testDatabase.database, { ...derivations(), listener });
    const update: EventWrite = { event_id: "model", event_name: createUuid() };

    expect(await applyUpdates([setOf(project, [update])])).toBeUndefined();
  });
});
