// Ids of events, parents and sessions: the same under retries and in every order of spans.

import { describe, expect, test } from "vitest";
import { isUuid } from "../../../src/base/ids.ts";
import { deriveEventId, deriveSessionId } from "../../../src/tracing/spans/identity.ts";
import { aSpan, eventOf, type SpanParts, writesOfSpans } from "../../support/spans.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const rootId = "1111111111111111";
const childId = "2222222222222222";

function writesFor(...parts: readonly SpanParts[]) {
  return writesOfSpans(parts.map(aSpan));
}

describe("event ids", () => {
  test("a retry has the same ids", () => {
    const spans = [{ spanId: rootId }, { spanId: childId, parentSpanId: rootId }];

    expect(writesFor(...spans)).toEqual(writesFor(...spans));
  });

  test("a child that comes in an earlier request names its parent's id", () => {
    const [child] = writesFor({ spanId: childId, parentSpanId: rootId }).writes;
    const [root] = writesFor({ spanId: rootId }).writes;

    expect(child?.parent_id).toBe(root?.event_id);
    expect(root).not.toHaveProperty("parent_id");
  });

  test("ids are UUIDs that differ by trace and span", () => {
    const ids = [
      deriveEventId(traceId, rootId),
      deriveEventId(traceId, childId),
      deriveEventId("f".repeat(32), rootId),
    ];

    expect(new Set(ids).size).toBe(3);
    expect(ids.every(isUuid)).toBe(true);
  });

  test("honeyhive_event_id replaces the id, for its children in the request too", () => {
    const { writes } = writesFor(
      { spanId: childId, parentSpanId: rootId },
      { spanId: rootId, attributes: { honeyhive_event_id: "mine" } },
    );

    expect(writes.map(({ event_id: id }) => id)).toEqual([deriveEventId(traceId, childId), "mine"]);
    expect(writes[0]?.parent_id).toBe("mine");
  });

  test.each(["honeyhive.parent_id", "traceloop.association.properties.parent_id"])(
    "%s replaces the parent",
    (key) => {
      expect(eventOf({ parentSpanId: rootId, attributes: { [key]: "mine" } }).parent_id).toBe(
        "mine",
      );
    },
  );

  test("an event is never its own parent", () => {
    const got = eventOf({ attributes: { honeyhive_event_id: "a", "honeyhive.parent_id": "a" } });

    expect(got).not.toHaveProperty("parent_id");
  });
});

describe("session ids", () => {
  test.each([
    { name: "honeyhive.session_id", attributes: { "honeyhive.session_id": "s" } },
    {
      name: "traceloop association",
      attributes: { "traceloop.association.properties.session_id": "s" },
    },
    { name: "conversation", attributes: { "gen_ai.conversation.id": "s" } },
    { name: "session.id", attributes: { "session.id": "s" } },
    { name: "the AI SDK's metadata", attributes: { "ai.telemetry.metadata.sessionId": "s" } },
    { name: "Mastra's metadata", attributes: { "mastra.metadata.sessionId": "s" } },
    ...["session_id", "thread_id", "conversation_id"].map((key) => ({
      name: `LangSmith's metadata ${key}`,
      attributes: { [`langsmith.metadata.${key}`]: "s" },
    })),
    {
      name: "HoneyHive's before the conversation's",
      attributes: { "session.id": "other", "honeyhive.session_id": "s" },
    },
  ])("come from $name", ({ attributes }) => {
    expect(eventOf({ attributes }).session_id).toBe("s");
  });

  test("come from the resource where the span has none", () => {
    expect(eventOf({ resource: { "honeyhive.session_id": "s" } }).session_id).toBe("s");
  });

  test("are not the context's of the AI SDK, which calls of models do not carry", () => {
    const attributes = { "ai.settings.context.sessionId": "s" };

    expect(eventOf({ attributes })).toMatchObject({
      session_id: deriveSessionId(traceId),
      metadata: { session_id: "s" },
    });
  });

  test("are not replies of the Responses API, which follow each other", () => {
    const reply = "resp_67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b";

    expect(eventOf({ attributes: { "gen_ai.conversation.id": reply } })).toMatchObject({
      session_id: deriveSessionId(traceId),
      metadata: { conversation_id: reply },
    });
  });

  test("are the trace's where nothing names one", () => {
    expect(eventOf({}).session_id).toBe("0af76519-16cd-43dd-8448-eb211c80319c");
    expect(isUuid(deriveSessionId(traceId))).toBe(true);
  });

  test("a span without one joins its nearest ancestor's, else its trace's earliest", () => {
    const { writes } = writesFor(
      { spanId: "3333333333333333", parentSpanId: childId },
      { spanId: childId, parentSpanId: rootId, attributes: { "session.id": "inner" } },
      { spanId: rootId, startMs: 1, attributes: { "session.id": "outer" } },
      { spanId: "4444444444444444", parentSpanId: "9999999999999999" },
      { spanId: "5555555555555555", traceId: "a".repeat(32) },
    );

    expect(writes.map(({ session_id: id }) => id)).toEqual([
      "inner",
      "inner",
      "outer",
      "outer",
      deriveSessionId("a".repeat(32)),
    ]);
  });

  test("spans that are each other's parent still get a session", () => {
    const { writes } = writesFor(
      { spanId: rootId, parentSpanId: childId },
      { spanId: childId, parentSpanId: rootId },
    );

    expect(new Set(writes.map(({ session_id: id }) => id))).toEqual(
      new Set([deriveSessionId(traceId)]),
    );
  });

  // A search that starts anew at each span would take longer than a test may.
  test("a chain of 100,000 spans without a session is in the session of its trace", () => {
    const hex = (index: number): string => index.toString(16).padStart(16, "0");
    const spans = Array.from({ length: 100_000 }, (_, index) => ({
      spanId: hex(index + 1),
      parentSpanId: hex(index + 2),
    }));

    const { writes } = writesFor(...spans);

    expect(new Set(writes.map(({ session_id: id }) => id))).toEqual(
      new Set([deriveSessionId(traceId)]),
    );
  });
});

describe("sessions of a request", () => {
  test("are named after the first root span", () => {
    const { sessionNames } = writesFor(
      { spanId: rootId, name: "late", startMs: 20 },
      { spanId: childId, name: "early", startMs: 10 },
      { spanId: "3".repeat(16), name: "child", startMs: 5, parentSpanId: childId },
    );

    expect([...sessionNames]).toEqual([[deriveSessionId(traceId), "early"]]);
  });

  test("of Logfire are named by the text made of the root's template", () => {
    const attributes = { "logfire.msg_template": "Ask {name}", "logfire.msg": "Ask Ada" };
    const { sessionNames } = writesFor({ spanId: rootId, name: "Ask {name}", attributes });

    expect([...sessionNames]).toEqual([[deriveSessionId(traceId), "Ask Ada"]]);
  });

  test("are written where an attribute names them or their user", () => {
    const { writes } = writesFor(
      { spanId: rootId, startMs: 20, attributes: { honeyhive_session_name: "chat" } },
      { spanId: childId, startMs: 10, attributes: { honeyhive_user_id: "ada" } },
    );

    const id = deriveSessionId(traceId);
    expect(writes[0]).toEqual({
      event_id: id,
      session_id: id,
      event_type: "session",
      event_name: "chat",
      user_properties: { user_id: "ada" },
      start_time: 10,
    });
    expect(writes.length).toBe(3);
  });

  test("a span whose event id is its session's is the session", () => {
    const got = eventOf({
      attributes: { honeyhive_event_id: "s", "honeyhive.session_id": "s" },
      parentSpanId: rootId,
    });

    expect(got).toMatchObject({ event_id: "s", session_id: "s", event_type: "session" });
    expect(got).not.toHaveProperty("parent_id");
  });
});

describe("bad ids", () => {
  test.each(["honeyhive.session_id", "honeyhive_event_id", "honeyhive.parent_id"])(
    "%s of 129 characters rejects the span, naming it",
    (key) => {
      const { writes, rejected } = writesFor(
        { name: "bad one", spanId: rootId, attributes: { [key]: "x".repeat(129) } },
        { spanId: childId },
      );

      expect(writes.map(({ event_id: id }) => id)).toEqual([deriveEventId(traceId, childId)]);
      expect(rejected).toEqual([
        { reason: `span "bad one": ${key} is not an id of 1 to 128 printable characters` },
      ]);
    },
  );

  test("a conversation id that can be no session's is only ignored", () => {
    const long = "x".repeat(129);

    const got = eventOf({ attributes: { "gen_ai.conversation.id": long } });

    expect(got.session_id).toBe(deriveSessionId(traceId));
    expect(got.metadata).toMatchObject({ conversation_id: long });
  });
});
