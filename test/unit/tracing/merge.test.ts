// The merge law as algebra. Source: docs/decisions.md, 6.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { EventFields } from "../../../src/tracing/events/event.ts";
import {
  type Change,
  foldChanges,
  mergeChanges,
  mergeEvent,
} from "../../../src/tracing/events/merge.ts";

const keys = fc.dictionary(fc.constantFrom("a", "b", "c", "__proto__"), fc.jsonValue(), {
  maxKeys: 3,
});
const fields: fc.Arbitrary<EventFields> = fc.record(
  {
    event_name: fc.string(),
    error: fc.string(),
    start_time: fc.integer({ min: 0, max: 100 }),
    end_time: fc.integer({ min: 0, max: 100 }),
    children_ids: fc.array(fc.constantFrom("x", "y", "z")),
    metadata: keys,
    outputs: keys,
  },
  { requiredKeys: [] },
) as fc.Arbitrary<EventFields>;
const typed = (event_type: "session" | "model") => fields.map((one) => ({ ...one, event_type }));

/** Children are a set: their order says nothing. */
function normal(event: EventFields): EventFields {
  const { children_ids, ...rest } = event;
  return children_ids === undefined
    ? rest
    : { ...rest, children_ids: [...new Set(children_ids)].toSorted() };
}

describe("mergeEvent", () => {
  test.each(["session", "model"] as const)("of a %s: twice is once", (type) => {
    fc.assert(
      fc.property(typed(type), fields, (base, update) => {
        const once = mergeEvent(base, update);
        expect(normal(mergeEvent(once, update))).toEqual(normal(once));
      }),
    );
  });

  test.each(["session", "model"] as const)("of a %s: grouping does not matter", (type) => {
    fc.assert(
      fc.property(typed(type), typed(type), typed(type), (a, b, c) => {
        const left = mergeEvent(mergeEvent(a, b), c);
        const right = mergeEvent(a, mergeEvent(b, c));
        expect(normal(left)).toEqual(normal(right));
      }),
    );
  });

  test("many updates of one event cost what they hold, not what the event holds each", () => {
    const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, key) => [`k${key}`, key]));
    const changes = Array.from({ length: 20_000 }, (_, index): Change => {
      const metadata = { [`k${index}`]: "new" };
      return { kind: "create", fields: { event_type: "tool", metadata }, outcome: "applied" };
    });

    const { event } = foldChanges(
      [{ kind: "create", fields: { event_type: "tool", metadata: wide }, outcome: "applied" }],
      undefined,
    );
    const merged = mergeChanges(event ?? {}, changes);

    expect(merged.metadata).toMatchObject({ k0: "new", k19999: "new", k20000: 20_000 });
    expect(wide["k0"]).toBe(0);
  });

  test("absent fields change nothing", () => {
    fc.assert(
      fc.property(fields, (base) => {
        expect(mergeEvent(base, {})).toEqual(base);
      }),
    );
  });

  test("a session's times only widen; another event's are replaced", () => {
    const times = { start_time: 10, end_time: 20 };
    const update = { start_time: 15, end_time: 16 };

    expect(mergeEvent({ event_type: "session", ...times }, update)).toMatchObject(times);
    expect(mergeEvent({ event_type: "tool", ...times }, update)).toMatchObject(update);
  });

  test("buckets merge by their top-level keys only", () => {
    const got = mergeEvent({ config: { a: { x: 1 }, b: 2 } }, { config: { a: { y: 1 } } });

    expect(got.config).toEqual({ a: { y: 1 }, b: 2 });
  });
});

describe("foldChanges", () => {
  const change = (kind: Change["kind"], fields: EventFields): Change => ({
    kind,
    fields,
    outcome: "applied",
  });
  const create = (fields: EventFields) => change("create", fields);
  const update = (fields: EventFields) => change("enrich", fields);

  test.each([
    {
      name: "an update after the event wins",
      changes: [create({ event_name: "a" }), update({ event_name: "b" })],
      want: "b",
    },
    {
      name: "an update before the event wins too",
      changes: [update({ event_name: "b" }), create({ event_name: "a" })],
      want: "b",
    },
    {
      name: "a second event after both wins",
      changes: [
        update({ event_name: "b" }),
        create({ event_name: "a" }),
        create({ event_name: "c" }),
      ],
      want: "c",
    },
  ])("$name", ({ changes, want }) => {
    expect(foldChanges(changes, undefined).event?.event_name).toBe(want);
  });

  test("updates alone stay pending, on top of those that waited", () => {
    const got = foldChanges([update({ source: "new" })], { source: "old", event_name: "kept" });

    expect(got).toEqual({ event: undefined, pending: { source: "new", event_name: "kept" } });
  });

  test("of a session that came late: the widest times of those that waited", () => {
    const changes = [
      update({ start_time: 500, end_time: 9_000 }),
      update({ start_time: 800, end_time: 5_000 }),
      create({ event_type: "session", start_time: 700 }),
    ];

    expect(foldChanges(changes, undefined).event).toMatchObject({
      start_time: 500,
      end_time: 9_000,
    });
  });

  test("an update that may not wait is absent without its event, and leaves nothing", () => {
    const late = change("update", { error: "leaked" });

    const got = foldChanges([late], { source: "waiting" });

    expect(got).toEqual({ event: undefined, pending: { source: "waiting" } });
    expect(late.outcome).toBe("absent");
  });

  test("an update that may not wait applies when its event comes in the same commit", () => {
    const changes = [change("update", { error: "e" }), create({ event_type: "tool" })];

    expect(foldChanges(changes, undefined).event).toMatchObject({ event_type: "tool", error: "e" });
    expect(changes.map(({ outcome }) => outcome)).toEqual(["applied", "applied"]);
  });

  test("a session stays one, whatever is sent under its id", () => {
    const clash = create({ event_type: "model", inputs: { a: 1 } });

    const got = foldChanges([create({ event_type: "session" }), clash], undefined);

    expect(got.event).toEqual({ event_type: "session" });
    expect(clash.outcome).toEqual({ cause: expect.stringMatching(/^event_id: /) as string });
  });

  const session = { event_id: "s", session_id: "s", event_type: "session" } as const;
  const inner = { event_id: "i", session_id: "s", event_type: "session" } as const;

  test.each<{ name: string; event: EventFields; update: EventFields }>([
    { name: "an inner session becomes none", event: inner, update: { session_id: "i" } },
    { name: "a session keeps its type", event: session, update: { event_type: "chain" } },
    { name: "a session joins no other", event: session, update: { session_id: "other" } },
  ])("$name by an update, early or late", ({ event, update }) => {
    const late = change("update", update);
    expect(mergeChanges(event, [late])).toEqual(event);
    expect(late.outcome).toEqual({ cause: expect.any(String) as string });

    expect(foldChanges([change("enrich", update), create(event)], undefined).event).toEqual(event);
  });

  test("the times of an inner session are the last ones", () => {
    const times = { start_time: 5, end_time: 7 };

    expect(mergeEvent({ ...inner, start_time: 1, end_time: 9 }, times)).toMatchObject(times);
  });
});
