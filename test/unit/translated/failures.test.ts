// What becomes of a translated call that fails, breaks off or is ended, and what its tokens are.

import { beforeEach, describe, expect, test, vi } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import {
  isRetriable,
  ProviderError,
  toServiceError,
} from "../../../src/generation/provider-error.ts";
import {
  type ProviderType,
  providerTypes,
  speaksOpenAi,
} from "../../../src/generation/provider.ts";
import type { Usage } from "../../../src/generation/usage.ts";
import type { ModelAnswer, StreamAnswer } from "../../../src/generation/calls/model-call.ts";
import { readGathered, readWholeChat } from "../../../src/generation/chat/answer.ts";
import { createAnswerGatherer } from "../../../src/generation/openai/answer-gatherer.ts";
import { toEventBytes } from "../../../src/generation/openai/event-stream.ts";
import { givenStarted } from "../../support/given.ts";
import { startOpenAiStandIn } from "../../support/openai-stand-in.ts";
import { ask, models, targetAt } from "../../support/translated.ts";
import { patience } from "../../support/patience.ts";

const body = { model: "m", messages: [{ role: "user", content: "Hello" }] };
const streamed = { ...body, stream: true };

const standIn = givenStarted(startOpenAiStandIn);

beforeEach(() => standIn.clear());

/** Asks a model that plays something, `whole` or as a stream. */
function play(
  type: ProviderType,
  name: string,
  request: JsonObject = body,
  signal?: AbortSignal,
): Promise<ModelAnswer> {
  const target = targetAt(standIn, type, `${models[type]}-${name}`);
  return ask(target, request, signal && { signal });
}

async function streamOf(answer: Promise<ModelAnswer>): Promise<StreamAnswer> {
  const got = await answer;
  if (got.kind !== "stream") throw new Error("no stream");
  return got;
}

type Streamed = {
  readonly text: string;
  readonly error: unknown;
  readonly usage: Usage | undefined;
};

/** Reads a stream as a chat does, until its end or its error. */
async function readAll(stream: StreamAnswer): Promise<Streamed> {
  const gatherer = createAnswerGatherer(1, () => undefined);
  const { connection } = targetAt(standIn, "openai", "m");
  let text = "";
  let error: unknown;
  try {
    for await (const parts of gatherer.follow(stream, connection, true)) {
      text += Buffer.from(toEventBytes(parts)).toString();
    }
  } catch (fault) {
    error = fault;
  }
  return { text, error, usage: readGathered(gatherer).usage };
}

async function faultOf(answer: Promise<unknown>): Promise<ProviderError> {
  const error = await answer.catch((fault: unknown) => fault);
  if (error instanceof ProviderError) return error;
  throw new Error(`no fault of a provider: ${String(error)}`);
}

describe.each(providerTypes)("a call of %s", (type) => {
  test.each([body, streamed])("fails with the provider's status and words", async (request) => {
    const got = await faultOf(play(type, "fail-500", request));

    expect(got).toMatchObject({ failure: "status", status: 500, provider: type });
    expect(got.message).toContain("stand-in says 500");
    expect(standIn.requests).toHaveLength(1);
  });

  test("tells how long the provider asks to wait", async () => {
    const got = await faultOf(play(type, "limited-7"));

    expect(got).toMatchObject({ status: 429, retryAfterSeconds: 7 });
  });

  test.each([body, streamed])("fails where nothing is answered", async (request) => {
    expect((await faultOf(play(type, "reset", request))).failure).toBe("connection");
  });

  test("fails where the answer cannot be read", async () => {
    expect((await faultOf(play(type, "malformed"))).failure).toBe("malformed");
  });

  test("repeats no secret that the provider repeats", async () => {
    const got = await faultOf(play(type, "leak-key"));

    expect(got.status).toBe(401);
    expect(JSON.stringify([got.message, String(got.cause)])).not.toContain(`secret-of-${type}`);
  });

  test.each(["cut-off", "no-finish", "malformed-stream", "error-event"])(
    "fails in the middle of a stream that ends by %s",
    async (name) => {
      const stream = await streamOf(play(type, name, streamed));

      const { text, error, usage } = await readAll(stream);

      expect(error).toBeInstanceOf(ProviderError);
      expect(["broken", "malformed", "status"]).toContain((error as ProviderError).failure);
      expect(text).toContain('"content":"It "');
      expect(text).not.toContain("[DONE]");
      expect(text).not.toContain('"finish_reason":"stop"');
      expect(usage).toBeUndefined();
    },
  );

  test("may be retried if a stream begins with an error", async () => {
    const got = await faultOf(play(type, "flaky-event-99", streamed));

    // Mistral's SDK cannot read an error event: the answer is malformed.
    const isRead = type !== "mistral";
    expect(got.message.includes("stand-in overloaded")).toBe(isRead);
    expect([isRetriable(got), toServiceError(got).reason]).toEqual([isRead, "PROVIDER_FAILED"]);
  });

  test.each([body, streamed])("ends with its signal", async (request) => {
    const ended = new AbortController();
    const answer = play(type, "slow-60000", request, ended.signal).catch((error: unknown) => error);
    await vi.waitFor(() => expect(standIn.running()).toBe(1), patience);

    ended.abort(new Error("the client went away"));

    expect(await answer).toEqual(new Error("the client went away"));
    await vi.waitFor(() => expect(standIn.requests[0]?.isAborted).toBe(true), patience);
  });

  test("ends a stream with its signal", async () => {
    const ended = new AbortController();
    const stream = await streamOf(play(type, "endless", streamed, ended.signal));
    const chunks = stream.parts[Symbol.asyncIterator]();
    await chunks.next();

    ended.abort(new Error("the client went away"));

    const drain = async (): Promise<void> => {
      while (!(await chunks.next()).done);
    };
    await expect(drain()).rejects.toThrow("the client went away");
    await vi.waitFor(() => expect(standIn.requests[0]?.isAborted).toBe(true), patience);
  });

  test("ends at the provider when the reader of its stream leaves", async () => {
    const stream = await streamOf(play(type, "endless", { ...streamed, n: 2 }));
    // The OpenAI API answers both choices to one request.
    const want = speaksOpenAi(type) ? [true] : [true, true];

    for await (const parts of stream.parts) {
      if (parts.length > 0 && standIn.running() === want.length) break;
    }

    await vi.waitFor(() => expect(standIn.running()).toBe(0), patience);
    expect(standIn.requests.map(({ isAborted }) => isAborted)).toEqual(want);
  });

  test("tells the tokens in parts, whole and streamed alike", async () => {
    const whole = await play(type, "cached");
    const stream = await streamOf(play(type, "cached", streamed));
    const { usage } = await readAll(stream);

    const got = whole.kind === "whole" && readWholeChat(whole).usage;
    expect(got).toMatchObject({ cacheRead: 64, reasoning: 0 });
    expect(usage).toEqual(got);
  });
});

// Anthropic's API always tells them.
test.each(["google", "bedrock", "mistral"] as const)(
  "no tokens are told of a stream in which %s tells none",
  async (type) => {
    const request = { ...streamed, stream_options: { include_usage: true } };
    const stream = await streamOf(play(type, "no-usage", request));

    const { text, error, usage } = await readAll(stream);

    expect(error).toBeUndefined();
    expect(text).toContain("[DONE]");
    expect(text).not.toContain('"choices":[]');
    expect(usage).toBeUndefined();
  },
);

describe.each(["google", "mistral"] as const)("a stream in which the model of %s fails", (type) => {
  test("tells its tokens after the text", async () => {
    const { text, error, usage } = await readAll(
      await streamOf(play(type, "failed-end", streamed)),
    );

    expect(text).toContain('"content":"It "');
    expect(error).toMatchObject({ failure: "broken" });
    expect(usage?.input).toBeGreaterThan(0);
    expect(usage?.output).toBeGreaterThan(0);
  });

  test("tells its tokens with the failure if it has no text", async () => {
    const mute = await startOpenAiStandIn(0, { text: "" });
    const model = `${models[type]}-failed-end`;

    const got = await faultOf(ask(targetAt(mute, type, model), streamed));

    await mute.stop();
    expect(got.failure).toBe("broken");
    expect(got.answer?.usage?.input).toBeGreaterThan(0);
  });
});

test.each([body, streamed])("one choice that fails ends the others", async (request) => {
  const answer = play("anthropic", "slow-300+flaky-500-1+endless", { ...request, n: 2 });

  const read = answer.then(async (got) => {
    if (got.kind === "stream") throw (await readAll(got)).error;
  });

  expect((await faultOf(read)).status).toBe(500);
  await vi.waitFor(() => expect(standIn.running()).toBe(0), patience);
  const { length } = standIn.requests;
  expect(standIn.requests.filter(({ isAborted }) => isAborted)).toHaveLength(length - 1);
});
