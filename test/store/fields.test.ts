// The field catalogue: recorded fields, remembered fields and fields past the limits.

import { beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { createFieldCatalogue, type FieldCatalogue } from "../../src/tracing/fields/fields.ts";
import { kinds } from "../../src/tracing/fields/kind.ts";
import { formatName, parsePath } from "../../src/tracing/fields/path.ts";
import { givenTestDatabase } from "../support/database.ts";
import { anEvent, aProjectId, insertEvents } from "../support/events.ts";

const given = givenTestDatabase();
let fields: FieldCatalogue;

beforeAll(async () => {
  fields = createFieldCatalogue({ database: given.database });
});

async function schemaOf(metadata: readonly JsonObject[], catalogue = fields) {
  const projectId = aProjectId();
  for (const one of metadata) {
    await insertEvents(given.database, projectId, [anEvent({ metadata: one })], catalogue);
  }
  const schema = await catalogue.schema(projectId);
  const found = schema.filter(({ name }) => name.startsWith("metadata."));
  return Object.fromEntries(found.map(({ name, type }) => [name, type]));
}

describe("the field catalogue", () => {
  test.each([
    { name: "whole numbers are integer", metadata: [{ a: 1 }, { a: 2 }], want: { a: "integer" } },
    {
      name: "whole and decimal are decimal",
      metadata: [{ a: 1 }, { a: 0.5 }],
      want: { a: "decimal" },
    },
    { name: "decimal stays decimal", metadata: [{ a: 0.5 }, { a: 1 }], want: { a: "decimal" } },
    {
      name: "several kinds are joined",
      metadata: [{ a: "x" }, { a: 1 }, { a: true }, { a: null }],
      want: { a: "string|integer|boolean|null" },
    },
    { name: "a date in text is text", metadata: [{ a: "2024-01-01" }], want: { a: "string" } },
    {
      name: "positions of arrays are one",
      metadata: [{ a: [{ b: 1 }, { b: "x" }] }],
      want: { "a.*.b": "string|integer" },
    },
    {
      name: "keys with dots look like paths",
      metadata: [{ "a.b": 1 }, { a: { b: "x" } }],
      want: { "a.b": "string|integer" },
    },
    { name: "empty containers show nothing", metadata: [{ a: {}, b: [] }], want: {} },
    {
      name: "refused characters read back",
      metadata: [{ "a\0\uD800": 1 }],
      want: { "a\0\uD800": "integer" },
    },
  ])("$name", async ({ metadata, want }) => {
    const prefixed = Object.entries(want).map(([name, type]) => [`metadata.${name}`, type]);

    expect(await schemaOf(metadata)).toEqual(Object.fromEntries(prefixed));
  });

  test("shows columns and event types", async () => {
    const projectId = aProjectId();
    await insertEvents(
      given.database,
      projectId,
      [
        anEvent({ event_type: "model", end_time: 1_700_000_000_001, children_ids: ["a"] }),
        anEvent({ event_type: "session", error: "failed" }),
      ],
      fields,
    );
    const schema = await fields.schema(projectId);

    expect(schema).toContainEqual({ name: "start_time", eventType: "model", type: "datetime" });
    expect(schema).toContainEqual({ name: "duration", eventType: "model", type: "integer" });
    expect(schema).toContainEqual({ name: "children_ids.*", eventType: "model", type: "string" });
    expect(schema).toContainEqual({ name: "error", eventType: "session", type: "string" });
    expect(schema).not.toContainEqual(
      expect.objectContaining({ name: "error", eventType: "model" }),
    );
  });

  test("a known shape is not seen again, a new kind of value is", async () => {
    const projectId = aProjectId();
    const event = anEvent({ metadata: { a: 1, list: ["x", { y: null }] } });
    await insertEvents(given.database, projectId, [event], fields);

    expect(fields.unseen(projectId, event)).toEqual([]);
    expect(fields.unseen(projectId, anEvent({ metadata: { a: "x" } }))).toMatchObject([
      { field: "metadata.a", types: 1 },
    ]);
  });

  test("a write that was rolled back is seen again", async () => {
    const projectId = aProjectId();
    const event = anEvent({ metadata: { a: 1 } });
    const failed = given.database.transaction(async (sql) => {
      await fields.record(sql, projectId, fields.unseen(projectId, event));
      throw new Error("rolled back");
    });
    await expect(failed).rejects.toThrow("rolled back");

    expect(fields.unseen(projectId, event)).not.toEqual([]);
    expect(await fields.schema(projectId)).toEqual([]);
  });

  test("sightings confirmed in an outer transaction count once it has committed", async () => {
    const event = anEvent({ metadata: { a: 1 } });
    const write = async (projectId: string, fails: boolean) =>
      given.database.transaction(async () => {
        await insertEvents(given.database, projectId, [{ ...event, event_id: "1" }], fields);
        await insertEvents(given.database, projectId, [{ ...event, event_id: "2" }], fields);
        if (fails) throw new Error("rolled back");
      });
    const undone = aProjectId();
    const done = aProjectId();
    await expect(write(undone, true)).rejects.toThrow("rolled back");
    await write(done, false);
    for (const projectId of [undone, done]) {
      await insertEvents(given.database, projectId, [{ ...event, event_id: "3" }], fields);
    }

    expect(await fields.schema(undone)).toEqual(await fields.schema(done));
    expect(fields.unseen(undone, event)).toEqual([]);
    expect(fields.unseen(done, event)).toEqual([]);
  });

  test("another process's fields are known once loaded", async () => {
    const projectId = aProjectId();
    const event = anEvent({ metadata: { a: 1 } });
    await insertEvents(given.database, projectId, [event], fields);
    const other = createFieldCatalogue({ database: given.database });
    await insertEvents(given.database, projectId, [anEvent({ metadata: { b: 1 } })], other);

    expect(other.unseen(projectId, event)).toEqual([]);
  });

  test("parallel writers of the same new fields neither fail nor lose one", async () => {
    const projectId = aProjectId();
    const metadata = Object.fromEntries(
      Array.from({ length: 300 }, (_, index) => [`k${index}`, index]),
    );
    const reversed = Object.fromEntries(Object.entries(metadata).toReversed());
    await Promise.all(
      [metadata, reversed, metadata, reversed].map((one) =>
        insertEvents(
          given.database,
          projectId,
          [anEvent({ metadata: one })],
          createFieldCatalogue({ database: given.database }),
        ),
      ),
    );
    const schema = await fields.schema(projectId);

    expect(schema.filter(({ name }) => name.startsWith("metadata."))).toHaveLength(300);
  });

  test("keys that are ids fill a project's catalogue only to its limit", async () => {
    const catalogue = createFieldCatalogue({ database: given.database, fieldsMax: 50 });
    const projectId = aProjectId();
    for (let round = 0; round < 5; round += 1) {
      const metadata = Object.fromEntries(
        Array.from({ length: 30 }, (_, index) => [`id-${round}-${index}`, index]),
      );
      await insertEvents(given.database, projectId, [anEvent({ metadata })], catalogue);
    }
    const { fields: recorded, isComplete } = await catalogue.fieldsOf(projectId);

    expect(recorded).toHaveLength(50);
    expect(isComplete).toBe(false);
    expect(catalogue.unseen(projectId, anEvent({ metadata: { another: 1 } }))).toEqual([]);
    // A new kind of value of a recorded field still counts.
    const widened = anEvent({ metadata: { "id-0-0": "text" } });
    expect(catalogue.unseen(projectId, widened)).toMatchObject([{ types: 1 }]);
  });

  const keyed = (prefix: string, count: number): JsonObject =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, index]));
  const nested = (count: number): JsonObject =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`o${n}`, keyed(`${n}-`, count)]));

  test.each([
    { name: "flat", inputs: keyed("k", 50_000), open: "inputs" },
    { name: "deep inside", inputs: { a: [{ b: keyed("k", 50_000) }] }, open: "inputs.a.*.b" },
    { name: "spread over objects", inputs: { a: nested(224) }, open: "inputs.a" },
  ])("an event with 50,000 keys does not fill the catalogue: $name", async ({ inputs, open }) => {
    const projectId = aProjectId();
    const usual = anEvent({ metadata: { model: "m" }, inputs: { question: "q" } });
    await insertEvents(given.database, projectId, [usual], fields);
    const odd = { metadata: { model: "m", cost: 1 }, inputs: { ...inputs, topic: "t" } };
    for (let round = 0; round < 2; round += 1) {
      await insertEvents(given.database, projectId, [anEvent(odd)], fields);
    }
    const { fields: recorded, isComplete } = await fields.fieldsOf(projectId);
    const names = recorded.map(({ path }) => formatName(path));

    expect(isComplete).toBe(true);
    expect(names.length).toBeLessThan(50);
    expect(names).toContain("metadata.cost");
    expect(recorded.filter(({ types }) => types & kinds.open)).toMatchObject([
      { path: parsePath(open) },
    ]);
  });

  test("wide events of a shape recorded bit by bit stay recorded after a start", async () => {
    const projectId = aProjectId();
    const [left, right] = [keyed("a", 900), keyed("b", 900)];
    for (const metadata of [left, right]) {
      await insertEvents(given.database, projectId, [anEvent({ metadata })], fields);
    }
    const started = createFieldCatalogue({ database: given.database });
    const wide = anEvent({ metadata: { ...left, ...right, another: 1 } });
    await insertEvents(given.database, projectId, [wide], started);
    const { fields: recorded } = await started.fieldsOf(projectId);

    expect(recorded.some(({ types }) => types & kinds.open)).toBe(false);
    expect(recorded.map(({ path }) => formatName(path))).toContain("metadata.another");
  });
});
