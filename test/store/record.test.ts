// The recorder against Postgres: merge law, early updates, sessions, totals, parallel writers.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createUuid } from "../../src/base/ids.ts";
import type { EventWrite, StoredEvent } from "../../src/tracing/events/event.ts";
import { createRecorder } from "../../src/tracing/events/record.ts";
import { createTestProject } from "../support/project.ts";
import { givenARecorder } from "../support/recorder.ts";
import { aWrite } from "../support/writes.ts";

const { database, fields, recorder, events, sessions, projectId } = await givenARecorder();

const chat = { event_type: "model", event_name: "chat", inputs: { question: "why" } } as const;
const anEvent = (overrides: Partial<EventWrite> = {}): EventWrite =>
  aWrite({ ...chat, source: "test", ...overrides });

describe("record", () => {
  test("counts the writes of an outer transaction after its commit only", async () => {
    const counts: number[] = [];
    const onStored = (count: number) => void counts.push(count);
    const counting = createRecorder({ database, fields, onStored });
    const undone = database.transaction(async () => {
      await counting.record(projectId, [anEvent()]);
      throw new Error("undone");
    });
    await expect(undone).rejects.toThrow("undone");
    expect(counts).toEqual([]);

    await database.transaction(async () => {
      await counting.record(projectId, [anEvent()]);
      expect(counts).toEqual([]);
    });

    expect(counts).toEqual([1]);
    await counting.drain();
  });

  test("leaves nothing of writes that are refused inside a transaction that goes on", async () => {
    const tool = anEvent({ event_type: "tool" });
    await recorder.record(projectId, [tool]);
    const { session_id: _, ...event } = anEvent();
    const refused = { ...event, session_id: tool.event_id };

    await database.transaction(async () => {
      await expect(events.create(projectId, refused)).rejects.toThrow("session_id");
      await events.create(projectId, event);
    });

    const stored = await events.get(projectId, event.event_id);
    expect(stored.session_id).not.toBe(tool.event_id);
    const { totals } = await sessions.get(projectId, stored.session_id);
    expect(totals).toMatchObject({ num_events: 1, num_model_events: 1 });
  });

  test("stores an event with its defaults and makes its session", async () => {
    const event = anEvent({ metadata: { total_tokens: 5 } });

    await recorder.record(projectId, [event]);

    const got = await events.get(projectId, event.event_id);
    expect(got).toMatchObject({ ...event, parent_id: null, error: null, outputs: {} });
    const session = await sessions.get(projectId, event.session_id ?? "");
    expect(session.totals).toMatchObject({ num_events: 1, num_model_events: 1, total_tokens: 5 });
    expect(session.event).toMatchObject({ event_name: "unknown", source: "test" });
    expect(session.event.end_time).toBe(1_700_000_000_250);
  });

  test("the same write twice changes nothing", async () => {
    const event = anEvent({ metadata: { prompt_tokens: 3, completion_tokens: "4", cost: 0.5 } });

    await recorder.record(projectId, [event]);
    const first = await events.get(projectId, event.event_id);
    await recorder.record(projectId, [event, event]);

    expect(await events.get(projectId, event.event_id)).toEqual(first);
    const { totals } = await sessions.get(projectId, event.session_id ?? "");
    expect(totals).toMatchObject({ num_events: 1, total_tokens: 7, cost: 0.5, num_costs: 1 });
  });

  test("an update that comes before its event is kept and wins over it", async () => {
    const event = anEvent({ outputs: { content: "first", kept: true } });

    await recorder.enrich(projectId, {
      event_id: event.event_id,
      outputs: { content: "enriched" },
      metadata: { run_id: "r" },
    });
    await expect(events.get(projectId, event.event_id)).rejects.toMatchObject({
      reason: "NOT_FOUND",
    });
    await recorder.record(projectId, [event]);

    const got = await events.get(projectId, event.event_id);
    expect(got.outputs).toEqual({ content: "enriched", kept: true });
    expect(got.metadata).toEqual({ run_id: "r" });
  });

  test("an update that comes before its session is applied to the session", async () => {
    const event = anEvent();
    const sessionId = event.session_id ?? "";

    await recorder.enrich(projectId, { event_id: sessionId, metadata: { run_id: "r" } });
    await expect(sessions.get(projectId, sessionId)).rejects.toMatchObject({ reason: "NOT_FOUND" });
    await recorder.record(projectId, [event]);

    const session = await sessions.get(projectId, sessionId);
    expect(session.event.metadata).toEqual({ run_id: "r" });
    expect(session.totals.num_events).toBe(1);
  });

  test("an update of what is absent says so, and leaves nothing behind", async () => {
    const id = createUuid();

    expect(await recorder.update(projectId, { event_id: id, metadata: { a: 1 } })).toBe(false);
    await recorder.record(projectId, [anEvent({ event_id: id })]);

    expect((await events.get(projectId, id)).metadata).toEqual({});
  });

  test("an update answered absent stays absent, though another update waits", async () => {
    const event = anEvent();
    const { event_id } = event;

    await recorder.enrich(projectId, { event_id, metadata: { waited: true } });
    expect(await recorder.update(projectId, { event_id, error: "leaked" })).toBe(false);
    await recorder.record(projectId, [event]);

    const got = await events.get(projectId, event_id);
    expect(got).toMatchObject({ error: null, metadata: { waited: true } });
  });

  test("every reader sees the times of the whole session", async () => {
    const session_id = createUuid();
    const at = (start: number, end: number) =>
      anEvent({
        session_id,
        start_time: 1_700_000_000_000 + start,
        end_time: 1_700_000_000_000 + end,
      });

    await recorder.record(projectId, [at(1_000, 1_100)]);
    await recorder.record(projectId, [at(0, 100), at(8_000, 9_000)]);

    const times = { start_time: 1_700_000_000_000, end_time: 1_700_000_009_000 };
    expect(await events.get(projectId, session_id)).toMatchObject(times);
    expect((await sessions.get(projectId, session_id)).event).toMatchObject(times);
    const filters = [{ field: "end_time", operator: "is", value: times.end_time }];
    const range = { fromMs: [times.start_time], toMs: [times.start_time] };
    const page = await sessions.list(projectId, {
      ...range,
      filters: [...filters, { field: "session_id", operator: "is", value: session_id }],
      limit: undefined,
      cursor: undefined,
    });
    expect(page.sessions.map(({ event }) => event.event_id)).toEqual([session_id]);
  });

  test("a started session is answered as it is read", async () => {
    // JSON text has no negative zero.
    const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as unknown);
    const bucket = fc.dictionary(fc.constantFrom("a", "b\u0000", "__proto__"), json);
    const input = fc.record(
      {
        session_name: fc.string({ minLength: 1 }),
        source: fc.string({ minLength: 1 }),
        inputs: bucket,
        metadata: bucket,
        feedback: bucket,
        user_properties: bucket,
        start_time: fc.integer({ min: 1, max: 1e12 }),
        duration: fc.double({ min: 0, max: 1e6, noNaN: true }),
        error: fc.string({ minLength: 1 }),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(input, async (given) => {
        // The second start finds its fields in the catalogue, so it is stored in one statement.
        for (const session_id of [createUuid(), createUuid()]) {
          const answered = await sessions.start(projectId, { session_id, ...given } as never);

          expect(answered).toEqual(await sessions.get(projectId, session_id));
        }
      }),
      { numRuns: 50 },
    );
  });

  test("sessions are found by their totals, name and feedback", async () => {
    const session_id = createUuid();
    const event = anEvent({ session_id, feedback: { rating: 5 }, metadata: { cost: 3 } });
    await sessions.start(projectId, { session_id, session_name: "found" });
    await recorder.record(projectId, [event]);
    const find = async (field: string, operator: string, value: string | number | boolean) => {
      const ours = { field: "session_id", operator: "is", value: session_id };
      const filters = [ours, { field, operator, value }];
      const bounds = { fromMs: [], toMs: [], limit: undefined, cursor: undefined };
      return (await sessions.list(projectId, { ...bounds, filters })).sessions.length;
    };

    expect(await find("session_name", "is", "found")).toBe(1);
    expect(await find("has_feedback", "is", true)).toBe(1);
    expect(await find("has_feedback", "is", false)).toBe(0);
    expect(await find("cost", "greater than", 2)).toBe(1);
    expect(await find("num_events", "is", 2)).toBe(0);
  });

  test("costs add up as decimals, in any order, and leave nothing behind", async () => {
    const sums = [];
    for (const costs of [
      [0.1, 0.2, 0.3],
      [0.3, 0.2, 0.1],
    ]) {
      const session_id = createUuid();
      for (const cost of costs) {
        await recorder.record(projectId, [anEvent({ session_id, metadata: { cost } })]);
      }
      const large = anEvent({ session_id, metadata: { cost: 1e14 } });
      await recorder.record(projectId, [large]);
      await recorder.record(projectId, [{ ...large, metadata: { cost: 0 } }]);
      sums.push((await sessions.get(projectId, session_id)).totals.cost);
    }

    expect(sums).toEqual([0.6, 0.6]);
  });

  test("absurd counts and costs are stored and add nothing", async () => {
    const metadata = { prompt_tokens: "1.7e308", completion_tokens: 1e300, cost: 1.7e308 };
    const event = anEvent({ metadata });

    await recorder.record(projectId, [event, anEvent({ ...event, event_id: createUuid() })]);

    expect((await events.get(projectId, event.event_id)).metadata).toEqual(metadata);
    const { totals } = await sessions.get(projectId, event.session_id ?? "");
    expect(totals).toMatchObject({ num_events: 2, total_tokens: 0, num_costs: 0, cost: 0 });
  });

  test("an event may not take a session's id, nor a session an event's", async () => {
    const event = anEvent();
    const sessionId = event.session_id ?? "";
    await recorder.record(projectId, [event]);

    const stolen = anEvent({ event_id: sessionId });
    expect([...(await recorder.record(projectId, [stolen])).keys()]).toEqual([0]);
    const turned = { event_id: event.event_id, session_id: event.event_id };
    await expect(sessions.start(projectId, turned)).rejects.toThrow("is the id of an event");
    const lost = anEvent({ session_id: event.event_id });
    const refused = await recorder.record(projectId, [lost]);
    expect(refused.get(0)).toMatch(/^session_id: .* is the id of an event/);

    expect((await sessions.get(projectId, sessionId)).totals.num_events).toBe(1);
    expect((await events.get(projectId, event.event_id)).event_type).toBe("model");
  });

  test("an event that moves takes its counts with it", async () => {
    const event = anEvent({ metadata: { total_tokens: 9 } });
    const elsewhere = createUuid();

    await recorder.record(projectId, [event]);
    await recorder.record(projectId, [{ ...event, session_id: elsewhere }]);

    const before = await sessions.get(projectId, event.session_id ?? "");
    const after = await sessions.get(projectId, elsewhere);
    expect(before.totals).toMatchObject({ num_events: 0, total_tokens: 0 });
    expect(after.totals).toMatchObject({ num_events: 1, total_tokens: 9 });
  });

  test("a session that got no name takes the one a later batch knows", async () => {
    const event = anEvent();
    const sessionId = event.session_id ?? "";
    const named = { sessionNames: new Map([[sessionId, "agent run"]]) };

    await recorder.record(projectId, [event]);
    await recorder.record(projectId, [anEvent({ session_id: sessionId })], named);
    await recorder.record(projectId, [anEvent({ session_id: sessionId })], {
      sessionNames: new Map([[sessionId, "another"]]),
    });

    expect((await sessions.get(projectId, sessionId)).event.event_name).toBe("agent run");
  });

  test("a new session without a source takes that of its events, else keeps its own", async () => {
    const start_time = 1_700_000_000_000;
    const bare = { event_type: "session", event_name: "named", start_time } as const;
    const isOf = (id: string): EventWrite => ({ ...bare, event_id: id, session_id: id });
    const [late, early, own] = [createUuid(), createUuid(), createUuid()];

    await recorder.record(projectId, [isOf(late), anEvent({ session_id: late, source: "svc" })]);
    const before = await sessions.get(projectId, late);
    await recorder.record(projectId, [{ ...isOf(late), source: "said" }]);
    await recorder.record(projectId, [anEvent({ session_id: early, source: "svc" })]);
    await recorder.record(projectId, [
      isOf(early),
      anEvent({ session_id: early, source: "another" }),
    ]);
    await recorder.record(projectId, [
      { ...isOf(own), source: "own" },
      anEvent({ session_id: own, source: "svc" }),
    ]);

    expect(before.event).toMatchObject({ event_name: "named", source: "svc" });
    const got = [];
    for (const id of [late, early, own]) got.push((await sessions.get(projectId, id)).event.source);
    expect(got).toEqual(["said", "svc", "own"]);
  });

  test("text that Postgres refuses reads back as it came", async () => {
    const odd = "nul \0, lone \ud800, mark \ue000";
    const event = anEvent({ event_name: odd, error: odd, inputs: { [odd]: [odd] } });

    await recorder.record(projectId, [event]);

    const got = await events.get(projectId, event.event_id);
    expect(got).toMatchObject({ event_name: odd, error: odd, inputs: { [odd]: [odd] } });
  });

  test("more events than one statement takes are stored whole, and again merge", async () => {
    const session_id = createUuid();
    const writes = Array.from({ length: 4_100 }, () => anEvent({ session_id }));

    await recorder.record(projectId, writes);
    await recorder.record(
      projectId,
      writes.map((write) => ({ ...write, outputs: { answer: "so" } })),
    );

    const { totals } = await sessions.get(projectId, session_id);
    expect(totals.num_events).toBe(writes.length);
    const { children } = await sessions.tree(projectId, session_id);
    expect(children.map((node) => node.event.outputs)).toEqual(
      writes.map(() => ({ answer: "so" })),
    );
  });

  test("projects with the same ids do not see each other", async () => {
    const other = await createTestProject(database);
    const event = anEvent();

    await recorder.record(projectId, [event]);

    await expect(events.get(other, event.event_id)).rejects.toMatchObject({ reason: "NOT_FOUND" });
    expect(await recorder.update(other, { event_id: event.event_id, error: "x" })).toBe(false);
  });

  test("deleting an event takes it from the totals; the session's times only widen", async () => {
    const session_id = createUuid();
    const early = anEvent({ session_id, metadata: { total_tokens: 2 } });
    const late = anEvent({
      session_id,
      start_time: 1_700_000_009_000,
      end_time: 1_700_000_009_500,
    });
    await recorder.record(projectId, [early, late]);

    await events.delete(projectId, late.event_id);

    const session = await sessions.get(projectId, session_id);
    expect(session.totals).toMatchObject({ num_events: 1, total_tokens: 2 });
    expect(session.event.end_time).toBe(1_700_000_009_500);
  });

  test("an event without an end lasts for its duration in the times of its session", async () => {
    const start_time = 1_700_000_000_000;
    const lasting = (session_id: string, duration: number): EventWrite => {
      const { end_time: _, ...event } = anEvent({ session_id, start_time, duration });
      return event;
    };
    const endOf = async (session_id: string) =>
      ((await sessions.get(projectId, session_id)).event.end_time ?? 0) - start_time;
    const session_id = createUuid();

    const first = lasting(session_id, 1_500.25);
    await recorder.record(projectId, [first]);
    expect(await endOf(session_id)).toBe(1_500.25);
    await recorder.record(projectId, [lasting(session_id, 4_000)]);
    expect(await endOf(session_id)).toBe(4_000);
    await recorder.update(projectId, { event_id: first.event_id, duration: 5_000 });
    expect(await endOf(session_id)).toBe(5_000);
    await recorder.record(projectId, [lasting(session_id, -7_000), lasting(session_id, 1e300)]);
    expect(await endOf(session_id)).toBe(5_000);
    const ended = lasting(session_id, 9_000);
    await recorder.record(projectId, [{ ...ended, end_time: start_time + 6_000 }]);
    expect(await endOf(session_id)).toBe(6_000);
    await recorder.update(projectId, { event_id: ended.event_id, duration: 8_000 });
    expect(await endOf(session_id)).toBe(6_000);
  });

  test("deleting a session leaves nothing of it", async () => {
    const session_id = createUuid();
    const event = anEvent({ session_id });
    await recorder.record(projectId, [event, anEvent({ session_id })]);

    await sessions.delete(projectId, session_id);

    const gone = { reason: "NOT_FOUND" };
    await expect(sessions.get(projectId, session_id)).rejects.toMatchObject(gone);
    await expect(events.get(projectId, event.event_id)).rejects.toMatchObject(gone);
    await recorder.record(projectId, [event]);
    expect((await sessions.get(projectId, session_id)).totals.num_events).toBe(1);
  });

  test("deleting a session of more events than one statement deletes leaves none", async () => {
    const session_id = createUuid();
    await recorder.record(projectId, [anEvent({ session_id })]);
    // Half of them begin at the same time.
    await database.sql()`
      insert into events (
        project_id, event_id, session_id, event_type, event_name, source, start_time_us)
      select ${projectId}, ${session_id} || n, ${session_id}, 'tool', 'step', 'test',
        1700000000000000 + greatest(0, n - 12000)
      from generate_series(1, 24000) as n`;

    await sessions.delete(projectId, session_id);

    const left = await database.sql()`
      select from events where project_id = ${projectId} and session_id = ${session_id} limit 1`;
    expect(left.length).toBe(0);
  });
});

const bucket = fc.dictionary(fc.constantFrom("a", "b", "c"), fc.integer({ max: 9 }), {
  maxKeys: 3,
});

describe("parallel writers", () => {
  test("each key ends with a value that was written, and totals match the events", async () => {
    const patches = fc.array(
      fc.record(
        {
          metadata: fc.record(
            {
              prompt_tokens: fc.nat(50),
              completion_tokens: fc.nat(50).map(String),
              cost: fc.constantFrom(0.25, 0.5),
            },
            { requiredKeys: [] },
          ),
          outputs: bucket,
          children_ids: fc.uniqueArray(fc.constantFrom("x", "y", "z")),
          error: fc.constantFrom("boom", ""),
        },
        { requiredKeys: [] },
      ),
      { minLength: 2, maxLength: 8 },
    );
    await fc.assert(
      fc.asyncProperty(patches, fc.integer({ min: 1, max: 3 }), async (writes, ids) => {
        const session_id = createUuid();
        const eventIds = Array.from({ length: ids }, () => createUuid());

        await Promise.all(
          writes.map((write, index) => {
            const event_id = eventIds[index % ids] ?? "";
            return recorder.record(projectId, [anEvent({ ...write, event_id, session_id })]);
          }),
        );

        const stored: StoredEvent[] = [];
        for (const [index, id] of eventIds.entries()) {
          const mine = writes.filter((_, position) => position % ids === index);
          if (mine.length === 0) continue;
          const got = await events.get(projectId, id);
          stored.push(got);
          const keys = new Set(mine.flatMap((write) => Object.keys(write.outputs ?? {})));
          expect(new Set(Object.keys(got.outputs))).toEqual(keys);
          for (const key of keys) {
            expect(mine.map((write) => write.outputs?.[key])).toContain(got.outputs[key]);
          }
          const children = new Set(mine.flatMap((write) => write.children_ids ?? []));
          expect(new Set(got.children_ids)).toEqual(children);
        }
        const { totals } = await sessions.get(projectId, session_id);
        const count = (name: string) =>
          stored.reduce((sum, event) => sum + Number(event.metadata[name] ?? 0), 0);
        expect(totals.num_events).toBe(stored.length);
        expect(totals.prompt_tokens).toBe(count("prompt_tokens"));
        expect(totals.completion_tokens).toBe(count("completion_tokens"));
        expect(totals.cost).toBe(count("cost"));
        expect(totals.num_errors).toBe(stored.filter((event) => event.error !== null).length);
      }),
      { numRuns: 60 },
    );
  });

  test("batches that share ids in opposite orders all commit", async () => {
    const ids = Array.from({ length: 30 }, () => createUuid());
    const session_id = createUuid();
    const writes = ids.map((event_id) => anEvent({ event_id, session_id }));

    await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        recorder.record(projectId, index % 2 ? writes : writes.toReversed()),
      ),
    );

    expect((await sessions.get(projectId, session_id)).totals.num_events).toBe(30);
  });
});

describe("batches", () => {
  const item = (index: number, input: object) => ({ index, input });

  test("the same single-session batch twice is one session", async () => {
    const event_id = createUuid();
    const items = [item(0, { event_type: "tool", inputs: {}, event_id, source: "test" })];

    const first = await events.createBatch(projectId, items, { isSingleSession: true });
    const again = await events.createBatch(projectId, items, {
      isSingleSession: true,
      sessionProperties: { session_name: "named" },
    });

    expect(again).toEqual(first);
    const session = await sessions.get(projectId, first.sessionId ?? "");
    expect(session.event.event_name).toBe("named");
  });

  test("a source is the event's own, of the properties, or of the session", async () => {
    const session_id = createUuid();
    await sessions.start(projectId, { session_id, source: "of session" });
    const bare = { event_type: "tool", inputs: {} };
    const items = [
      item(0, { ...bare, source: "own" }),
      item(1, { ...bare, session_id }),
      item(2, bare),
    ];
    const options = { requiresSource: true, sessionProperties: { source: "of properties" } };

    const { eventIds } = await events.createBatch(projectId, items, options);

    const sources = [];
    for (const id of eventIds) sources.push((await events.get(projectId, id)).source);
    expect(sources).toEqual(["own", "of session", "of properties"]);
    const alone = events.createBatch(projectId, [item(4, bare)], { requiresSource: true });
    await expect(alone).rejects.toMatchObject({
      details: { errors: ["events[4].source: is required in a batch"] },
    });
    const unknown = await events.createBatch(projectId, [item(0, bare)]);
    expect((await events.get(projectId, unknown.eventIds[0] ?? "")).source).toBe("unknown");
  });

  test("an event with a session's id is rejected alone", async () => {
    const session_id = createUuid();
    await sessions.start(projectId, { session_id });
    const good = { event_type: "tool", inputs: {}, source: "test" };

    const { eventIds, errors } = await events.createBatch(projectId, [
      item(0, good),
      item(1, { ...good, event_id: session_id, session_id: createUuid() }),
    ]);

    expect(eventIds).toHaveLength(1);
    expect(errors).toEqual([expect.stringContaining("events[1].event_id: is the id of a session")]);
  });
});
