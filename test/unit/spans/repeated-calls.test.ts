// Two spans of one model call: the tokens of the call count once.

import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { aSpan, type SpanParts, writesOfSpans } from "../../support/spans.ts";

const startMs = 1_760_000_000_000;

/** Returns a span of a model call with 100 + 20 tokens. */
function aCall(spanId: string, { attributes = {}, ...parts }: SpanParts = {}) {
  const usage = { "gen_ai.usage.input_tokens": 100, "gen_ai.usage.output_tokens": 20 };
  const all = { "gen_ai.operation.name": "chat", ...usage, ...attributes };
  return aSpan({ spanId, name: spanId, ...parts, attributes: all });
}

/** Returns the names of the events whose tokens count. */
function counting(spans: Parameters<typeof writesOfSpans>[0]): (string | undefined)[] {
  const { writes } = writesOfSpans(spans);
  return writes
    .filter(({ metadata }) => metadata?.["prompt_tokens"] !== undefined)
    .map(({ event_name }) => event_name);
}

const outer = aCall("aaaaaaaaaaaaaaa1");
const inner = aCall("aaaaaaaaaaaaaaa2", { parentSpanId: "aaaaaaaaaaaaaaa1" });

describe("a call inside another with the same counts", () => {
  test("counts, whichever comes first; the outer one keeps what was sent", () => {
    expect(counting([outer, inner])).toEqual(["aaaaaaaaaaaaaaa2"]);
    expect(counting([inner, outer])).toEqual(["aaaaaaaaaaaaaaa2"]);

    const [event] = writesOfSpans([outer, inner]).writes;
    expect(event).toMatchObject({
      event_type: "model",
      metadata: { "gen_ai.usage.input_tokens": 100, "gen_ai.usage.output_tokens": 20 },
    });
  });

  test("counts beside an outer one that the request has twice", () => {
    expect(counting([outer, inner, outer])).toEqual(["aaaaaaaaaaaaaaa2"]);
  });

  test("counts below steps between the two, and below two others", () => {
    const step = aSpan({
      spanId: "aaaaaaaaaaaaaaa3",
      parentSpanId: "aaaaaaaaaaaaaaa2",
      attributes: { "traceloop.span.kind": "task" },
    });
    const innermost = aCall("aaaaaaaaaaaaaaa4", { parentSpanId: "aaaaaaaaaaaaaaa3" });

    expect(counting([innermost, step, inner, outer])).toEqual(["aaaaaaaaaaaaaaa4"]);
  });

  test("leaves the sender's cost with the outer one", () => {
    const costly = aCall("aaaaaaaaaaaaaaa1", { attributes: { "gen_ai.usage.cost": 0.5 } });

    const [event] = writesOfSpans([costly, inner]).writes;

    expect(event?.metadata).not.toHaveProperty("cost");
    expect(event?.metadata).toHaveProperty(["gen_ai.usage.cost"], 0.5);
  });

  test.each<[string, JsonObject]>([
    ["Langfuse", { "langfuse.observation.usage_details": '{"input":100,"output":20}' }],
    ["OpenInference", { "llm.token_count.prompt": 100, "llm.token_count.completion": 20 }],
  ])("counts inside one of %s", (_, attributes) => {
    const wrapper = aSpan({
      spanId: "aaaaaaaaaaaaaaa1",
      name: "wrapper",
      attributes: {
        "langfuse.observation.type": "generation",
        "openinference.span.kind": "LLM",
        ...attributes,
      },
    });
    expect(counting([wrapper])).toEqual(["wrapper"]);

    expect(counting([inner, wrapper])).toEqual(["aaaaaaaaaaaaaaa2"]);
  });
});

test("a call whose span the request has twice counts", () => {
  const call = aCall("aaaaaaaaaaaaaaa1", {
    attributes: { "gen_ai.response.id": "chatcmpl-0123456789abcdef0123456789" },
  });

  expect(counting([call, call])).toEqual(["aaaaaaaaaaaaaaa1", "aaaaaaaaaaaaaaa1"]);
});

describe("both count", () => {
  const ofId = (id: string) => ({ "gen_ai.response.id": id });
  const id = "chatcmpl-0123456789abcdef0123456789";

  test.each([
    [
      "with other counts",
      [
        outer,
        aCall("aaaaaaaaaaaaaaa2", {
          parentSpanId: "aaaaaaaaaaaaaaa1",
          attributes: { "gen_ai.usage.output_tokens": 21 },
        }),
      ],
    ],
    ["one beside the other", [outer, aCall("aaaaaaaaaaaaaaa5")]],
    [
      "with one response id, one after the other, as answers from a cache",
      [
        aCall("aaaaaaaaaaaaaaa1", { attributes: ofId(id) }),
        aCall("aaaaaaaaaaaaaaa5", {
          attributes: ofId(id),
          startMs: startMs + 5_000,
          endMs: startMs + 6_000,
        }),
      ],
    ],
    [
      "with a response id of three digits, which other calls have too",
      ["aaaaaaaaaaaaaaa1", "aaaaaaaaaaaaaaa5"].map((spanId) =>
        aCall(spanId, { attributes: ofId("chatcmpl-123") }),
      ),
    ],
    [
      "as parents of each other",
      [
        aSpan({ spanId: "aaaaaaaaaaaaaaa3", parentSpanId: "aaaaaaaaaaaaaaa4" }),
        aSpan({ spanId: "aaaaaaaaaaaaaaa4", parentSpanId: "aaaaaaaaaaaaaaa3" }),
        aCall("aaaaaaaaaaaaaaa1", { parentSpanId: "aaaaaaaaaaaaaaa3" }),
        aCall("aaaaaaaaaaaaaaa2", { parentSpanId: "aaaaaaaaaaaaaaa3" }),
      ],
    ],
  ])("%s", (_, spans) => {
    expect(counting(spans)).toHaveLength(2);
  });

  test("unless spans beside each other have one response id and the same time", () => {
    const later = { startMs: startMs + 10, endMs: startMs + 990 };
    const spans = [
      aCall("aaaaaaaaaaaaaaa1", { attributes: ofId(id) }),
      aCall("aaaaaaaaaaaaaaa5", { attributes: ofId(id), ...later }),
    ];

    expect(counting(spans)).toEqual(["aaaaaaaaaaaaaaa5"]);
    expect(counting(spans.toReversed())).toEqual(["aaaaaaaaaaaaaaa5"]);
  });

  // OpenLLMetry adds the counts of the first and the last event of a stream of Anthropic.
  test("unless one of the two counted the same response otherwise", () => {
    const spans = [
      aCall("aaaaaaaaaaaaaaa1", { attributes: { ...ofId(id), "gen_ai.usage.output_tokens": 21 } }),
      aCall("aaaaaaaaaaaaaaa5", {
        attributes: ofId(id),
        startMs: startMs + 10,
        endMs: startMs + 990,
      }),
    ];

    expect(counting(spans)).toEqual(["aaaaaaaaaaaaaaa5"]);
    expect(counting(spans.toReversed())).toEqual(["aaaaaaaaaaaaaaa5"]);
  });
});
