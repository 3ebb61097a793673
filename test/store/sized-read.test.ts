// Reads within bounds of bytes, for rows of any columns: rows are measured exactly, answers past
// their bounds are refused, and a read fetches only the bytes reserved in the call's memory.

import { beforeAll, describe, expect, test } from "vitest";
import { createByteBudget, type Reservation } from "../../src/base/byte-budget.ts";
import type { ProjectId } from "../../src/base/ids.ts";
import type { StoredEvent } from "../../src/tracing/events/event.ts";
import { createReadContext, findRows, readEvent } from "../../src/tracing/events/sized-read.ts";
import { rowsOfIds, type SizedRow, sizedRows } from "../../src/tracing/events/sized-store.ts";
import { createExports, type Exports } from "../../src/tracing/export/export.ts";
import { createFieldCatalogue } from "../../src/tracing/fields/fields.ts";
import { createSessions, type Sessions } from "../../src/tracing/sessions/sessions.ts";
import { givenTestDatabase } from "../support/database.ts";
import { anEvent, aProjectId, insertEvents } from "../support/events.ts";

const MB = 1_000_000;
const given = givenTestDatabase();
let exports: Exports;
let sessions: Sessions;

beforeAll(async () => {
  const { database } = given;
  const fields = createFieldCatalogue({ database });
  exports = createExports({ database, fields });
  // Reading records nothing.
  sessions = createSessions({ database, fields, recorder: {} as never });
});

const everything = { filters: [], fromMs: [], toMs: [], projections: [] } as const;

/** Memory that notes the most that was ever taken from it. */
function aMemory(bytesMax = Infinity): Reservation & { peak(): number } {
  const memory = createByteBudget(bytesMax).open();
  let peak = 0;
  return {
    ...memory,
    grow(bytes) {
      memory.grow(bytes);
      peak = Math.max(peak, memory.bytes());
    },
    peak: () => peak,
  };
}

/** A session with events whose columns are set by SQL, which makes large ones fast. */
async function aSessionWith(count: number, set: Partial<Record<string, string>>) {
  const projectId = aProjectId();
  const events = Array.from({ length: count }, (_, index) =>
    anEvent({ session_id: "s", event_id: `e${String(index).padStart(5, "0")}` }),
  );
  const session = anEvent({ session_id: "s", event_id: "s", event_type: "session" });
  await insertEvents(given.database, projectId, [session, ...events]);
  const sql = given.database.sql();
  for (const [column, value] of Object.entries(set)) {
    await sql`
      update events set ${sql(column)} = ${sql.unsafe(value ?? "")}
      where project_id = ${projectId} and event_type <> 'session'`;
  }
  return projectId;
}

const idsOf = (count: number) =>
  Array.from({ length: count }, (_, index) => `e${String(index).padStart(5, "0")}`);

/** Text that the table cannot make small. */
const noise = (bytes: number) =>
  `(select string_agg(md5(random()::text || i), '') from generate_series(1, ${bytes / 32}) as i)`;

const numbers = (count: number) =>
  `(select jsonb_build_object('n', jsonb_agg('1e308'::jsonb)) from generate_series(1, ${count}))`;

const children = (count: number) =>
  `(select array_agg('child-' || i) from generate_series(1, ${count}) as i)`;

type Shape = {
  readonly name: string;
  readonly count: number;
  readonly set: Partial<Record<string, string>>;
};

/** Over 64 MB each, though some take little of it in the table. */
const largeShapes: readonly Shape[] = [
  { name: "errors", count: 70, set: { error: noise(1 * MB) } },
  {
    name: "names and sources",
    count: 35,
    set: { event_name: "repeat('n', 1000000)", source: "repeat('s', 1000000)" },
  },
  { name: "children_ids", count: 300, set: { children_ids: children(20_000) } },
  {
    name: "inputs that the table made small",
    count: 70,
    set: { inputs: "jsonb_build_object('t', repeat('t', 1000000))" },
  },
  {
    name: "control characters, six bytes each",
    count: 70,
    set: { inputs: "jsonb_build_object('t', repeat(chr(1), 160000))" },
  },
  { name: "numbers written out", count: 15, set: { outputs: numbers(16_000) } },
];

describe("an answer past its bytes", () => {
  const tooLarge = { reason: "ANSWER_TOO_LARGE", message: /larger than 64000000 bytes/ };

  test.each(largeShapes)("by $name is refused, and little is fetched", async ({ count, set }) => {
    const projectId = await aSessionWith(count, set);
    const [page, tree] = [aMemory(), aMemory()];

    const gotPage = exports.getPage(projectId, everything, { limitMax: 1_000, memory: page });
    await expect(gotPage).rejects.toMatchObject(tooLarge);
    const gotTree = sessions.tree(projectId, "s", { memory: tree });
    await expect(gotTree).rejects.toMatchObject(tooLarge);

    // The bound of the answer plus the bytes of one more statement.
    expect(page.peak()).toBeLessThan(81 * MB);
    expect(tree.peak()).toBeLessThan(81 * MB);
  });

  test.each(largeShapes.slice(0, 1))("by $name is a stream without a bound", async (shape) => {
    const projectId = await aSessionWith(shape.count, shape.set);
    const memory = aMemory();

    const { groups } = await exports.stream(projectId, everything, { memory });
    let count = 0;
    for await (const group of groups) count += group.length;

    expect(count).toBe(shape.count + 1);
    expect(memory.peak()).toBeLessThan(5 * MB);
  });

  test.each([
    { name: "errors", set: { error: noise(1 * MB) }, isRefused: true },
    { name: "children_ids", set: { children_ids: children(90_000) }, isRefused: true },
    { name: "inputs", set: { inputs: "jsonb_build_object('t', repeat('t', 1000000))" } },
  ])("counts what a skeleton shows: $name", async ({ set, isRefused = false }) => {
    const projectId = await aSessionWith(70, set);
    const memory = aMemory();

    const got = sessions.skeleton(projectId, "s", { memory });

    if (isRefused) await expect(got).rejects.toMatchObject(tooLarge);
    else expect((await got).children).toHaveLength(70);
    expect(memory.peak()).toBeLessThan(81 * MB);
  });

  test("counts what a list of sessions shows", async () => {
    const projectId = aProjectId();
    const list = Array.from({ length: 70 }, (_, index) =>
      anEvent({ event_id: `s${index}`, session_id: `s${index}`, event_type: "session" }),
    );
    await insertEvents(given.database, projectId, list);
    await given.database.sql()`
      update events set event_name = repeat(event_id, 500000) where project_id = ${projectId}`;
    const memory = aMemory();
    const query = { filters: [], fromMs: [], toMs: [], limit: 100, cursor: undefined };

    const got = sessions.list(projectId, query, { memory });

    await expect(got).rejects.toMatchObject(tooLarge);
    expect(memory.peak()).toBeLessThan(81 * MB);
    const few = await sessions.list(projectId, { ...query, limit: 10 });
    expect(few.sessions.map(({ event }) => event.event_name.length)).toEqual(
      few.sessions.map(({ event }) => event.event_id.length * 500_000),
    );
  });

  test("counts only the fields that were asked for", async () => {
    const projectId = await aSessionWith(70, { error: "repeat('e', 1000000)" });

    const page = await exports.getPage(
      projectId,
      { ...everything, projections: ["inputs", "event_name"] },
      { limitMax: 1_000 },
    );

    expect(page.events).toHaveLength(71);
  });
});

test("an answer past its objects and arrays is refused before they are made", async () => {
  const arrays =
    "(select jsonb_build_object('a', jsonb_agg('[]'::jsonb)) from generate_series(1, 50000))";
  const projectId = await aSessionWith(25, { inputs: arrays });
  const memory = aMemory();

  const got = exports.getPage(projectId, everything, { limitMax: 1_000, memory });

  const message = /larger than 1000000 objects and arrays/;
  await expect(got).rejects.toMatchObject({ reason: "ANSWER_TOO_LARGE", message });
  expect(memory.peak()).toBeLessThan(64 * MB);
});

describe("a large answer", () => {
  test("comes whole and in order, whatever the sizes of its rows", async () => {
    const projectId = await aSessionWith(60, {});
    await given.database.sql()`
      update events set inputs = ('{"size": ' || length(t)::text || ', "t": "' || t || '"}')::jsonb
      from (
        select event_id as id, repeat(md5(event_id),
          case abs(hashtext(event_id)) % 4 when 0 then 1 when 1 then 300 when 2 then 9000
            else 100000 end) as t
        from events where project_id = ${projectId}) as sizes
      where project_id = ${projectId} and event_id = sizes.id and event_type <> 'session'`;
    const memory = aMemory();

    const tree = await sessions.tree(projectId, "s", { memory });

    const got = tree.children.map(({ event }) => event);
    expect(got.map((event) => event.event_id)).toEqual(idsOf(60));
    for (const { inputs } of got) expect((inputs["t"] as string).length).toBe(inputs["size"]);
    const bytes = got.reduce((sum, { inputs }) => sum + (inputs["size"] as number), 0);
    expect(memory.bytes()).toBeGreaterThan(bytes);
    expect(memory.bytes()).toBeLessThan(bytes + 60 * 2_000);
  });

  test("is refused with OVERLOADED when the memory has no room, before its rows come", async () => {
    const projectId = await aSessionWith(40, { error: "repeat('e', 1000000)" });
    const memory = aMemory(20 * MB);

    const got = exports.getPage(projectId, everything, { limitMax: 1_000, memory });

    await expect(got).rejects.toMatchObject({ reason: "OVERLOADED" });
    expect(memory.peak()).toBeLessThanOrEqual(20 * MB);
  });
});

describe("one event", () => {
  test("larger than an answer is read alone and by a stream, not in a page", async () => {
    const inputs = "jsonb_build_object('t', repeat('t', 70000000))";
    const projectId = await aSessionWith(1, { inputs });
    const memory = aMemory();

    const event = await readEvent(
      createReadContext(given.database, projectId, { memory }),
      "e00000",
    );
    expect((event?.inputs?.["t"] as string).length).toBe(70 * MB);
    expect(memory.bytes()).toBeGreaterThan(70 * MB);
    const { groups } = await exports.stream(projectId, everything);
    const sizes: number[] = [];
    for await (const group of groups) sizes.push(group.length);
    expect(sizes).toEqual([1, 1]);
    const page = exports.getPage(projectId, everything, { limitMax: 10 });
    await expect(page).rejects.toMatchObject({ reason: "ANSWER_TOO_LARGE" });
  });

  test("past its own bound is refused, naming it and the way out", async () => {
    const text = "jsonb_build_object('t', repeat('t', 70000000))";
    const projectId = await aSessionWith(1, { inputs: text, outputs: text });
    const memory = aMemory();

    const got = readEvent(createReadContext(given.database, projectId, { memory }), "e00000");

    const message = /^event e00000 has 1400\d+ bytes, more than 128000000; use POST .* projections/;
    await expect(got).rejects.toMatchObject({ reason: "ANSWER_TOO_LARGE", message });
    expect(memory.peak()).toBeLessThan(2 * MB);
  });

  test("that Postgres cannot write out is refused as too large", async () => {
    const context = createReadContext(given.database, aProjectId());
    // Postgres says so once it has written a gigabyte, which no test needs.
    const error = Object.assign(new Error("string buffer exceeds"), { code: "54000" });

    const got = readEvent({ ...context, read: () => Promise.reject(error) }, "e");

    const message = /^an event has more than a gigabyte of text/;
    await expect(got).rejects.toMatchObject({ reason: "ANSWER_TOO_LARGE", message });
  });

  test("that is not there is not found", async () => {
    expect(await readEvent(createReadContext(given.database, aProjectId()), "x")).toBeUndefined();
  });
});

describe("rows that change between being measured and being read", () => {
  const unsent = { rowsMax: 3, projections: undefined, bytesMax: 10, admit: () => undefined };

  async function measured(count: number) {
    const projectId = await aSessionWith(count, { inputs: "jsonb_build_object('t', 'small')" });
    const context = createReadContext(given.database, projectId);
    const source = rowsOfIds(projectId, idsOf(count));
    return { projectId, found: await findRows(context, { ...unsent, source }) };
  }

  async function collect(found: Awaited<ReturnType<typeof findRows>>) {
    const events: Partial<StoredEvent>[] = [];
    for await (const part of found.parts) events.push(...part.events);
    return events;
  }

  test("are left out when they are gone", async () => {
    const { projectId, found } = await measured(3);
    await given.database.sql()`
      delete from events where project_id = ${projectId} and event_id = 'e00001'`;

    const events = await collect(found);

    expect(found.rows.map((row) => row.is_sent)).toEqual([false, false, false]);
    expect(events.map((event) => event.event_id)).toEqual(["e00000", "e00002"]);
  });

  test("are measured again when they have grown", async () => {
    const { projectId, found } = await measured(3);
    await given.database.sql()`
      update events set inputs = jsonb_build_object('t', repeat('x', 3000000))
      where project_id = ${projectId} and event_id = 'e00001'`;

    const events = await collect(found);

    const lengths = events.map(({ inputs }) => (inputs?.["t"] as string).length);
    expect(lengths).toEqual([5, 3_000_000, 5]);
  });
});

test("the bytes of a row are exactly those of its texts", async () => {
  const texts = ["plain", "é\u{1F41D}", '"quoted\\"', "\u0001\u001f", "\uE000", "nul\0", "\uD800"];
  const events = texts.map((text, index) =>
    anEvent({
      event_id: `e${index}`,
      event_name: text,
      error: text,
      children_ids: [text],
      inputs: { [text]: [text, 1e308, -5e-324, 0.1, { a: [] }, null, true] },
      cost_estimate: { cost: 0.1, price_table: text },
    }),
  );
  const projectId: ProjectId = aProjectId();
  await insertEvents(given.database, projectId, events);
  const source = rowsOfIds(
    projectId,
    events.map((event) => event.event_id),
  );
  const limits = { estimateMax: MB, bytesMax: MB };

  const read = given.database.reader({ owner: projectId });
  const rows = await read((sql) => sizedRows(sql, source, { projections: undefined }, limits));

  const lengthOf = (row: SizedRow) =>
    [row.payload, row["event_name"], row["source"], row["error"]]
      .map((text) => Buffer.byteLength(String(text)))
      .reduce((sum, bytes) => sum + bytes);
  expect(rows.map((row) => row.bytes)).toEqual(rows.map(lengthOf));
  const context = createReadContext(given.database, projectId);
  const got = await Promise.all(events.map(({ event_id: id }) => readEvent(context, id)));
  expect(got).toEqual(events);
});
