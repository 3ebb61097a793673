// Selection against Postgres: conditions that were written down before any event had their fields,
// pages of rare matches, reads bounded in bytes, and which filter an event does not meet.

import { beforeAll, describe, expect, test } from "vitest";
import type { ProjectId } from "../../src/base/ids.ts";
import { createFieldCatalogue, type FieldCatalogue } from "../../src/tracing/fields/fields.ts";
import type { FilterInput } from "../../src/tracing/export/filter.ts";
import { createSelection, type Selection } from "../../src/tracing/selection/selection.ts";
import { givenTestDatabase } from "../support/database.ts";
import { aProjectId, anEvent, insertEvents, insertPending } from "../support/events.ts";
import { reasonOf } from "../support/reason.ts";

const testDatabase = givenTestDatabase();
let fields: FieldCatalogue;
let selection: Selection;

beforeAll(async () => {
  const { database } = testDatabase;
  fields = createFieldCatalogue({ database });
  selection = createSelection({ database, fields, walkedMax: 10 });
});

const isProd: FilterInput = { field: "metadata.env", operator: "is", value: "prod" };
const everything = { filters: [], fromUs: undefined, toUs: undefined };

async function givenEvents(events: readonly Parameters<typeof anEvent>[0][]) {
  const projectId = aProjectId();
  const stored = events.map((fields) => anEvent(fields));
  await insertEvents(testDatabase.database, projectId, stored, fields);
  return { projectId, stored, ids: stored.map(({ event_id: id }) => id) };
}

/** Events a second apart, the newest first. */
function inTime(count: number, fieldsOf: (index: number) => Parameters<typeof anEvent>[0]) {
  const start = 1_700_000_000_000;
  return Array.from({ length: count }, (_, index) => ({
    ...fieldsOf(index),
    start_time: start - index * 1_000,
  }));
}

describe("matching", () => {
  test("returns the ids whose events meet all filters now", async () => {
    const { projectId, ids } = await givenEvents([
      { metadata: { env: "prod" }, source: "sdk" },
      { metadata: { env: "prod" }, source: "playground" },
      { metadata: { env: "dev" }, source: "sdk" },
    ]);
    const isNoTry = { field: "source", operator: "is not", value: "playground" };

    const got = await selection.matching(projectId, [...ids, "absent"], [isProd, isNoTry]);

    expect(got).toEqual([ids[0]]);
  });

  test("takes a field that no event has for absent", async () => {
    const { projectId, ids } = await givenEvents([{}]);

    expect(await selection.matching(projectId, ids, [isProd])).toEqual([]);
    const isNot = { ...isProd, operator: "is not" };
    expect(await selection.matching(projectId, ids, [isNot])).toEqual(ids);
  });

  test("compares a value with what is recorded, as an export does", async () => {
    const { projectId, ids } = await givenEvents([
      { metadata: { tries: 5 } },
      { metadata: { tries: 6 } },
    ]);
    const filter = { field: "metadata.tries", operator: "is", value: "5", type: "string" };

    expect(await selection.matching(projectId, ids, [filter])).toEqual([ids[0]]);
  });

  test("does not fail where what is recorded does not fit an earlier filter", async () => {
    const { projectId, ids } = await givenEvents([{ metadata: { size: "large" } }]);
    const filter = { field: "metadata.size", operator: "greater than", value: 3 };

    expect(await selection.matching(projectId, ids, [filter])).toEqual([]);
  });

  test("refuses what is no filter at all", async () => {
    const { projectId, ids } = await givenEvents([{}]);
    const filter = { field: "inputs.x", operator: "resembles", value: "y" };

    expect(await reasonOf(selection.matching(projectId, ids, [filter]))).toMatch(
      /^INVALID_FILTER inputs.x/,
    );
  });

  test("sees ground truth that is there and not null", async () => {
    const { projectId, ids } = await givenEvents([
      { feedback: { ground_truth: "yes" } },
      { feedback: { ground_truth: null } },
      { feedback: {} },
      { feedback: { ground_truth: false } },
    ]);
    const filter = { field: "feedback.ground_truth", operator: "exists" };

    const got = await selection.matching(projectId, ids, [filter]);

    expect(new Set(got)).toEqual(new Set([ids[0], ids[3]]));
  });

  test("sees no event of another project, and no update that waits for its event", async () => {
    const { ids } = await givenEvents([{}]);
    const projectId = aProjectId();
    const pending = anEvent();
    await insertPending(testDatabase.database, projectId, pending);

    expect(await selection.matching(projectId, [...ids, pending.event_id], [])).toEqual([]);
  });
});

describe("page", () => {
  async function readAll(projectId: ProjectId, filters: readonly FilterInput[], limit: number) {
    const found: string[] = [];
    let pages = 0;
    let after;
    do {
      const search = { ...everything, filters };
      const page = await selection.page(projectId, search, { after, limit });
      found.push(...page.places.map(({ eventId }) => eventId));
      after = page.next;
      pages += 1;
    } while (after !== undefined && pages < 100);
    return { found, pages };
  }

  test("goes through every match once, the newest first", async () => {
    const { projectId, ids } = await givenEvents(
      inTime(37, (index) => ({ metadata: { env: index % 3 === 0 ? "prod" : "dev" } })),
    );

    const { found } = await readAll(projectId, [isProd], 4);

    expect(found).toEqual(ids.filter((_, index) => index % 3 === 0));
  });

  test("passes by stretches without a match in bounded steps", async () => {
    const { projectId, ids } = await givenEvents(
      inTime(45, (index) => ({ metadata: { env: index === 41 ? "prod" : "dev" } })),
    );

    const { found, pages } = await readAll(projectId, [isProd], 4);

    expect(found).toEqual([ids[41]]);
    expect(pages).toBe(5);
  });

  test("keeps to its dates: the first included, the last not", async () => {
    const { projectId, stored, ids } = await givenEvents(inTime(5, () => ({})));
    const [, second, , fourth] = stored.map(({ start_time: ms }) => ms * 1_000);
    const search = { filters: [], fromUs: fourth, toUs: second };

    const page = await selection.page(projectId, search, { after: undefined, limit: 10 });

    expect(page.places.map(({ eventId }) => eventId)).toEqual([ids[2], ids[3]]);
    expect(page.next).toBeUndefined();
    expect(await selection.count(projectId, search)).toBe(2);
  });

  test("tells events of one time apart by their ids", async () => {
    const { projectId, ids } = await givenEvents(Array.from({ length: 25 }, () => ({})));

    const { found } = await readAll(projectId, [], 4);

    expect(found).toHaveLength(25);
    expect(new Set(found)).toEqual(new Set(ids));
  });
});

describe("count", () => {
  test("is cancelled with its signal", async () => {
    const { projectId } = await givenEvents([{}]);
    const signal = AbortSignal.abort(new Error("nobody waits"));

    await expect(selection.count(projectId, everything, { signal })).rejects.toThrow(
      "nobody waits",
    );
  });
});

describe("read", () => {
  test("returns events in the order of the ids and leaves out what is gone", async () => {
    const { projectId, stored, ids } = await givenEvents([
      { inputs: { text: "a\u0000b" } },
      { event_id: "odd \uE000 id" },
    ]);
    const [first = "", second = ""] = ids;

    const got = await selection.read(projectId, [second, "absent", first]);

    expect(got.read).toBe(3);
    expect(got.events).toEqual([stored[1], stored[0]]);
  });

  test("reads no more at a time than fits, and a huge event alone", async () => {
    // Random, so that the table cannot make it small.
    const huge = Buffer.from(crypto.getRandomValues(new Uint8Array(60_000))).toString("base64");
    const many = Array.from({ length: 60 }, () => huge).join("");
    const { projectId, ids } = await givenEvents([
      { inputs: { many } },
      {},
      { inputs: { many } },
      {},
    ]);

    const reads: number[] = [];
    let at = 0;
    while (at < ids.length) {
      const { events, read } = await selection.read(projectId, ids.slice(at));
      expect(events.map(({ event_id: id }) => id)).toEqual(ids.slice(at, at + read));
      reads.push(read);
      at += read;
    }

    expect(reads).toEqual([1, 1, 1, 1]);
  });

  test("reads a huge event alone though the table made it small", async () => {
    const { projectId, ids } = await givenEvents(
      Array.from({ length: 3 }, () => ({ inputs: { many: "again and ".repeat(2_000_000) } })),
    );

    const { events, read } = await selection.read(projectId, ids);

    expect(read).toBe(1);
    expect(events.map(({ event_id: id }) => id)).toEqual(ids.slice(0, 1));
  });

  test("of nothing reads nothing", async () => {
    expect(await selection.read(aProjectId(), [])).toEqual({ events: [], read: 0 });
  });
});

describe("explain", () => {
  test("names the first filter that an event does not meet", async () => {
    const { projectId, ids } = await givenEvents([{ metadata: { env: "prod" }, source: "sdk" }]);
    const [id = ""] = ids;
    const isSdk = { field: "source", operator: "is", value: "sdk" };
    const isDev = { ...isProd, value: "dev" };

    expect(await selection.explain(projectId, id, [])).toBe(-1);
    expect(await selection.explain(projectId, id, [isProd, isSdk])).toBe(-1);
    expect(await selection.explain(projectId, id, [isProd, isDev, isSdk])).toBe(1);
    expect(await selection.explain(projectId, "absent", [isProd])).toBeUndefined();
  });
});
