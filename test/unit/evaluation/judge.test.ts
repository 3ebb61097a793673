// Judges before stand-ins of every kind of provider: requests, reading of answers, and failures
// that count as the judge's.

import { afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import type { ProjectScope } from "../../../src/access/scope.ts";
import { createUuid, type ProjectId } from "../../../src/base/ids.ts";
import type { RunnableDefinition } from "../../../src/evaluation/runner/runner.ts";
import { givenStarted } from "../../support/given.ts";
import {
  aJudge,
  givenJudges,
  judgingProject,
  type Judges,
  providerTypes,
} from "../../support/judges.ts";
import { startOpenAiStandIn } from "../../support/openai-stand-in.ts";
import { models } from "../../support/translated.ts";
import { patience } from "../../support/patience.ts";

const event = { inputs: {}, outputs: { content: "Paris", score: 4 }, feedback: {} };
const signal = new AbortController().signal;

const standIn = givenStarted(startOpenAiStandIn);
let judges: Judges;

beforeAll(async () => {
  judges = givenJudges(standIn);
});

afterEach(() => standIn.clear());
function run(over: Partial<RunnableDefinition> = {}, on = event) {
  return judges.judge.open(judgingProject, aJudge(over), signal).run(on);
}

describe("a judge's score", () => {
  test.each(providerTypes)("comes from a model of %s", async (type) => {
    const model = `${models[type]}-echo`;

    const got = await run({ model_provider: type, model_name: model });

    expect(got).toEqual({
      kind: "score",
      score: 4,
      explanation: "Judge Paris",
      output: "",
      judge: {
        provider: type,
        model: expect.stringContaining(model.split(":")[0] ?? "") as string,
        promptTokens: expect.any(Number) as number,
        completionTokens: expect.any(Number) as number,
        cost: got.judge?.cost ?? null,
        answer: "Judge Paris [[4]]",
      },
    });
  });

  test("has the price of its call where it is known", async () => {
    const own = await startOpenAiStandIn(0, { text: "[[3]]" });
    onTestFinished(() => own.stop());

    const opened = givenJudges(own).judge.open(
      judgingProject,
      aJudge({ model_provider: "openai", model_name: "gpt-4o" }),
      signal,
    );
    const got = await opened.run(event);

    expect(got.kind).toBe("score");
    expect(got.judge?.cost).toBeGreaterThan(0);
  });

  test("has no price where none is known, and no tokens where none are told", async () => {
    const got = await run({ model_name: "llama3-no-usage+echo" });

    expect(got.judge).toMatchObject({ cost: null, promptTokens: null, completionTokens: null });
  });

  test("is read from JSON, which is asked for where the prompt names no brackets", async () => {
    const criteria = '{"explanation": "it is {{ outputs.content }}", "score": {{ outputs.score }}}';

    const got = await run({ criteria, model_provider: "openai", model_name: "gpt-4o-echo" });

    expect(got).toMatchObject({ kind: "score", score: 4, explanation: "it is Paris" });
    const [request] = standIn.requests;
    expect(request?.body).toMatchObject({ temperature: 0 });
    expect(request?.text).toContain("json_schema");
    expect(request?.text).toContain("a number from 0 to 5");
  });

  test.each([
    { name: "true or false", over: { return_type: "boolean", scale: null }, says: "true or false" },
    { name: "a text", over: { return_type: "string", scale: null }, says: "a short text" },
    {
      name: "a category",
      over: {
        return_type: "categorical",
        scale: null,
        categories: [{ category: "ripe", score: null }],
      },
      says: 'one of these, word for word: "ripe"',
    },
    { name: "a number", over: { scale: null }, says: "must be a number." },
  ] as const)("is asked for as $name", async ({ over, says }) => {
    await run(over);

    const [system] = standIn.requests[0]?.body["messages"] as { content: string }[];
    expect(system?.content).toContain(says);
    expect(standIn.requests[0]?.text).not.toContain("json_schema");
  });

  test("comes from models that take no schema, and keeps what they take", async () => {
    const criteria = '{"score": {{ outputs.score }}}';
    const over = { criteria, model_provider: "openai_compatible", model_name: "llama3-echo" };
    const opened = judges.judge.open(judgingProject, aJudge(over), signal);

    const got = [await opened.run(event), await opened.run(event)];

    expect(got).toMatchObject([{ score: 4 }, { score: 4 }]);
    expect(standIn.requests).toHaveLength(2);
    for (const { body } of standIn.requests) expect(body).toMatchObject({ temperature: 0 });
  });

  test("comes from reasoning models", async () => {
    const criteria = '{"score": {{ outputs.score }}}';
    const over = { criteria, model_provider: "openai", model_name: "o3-mini-echo" };

    expect(await run(over)).toMatchObject({ kind: "score", score: 4 });
    expect(standIn.requests).toHaveLength(1);
    expect(standIn.requests[0]?.body).not.toHaveProperty("temperature");
    expect(standIn.requests[0]?.text).toContain("json_schema");
  });

  test("comes with what the prompt names and the event lacks", async () => {
    const got = await run();
    const lacking = await run({ criteria: "{{ inputs.x }}{{ error }} [[1]]" });

    expect(got.output).toBe("");
    expect(lacking).toMatchObject({ score: 1, output: "no value for inputs.x, error" });
  });
});

describe("a judge's failure", () => {
  test.each([
    { name: "no score", over: { criteria: "Judge." }, reason: "NO_SCORE", says: "neither" },
    { name: "beyond the scale", over: { scale: 3 }, reason: "INVALID_SCORE", says: "0 to 3" },
    {
      name: "cut short",
      over: { criteria: "Judge.", model_name: "llama3-length+echo" },
      reason: "NO_SCORE",
      says: "ended for its length",
    },
  ])("keeps the answer: $name", async ({ over, reason, says }) => {
    const got = await run(over);

    expect(got).toMatchObject({
      kind: "failure",
      reason,
      message: expect.stringContaining(says) as string,
      judge: { answer: expect.stringContaining("Judge") as string },
    });
  });

  test.each([
    { model: "llama3-fail-400", reason: "PROVIDER_REJECTED", says: "stand-in says 400" },
    { model: "llama3-fail-404", reason: "PROVIDER_REJECTED", says: "stand-in says 404" },
    { model: "llama3-fail-401", reason: "PROVIDER_FAILED", says: "401" },
    { model: "llama3-fail-403", reason: "PROVIDER_FAILED", says: "403" },
  ])("is that of a provider that refuses: $model", async ({ model, reason, says }) => {
    const got = await run({ model_name: model });

    const message = expect.stringContaining(says) as string;
    expect(got).toMatchObject({ kind: "failure", reason, message });
  });

  test("tells no secret that a provider repeats", async () => {
    const got = await run({ model_provider: "openai", model_name: "gpt-4o-leak-key-400" });

    expect(got).toMatchObject({ kind: "failure", reason: "PROVIDER_REJECTED" });
    expect(JSON.stringify(got)).not.toContain("secret-of-openai");
  });

  test("is that of a provider that there is none of", async () => {
    const got = await run({ model_provider: "nobody" });

    const message = expect.stringContaining("there is none of this name") as string;
    expect(got).toMatchObject({ kind: "failure", reason: "MODEL", message });
    expect(standIn.requests).toEqual([]);
  });

  test("is that of a prompt that cannot be filled", async () => {
    const long = { ...event, outputs: { content: "x".repeat(4_000_001), score: 1 } };

    expect(await run({}, long)).toMatchObject({ kind: "failure", reason: "PROMPT" });
    expect(await run({ criteria: "{{ nothing" })).toMatchObject({ reason: "PROMPT" });
    expect(standIn.requests).toEqual([]);
  });
});

describe("what is not a judge's failure", () => {
  test.each([
    { model: "llama3-fail-500", reason: "PROVIDER_FAILED" },
    { model: "llama3-reset", reason: "PROVIDER_FAILED" },
    { model: "llama3-malformed", reason: "PROVIDER_FAILED" },
    { model: "llama3-limited-9", reason: "PROVIDER_LIMITED" },
    { model: "llama3-fail-504", reason: "PROVIDER_TIMEOUT" },
  ])("is thrown: $model", async ({ model, reason }) => {
    await expect(run({ model_name: model })).rejects.toMatchObject({ reason });
  });

  test("is mended by another try", async () => {
    expect(await run({ model_name: "llama3-flaky-503-1+echo" })).toMatchObject({ score: 4 });
  });

  test("is the end of the call by its signal, with the signal's reason", async () => {
    const controller = new AbortController();
    const opened = judges.judge.open(
      judgingProject,
      aJudge({ model_name: "llama3-slow-60000" }),
      controller.signal,
    );

    const running = opened.run(event);
    controller.abort(new Error("enough"));

    await expect(running).rejects.toThrow("enough");
  });

  test("is the memory of all calls: a long prompt waits for room", async () => {
    const { judge } = givenJudges(standIn, { bytesMax: 20_000 });
    const opened = judge.open(judgingProject, aJudge(), signal);
    const outputs = { content: "x".repeat(4_000), score: 4 };

    await expect(opened.run({ ...event, outputs })).rejects.toMatchObject({ reason: "OVERLOADED" });
    expect(standIn.requests).toEqual([]);
    expect(await opened.run(event)).toMatchObject({ kind: "score" });
  });

  test("is the project's cap on calls: a judge waits for its turn", async () => {
    const { judge, concurrency } = givenJudges(standIn, { callsMax: 1 });
    const opened = judge.open(judgingProject, aJudge(), signal);
    const release = concurrency.enter(judgingProject);

    const running = opened.run(event);
    expect(standIn.requests).toEqual([]);
    release();

    expect(await running).toMatchObject({ kind: "score", score: 4 });
  });
});

describe("calls of judges", () => {
  const other = { ...judgingProject, orgId: "another", projectId: createUuid() as ProjectId };
  const sibling = { ...judgingProject, projectId: createUuid() as ProjectId };

  test("of an organization leave places to others, of a project to its siblings", async () => {
    // Places: three of an organization, and two of a project.
    const { judge } = givenJudges(standIn, { judgeCallsMax: 4 });
    const ended = new AbortController();
    const slow = aJudge({ model_name: "llama3-slow-60000" });
    const runSlowly = (project: ProjectScope) => judge.open(project, slow, ended.signal).run(event);

    const attack = [judgingProject, judgingProject, judgingProject, sibling, sibling];
    const running = Promise.allSettled(attack.map(runSlowly));
    await vi.waitUntil(() => standIn.running() === 3, patience);
    const quick = judge.open(other, aJudge(), signal);
    const scores = [await quick.run(event), await quick.run(event)];

    expect(scores).toMatchObject([{ score: 4 }, { score: 4 }]);
    expect(standIn.running()).toBe(3);
    ended.abort(new Error("enough"));
    await running;
  });

  test("wait, organization by organization, and go on where one of theirs ends", async () => {
    const { judge } = givenJudges(standIn, { judgeCallsMax: 1 });
    const models = Array.from({ length: 4 }, (_, at) => `llama3-slow-${50 + at}+echo`);

    const order: string[] = [];
    const runAs = async (project: ProjectScope, model: string) => {
      await judge.open(project, aJudge({ model_name: model }), signal).run(event);
      order.push(project.orgId);
    };
    await Promise.all([
      ...models.map((model) => runAs(judgingProject, model)),
      runAs(other, "llama3-echo"),
    ]);

    expect(order.slice(0, 3)).toContain("another");
  });
});
