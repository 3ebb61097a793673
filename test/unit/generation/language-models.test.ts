// Models of the Vercel AI SDK: bound to their connection and to nothing of the process's own
// settings. Source: docs/decisions.md, 20.1, 21.1.

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Connection, ProviderType } from "../../../src/generation/provider.ts";
import { toProviderError } from "../../../src/generation/providers/ai-sdk/error.ts";
import {
  chatModel,
  embeddingModel,
  type Fetch,
} from "../../../src/generation/providers/ai-sdk/language-models.ts";
import { connectionOf } from "./connections.ts";

type Sent = { readonly url: string; readonly text: string };

/** Secrets in the environment of the service, which no tenant's call may use. */
const operatorsOwn = {
  OPENAI_API_KEY: "operator-secret",
  OPENAI_BASE_URL: "https://operator.example/v1",
  AZURE_API_KEY: "operator-secret",
  AZURE_RESOURCE_NAME: "operator",
  ANTHROPIC_API_KEY: "operator-secret",
  ANTHROPIC_BASE_URL: "https://operator.example/v1",
  GOOGLE_GENERATIVE_AI_API_KEY: "operator-secret",
  MISTRAL_API_KEY: "operator-secret",
  AWS_REGION: "operator-region",
  AWS_ACCESS_KEY_ID: "operator-secret",
  AWS_SECRET_ACCESS_KEY: "operator-secret",
  AWS_SESSION_TOKEN: "operator-secret",
  AWS_BEARER_TOKEN_BEDROCK: "operator-secret",
  AWS_ENDPOINT_URL: "https://operator.example",
  AWS_ENDPOINT_URL_BEDROCK_RUNTIME: "https://operator.example",
};

beforeEach(() => {
  for (const [name, value] of Object.entries(operatorsOwn)) vi.stubEnv(name, value);
});
afterEach(() => vi.unstubAllEnvs());

/** Returns a tenant's connection, with what `own` says and nothing else. */
function aConnection(type: ProviderType, own: Partial<Connection> = {}): Connection {
  return connectionOf({ name: type, type, baseUrl: null, isOperators: false, ...own });
}

/** Calls a model of the connection, and returns what it would have sent. */
async function sentBy(connection: Connection, model = "some-model"): Promise<Sent> {
  const sent: Sent[] = [];
  const send: Fetch = (input, init) => {
    const headers = JSON.stringify([...new Headers(init?.headers)]);
    const url = input instanceof Request ? input.url : String(input);
    sent.push({ url, text: `${url} ${headers}` });
    return Promise.resolve(new Response("{}", { status: 500 }));
  };
  const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "hi" }] }];
  const called = chatModel({ connection, model }, send).doGenerate({ prompt });
  await expect(called).rejects.toThrow();
  const [first] = sent;
  if (!first) throw new Error("nothing was sent");
  return first;
}

const azureUrl = "https://ours.openai.azure.com/openai";

describe("a model of a connection", () => {
  test.each([
    { type: "openai", own: {}, url: "https://api.openai.com/v1/chat/completions" },
    {
      type: "azure",
      own: { resourceName: "ours" },
      url: `${azureUrl}/deployments/some-model/chat/completions?api-version=2024-10-21`,
    },
    { type: "anthropic", own: {}, url: "https://api.anthropic.com/v1/messages" },
    {
      type: "google",
      own: {},
      url: "https://generativelanguage.googleapis.com/v1beta/models/some-model:generateContent",
    },
    {
      type: "bedrock",
      own: { region: "eu-west-1" },
      url: "https://bedrock-runtime.eu-west-1.amazonaws.com/model/some-model/converse",
    },
    { type: "mistral", own: {}, url: "https://api.mistral.ai/v1/chat/completions" },
    {
      type: "openai_compatible",
      own: { baseUrl: "https://vllm.example/v1" },
      url: "https://vllm.example/v1/chat/completions",
    },
  ] as const)(
    "of $type without secrets has none of the operator's, nor the operator's address",
    async ({ type, own, url }) => {
      const sent = await sentBy(aConnection(type, own));

      expect(sent.url).toBe(url);
      expect(sent.text).not.toContain("operator");
    },
  );

  test.each([
    { type: "azure", resourceName: "ours.evil.example/#" },
    { type: "bedrock", region: "evil.example/#" },
    { type: "bedrock", region: null },
    { type: "openai_compatible" },
  ] as const)("is refused where the connection tells no address: %o", ({ type, ...own }) => {
    const target = { connection: aConnection(type, own), model: "m" };

    expect(() => chatModel(target, fetch)).toThrow(/^model: provider .* has no address/);
  });

  test.each([
    { type: "azure", model: "../../admin" },
    { type: "azure", model: "a/b" },
    { type: "azure", model: "m?x=1" },
    { type: "azure", model: "%2e%2e" },
    { type: "google", model: "../../v2/models/x" },
    { type: "google", model: "models/x#y" },
    { type: "bedrock", model: ".." },
  ] as const)("cannot leave its path by a name: $type $model", ({ type, model }) => {
    const connection = aConnection(type, { resourceName: "ours", region: "eu-west-1" });

    expect(() => chatModel({ connection, model }, fetch)).toThrow(
      /^model: is not a valid model name of/,
    );
  });

  test("makes no embeddings where its provider has none", () => {
    const target = { connection: aConnection("anthropic"), model: "claude" };

    expect(() => embeddingModel(target, fetch)).toThrow(
      "model: provider anthropic makes no embeddings",
    );
  });
});

describe("toProviderError", () => {
  const secret = "sk-tenant-0123456789";
  const connection = aConnection("openai", { secrets: { api_key: secret } });

  async function errorOf(response: Response | Error, type: ProviderType = "openai") {
    const own = aConnection(type, { secrets: { api_key: secret } });
    const send: Fetch = () =>
      response instanceof Error ? Promise.reject(response) : Promise.resolve(response);
    const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "hi" }] }];
    try {
      await chatModel({ connection: own, model: "m" }, send).doGenerate({ prompt });
    } catch (error) {
      return toProviderError(error, { connection: own });
    }
    throw new Error("the call did not fail");
  }

  test.each([
    {
      name: "words of the provider's form",
      type: "openai",
      body: '{"error":{"message":"no such model","type":"x"}}',
      want: "provider openai answered 418: no such model",
    },
    {
      name: "words of another form",
      type: "openai",
      body: '{"detail":"too hot"}',
      want: 'provider openai answered 418: {"detail":"too hot"}',
    },
    {
      name: "Google's words",
      type: "google",
      body: '{"error":{"code":418,"message":"no tea","status":"X"}}',
      want: "provider google answered 418: no tea",
    },
    {
      name: "words that repeat the key",
      type: "anthropic",
      body: `{"type":"error","error":{"type":"x","message":"bad key ${secret}"}}`,
      want: "provider anthropic answered 418: bad key [redacted]",
    },
  ] as const)("keeps $name", async ({ type, body, want }) => {
    const error = await errorOf(new Response(body, { status: 418 }), type);

    expect(error).toMatchObject({ message: want, failure: "status", status: 418 });
  });

  test.each([
    { text: "7", want: 7 },
    { text: "0.2", want: 1 },
    { text: "99999999", want: 3_600 },
    { text: "-1", want: undefined },
    { text: "soon", want: undefined },
    { text: new Date(Date.now() + 3_000_000).toUTCString(), want: 3_000 },
  ])("reads Retry-After $text", async ({ text, want }) => {
    const headers = { "retry-after": text };
    const error = await errorOf(new Response("{}", { status: 429, headers }));

    const seconds = (error as { readonly retryAfterSeconds?: number }).retryAfterSeconds;
    if (want === 3_000) expect(Math.abs((seconds ?? 0) - want)).toBeLessThan(30);
    else expect(seconds).toBe(want);
  });

  test.each(["<html>", '{"choices": [', "{}", '{"choices": []}'])(
    "says of an answer that is none that it is malformed: %s",
    async (body) => {
      expect(await errorOf(new Response(body))).toMatchObject({
        failure: "malformed",
        message: "provider openai answered in a form that its API does not have",
      });
    },
  );

  test("tells a lost connection from an answer that is none", async () => {
    const cause = Object.assign(new Error("gone"), { code: "ECONNREFUSED" });
    const error = await errorOf(new TypeError("fetch failed", { cause }));

    expect(error).toMatchObject({ failure: "connection" });
  });

  test("holds nothing of the request", async () => {
    const error = await errorOf(new Response("{}", { status: 500 }));

    const seen = JSON.stringify(error, Object.getOwnPropertyNames(error));
    expect(seen).not.toContain(secret);
    expect(seen).not.toContain('"hi"');
    for (let one: unknown = error; one instanceof Error; one = one.cause) {
      expect(Object.keys(one)).not.toContain("requestBodyValues");
    }
  });

  test.each([
    { event: { message: "overloaded", statusCode: 503 }, want: { failure: "status", status: 503 } },
    { event: { error: { message: "overloaded" } }, want: { failure: "broken" } },
    { event: "overloaded", want: { failure: "broken" } },
    { event: { unheard: "of" }, want: { failure: "malformed" } },
    { event: null, want: { failure: "malformed" } },
  ])("reads an error in the middle of a stream: $event", ({ event, want }) => {
    expect(toProviderError(event, { connection }, { isBegun: true })).toMatchObject(want);
  });
});
