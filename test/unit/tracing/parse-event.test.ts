// Parsing of events; refusals name the field. Source: docs/decisions.md, 2, 4 and 5.

import { describe, expect, test } from "vitest";
import { nestingDepthMax } from "../../../src/base/limits.ts";
import {
  type EventInput,
  parseEvent,
  parseSession,
  parseUpdate,
} from "../../../src/tracing/events/parse-event.ts";

const event: EventInput = { event_type: "tool", inputs: {} };

function nested(levels: number): { [key: string]: never } {
  let value = {};
  for (let level = 1; level < levels; level += 1) value = { a: value };
  return value;
}

describe("parseEvent", () => {
  test.each<{ name: string; input: EventInput; want: string }>([
    { name: "no type", input: { inputs: {} }, want: "event_type: is required" },
    { name: "no inputs", input: { event_type: "tool" }, want: "inputs: is required" },
    {
      name: "an unknown type",
      input: { ...event, event_type: "llm" },
      want: "event_type: must be",
    },
    { name: "a NaN", input: { ...event, metadata: { a: [{ b: NaN }] } }, want: "metadata.a.0.b: " },
    { name: "an infinite time", input: { ...event, start_time: Infinity }, want: "start_time: " },
    { name: "a far time", input: { ...event, end_time: 1e16 }, want: "end_time: " },
    { name: "a NaN duration", input: { ...event, duration: NaN }, want: "duration: " },
    { name: "a long id", input: { ...event, event_id: "x".repeat(129) }, want: "event_id: " },
    {
      name: "a line break in an id",
      input: { ...event, session_id: "a\nb" },
      want: "session_id: ",
    },
    {
      name: "a bad child",
      input: { ...event, children_ids: ["ok", "\0"] },
      want: "children_ids[1]",
    },
    {
      name: "a bad child after a repeated one",
      input: { ...event, children_ids: ["ok", "ok", "\0"] },
      want: "children_ids[2]",
    },
    {
      name: "too deep",
      input: { ...event, outputs: nested(nestingDepthMax + 1) },
      want: `outputs${".a".repeat(nestingDepthMax)}: is nested deeper than ${nestingDepthMax}`,
    },
    {
      name: "an event that is its own session",
      input: { ...event, event_id: "a", session_id: "a" },
      want: "event_id: equals session_id",
    },
  ])("refuses $name by the field's name", ({ input, want }) => {
    expect(() => parseEvent(input, "events[3].")).toThrow(`events[3].${want}`);
  });

  test("takes an event of type session inside another session, and a session by either id", () => {
    const input = { ...event, event_type: "session" };
    const parse = (ids: EventInput) => parseEvent({ ...input, ...ids });

    expect(parse({ event_id: "a", session_id: "b" })).toMatchObject({
      event_id: "a",
      session_id: "b",
      event_type: "session",
    });
    expect(parse({ event_id: "a" })).toMatchObject({ event_id: "a", session_id: "a" });
    expect(parse({ session_id: "b" })).toMatchObject({ event_id: "b", session_id: "b" });
  });

  test("counts the characters of an id, not their UTF-16 units", () => {
    expect(() => parseEvent({ ...event, event_id: "😀".repeat(128) })).not.toThrow();
    expect(() => parseEvent({ ...event, event_id: "😀".repeat(129) })).toThrow("event_id: ");
  });

  test("takes what is as deep as allowed", () => {
    expect(() => parseEvent({ ...event, outputs: nested(nestingDepthMax) })).not.toThrow();
  });

  test("gives a new id where there is none, and keeps what was given", () => {
    expect(parseEvent(event).event_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(parseEvent({ ...event, event_id: "mine 🐝" }).event_id).toBe("mine 🐝");
  });

  test("drops empty names and keeps an empty error, which says that nothing went wrong", () => {
    const got = parseEvent({ ...event, event_name: "", source: "", error: "" });

    expect(got).not.toHaveProperty("event_name");
    expect(got).not.toHaveProperty("source");
    expect(got.error).toBe("");
  });
});

describe("parseSession", () => {
  test.each([
    { name: "session_id first", input: { session_id: "s" }, want: "s" },
    { name: "then event_id", input: { event_id: "e" }, want: "e" },
  ])("takes its id from $name", ({ input, want }) => {
    expect(parseSession(input)).toMatchObject({ event_id: want, session_id: want });
  });

  test("prefers session_name to event_name", () => {
    expect(parseSession({ session_name: "a", event_name: "b" }).event_name).toBe("a");
    expect(parseSession({ session_name: "", event_name: "b" }).event_name).toBe("b");
  });

  test("refuses another type", () => {
    expect(() => parseSession({ event_type: "tool" })).toThrow("event_type: must be `session`");
  });
});

describe("parseUpdate", () => {
  test("ignores an empty list of children", () => {
    expect(parseUpdate("e", { children_ids: [] })).toEqual({ event_id: "e" });
  });

  test("takes an empty id of a child as absent, and each other one once", () => {
    const got = parseUpdate("e", { children_ids: ["a", "", "b", "a"] });

    expect(got).toEqual({ event_id: "e", children_ids: ["a", "b"] });
    expect(parseUpdate("e", { children_ids: [""] })).toEqual({ event_id: "e" });
  });
});
