// Commits of new events in one statement (apply-new.ts) leave what the general way leaves.

import fc from "fast-check";
import { afterAll, describe, expect, test, vi } from "vitest";
import { createUuid, type ProjectId } from "../../src/base/ids.ts";
import type { Sql } from "../../src/postgres/database.ts";
import { type EventWrite, noPricing, type Pricing } from "../../src/tracing/events/event.ts";
import { createApplyNew } from "../../src/tracing/events/apply-new.ts";
import { applyWrites } from "../../src/tracing/events/apply-writes.ts";
import { createRecorder, type Recorder } from "../../src/tracing/events/record.ts";
import type { WriteSet, WrittenListener } from "../../src/tracing/events/write-set.ts";
import { createFieldCatalogue } from "../../src/tracing/fields/fields.ts";
import { deleteSessions, lockSessions } from "../../src/tracing/retention/store.ts";
import { deleteSession } from "../../src/tracing/sessions/store.ts";
import { createTestDatabase, openTestClusters } from "../support/database.ts";
import { patience } from "../support/patience.ts";
import { createTestProject } from "../support/project.ts";
import { givenScoring } from "../support/scored.ts";
import { readQueued, readStored } from "../support/writes.ts";

const own = await createTestDatabase();
afterAll(() => own.drop());
const { database } = own;
const fields = createFieldCatalogue({ database });
const derivations = () => ({ fields });
const projectId = await givenProject();

const clusters = openTestClusters(database);
const { queue } = givenScoring(clusters, { mayHaveEnabled: () => true });

function anEvent(overrides: Partial<EventWrite> = {}): EventWrite {
  return {
    event_id: createUuid(),
    session_id: createUuid(),
    event_type: "model",
    event_name: "chat",
    source: "test",
    start_time: 2_000,
    end_time: 3_000,
    metadata: { total_tokens: 5, cost: 0.1 },
    ...overrides,
  };
}

function setOf(
  project: ProjectId,
  writes: readonly EventWrite[],
  pricing: Pricing = noPricing,
): WriteSet {
  return {
    projectId: project,
    writes,
    kind: "create",
    receivedAtMs: 2_000,
    pricing,
    bytes: 2_000,
    sessionNames: new Map(),
  };
}

async function store(writes: readonly EventWrite[], project = projectId) {
  return createApplyNew(database, derivations())([setOf(project, writes)]);
}

/** Creates a project whose catalogue knows the fields of all events of this file. */
async function givenProject(): Promise<ProjectId> {
  const project = await createTestProject(database);
  const session_id = "given";
  const writes = [
    anEvent({ session_id, event_id: "first" }),
    anEvent({ session_id, event_id: "second", metadata: { total_tokens: 1, cost: 1 } }),
    anEvent({ session_id, event_id: "third", event_type: "tool", error: "broken" }),
    anEvent({ session_id, event_id: session_id, event_type: "session" }),
  ];
  await applyWrites(database, derivations(), [setOf(project, writes)]);
  return project;
}

describe("applyNew", () => {
  test("stores a new event with its new session and totals", async () => {
    const event = anEvent();

    expect(await store([event])).toEqual([["applied"]]);

    const sql = database.sql();
    const rows = await sql`
      select event_type, start_time_us, end_time_us
      from events
      where project_id = ${projectId} and session_id = ${event.session_id ?? ""}
      order by event_type`;
    const times = { start_time_us: 2_000_000, end_time_us: 3_000_000 };
    expect([...rows]).toEqual([
      { event_type: "model", ...times },
      { event_type: "session", ...times },
    ]);
    const [totals] = await sql`
      select num_events, total_tokens::float8, cost::float8
      from session_totals
      where project_id = ${projectId} and session_id = ${event.session_id ?? ""}`;
    expect(totals).toEqual({ num_events: 1, total_tokens: 5, cost: 0.1 });
  });

  test("stores every field as the general way does", async () => {
    const odd = '\u0000 \uE000 \ud800 "quoted", \\ {null} é 🐝';
    const bucket = { [odd]: [odd, 1.5, 1e300, -0.1, true, null, {}, [], { deep: [odd] }] };
    const buckets = { config: bucket, inputs: bucket, outputs: bucket, metadata: bucket };
    const event = anEvent({
      event_id: odd,
      event_name: odd,
      source: odd,
      parent_id: odd,
      error: odd,
      children_ids: [odd, "null", "", "a,b"],
      start_time: 2_000.123,
      end_time: 3_000.001,
      duration: 1_234.567891,
      ...buckets,
      metrics: bucket,
      feedback: bucket,
      user_properties: bucket,
    });
    const writes = [event, anEvent({ event_id: "bare", session_id: "bare session" })];
    const odds = { ...noPricing, estimateCost: () => ({ cost: null, reason: odd }) as never };
    const [project, other] = [await givenProject(), await givenProject()];
    const first = { ...event, event_id: "known", session_id: "known session" };
    const known = setOf(project, [first], odds);
    await applyWrites(database, derivations(), [known]);
    await applyWrites(database, derivations(), [{ ...known, projectId: other }]);

    expect(
      await createApplyNew(database, derivations())([setOf(project, writes, odds)]),
    ).toBeDefined();
    await applyWrites(database, derivations(), [setOf(other, writes, odds)]);

    expect(await readStored(database, project)).toEqual(await readStored(database, other));
  });

  test("widens a session that exists", async () => {
    const event = anEvent();
    await store([event]);

    const session_id = event.session_id ?? "";
    expect(
      await store([anEvent({ session_id, start_time: 1_000, end_time: 2_500 })]),
    ).toBeDefined();
    expect(
      await store([anEvent({ session_id, start_time: 2_200, end_time: 9_000 })]),
    ).toBeDefined();

    const [session] = await database.sql()`
      select start_time_us, end_time_us
      from events
      where project_id = ${projectId} and event_id = ${session_id}`;
    expect(session).toEqual({ start_time_us: 1_000_000, end_time_us: 9_000_000 });
  });

  test.each([
    ["an event that exists", async (event: EventWrite) => [anEvent(), event]],
    [
      "an event as a session",
      async ({ event_id }: EventWrite) => [anEvent({ session_id: event_id })],
    ],
    ["fields that are not known", async () => [anEvent({ outputs: { [createUuid()]: 1 } })]],
    [
      "a value that Postgres cannot store",
      async () => [anEvent({ metadata: { cost: 1, total_tokens: 1 }, start_time: 1e18 })],
    ],
  ])("stores nothing with %s", async (_name, toWrites) => {
    const event = anEvent();
    await store([event]);
    const before = await readStored(database, projectId);

    expect(await store(await toWrites(event))).toBeUndefined();

    expect(await readStored(database, projectId)).toEqual(before);
  });

  test("stores nothing for a project with a listener, or of updates", async () => {
    const listener: WrittenListener = { wants: () => true, onWritten: async () => undefined };
    const set = setOf(projectId, [anEvent()]);

    expect(await createApplyNew(database, { ...derivations(), listener })([set])).toBeUndefined();
    expect(
      await createApplyNew(database, derivations())([{ ...set, kind: "enrich" }]),
    ).toBeUndefined();
  });

  test("queues new events and sessions to be evaluated, but no session that exists", async () => {
    const project = await givenProject();
    const applyNew = createApplyNew(database, { ...derivations(), listener: queue });
    const [first, second] = [anEvent({ event_id: "\u0000new" }), anEvent({ session_id: "given" })];

    expect(await applyNew([setOf(project, [first, second])])).toBeDefined();

    const want = ["\uE0000000new", second.event_id, first.session_id ?? ""].toSorted();
    expect(await readQueued(database, project)).toEqual(want);
  });

  test("writers of one new session at once store every event", async () => {
    const session_id = createUuid();
    const recorder = createRecorder({ database, fields });

    await Promise.all(
      Array.from({ length: 40 }, () => recorder.record(projectId, [anEvent({ session_id })])),
    );

    const [totals] = await database.sql()`
      select num_events, cost::float8
      from session_totals
      where project_id = ${projectId} and session_id = ${session_id}`;
    expect(totals).toEqual({ num_events: 40, cost: 4 });
  });
});

describe("a session that is deleted while it gets an event", () => {
  const known = { total_tokens: 5, cost: 0.1 };
  // The catalogue does not know the field of the general way.
  const ways = [
    { name: "in one statement", metadata: () => known },
    { name: "in the general way", metadata: () => ({ [createUuid()]: 1 }) },
  ];
  const times = [
    { when: "within its times", end_time: 3_000 },
    { when: "after its end", end_time: 4_000 },
  ];
  const rows = ways.flatMap((way) => times.map((time) => ({ ...way, ...time })));

  test.each(rows)("is made again for an event $when, stored $name", async (row) => {
    const { end_time, metadata } = row;
    const session_id = createUuid();
    const recorder = createRecorder({ database, fields });
    await recorder.record(projectId, [anEvent({ session_id })]);
    const late = anEvent({ session_id, end_time, metadata: metadata() });
    const locked = Promise.withResolvers<void>();
    const stored = locked.promise.then(() => recorder.record(projectId, [late]));

    await database.transaction(async (sql) => {
      await lockSessions(sql, projectId, [session_id]);
      locked.resolve();
      await vi.waitUntil(() => isAwaited(sql), patience);
      await deleteSessions(sql, projectId, [session_id]);
    });
    await stored;

    const want = [late.event_id, session_id].toSorted();
    expect(await readIds(session_id)).toEqual({ ids: want, num_events: 1 });
  });

  test("takes an event along that was stored before the end of the deletion", async () => {
    const session_id = createUuid();
    await applyWrites(database, derivations(), [setOf(projectId, [anEvent({ session_id })])]);
    const stored = Promise.withResolvers<void>();
    const deleted = stored.promise.then(() =>
      database.transaction((sql) => deleteSession(sql, projectId, session_id)),
    );

    await database.transaction(async (sql) => {
      await applyWrites(database, derivations(), [setOf(projectId, [anEvent({ session_id })])]);
      stored.resolve();
      await vi.waitUntil(() => isAwaited(sql), patience);
    });
    await deleted;

    expect(await readIds(session_id)).toEqual({ ids: [], num_events: undefined });
  });
});

/** Returns whether another transaction waits for this one. */
async function isAwaited(sql: Sql): Promise<boolean> {
  const [waiting] = await sql`
    select 1
    from pg_locks
    where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))`;
  return waiting !== undefined;
}

async function readIds(sessionId: string) {
  const sql = database.sql();
  const stored = await sql<{ event_id: string }[]>`
    select event_id
    from events
    where project_id = ${projectId} and session_id = ${sessionId}
    order by event_id`;
  const [totals] = await sql<{ num_events: number }[]>`
    select num_events
    from session_totals
    where project_id = ${projectId} and session_id = ${sessionId}`;
  return { ids: stored.map(({ event_id }) => event_id), num_events: totals?.num_events };
}

/** Events of few ids, so that they meet each other and sessions. */
const someWrites = fc.array(
  fc.record(
    {
      event_id: fc.constantFrom("a", "b", "c", "d", "e", "s", "t"),
      session_id: fc.constantFrom("s", "t", "u", "a"),
      event_type: fc.constantFrom("model", "tool", "session"),
      start_time: fc.integer({ min: 1, max: 9 }),
      end_time: fc.integer({ min: 10, max: 19 }),
      error: fc.constantFrom("", "broken"),
      metadata: fc.constantFrom({}, { total_tokens: 3 }, { cost: 0.1 }),
    },
    { requiredKeys: ["event_id", "event_type", "session_id", "metadata"] },
  ),
  { minLength: 1, maxLength: 3 },
) as fc.Arbitrary<EventWrite[]>;

describe("a recorder", () => {
  test("stores the same with and without the statement for new events", async () => {
    const general: WrittenListener = {
      wants: () => true,
      onWritten: (sql, written) => queue.onWritten(sql, written),
    };
    const oneWay = createRecorder({ database, fields, listener: queue });
    const otherWay = createRecorder({ database, fields, listener: general });
    const record = async (recorder: Recorder, project: ProjectId, writes: EventWrite[]) =>
      recorder.record(project, writes.map(toSession));

    await fc.assert(
      fc.asyncProperty(fc.array(someWrites, { minLength: 1, maxLength: 5 }), async (commits) => {
        const [one, other] = await Promise.all([givenProject(), givenProject()]);
        for (const writes of commits) {
          const refused = await record(oneWay, one, writes);
          expect(refused).toEqual(await record(otherWay, other, writes));
        }
        expect(strip(await readStored(database, one))).toEqual(
          strip(await readStored(database, other)),
        );
        expect(await readQueued(database, one)).toEqual(await readQueued(database, other));
      }),
      { numRuns: 150 },
    );
  });
});

/** A session names itself. */
function toSession(write: EventWrite): EventWrite {
  return write.event_type === "session" ? { ...write, session_id: write.event_id } : write;
}

/** Replaces the default times, those of the request. */
function strip(rows: unknown): unknown {
  return JSON.parse(JSON.stringify(rows), (key, value: unknown) =>
    key.endsWith("_time_us") && typeof value === "number" && value > 1e12 ? "now" : value,
  );
}
