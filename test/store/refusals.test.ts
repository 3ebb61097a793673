// An event that cannot be stored is refused alone; the other events of its request are stored.
// Source: docs/decisions.md, 5, 9 and 37.1.

import { describe, expect, test } from "vitest";
import { createUuid } from "../../src/base/ids.ts";
import type { EventWrite } from "../../src/tracing/events/event.ts";
import type { WrittenListener } from "../../src/tracing/events/write-set.ts";
import { createTestProject } from "../support/project.ts";
import { givenARecorder } from "../support/recorder.ts";
import { turnsAt } from "../support/turns.ts";
import { aWrite } from "../support/writes.ts";

/** Source of an event whose commit Postgres refuses, as for a value that no rule foresaw. */
const poison = "poison";

let commits = 0;

const refusePoison: WrittenListener = {
  wants: () => true,
  async onWritten(sql, written) {
    commits += 1;
    const isPoisoned = written.some(({ after }) => after.source === poison);
    if (isPoisoned) await sql`select ${poison}::text::integer`;
  },
};

const { database, recorder, events, sessions, projectId } = await givenARecorder({
  // One connection, so that concurrent requests share commits.
  turns: turnsAt(1),
  listener: refusePoison,
});

/** Records writes and returns the causes in their order; undefined for those that are stored. */
async function record(...writes: readonly EventWrite[]): Promise<(string | undefined)[]> {
  const refused = await recorder.record(projectId, writes);
  return writes.map((_, index) => refused.get(index));
}

async function isStored({ event_id }: EventWrite): Promise<boolean> {
  const rows = await database.sql()`
    select 1
    from events
    where project_id = ${projectId} and event_id = ${event_id}`;
  return rows.length > 0;
}

async function countRowsOf(sessionId: string): Promise<number> {
  const [row] = await database.sql()<{ count: number }[]>`
    select (
      (select count(*) from events where project_id = ${projectId}
        and (session_id = ${sessionId} or event_id = ${sessionId}))
      + (select count(*) from session_totals where project_id = ${projectId}
        and session_id = ${sessionId})) as count`;
  return row?.count ?? 0;
}

const isNoSession = expect.stringMatching(/^session_id: \S+ is the id of an event/) as string;
const isSessionId = expect.stringMatching(/^event_id: is the id of a session/) as string;

describe("an event whose session is another event", () => {
  test("is refused alone, whether that event is stored or in the same batch", async () => {
    const stored = aWrite();
    await record(stored);
    const [first, last] = [aWrite(), aWrite()];
    const beside = aWrite();

    const got = await record(
      first,
      aWrite({ session_id: stored.event_id }),
      beside,
      aWrite({ session_id: beside.event_id }),
      last,
    );

    expect(got).toEqual([undefined, isNoSession, undefined, isNoSession, undefined]);
    expect(await Promise.all([first, beside, last].map(isStored))).toEqual([true, true, true]);
    expect(await countRowsOf(stored.event_id)).toBe(1);
  });

  test("comes first in its batch: the other takes a session's id and is refused", async () => {
    const first = aWrite();
    const second = aWrite({ event_id: first.session_id ?? "" });

    const got = await record(first, second);
    const again = await record(first, second);

    expect(got).toEqual([undefined, isSessionId]);
    expect(again).toEqual(got);
    expect(await countRowsOf(second.session_id ?? "")).toBe(0);
    const { totals } = await sessions.get(projectId, first.session_id ?? "");
    expect(totals.num_events).toBe(1);
  });

  test("leaves nothing behind: neither row, session nor totals", async () => {
    const session = createUuid();
    await sessions.start(projectId, { session_id: session });
    const thief = aWrite({ event_id: session, metadata: { total_tokens: 7, cost: 1 } });

    const got = await record(thief, aWrite());

    expect(got).toEqual([isSessionId, undefined]);
    expect(await countRowsOf(thief.session_id ?? "")).toBe(0);
    expect((await sessions.get(projectId, session)).totals.num_events).toBe(0);
  });

  test("does not refuse others over an id that a refused write did not get", async () => {
    const session = createUuid();
    await sessions.start(projectId, { session_id: session });
    const thief = aWrite({ event_id: session });
    const member = aWrite({ session_id: session });

    const got = await record(thief, member);

    expect(got).toEqual([isSessionId, undefined]);
    expect((await sessions.get(projectId, session)).totals.num_events).toBe(1);
  });

  test("is refused in a chain of such events, in a bounded number of commits", async () => {
    const chain = Array.from({ length: 40 }, () => aWrite());
    await record(...chain);
    commits = 0;
    const linked = chain.map((event, at) => ({
      ...event,
      session_id: chain[at + 1]?.event_id ?? "",
    }));

    const got = await record(...linked.slice(0, -1), aWrite());

    expect(got.filter((cause) => cause === undefined)).toHaveLength(1);
    expect(commits).toBeLessThanOrEqual(5);
    const { session_id } = await events.get(projectId, chain[0]?.event_id ?? "");
    expect(session_id).toBe(chain[0]?.session_id);
  });

  test("takes updates that came before it, and they do not change which is refused", async () => {
    const event = aWrite();
    await recorder.enrich(projectId, { event_id: event.event_id, metadata: { early: true } });
    const lost = aWrite({ session_id: event.event_id });

    expect(await record(event, lost)).toEqual([undefined, isNoSession]);

    expect((await events.get(projectId, event.event_id)).metadata).toEqual({ early: true });
  });

  test("makes a session of an early update, whatever that says, when it comes first", async () => {
    const event = aWrite();
    const sessionId = event.session_id ?? "";
    const early = { event_type: "tool", session_id: createUuid(), metadata: { early: 1 } } as const;
    await recorder.enrich(projectId, { event_id: sessionId, ...early });

    await record(event);

    const session = await sessions.get(projectId, sessionId);
    expect(session.event).toMatchObject({ metadata: { early: 1 }, session_id: sessionId });
  });
});

describe("requests that commit together", () => {
  test("of an event and of one in it as a session: one of the two is refused", async () => {
    for (let round = 0; round < 20; round += 1) {
      const event = aWrite();
      const lost = aWrite({ session_id: event.event_id });
      const others = [aWrite(), aWrite()];
      const requests = [
        [others[0], event],
        [lost, others[1]],
      ].map((writes) => writes.filter((write) => write !== undefined));
      if (round % 2 === 1) requests.reverse();

      const refused = await Promise.all(
        requests.map((writes) => recorder.record(projectId, writes)),
      );

      expect(refused.reduce((sum, { size }) => sum + size, 0)).toBe(1);
      expect(await Promise.all(others.map(isStored))).toEqual([true, true]);
      const [first, second] = await Promise.all([isStored(event), isStored(lost)]);
      expect([first, second].filter(Boolean)).toHaveLength(round % 2 === 1 ? 2 : 1);
    }
  });

  test("of several projects are stored, though one holds a clash", async () => {
    const others = await Promise.all([1, 2, 3].map(() => createTestProject(database)));
    const stored = aWrite();
    await record(stored);
    const lost = aWrite({ session_id: stored.event_id });

    const [first, clash, ...rest] = await Promise.all([
      recorder.record(projectId, [aWrite()]),
      recorder.record(projectId, [lost, aWrite()]),
      // In another project the id is free.
      ...others.map((other) => recorder.record(other, [lost])),
    ]);

    expect(first.size).toBe(0);
    expect([...clash.keys()]).toEqual([0]);
    expect(rest.map(({ size }) => size)).toEqual([0, 0, 0]);
    expect(await countRowsOf(lost.session_id ?? "")).toBe(1);
  });
});

describe("a value that Postgres refuses", () => {
  const isUnstorable = expect.stringMatching(/^holds a value .*22P02/) as string;

  test("costs its own event only, in few commits", async () => {
    const writes = Array.from({ length: 1_000 }, () => aWrite());
    const bad = [0, 411, 412, 999];
    for (const at of bad) writes[at] = aWrite({ source: poison });
    commits = 0;

    const got = await record(...writes);

    expect(got.flatMap((cause, at) => (cause === undefined ? [] : [at]))).toEqual(bad);
    expect(got[411]).toEqual(isUnstorable);
    expect(commits).toBeLessThanOrEqual(80);
    expect(await isStored(writes[1] ?? aWrite())).toBe(true);
    expect(await isStored(writes[412] ?? aWrite())).toBe(false);
  });

  test("in every event of a large batch costs a bounded number of commits", async () => {
    const writes = Array.from({ length: 1_000 }, () => aWrite({ source: poison }));
    commits = 0;

    const got = await record(...writes);

    expect(got.every((cause) => cause !== undefined)).toBe(true);
    expect(commits).toBeLessThanOrEqual(120);
  });

  test("in one request leaves those that commit with it alone", async () => {
    const good = [aWrite(), aWrite(), aWrite()];

    const [, bad, mixed] = await Promise.all([
      record(good[0] ?? aWrite()),
      record(aWrite({ source: poison })),
      record(aWrite({ source: poison }), good[1] ?? aWrite()),
      record(good[2] ?? aWrite()),
    ]);

    expect(bad).toEqual([isUnstorable]);
    expect(mixed).toEqual([isUnstorable, undefined]);
    expect(await Promise.all(good.map(isStored))).toEqual([true, true, true]);
  });

  test("in an update is a 400, and the transaction around it goes on", async () => {
    const event = aWrite();
    await record(event);
    const update = { event_id: event.event_id, source: poison };

    await database.transaction(async () => {
      const got = recorder.update(projectId, update);
      await expect(got).rejects.toMatchObject({ reason: "INVALID_ARGUMENT" });
      await recorder.update(projectId, { ...update, source: "good" });
    });

    expect((await events.get(projectId, event.event_id)).source).toBe("good");
  });
});
