// Providers that fail behind the LLM proxy: retries, fallbacks, the answer to the client and the
// recorded event. Source: docs/decisions.md, 20.1, 21.4.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lastOf, type OpenCall, type Proxied, startProxied, until } from "../support/proxied.ts";

/** A provider that writes its headers and bodies as few do, but as they may. */
const odd = createServer((request, response) => {
  request.resume().on("end", () => {
    const isStream = request.headers.accept === "text/event-stream";
    const type = isStream ? "Text/Event-Stream; Charset=UTF-8" : "Application/JSON";
    response.writeHead(200, { "content-type": type });
    response.end(isStream ? oddStream : oddAnswer);
  });
});
const said = { role: "assistant", content: "Odd here." };
const oddAnswer = `\uFEFF${JSON.stringify({
  choices: [{ index: 0, message: said, finish_reason: "stop" }],
  usage: { prompt_tokens: "12", completion_tokens: "7" },
})}`;
const oddStream = `data: ${JSON.stringify({
  choices: [{ index: 0, delta: said, finish_reason: "stop" }],
  usage: { prompt_tokens: "12", completion_tokens: "7" },
})}\n\ndata: [DONE]\n\n`;

let proxied: Proxied;
beforeAll(async () => {
  await once(odd.listen(0, "127.0.0.1"), "listening");
  const { port } = odd.address() as AddressInfo;
  const flags = {
    "provider-timeout-ms": "1000",
    "provider-attempts": "2",
    "generation-concurrency": "2",
    "model-aliases": JSON.stringify({
      steady: ["up/fail-500", "second/m"],
      unreachable: ["down/m", "second/m"],
      picky: ["up/fail-400", "second/m"],
      denied: ["up/fail-401", "second/m"],
      hopeless: ["up/fail-500", "second/fail-503"],
      garbled: ["up/malformed", "second/m"],
    }),
  };
  proxied = await startProxied(flags, { odd: `http://127.0.0.1:${port}/v1` });
});
afterAll(async () => {
  await proxied.stop();
  odd.close();
});

const messages = [{ role: "user", content: "How is the weather?" }];

type Attempt = { readonly provider: string; readonly status?: number; readonly error?: string };
type Body = { readonly error: { readonly message: string; readonly code: string | null } };

function bodyOf({ text }: { readonly text: string }): Body["error"] {
  return (JSON.parse(text) as Body).error;
}

describe.each([
  { name: "an answer in one piece", stream: false },
  { name: "a stream", stream: true },
])("$name", ({ stream }) => {
  const chat = (model: string, more: object = {}) =>
    proxied.chat({ model, messages, ...(stream && { stream }), ...more });

  test.each([
    { name: "a limit", model: "up/flaky-429-1", status: 429 },
    { name: "a failure", model: "up/flaky-500-1", status: 500 },
    { name: "a limit that says for how long", model: "up/retry-after-1", status: 429 },
    { name: "a connection that broke", model: "up/flaky-0-1", status: undefined },
  ])("is asked for again after $name", async ({ model, status }) => {
    const answer = await chat(model, { user: `${String(stream)} ${model}` });

    expect(answer.status).toBe(200);
    const { metadata, error } = await proxied.eventOf(answer);
    expect(error).toBeNull();
    const attempts = metadata["attempts"] as readonly Attempt[];
    expect(attempts).toHaveLength(2);
    expect(attempts[0]?.status).toBe(status);
    expect(attempts[1]?.error).toBeUndefined();
  });

  test("is read with its type in capitals, a byte order mark and counts as text", async () => {
    const answer = await chat("odd/m");

    expect(answer).toMatchObject({ status: 200, isWhole: true });
    expect(answer.text).toContain("Odd here.");
    const event = await proxied.eventOf(answer);
    expect(event.error).toBeNull();
    expect(event).toMatchObject({
      outputs: said,
      metadata: { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 },
    });
  });

  test("that is an error with status 200 fails with the provider's words", async () => {
    const answer = await chat("up/error-body");

    expect(answer.status).toBe(502);
    expect(bodyOf(answer).message).toContain("the context is too long");
    expect((await proxied.eventOf(answer)).error).toMatch(/the context is too long$/);
  });

  test.each([
    { alias: "steady", failures: 2 },
    { alias: "unreachable", failures: 2 },
    { alias: "denied", failures: 1 },
    { alias: "garbled", failures: 1 },
  ])("comes from the next model of the alias $alias", async ({ alias, failures }) => {
    const answer = await chat(alias);

    expect(answer.status).toBe(200);
    expect(answer.text).toContain("Second");
    expect(answer.headers.get("x-waggle-provider")).toBe("second");
    const { metadata, config } = await proxied.eventOf(answer);
    expect(config).toMatchObject({ provider: "second", model: "m" });
    expect(metadata["requested_model"]).toBe(alias);
    expect(metadata["attempts"]).toHaveLength(failures + 1);
  });

  test("is asked for nowhere else where the request itself is bad", async () => {
    const before = proxied.second.requests.length;
    const { status } = await chat("picky");

    expect(status).toBe(400);
    expect(proxied.second.requests.length).toBe(before);
  });

  test.each([
    {
      model: "up/fail-400",
      status: 400,
      error: /^PROVIDER_REJECTED: provider up answered 400: stand-in/,
    },
    { model: "up/fail-404", status: 400, error: /^PROVIDER_REJECTED: / },
    { model: "up/fail-422", status: 422, error: /^PROVIDER_REJECTED: / },
    { model: "up/fail-429", status: 429, error: /^PROVIDER_LIMITED: / },
    { model: "up/fail-500", status: 500, error: /^PROVIDER_FAILED: / },
    { model: "up/fail-503", status: 503, error: /^PROVIDER_FAILED: / },
    { model: "hopeless", status: 503, error: /^PROVIDER_FAILED: provider second answered 503/ },
    { model: "up/redirect", status: 502, error: /^PROVIDER_FAILED: .* redirect/ },
    { model: "up/reset", status: 502, error: /^PROVIDER_FAILED: provider up cannot be reached/ },
    { model: "up/slow-60000", status: 504, error: /^PROVIDER_TIMEOUT: / },
  ])(
    "of $model is an error of the provider's class, and stored",
    async ({ model, status, error }) => {
      const said = `${model} ${String(stream)}`;
      const answer = await chat(model, { messages: [{ role: "user", content: said }] });

      expect(answer.status).toBe(status);
      expect(typeof bodyOf(answer).message).toBe("string");
      const event = await proxied.eventOf(answer);
      expect(event.inputs).toEqual({ chat_history: [{ role: "user", content: said }] });
      expect(event.error).toMatch(error);
      expect(event.outputs).toEqual({});
    },
  );

  test("that is refused for the provider's key tells neither key nor words", async () => {
    const said = `key ${String(stream)}`;
    const answer = await chat("up/leak-key", { messages: [{ role: "user", content: said }] });

    expect(answer.status).toBe(424);
    expect(answer.text).not.toContain("sk-stand-in");
    expect(JSON.stringify(await proxied.eventSaying(said))).not.toContain("sk-stand-in");
  });

  test("that fails with the provider's key in its words is told without it", async () => {
    const said = `leak ${String(stream)}`;
    const more = { messages: [{ role: "user", content: said }] };
    const answer = await chat("up/leak-key-400", more);

    expect(answer.status).toBe(400);
    expect(bodyOf(answer).message).toContain("[redacted]");
    expect(answer.text).not.toContain("sk-stand-in");
    expect(JSON.stringify(await proxied.eventSaying(said))).not.toContain("sk-stand-in");
  });

  test("says how long to wait where the provider does", async () => {
    const { status, headers } = await chat("up/limited-40");

    expect(status).toBe(429);
    expect(headers.get("retry-after")).toBe("40");
  });
});

describe("an answer in one piece", () => {
  test.each([
    { name: "is no JSON", model: "up/malformed" },
    { name: "breaks off", model: "up/cut-off" },
    { name: "never ends", model: "up/endless" },
  ])(
    "that $name is a 502",
    async ({ model }) => {
      const answer = await proxied.chat({ model, messages });

      expect(answer.status).toBe(502);
      expect(bodyOf(answer).code).toBe("PROVIDER_FAILED");
    },
    60_000,
  );

  test("whose generation cannot be stored is none", async () => {
    const sql = proxied.service.database.sql();
    await sql`alter table events rename to events_away`;
    try {
      const answer = await proxied.chat({ model: "up/m", messages });

      expect(answer.status).toBe(500);
      expect(answer.text).not.toContain("Paris");
    } finally {
      await sql`alter table events_away rename to events`;
    }
  });

  test("takes no longer than its caller allows", async () => {
    const headers = { "x-waggle-timeout-ms": "200" };
    const answer = await proxied.chat({ model: "up/slow-50000", messages }, headers);

    expect(answer.status).toBe(504);
    await until(() => lastOf(proxied.standIn).isAborted);
  });
});

describe("embeddings that are none", () => {
  test("are a 502", async () => {
    const answer = await proxied.post("/embeddings", { model: "up/malformed", input: "x" });

    expect(answer.status).toBe(502);
  });
});

describe("a project's calls beyond its cap", () => {
  test("are refused at once, and let in again when others have ended", async () => {
    const open = (): OpenCall => proxied.open({ model: "up/endless", messages, stream: true });
    const calls = [open(), open()];
    for (const call of calls) await call.until((text) => text !== "");

    const refused = await proxied.chat({ model: "up/m", messages });
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(bodyOf(refused).code).toBe("OVERLOADED");

    const key = proxied.service.otherProject.projectKey;
    const headers = { authorization: `Bearer ${key}` };
    expect((await proxied.chat({ model: "up/m", messages }, headers)).status).toBe(200);
    for (const call of calls) call.leave();
    await until(async () => (await proxied.chat({ model: "up/m", messages })).status === 200);
  });
});

test("an answer without choices passes, and is a failure in the record", async () => {
  const answer = await proxied.chat({ model: "up/no-choices", messages });

  expect(answer.status).toBe(200);
  expect(JSON.parse(answer.text)).toMatchObject({ choices: [] });
  const event = await proxied.eventOf(answer);
  expect(event.error).toBe("PROVIDER_FAILED: provider up answered with a chat without choices");
  expect(event.metadata["total_tokens"]).toBeGreaterThan(0);
});

test("a stream without choices passes, and is a failure in the record", async () => {
  const answer = await proxied.chat({ model: "up/no-choices", messages, stream: true });

  expect(answer).toMatchObject({ status: 200, isWhole: true });
  const event = await proxied.eventOf(answer);
  expect(event.error).toBe("PROVIDER_FAILED: provider up answered with a chat without choices");
});
