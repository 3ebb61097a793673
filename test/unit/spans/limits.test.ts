// Limits of spans: names, keys, and attributes that are copied into many of them.

import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../../src/base/json.ts";
import {
  copiedBytesMax,
  errorLengthMax,
  eventValuesMax,
  keyLengthMax,
  listItemsMax,
  metadataValuesMax,
  nameLengthMax,
  sharedAttributesBytesMax,
} from "../../../src/base/limits.ts";
import { toWrites } from "../../../src/tracing/spans/record-spans.ts";
import { aSpan, runAtOnce, type SpanParts, writesOf, writesOfSpans } from "../../support/spans.ts";

const text = (length: number): string => "x".repeat(length);

function faultOf(parts: SpanParts, source?: string): string | undefined {
  const { writes, rejected } = writesOfSpans([aSpan(parts)], source);
  expect(writes.length + rejected.length).toBe(1);
  return rejected[0]?.reason;
}

describe("a span with too long", () => {
  const long = text(nameLengthMax + 1);
  const link = { traceId: "", spanId: "", traceState: long, attributes: new Map() };
  const attributes = { "a.b": 1 };

  test.each<{ name: string; parts: SpanParts; source?: string; want: RegExp }>([
    { name: "a name", parts: { name: long }, want: /: name is longer than 10000 characters$/ },
    {
      name: "a name by an attribute",
      parts: { attributes: { honeyhive_event_name: long } },
      want: /: event_name: is longer than 10000 characters$/,
    },
    {
      // The name of the span would be that of its session.
      name: "a name, though an attribute names its event",
      parts: { name: long, attributes: { honeyhive_event_name: "short" } },
      want: /: name is longer/,
    },
    {
      name: "a session's name",
      parts: { attributes: { honeyhive_session_name: long } },
      want: /: session name is longer than 10000 characters$/,
    },
    { name: "a source", parts: {}, source: long, want: /: source: is longer than 10000/ },
    {
      name: "a source by the service's name",
      parts: { resource: { "service.name": long } },
      want: /: source: is longer than 10000/,
    },
    {
      name: "a status message",
      parts: { status: "error", statusMessage: text(errorLengthMax + 1) },
      want: /: error: is longer than 1000000 characters$/,
    },
    {
      name: "an exception's message",
      parts: {
        events: [
          { name: "exception", attributes: { "exception.message": text(errorLengthMax + 1) } },
        ],
      },
      want: /: error: is longer than 1000000 characters$/,
    },
    { name: "a trace state", parts: { traceState: long }, want: /: trace state is longer/ },
    { name: "a link's trace state", parts: { links: [link] }, want: /: trace state of a link is/ },
    {
      name: "a key",
      parts: { attributes: { [text(keyLengthMax + 1)]: 1 } },
      want: /: key of an attribute is longer than 10000 characters$/,
    },
    {
      name: "an id",
      parts: { attributes: { ...attributes, honeyhive_event_id: text(129) } },
      want: /: honeyhive_event_id is not an id of 1 to 128 printable characters$/,
    },
  ])("$name is rejected", async ({ parts, source, want }) => {
    expect(faultOf(parts, source)).toMatch(want);
  });

  test("is rejected alone", async () => {
    const { writes, rejected } = writesOfSpans([aSpan(), aSpan({ name: long, spanId: "2" })]);

    expect([writes.length, rejected.length]).toEqual([1, 1]);
  });

  test("conversation id has none", async () => {
    expect(faultOf({ attributes: { "session.id": text(1_000) } })).toBeUndefined();
  });
});

describe("a span with too many", () => {
  test("parts of dotted keys is rejected before they become objects", async () => {
    const dots = ".a".repeat(4_900);
    const attributes = Object.fromEntries(
      Array.from({ length: 110 }, (_, at) => [`llm.input_messages.${at}${dots}`, at]),
    );

    expect(faultOf({ attributes })).toMatch(/: keys of attributes have more than 500000 parts$/);
  });

  test("values in metadata is rejected", async () => {
    const own = Array.from({ length: metadataValuesMax }, (_, at) => at);

    expect(faultOf({ attributes: { own } })).toMatch(/: metadata: has more than 100000 values/);
  });

  const results = Array.from({ length: 240_000 }, () => ({ type: "tool_result" }));

  test.each<{ name: string; parts: SpanParts }>([
    {
      name: "messages in an event",
      parts: {
        events: [
          {
            name: "gen_ai.content.prompt",
            attributes: { "gen_ai.prompt": JSON.stringify(results.map(() => "a")) },
          },
        ],
      },
    },
    {
      name: "results of tools in a message",
      parts: {
        attributes: { "gen_ai.input.messages": JSON.stringify([{ role: "user", parts: results }]) },
      },
    },
    {
      name: "results of tools in an item",
      parts: {
        attributes: {
          "langfuse.observation.type": "generation",
          "langfuse.observation.input": JSON.stringify([
            { type: "message", role: "user", content: results },
          ]),
        },
      },
    },
  ])("$name leaves the other spans of its request", ({ parts }) => {
    const { writes, rejected } = writesOfSpans([
      aSpan({ ...parts, spanId: "aaaaaaaaaaaaaaa1", name: "chat" }),
      aSpan({ spanId: "aaaaaaaaaaaaaaa2", name: "other" }),
    ]);

    expect(writes.map(({ event_name }) => event_name)).toContain("other");
    expect(writes.length + rejected.length).toBe(2);
  });

  test("values in a JSON text keeps it as text", async () => {
    const json = JSON.stringify([{ role: "user", content: Array(eventValuesMax).fill([]) }]);

    const { writes } = writesOfSpans([aSpan({ attributes: { "gen_ai.input.messages": json } })]);

    expect(writes[0]?.inputs).toEqual({ chat_history: [{ role: "user", content: json }] });
  });
});

type Pair = { readonly key: string; readonly value: JsonObject };

function receive(
  counts: { readonly spans: number; readonly resource?: Pair[]; readonly scope?: Pair[] },
  attributes: readonly JsonValue[] = [],
) {
  const spans = Array.from({ length: counts.spans }, (_, at) => ({
    traceId: "0af7651916cd43dd8448eb211c80319c",
    spanId: (at + 1).toString(16).padStart(16, "0"),
    name: "step",
    startTimeUnixNano: "1760000000000000000",
    attributes,
  }));
  const scope = { name: "scope", attributes: counts.scope ?? [] };
  const good = { ...spans[0], traceId: "1af7651916cd43dd8448eb211c80319c", name: "other" };
  const body = {
    resourceSpans: [
      { resource: { attributes: counts.resource ?? [] }, scopeSpans: [{ scope, spans }] },
      { scopeSpans: [{ spans: [good] }] },
    ],
  };
  return writesOf("application/json", Buffer.from(JSON.stringify(body)));
}

const pair = (length: number, key = "k"): Pair => ({ key, value: { stringValue: text(length) } });

describe("attributes of a resource and a scope", () => {
  const half = sharedAttributesBytesMax / 2;

  test.each([
    { name: "within the limit", resource: [pair(half)], scope: [pair(half - 100)], want: 0 },
    { name: "past it together", resource: [pair(half)], scope: [pair(half)], want: 3 },
    { name: "past it in the resource", resource: [pair(2 * half)], scope: [], want: 3 },
    {
      name: "past it by many small ones",
      resource: Array.from({ length: half / 4 }, (_, at) => pair(1, `k${at}`)),
      scope: [],
      want: 3,
    },
    {
      name: "past it by values inside of values",
      resource: [
        { key: "k", value: { arrayValue: { values: Array(half).fill({ intValue: "1" }) } } },
      ],
      scope: [],
      want: 3,
    },
  ])("$name", async ({ resource, scope, want }) => {
    const { writes, rejected } = await receive({ spans: 3, resource, scope });

    expect([writes.length, rejected.length]).toEqual([4 - want, want]);
    for (const { reason } of rejected) {
      expect(reason).toBe(
        'span "step": the attributes of its resource and scope take more than 64000 bytes, ' +
          "which each span would be stored with",
      );
    }
  });

  test("are copied up to a number of bytes, and the spans past it rejected", async () => {
    const each = 50_000;
    const fits = Math.floor(copiedBytesMax.least / (each + 60));

    const { writes, rejected } = await receive({ spans: fits + 10, resource: [pair(each)] });

    // The span without the attributes is stored, though it comes last.
    expect(Math.abs(rejected.length - 10)).toBeLessThanOrEqual(1);
    expect(writes.length + rejected.length).toBe(fits + 11);
    expect(writes.at(-1)?.event_name).toBe("other");
    expect(rejected[0]?.reason).toMatch(
      /take 500\d\d bytes, for all spans of the request more than 16000000; send fewer spans/,
    );
  });

  test("are copied more often where the spans hold much themselves", async () => {
    const each = 50_000;
    const fits = Math.floor(copiedBytesMax.least / (each + 60));

    const { rejected } = await receive({ spans: fits + 100, resource: [pair(each)] }, [
      pair(6_000),
    ]);

    expect(rejected).toEqual([]);
  });

  test("take their bytes from the memory of the call, whatever is stored of them", async () => {
    const resource = { big: text(10_000) };
    const spans = Array.from({ length: 100 }, (_, at) => aSpan({ spanId: String(at) }));
    const shared = aSpan({ resource });
    const taken: number[] = [];
    const memory = {
      grow: (bytes: number) => void taken.push(bytes),
      holder: undefined,
      bytes: () => 0,
    };

    runAtOnce(
      toWrites(
        spans.map((span) => ({ ...span, resource: shared.resource })),
        { memory },
      ),
    );

    expect(taken[0]).toBeGreaterThan(1_000_000);
    expect(taken[0]).toBeLessThan(1_100_000);
    // The limits of events hold too, span by span.
    expect(taken.length).toBe(101);
  });
});

test.each(["attributes", "events", "links"])(
  "a span with too many %s is rejected",
  async (list) => {
    const items = Array.from({ length: listItemsMax + 1 }, () => ({ key: "k", name: "n" }));
    const span = {
      traceId: "0af7651916cd43dd8448eb211c80319c",
      spanId: "b7ad6b7169203331",
      startTimeUnixNano: "1760000000000000000",
      [list]: items,
    };

    const body = JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] });
    const { rejected } = await writesOf("application/json", Buffer.from(body));

    expect(rejected).toEqual([
      { reason: `span "": ${list}: must have at most ${listItemsMax} items; send them in parts` },
    ]);
  },
);
