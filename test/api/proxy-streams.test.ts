// Streams through the LLM proxy: byte for byte, ended only once the generation is stored, and never
// ended cleanly where the provider broke off. Source: docs/decisions.md, 7, 20.1, 21.1.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { direct, lastOf, type Proxied, startProxied, until } from "../support/proxied.ts";

let proxied: Proxied;
let fountain: Server;
let poured = 0;
let isPouring = false;
beforeAll(async () => {
  fountain = createServer((_, response) => {
    isPouring = true;
    response.once("close", () => (isPouring = false));
    response.writeHead(200, { "content-type": "text/event-stream" });
    const event = `data: {"choices":[{"index":0,"delta":{"content":"${"x".repeat(10_000)}"}}]}\n\n`;
    const pour = (): void => {
      do poured += event.length;
      while (response.write(event) && !response.destroyed);
    };
    response.on("drain", pour);
    pour();
  });
  await new Promise<void>((resolve) => fountain.listen(0, "127.0.0.1", resolve));
  const { port } = fountain.address() as AddressInfo;
  proxied = await startProxied(
    { "provider-idle-timeout-ms": "300" },
    { fountain: `http://127.0.0.1:${port}/v1` },
  );
});
afterAll(async () => {
  await proxied.stop();
  fountain.closeAllConnections();
  fountain.close();
});

const messages = [{ role: "user", content: "How is the weather?" }];
const done = "data: [DONE]\n\n";
const weather = "It is 18 °C and sunny in Paris.";

function streamOf(model: string, more: object = {}) {
  return { model: `up/${model}`, messages, stream: true, ...more };
}

/** The last event of a stream, as JSON. */
function lastEventOf(text: string): unknown {
  const [last = ""] = text.trimEnd().split("\n\n").slice(-1);
  return JSON.parse(last.replace(/^data: /, ""));
}

describe("a stream", () => {
  test.each([
    { name: "with usage", model: "m", more: { stream_options: { include_usage: true } } },
    {
      name: "with tools",
      model: "m",
      more: { tools: [{ type: "function", function: { name: "f" } }] },
    },
    { name: "of several choices", model: "m", more: { n: 3 } },
    { name: "with reasoning", model: "reasoning", more: {} },
    { name: "without [DONE]", model: "no-done", more: {} },
    { name: "with a rest in its middle", model: "pause-100", more: {} },
  ])("$name is the provider's, byte for byte", async ({ model, more }) => {
    const answer = await proxied.chat(streamOf(model, more));

    expect(answer.status).toBe(200);
    expect(answer.isWhole).toBe(true);
    expect(answer.headers.get("content-type")).toMatch(/^text\/event-stream/);
    const own = { ...streamOf(model, more), model };
    expect(answer.text).toBe(await direct(proxied.standIn, "/chat/completions", own));
    expect((await proxied.eventOf(answer)).error).toBeNull();
  });

  test("is recorded as an answer in one piece is", async () => {
    const more = { stream_options: { include_usage: true } };
    const streamed = await proxied.eventOf(await proxied.chat(streamOf("m", more)));
    const { stream: _, ...whole } = streamOf("m");
    const unary = await proxied.eventOf(await proxied.chat(whole));

    expect(streamed.outputs).toEqual(unary.outputs);
    for (const key of ["usage", "finish_reason", "response_model", "response_id"]) {
      expect(streamed.metadata[key]).toEqual(unary.metadata[key]);
    }
    expect(streamed.metadata["stream"]).toBe(true);
    expect(streamed.config).toEqual(unary.config);
  });

  test("of several choices is recorded with each of them", async () => {
    const event = await proxied.eventOf(await proxied.chat(streamOf("m", { n: 2 })));

    expect(event.outputs).toMatchObject({
      choices: [
        { index: 0, content: weather, finish_reason: "stop" },
        { index: 1, content: weather, finish_reason: "stop" },
      ],
    });
  });

  test("without usage says how to get it", async () => {
    const event = await proxied.eventOf(await proxied.chat(streamOf("m")));

    expect(event.metadata).not.toHaveProperty("prompt_tokens");
    expect(JSON.stringify(event)).toContain("stream_options.include_usage");
  });

  test("that was asked for its usage in vain does not say to ask for it", async () => {
    const more = { stream_options: { include_usage: true } };
    const event = await proxied.eventOf(await proxied.chat(streamOf("no-usage", more)));

    expect(event.metadata["cost_unknown"]).toBe("the provider told no token counts");
  });

  test("comes event by event, and ends only once the generation is stored", async () => {
    const { promise: locked, resolve: onLocked } = Promise.withResolvers<void>();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const lock = proxied.service.database.transaction(async (sql) => {
      await sql`lock table events in access exclusive mode`;
      onLocked();
      await released;
    });
    await locked;

    const call = proxied.open(streamOf("m"));
    await call.until((text) => text.includes('"finish_reason":"stop"'));
    await until(() => proxied.standIn.running() === 0);
    expect(call.text()).not.toContain("[DONE]");
    release();
    await lock;

    const answer = await call.ended;
    expect(answer.text.endsWith(done)).toBe(true);
    expect((await proxied.eventOf(answer)).outputs).toMatchObject({ content: weather });
  });

  test("whose generation cannot be stored ends as an error", async () => {
    const sql = proxied.service.database.sql();
    await sql`alter table events rename to events_away`;
    try {
      const answer = await proxied.chat(streamOf("m"));

      expect(answer.isWhole).toBe(false);
      expect(answer.text).not.toContain("[DONE]");
      expect(lastEventOf(answer.text)).toMatchObject({ error: { type: "server_error" } });
    } finally {
      await sql`alter table events_away rename to events`;
    }
  });
});

describe("a stream that is no answer", () => {
  test.each([
    { name: "breaks off", model: "cut-off", error: /^PROVIDER_FAILED: provider up broke off/ },
    {
      name: "ends with no choice finished",
      model: "no-finish",
      error: /^PROVIDER_FAILED: .* broke off/,
    },
    {
      name: "cannot be read",
      model: "malformed-stream",
      error: /^PROVIDER_FAILED: .* an invalid event/,
    },
    {
      name: "says that it failed",
      model: "error-event",
      error: /^PROVIDER_FAILED: .*stand-in overloaded/,
    },
    { name: "falls silent", model: "pause-60000", error: /^PROVIDER_TIMEOUT: .*fell silent/ },
  ])(
    "because it $name ends as an error to the client and on the event",
    async ({ model, error }) => {
      const answer = await proxied.chat(streamOf(model));

      expect(answer.status).toBe(200);
      expect(answer.isWhole).toBe(false);
      expect(answer.text).not.toContain("[DONE]");
      expect(lastEventOf(answer.text)).toMatchObject({ error: { type: "server_error" } });
      const event = await proxied.eventOf(answer);
      expect(event.error).toMatch(error);
      expect(event.outputs["role"]).toBe("assistant");
      expect(weather).toContain(String(event.outputs["content"]));
    },
  );

  test("because it is no stream at all is answered with an error status", async () => {
    const answer = await proxied.chat(streamOf("malformed"));

    expect(answer.status).toBe(502);
    expect(JSON.parse(answer.text)).toMatchObject({ error: { code: "PROVIDER_FAILED" } });
  });

  test("because it takes too long is ended at the caller's own time-out", async () => {
    const answer = await proxied.chat(streamOf("trickle-100"), { "x-waggle-timeout-ms": "400" });

    expect(answer.isWhole).toBe(false);
    const event = await proxied.eventOf(answer);
    expect(event.error).toBe("PROVIDER_TIMEOUT: no whole answer within 400 ms");
    await until(() => lastOf(proxied.standIn).isAborted);
  });

  test("because its end does not come in time is an error on the event too", async () => {
    const headers = { "x-waggle-timeout-ms": "200" };
    const answer = await proxied.chat(streamOf("no-done+hang"), headers);

    expect(answer.isWhole).toBe(false);
    expect(answer.text).toContain("PROVIDER_TIMEOUT");
    expect((await proxied.eventOf(answer)).error).toMatch(/^PROVIDER_TIMEOUT: /);
  });

  test("because it repeats the provider's key shows it nowhere", async () => {
    const answer = await proxied.chat(streamOf("leak-key-event"));
    const event = await proxied.eventOf(answer);

    expect(answer.isWhole).toBe(false);
    expect(answer.text).not.toContain("sk-stand-in");
    expect(JSON.stringify(event)).not.toContain("sk-stand-in");
    expect(event.error).toContain("[redacted]");
  });

  test("because it never ends is ended at its size", async () => {
    // With the usual time-outs: a busy machine may stall such a stream for longer than 300 ms.
    const usual = await startProxied();
    try {
      const answer = await usual.chat(streamOf("endless"));

      expect(answer.isWhole).toBe(false);
      expect((await usual.eventOf(answer)).error).toMatch(/answered more than \d+ bytes/);
    } finally {
      await usual.stop();
    }
  }, 300_000);
});

describe("a client that goes", () => {
  test("in the middle of a stream ends the provider's call, and the event says so", async () => {
    const said = { messages: [{ role: "user", content: "leaving in the middle" }] };
    const call = proxied.open(streamOf("endless", said));
    await call.until((text) => text.length > 1_000);
    call.leave();

    await until(() => lastOf(proxied.standIn).isAborted);
    const event = await proxied.eventSaying("leaving in the middle");
    expect(event.error).toBe("CLIENT_GONE: the client went away");
    expect(event.outputs["role"]).toBe("assistant");
  });

  test("before the first byte ends the provider's call, and the event says so", async () => {
    const said = { messages: [{ role: "user", content: "leaving early" }] };
    const call = proxied.open(streamOf("slow-60000", said));
    await until(() => proxied.standIn.requests.some(({ model }) => model === "slow-60000"));
    call.leave();

    await until(() => lastOf(proxied.standIn).isAborted);
    expect((await proxied.eventSaying("leaving early")).error).toMatch(/^CLIENT_GONE: /);
  });

  test("from an answer in one piece ends the provider's call, too", async () => {
    const { stream: _, ...body } = streamOf("slow-50000");
    const call = proxied.open({ ...body, messages: [{ role: "user", content: "not waiting" }] });
    await until(() => proxied.standIn.requests.some(({ model }) => model === "slow-50000"));
    call.leave();

    await until(() => lastOf(proxied.standIn).isAborted);
    expect((await proxied.eventSaying("not waiting")).error).toMatch(/^CLIENT_GONE: /);
  });

  test("not, but reads no more, stops the provider instead of filling memory", async () => {
    const call = proxied.open({ ...streamOf("m"), model: "fountain/m" });
    await call.until((text) => text.length > 1_000);
    call.pause();

    // The sockets on the way hold some megabytes; an answer may have 32.
    let before = -1;
    while (before !== poured) {
      before = poured;
      await delay(300);
    }
    expect(poured).toBeLessThan(20_000_000);
    expect(fountain.listening && isPouring).toBe(true);
    call.leave();
    await until(() => !isPouring);
  });
});
