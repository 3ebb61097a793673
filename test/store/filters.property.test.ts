// Filters as SQL answer what the in-memory reference answers, on random events and filters.

import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import type { JsonValue } from "../../src/base/json.ts";
import type { StoredEvent } from "../../src/tracing/events/event.ts";
import { createExports } from "../../src/tracing/export/export.ts";
import { createFieldCatalogue, type FieldCatalogue } from "../../src/tracing/fields/fields.ts";
import { givenTestDatabase } from "../support/database.ts";
import { anEvent, aProjectId, insertEvents } from "../support/events.ts";
import { isTyped, matches, type ReferenceFilter } from "../support/reference-filter.ts";

const test_ = givenTestDatabase();
let fields: FieldCatalogue;

beforeAll(async () => {
  fields = createFieldCatalogue({ database: test_.database });
});

// Few keys and values, so that filters often hit, and hit where kinds differ between events.
const key = fc.constantFrom("a", "b", "a.b", "b.a", "a.b.a", "0", 'q"\\', "é\u{1F41D}");
const text = fc.constantFrom(
  "",
  "a",
  "Été a%",
  "x_\\",
  "true",
  "5",
  "nul \0 \uD800 \uE0000041",
  "2024-02-29",
  "2024-02-30T01:02:03.5+02:00",
  "2024-02-29 00:00:00",
  "2024-02-29t00:00:00z",
  "2024-02-29T00:00:00+16:00",
  "2024-13-01",
  "0000-01-01",
);
const number = fc.constantFrom(0, 1, 5, -2.5, 0.1, 1e21, 1_709_164_800_000, 1_709_164_800_000.5);
const scalar = fc.oneof(text, number, fc.boolean(), fc.constant(null));
const { json } = fc.letrec<{ json: JsonValue; object: Record<string, JsonValue> }>((tie) => ({
  json: fc.oneof({ maxDepth: 3 }, scalar, tie("object"), fc.array(tie("json"), { maxLength: 3 })),
  object: fc.dictionary(key, tie("json"), { maxKeys: 4, noNullPrototype: true }),
}));
const bucket = fc.dictionary(key, json, { maxKeys: 4, noNullPrototype: true });
const time = fc.constantFrom(1_709_164_800_000, 1_709_164_800_000.25, 1_709_164_799_999, 0);

const event: fc.Arbitrary<StoredEvent> = fc
  .record({
    event_type: fc.constantFrom("model", "session", "tool"),
    event_name: text.filter((name) => name !== ""),
    parent_id: fc.constantFrom(null, "a", "session-1"),
    children_ids: fc.uniqueArray(fc.constantFrom("a", "Ab", "0"), { maxLength: 2 }),
    error: fc.option(text.filter((error) => error !== "")),
    start_time: time,
    end_time: fc.option(time),
    duration: fc.option(number),
    metadata: bucket,
    inputs: bucket,
  })
  .map((given) => anEvent(given));

const bucketField = fc
  .tuple(
    fc.constantFrom("metadata", "inputs"),
    fc.array(fc.oneof({ weight: 4, arbitrary: key }, { weight: 1, arbitrary: fc.constant("*") }), {
      maxLength: 3,
    }),
  )
  .map(([name, keys]) => [name, ...keys].join("."));

const presence = fc.record({
  field: fc.oneof(bucketField, fc.constantFrom("error", "end_time", "children_ids", "parent_id")),
  operator: fc.constantFrom("exists", "not exists", "is", "is not"),
  value: fc.constant(null),
  type: fc.constant("string" as const),
});
const texts = fc.record({
  field: fc.oneof(
    bucketField,
    fc.constantFrom("event_name", "error", "event_type", "children_ids", "parent_id"),
  ),
  operator: fc.constantFrom("is", "is not", "contains", "not contains"),
  value: fc.oneof(text, fc.constantFrom("é", "A", "%", "_", "session")),
  type: fc.constant("string" as const),
});
const numbers = fc.record({
  field: fc.oneof(bucketField, fc.constant("duration")),
  operator: fc.constantFrom("is", "is not", "greater than", "less than"),
  value: number,
  type: fc.constant("number" as const),
});
const booleans = fc.record({
  field: bucketField,
  operator: fc.constantFrom("is", "is not"),
  value: fc.boolean(),
  type: fc.constant("boolean" as const),
});
const datetimes = fc.record({
  field: fc.oneof(bucketField, fc.constantFrom("start_time", "end_time")),
  operator: fc.constantFrom("is", "is not", "after", "before", "greater than", "less than"),
  value: fc.oneof(time, fc.constantFrom("2024-02-29", "2024-02-29T00:00:00Z")),
  type: fc.constant("datetime" as const),
});
const filter: fc.Arbitrary<ReferenceFilter> = fc.oneof(
  presence,
  texts,
  numbers,
  booleans,
  datetimes,
);

test("a filter finds in SQL the events that the reference finds in memory", async () => {
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(event, { minLength: 1, maxLength: 8 }),
      fc.array(filter, { minLength: 12, maxLength: 12 }),
      async (events, filters) => {
        const projectId = aProjectId();
        await insertEvents(test_.database, projectId, events, fields);
        const exports = createExports({ database: test_.database, fields });
        for (const one of filters) {
          const want = events.filter((candidate) => matches(candidate, one));
          let page;
          try {
            const request = { filters: [one], fromMs: [], toMs: [], projections: [] };
            page = await exports.getPage(projectId, request, { limitMax: 100 });
          } catch (error) {
            // The catalogue may refuse a field without values of that kind, but then none matches.
            expect(error).toMatchObject({ reason: "INVALID_FILTER" });
            expect(one.operator.endsWith("exists")).toBe(false);
            const isPositive = !one.operator.includes("not") && one.value !== null;
            if (isPositive) expect(want, JSON.stringify(one)).toEqual([]);
            continue;
          }
          // A type that no value has gives way (test/unit/export/filter.test.ts).
          if (one.value !== null && !isTyped(events, one)) continue;
          accepted += 1;
          const ids = (found: readonly { event_id: string }[]) =>
            found.map(({ event_id }) => event_id).toSorted();
          expect(ids(page.events), JSON.stringify(one)).toEqual(ids(want));
          expect(page.total).toBe(want.length);
        }
      },
    ),
    { numRuns: 300 },
  );
  expect(accepted).toBeGreaterThan(1_000);
}, 300_000);
