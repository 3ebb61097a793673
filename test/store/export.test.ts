// Pages, cursors and streams of events, read from a real database.

import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createByteBudget } from "../../src/base/byte-budget.ts";
import type { ProjectId } from "../../src/base/ids.ts";
import type { StoredEvent } from "../../src/tracing/events/event.ts";
import { createExports, type Exports, type PageRequest } from "../../src/tracing/export/export.ts";
import { openDatabase } from "../../src/postgres/database.ts";
import { createFieldCatalogue, type FieldCatalogue } from "../../src/tracing/fields/fields.ts";
import { givenTestDatabase } from "../support/database.ts";
import { anEvent, aProjectId, insertEvents, insertPending } from "../support/events.ts";

const given = givenTestDatabase();
let fields: FieldCatalogue;
let exports: Exports;

beforeAll(async () => {
  fields = createFieldCatalogue({ database: given.database });
  exports = createExports({ database: given.database, fields });
});

const everything = { filters: [], fromMs: [], toMs: [], projections: [] } as const;

async function aProjectWith(events: readonly StoredEvent[]): Promise<ProjectId> {
  const projectId = aProjectId();
  await insertEvents(given.database, projectId, events, fields);
  return projectId;
}

function numbered(count: number, fieldsOf: (index: number) => Partial<StoredEvent> = () => ({})) {
  return Array.from({ length: count }, (_, index) =>
    anEvent({ event_id: `event-${String(index).padStart(4, "0")}`, ...fieldsOf(index) }),
  );
}

const getPage = (projectId: ProjectId, request: Partial<PageRequest> = {}, limitMax = 7_500) =>
  exports.getPage(projectId, { ...everything, ...request }, { limitMax });

async function idsOf(projectId: ProjectId, request: Partial<PageRequest> = {}) {
  return (await getPage(projectId, request)).events.map((event) => event.event_id);
}

describe("getPage", () => {
  test("answers the newest first, and the larger id first among equals", async () => {
    const projectId = await aProjectWith([
      anEvent({ event_id: "a", start_time: 1 }),
      anEvent({ event_id: "b", start_time: 2.001 }),
      anEvent({ event_id: "c", start_time: 2.002 }),
      anEvent({ event_id: "d", start_time: 1 }),
    ]);

    expect(await idsOf(projectId)).toEqual(["c", "b", "d", "a"]);
  });

  test("finds a model by its name, and what is no name by its value", async () => {
    const long = "m".repeat(300);
    const models = ["gpt", "GPT", "nul\0", long, "2", 2, null, { name: "gpt" }];
    const projectId = await aProjectWith(
      models.map((model, index) => anEvent({ event_id: `e${index}`, config: { model } })),
    );
    const find = (operator: string, value: string | number) =>
      idsOf(projectId, { filters: [{ field: "config.model", operator, value }] });

    expect(await find("is", "gpt")).toEqual(["e0"]);
    expect(await find("is", "nul\0")).toEqual(["e2"]);
    expect(await find("is", long)).toEqual(["e3"]);
    expect(await find("is", 2)).toEqual(["e5"]);
    expect(await find("is not", "gpt")).toHaveLength(models.length - 1);
  });

  test.each([
    { name: "all", filters: [] },
    { name: "of a session", filters: [{ field: "session_id", operator: "is", value: "s" }] },
  ])(
    "numbered pages hold the events of one large page in its order: $name",
    async ({ filters }) => {
      const projectId = await aProjectWith([
        ...numbered(25, (index) => ({ session_id: "s", start_time: index % 4 })),
        anEvent({ session_id: "other" }),
      ]);
      const request = { filters, projections: ["inputs"] };
      const want = (await getPage(projectId, request)).events;

      const got = [];
      for (let page = 1; page <= 4; page += 1) {
        got.push(...(await getPage(projectId, { ...request, limit: 8, page })).events);
      }
      expect(got).toEqual(want);
      expect((await getPage(projectId, { ...request, limit: 8, page: 5 })).events).toEqual([]);
    },
  );

  test("reads an event back as it was stored, refused characters included", async () => {
    const event = anEvent({
      event_name: "nul \0",
      children_ids: ["x"],
      error: "lone \uD800",
      start_time: 1_700_000_000_000.125,
      end_time: 1_700_000_000_001,
      duration: 0.875,
      inputs: { "key\0": ["\uE0000041", { deep: null }] },
      user_properties: { user: "é\u{1F41D}" },
    });
    const projectId = await aProjectWith([event]);

    expect((await getPage(projectId)).events).toEqual([event]);
  });

  test("shows neither waiting updates nor other projects, and counts neither", async () => {
    const projectId = await aProjectWith(numbered(2));
    await insertPending(given.database, projectId, anEvent());
    await aProjectWith(numbered(3));

    expect(await getPage(projectId)).toMatchObject({ total: 2, events: { length: 2 } });
  });

  test("pages by number cover all events once; the total is that of all pages", async () => {
    const projectId = await aProjectWith(numbered(25));
    const pages = await Promise.all(
      [1, 2, 3, 4].map((page) => getPage(projectId, { limit: 10, page })),
    );

    const ids = pages.flatMap(({ events }) => events.map((event) => event.event_id));
    expect(new Set(ids).size).toBe(25);
    expect(pages.map(({ events, total }) => [events.length, total])).toEqual([
      [10, 25],
      [10, 25],
      [5, 25],
      [0, 25],
    ]);
  });

  test("pages by cursor cover all events once, while newer ones come in", async () => {
    const projectId = await aProjectWith(numbered(25, (index) => ({ start_time: index % 3 })));
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await getPage(
        projectId,
        cursor === undefined ? { limit: 5 } : { limit: 5, cursor },
      );
      ids.push(...page.events.map((event) => event.event_id));
      cursor = page.nextCursor;
      await insertEvents(given.database, projectId, [anEvent({ start_time: 100 + ids.length })]);
    } while (cursor !== undefined);

    expect(ids).toHaveLength(25);
    expect(new Set(ids).size).toBe(25);
  });

  test("a cursor survives an id with characters that Postgres refuses", async () => {
    const projectId = await aProjectWith(
      ["a\uE000", "b\uE000", "c\uE000"].map((event_id) => anEvent({ event_id })),
    );
    const first = await getPage(projectId, { limit: 1 });
    const rest = await idsOf(projectId, { cursor: first.nextCursor });

    expect(rest).toEqual(["b\uE000", "a\uE000"]);
  });

  test.each([
    { name: "of another filter", request: { filters: [{ field: "source", operator: "exists" }] } },
    { name: "of other dates", request: { fromMs: [1] } },
    { name: "of another run", request: { evaluationId: "r" } },
  ])("a cursor $name is refused", async ({ request }) => {
    const projectId = await aProjectWith(numbered(2));
    const { nextCursor } = await getPage(projectId, { limit: 1 });

    const got = getPage(projectId, { ...request, cursor: nextCursor });

    await expect(got).rejects.toMatchObject({ reason: "INVALID_ARGUMENT", message: /^cursor: / });
  });

  test("a cursor of another project is refused", async () => {
    const { nextCursor } = await getPage(await aProjectWith(numbered(2)), { limit: 1 });

    const got = getPage(await aProjectWith(numbered(2)), { cursor: nextCursor });

    await expect(got).rejects.toMatchObject({ reason: "INVALID_ARGUMENT" });
  });

  test.each([
    { request: { limit: 0 }, message: "limit: must be a whole number, from 1 to 7500" },
    { request: { limit: 7_501 }, message: "limit: must be a whole number, from 1 to 7500" },
    { request: { page: 0 }, message: "page: must be a whole number, 1 or more" },
    { request: { cursor: "nonsense" }, message: "cursor: it is not a next_cursor" },
    { request: { cursor: "W10", page: 1 }, message: "cursor: not together with page" },
    { request: { fromMs: [Number.NaN] }, message: "dateRange: must hold Unix milliseconds" },
    { request: { projections: ["cost"] }, message: /^projections: no field cost/ },
    {
      request: { projections: ["metadata.cost"] },
      message: /^projections: no field metadata.cost/,
    },
  ])("refuses $request", async ({ request, message }) => {
    const got = getPage(aProjectId(), request);

    await expect(got).rejects.toMatchObject({ reason: "INVALID_ARGUMENT", message });
  });

  test("the default limit is 1,000, or the largest page where that is smaller", async () => {
    const projectId = await aProjectWith(numbered(1_001));

    expect((await getPage(projectId)).events).toHaveLength(1_000);
    expect((await getPage(projectId, {}, 10)).events).toHaveLength(10);
  });

  test("dates include both bounds, to the millisecond that answers show", async () => {
    const times = [999.999, 1_000, 1_000.5, 2_000.999, 2_001];
    const projectId = await aProjectWith(
      numbered(5, (index) => ({ start_time: times[index] ?? 0 })),
    );

    expect(await idsOf(projectId, { fromMs: [1_000], toMs: [2_000] })).toEqual([
      "event-0003",
      "event-0002",
      "event-0001",
    ]);
    expect(await idsOf(projectId, { fromMs: [1_000.25, 500], toMs: [2_000.5] })).toEqual([
      "event-0002",
    ]);
  });

  test("an evaluation's events are those of its run, known or not", async () => {
    const projectId = await aProjectWith(
      numbered(2, (index) => ({ metadata: { run_id: `r${index}` } })),
    );

    expect(await idsOf(projectId, { evaluationId: "r1" })).toEqual(["event-0001"]);
    expect(await idsOf(projectId, { evaluationId: "r9" })).toEqual([]);
    expect(await idsOf(projectId, { evaluationId: "" })).toHaveLength(2);
  });

  test("projections select fields; the id comes always", async () => {
    const projectId = await aProjectWith([anEvent({ event_id: "a", metadata: { cost: 1 } })]);
    const { events, projections } = await getPage(projectId, { projections: ["metadata"] });

    expect([...(projections ?? [])]).toEqual(["metadata"]);
    expect(events[0]).toMatchObject({ event_id: "a", metadata: { cost: 1 } });
    expect(events[0]).not.toHaveProperty("inputs");
  });

  test("a filter of many fields at once holds for all of them", async () => {
    const projectId = await aProjectWith(
      numbered(10, (index) => ({
        metadata: { i: index, odd: index % 2 === 1, "a.b": `n${index}` },
      })),
    );
    const filters = [
      { field: "metadata.i", operator: "greater than", value: "3" },
      { field: "metadata.odd", operator: "is", value: true },
      { field: "metadata.a.b", operator: "is not", value: "n7" },
    ];

    expect(await idsOf(projectId, { filters })).toEqual(["event-0009", "event-0005"]);
  });

  test("what looks like SQL or a pattern in a filter is only text", async () => {
    const projectId = await aProjectWith([
      anEvent({ event_id: "a", metadata: { "x' or true --": "100%' or '1'='1" } }),
      anEvent({ event_id: "b", metadata: { "x' or true --": "100 percent" } }),
    ]);
    const field = "metadata.x' or true --";

    expect(
      await idsOf(projectId, { filters: [{ field, operator: "contains", value: "0%'" }] }),
    ).toEqual(["a"]);
    expect(
      await idsOf(projectId, { filters: [{ field, operator: "contains", value: "_" }] }),
    ).toEqual([]);
  });

  test("a caller that left cancels its statements", async () => {
    const controller = new AbortController();
    controller.abort();

    const got = exports.getPage(aProjectId(), everything, {
      limitMax: 1,
      signal: controller.signal,
    });

    await expect(got).rejects.toThrow(/abort/i);
  });
});

describe("stream", () => {
  const collect = async (projectId: ProjectId, signal?: AbortSignal) => {
    const { groups } = await exports.stream(projectId, everything, { signal });
    const ids: string[] = [];
    for await (const group of groups) ids.push(...group.map((event) => event.event_id));
    return ids;
  };

  test("gives all events in the order of pages, past any page limit", async () => {
    const events = numbered(8_200, (index) => ({ start_time: index % 100 }));
    const projectId = await aProjectWith(events);
    const pages = await Promise.all([1, 2].map((page) => idsOf(projectId, { limit: 7_500, page })));

    expect(await collect(projectId)).toEqual(pages.flat());
  });

  test("gives none where there is none", async () => {
    expect(await collect(aProjectId())).toEqual([]);
  });

  test("gives what was stored before and does not change, once, whatever comes", async () => {
    const projectId = await aProjectWith(numbered(3_000, (index) => ({ start_time: 10 + index })));
    const { groups } = await exports.stream(projectId, everything);
    const gone: string[] = [];
    const ids: string[] = [];
    for await (const group of groups) {
      ids.push(...group.map((event) => event.event_id));
      if (gone.length > 0) continue;
      const newer = [anEvent({ start_time: 99_999 })];
      const between = numbered(10, (index) => ({ event_id: `new-${index}`, start_time: 20.5 }));
      await insertEvents(given.database, projectId, [...newer, ...between]);
      const deleted = await given.database.sql()<{ event_id: string }[]>`
        delete from events
        where project_id = ${projectId} and start_time_us between 15000 and 18000
        returning event_id`;
      gone.push(...deleted.map((row) => row.event_id));
    }

    const kept = ids.filter((id) => !id.startsWith("new-"));
    expect(gone).toHaveLength(4);
    const all = numbered(3_000).map((event) => event.event_id);
    expect(kept).toEqual(all.filter((id) => !gone.includes(id)).toReversed());
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("looks for rare matches in bounded steps, and for few by their own index", async () => {
    const own = createExports({ database: given.database, fields, walkedMax: 100 });
    const projectId = await aProjectWith(
      numbered(1_234, (index) => ({
        start_time: index % 7,
        session_id: index % 100 === 33 ? "rare" : "usual",
        source: index % 100 === 33 ? "rare" : "usual",
      })),
    );
    const collectBy = async (field: string) => {
      const filters = [{ field, operator: "is", value: "rare" }];
      const { groups } = await own.stream(projectId, { ...everything, filters });
      const ids: string[] = [];
      for await (const group of groups) ids.push(...group.map((event) => event.event_id));
      return ids;
    };
    const filters = [{ field: "source", operator: "is", value: "rare" }];
    const want = await idsOf(projectId, { filters });

    expect(want).toHaveLength(13);
    expect(await collectBy("source")).toEqual(want);
    expect(await collectBy("session_id")).toEqual(want);
  });

  test("holds no transaction and no connection while its reader is slow", async () => {
    const projectId = await aProjectWith(numbered(1_500));
    const slow = openDatabase({ url: given.url, connectionsMax: 3 });
    onTestFinished(() => slow.close());
    const own = createExports({ database: slow, fields });
    const streams = await Promise.all([1, 2, 3, 4].map(() => own.stream(projectId, everything)));
    const readers = streams.map(({ groups }) => groups[Symbol.asyncIterator]());
    for (const reader of readers) await reader.next();

    const [row] = await slow.reader({ owner: projectId })(
      (sql) => sql<{ count: number }[]>`
        select count(*)::integer as count
        from pg_stat_activity
        where datname = current_database() and state like 'idle in transaction%'`,
    );

    expect(row?.count).toBe(0);
    for (const reader of readers) await reader.return?.();
  });

  test("gives the bytes of a chunk back when the next is asked for", async () => {
    const projectId = await aProjectWith(numbered(2_000));
    const memory = createByteBudget(Infinity).open();
    const { groups } = await exports.stream(projectId, everything, { memory });
    const held: number[] = [];
    for await (const group of groups) {
      held.push(memory.bytes());
      expect(group.length).toBeGreaterThan(0);
    }

    expect(Math.max(...held)).toBeLessThan(500_000);
    expect(Math.min(...held)).toBeGreaterThan(10_000);
    expect(memory.bytes()).toBe(0);
  });

  test("large events come in small groups", async () => {
    const noise = () => Array.from({ length: 40_000 }, () => Math.random().toString(36)).join("");
    const projectId = await aProjectWith(numbered(12, () => ({ inputs: { noise: noise() } })));
    const { groups } = await exports.stream(projectId, everything);
    const sizes: number[] = [];
    for await (const group of groups) sizes.push(group.length);

    expect(sizes.length).toBeGreaterThan(2);
    expect(sizes.reduce((left, right) => left + right)).toBe(12);
  });

  test("a reader that stops early, or is cancelled, gives its connection back", async () => {
    const projectId = await aProjectWith(numbered(3_000));
    for (let round = 0; round < 10; round += 1) {
      const controller = new AbortController();
      const { groups } = await exports.stream(projectId, everything, { signal: controller.signal });
      const reading = (async () => {
        for await (const group of groups) {
          if (round % 2 === 0 && group.length > 0) break;
          controller.abort();
        }
      })();
      if (round % 2 === 0) await reading;
      else await expect(reading).rejects.toThrow(/abort/i);
    }

    const [row] = await given.database.sql()<{ count: number }[]>`
      select count(*)::integer as count
      from pg_stat_activity
      where datname = current_database() and state like 'idle in transaction%'`;
    expect(row?.count).toBe(0);
  });

  test.each([
    { name: "of one project", limits: { streamsOfProjectMax: 1 }, isRefusedElsewhere: false },
    { name: "in all", limits: { streamsMax: 1 }, isRefusedElsewhere: true },
  ])("more streams $name than may run are refused for now", async (row) => {
    const [projectId, other] = [
      await aProjectWith(numbered(600)),
      await aProjectWith(numbered(600)),
    ];
    const one = createExports({ database: given.database, fields, ...row.limits });
    const begin = async (id: ProjectId) =>
      (await one.stream(id, everything)).groups[Symbol.asyncIterator]();
    const first = await begin(projectId);
    await first.next();

    const refused = { reason: "OVERLOADED", message: /^1 event streams .*are running/ };
    await expect((await begin(projectId)).next()).rejects.toMatchObject(refused);
    const elsewhere = await begin(other);
    if (row.isRefusedElsewhere) await expect(elsewhere.next()).rejects.toMatchObject(refused);
    else expect((await elsewhere.next()).done).toBe(false);
    await elsewhere.return?.();
    await first.return?.();
    const third = await begin(projectId);
    expect((await third.next()).done).toBe(false);
    await third.return?.();
  });

  test("faults of the request come before anything is sent", async () => {
    const filters = [{ field: "metadata.nothing", operator: "is", value: 1 }];

    const got = exports.stream(aProjectId(), { ...everything, filters });

    await expect(got).rejects.toMatchObject({ reason: "INVALID_FILTER" });
  });
});
