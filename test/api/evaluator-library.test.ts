// The library of the web app: each evaluator is one that the service takes, and its code scores
// what it says. Source: docs/evaluators.md, "Library".

import { create, toJson } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, test } from "vitest";
import { CreateMetricRequestSchema } from "../../gen/waggle/v1/metric_pb.js";
import { draftDefault, toMetric } from "../../src/web/app/pages/evaluators/draft.ts";
import { library, type LibraryItem } from "../../src/web/app/pages/evaluators/library.ts";
import { callRoute } from "../support/call-route.ts";
import { startChatService } from "../support/chats.ts";
import { givenStarted } from "../support/given.ts";

const chats = givenStarted(() => startChatService());
/** The first run on a machine makes what later ones start from. */
const firstRunMs = 300_000;

async function call(route: string, body: unknown) {
  const headers = { authorization: `Bearer ${chats.service.projectKey}` };
  const { status, json } = await callRoute({ url: chats.service.url, headers }, route, body);
  return { status, json: json as Readonly<Record<string, unknown>> };
}

async function createdFrom(item: LibraryItem): Promise<string> {
  const draft = { ...draftDefault, ...item, provider: "openai", model: "gpt-4o" };
  const message = create(CreateMetricRequestSchema, toMetric(draft));
  const { status, json } = await call(
    "POST /v1/metrics",
    toJson(CreateMetricRequestSchema, message),
  );
  expect({ status, json }).toMatchObject({ status: 200 });
  return json["metric_id"] as string;
}

type Given = { readonly content?: string; readonly truth?: string; readonly more?: object };

const word = "word ";

/** An event that passes and one that does not, by evaluator. */
const cases: Readonly<Record<string, readonly [Given, Given]>> = {
  matches_ground_truth: [
    { content: " In  Paris", truth: "in paris" },
    { content: "Rome", truth: "Paris" },
  ],
  contains_ground_truth: [
    { content: "It is Paris.", truth: "paris" },
    { content: "It is Rome.", truth: "Paris" },
  ],
  similarity: [
    { content: "the capital is Paris", truth: "The capital is Paris" },
    { content: "no idea", truth: "The capital is Paris" },
  ],
  is_json: [{ content: '{"a": 1}' }, { content: '{"a": ' }],
  fits_schema: [{ content: '{"answer": "Paris"}' }, { content: '{"answer": 1}' }],
  is_sql: [{ content: "select a from b where c = 1" }, { content: "select from from where" }],
  without_forbidden_words: [{ content: "Paris" }, { content: "As an AI, I have no idea." }],
  short_enough: [{ content: word.repeat(200) }, { content: word.repeat(201) }],
  fast_enough: [{ more: { duration: 4_999 } }, { more: { duration: 5_001 } }],
  used_tools: [
    { more: { outputs: { tool_calls: [{ function: { name: "search" } }] } } },
    { content: "Paris" },
  ],
};

const programs = library.filter(({ type }) => type === "PYTHON");

describe("the library", () => {
  test("has names that are unique, and a case for each code", () => {
    expect(new Set(library.map(({ name }) => name)).size).toBe(library.length);
    expect(programs.map(({ name }) => name).toSorted()).toEqual(Object.keys(cases).toSorted());
  });

  test.each(library.filter(({ type }) => type === "LLM"))("has the judge $name", async (item) => {
    expect(await createdFrom(item)).toEqual(expect.any(String));
    expect(item.criteria).toMatch(/\{\{inputs\.chat_history\}\}/);
  });

  describe("of code", () => {
    beforeAll(async () => {
      const metric = { type: "PYTHON", definition: "result = 1" };
      await call("POST /v1/metrics/run", { metric, event: {} });
    }, firstRunMs);

    test.each(programs)("scores by $name", async (item) => {
      const metricId = await createdFrom(item);
      const passed = [];
      for (const { content, truth, more } of cases[item.name] ?? []) {
        const event = {
          event_type: "model",
          event_name: "answer",
          outputs: content === undefined ? {} : { role: "assistant", content },
          feedback: truth === undefined ? {} : { ground_truth: truth },
          ...more,
        };
        const { json } = await call("POST /v1/metrics/run", { metric_id: metricId, event });
        passed.push(json["passed"] ?? json);
      }

      expect(passed).toEqual([true, false]);
    });
  });
});
