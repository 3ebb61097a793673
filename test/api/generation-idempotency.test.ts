// Idempotency-Key on calls that run models, over two servers on one database: hand-written models
// behind the real transport and records. Source: docs/decisions.md, 8.2, 20.1.

import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { GenerationService } from "../../gen/waggle/v1/generation_pb.js";
import { LlmProxyService } from "../../gen/waggle/v1/llm_proxy_pb.js";
import { createIdempotency } from "../../src/access/idempotency/idempotency.ts";
import type { Principal } from "../../src/access/principal.ts";
import { ServiceError } from "../../src/base/errors.ts";
import { createUuid } from "../../src/base/ids.ts";
import { type Database, openDatabase } from "../../src/postgres/database.ts";
import { commitEffectKey } from "../../src/access/call.ts";
import { givenTestDatabase } from "../support/database.ts";
import { aKeyPrincipal, startTransport, type TestTransport } from "../support/transport.ts";
import { patience } from "../support/patience.ts";

const testDatabase = givenTestDatabase();
let otherPool: Database;
let here: TestTransport;
let there: TestTransport;

/** Counts the runs of a model, and holds back the runs that begin from now on. */
let runs = 0;
let gate: PromiseWithResolvers<undefined> | undefined;

beforeAll(async () => {
  await testDatabase.database.sql()`create table generations (run integer)`;
  otherPool = openDatabase({ url: testDatabase.url });
  const root = createUuid();
  here = await startServer(testDatabase.database, root);
  there = await startServer(otherPool, root);
});

beforeEach(() => {
  gate = undefined;
  runs = 0;
});
afterAll(async () => {
  await Promise.all([here.stop(), there.stop()]);
  await otherPool.close();
});

function startServer(database: Database, projectId: string): Promise<TestTransport> {
  const idempotency = createIdempotency(database);
  const principal: Principal = aKeyPrincipal("project", projectId);
  return startTransport({
    services: (router) => {
      router.service(GenerationService, chats(database));
      router.service(LlmProxyService, proxy(database) as ServiceImpl<typeof LlmProxyService>);
    },
    authenticate: () => Promise.resolve(principal),
    idempotencyOf: () => idempotency,
  });
}

/** Runs a model that does what its name says, and stores that it ran. */
async function generate(database: Database, text: string, context: HandlerContext) {
  runs += 1;
  const run = runs;
  const { promise: gone, reject: leave } = Promise.withResolvers<never>();
  const onAbort = () => leave(new ServiceError("PROVIDER_FAILED", "the client went away"));
  context.signal.addEventListener("abort", onAbort, { once: true });
  const commit = () =>
    context.values.get(commitEffectKey)(async () => {
      await database.sql()`insert into generations values (${run})`;
    });
  try {
    await Promise.race([gate?.promise, gone]);
    if (text.includes("failing")) throw new ServiceError("PROVIDER_FAILED", "it failed");
    if (text.includes("limited")) throw new ServiceError("PROVIDER_LIMITED", "too many");
    if (text.includes("rejected")) throw rejected(run);
  } catch (error) {
    await commit();
    throw error;
  }
  await commit();
  return run;
}

/** Says each time something else, so that an answer from memory can be told. */
function rejected(run: number): ServiceError {
  const body = Buffer.from(JSON.stringify({ error: { message: `refused ${run}`, type: "t" } }));
  const relayed = { status: 422, contentType: "application/json", body };
  return new ServiceError("PROVIDER_REJECTED", `refused ${run}`, { relayed });
}

const chats = (database: Database): ServiceImpl<typeof GenerationService> => ({
  async createChat({ model }, context) {
    return { generationId: `g${await generate(database, model, context)}`, cost: 0.5 };
  },
  async *streamChat({ model }, context) {
    const generationId = `g${await generate(database, model, context)}`;
    yield { part: { case: "generation", value: { type: "generation", generationId } } };
  },
});

const proxy = (database: Database): Partial<ServiceImpl<typeof LlmProxyService>> => ({
  async createChatCompletion({ httpBody }, context) {
    const run = await generate(database, Buffer.from(httpBody?.data ?? []).toString(), context);
    context.responseHeader.set("x-waggle-generation-id", `g${run}`);
    const data = Buffer.from(`{ "of" : "the provider", "run": ${run} }`);
    return { contentType: "application/json", data };
  },
  async *streamChatCompletion({ httpBody }, context) {
    await generate(database, Buffer.from(httpBody?.data ?? []).toString(), context);
    yield { contentType: "", data: Buffer.from("data: [DONE]\n\n") };
  },
});

type Send = {
  readonly path?: string;
  readonly model?: string;
  readonly stream?: boolean;
  readonly at?: TestTransport;
  readonly signal?: AbortSignal;
};

const proxyPath = "/v1/chat/completions";

async function post(key: string, send: Send = {}) {
  const { path = "/chat", model = "m", stream, at = here, signal } = send;
  const messages = [{ role: "user", content: "hi" }];
  const project = path === "/chat" ? { project: "demo" } : {};
  const response = await fetch(at.url + path, {
    method: "POST",
    headers: { authorization: "Bearer any", "idempotency-key": key },
    body: JSON.stringify({ ...project, model, messages, stream }),
    ...(signal && { signal }),
  });
  const { status, headers } = response;
  return {
    status,
    type: headers.get("content-type"),
    generation: headers.get("x-waggle-generation-id"),
    text: await response.text(),
  };
}

async function countStored(): Promise<number> {
  const rows = await testDatabase.database.sql()`select 1 from generations`;
  return rows.length;
}

describe("Idempotency-Key on a generation", () => {
  test.each([{ path: "/chat" }, { path: proxyPath }])(
    "answers $path again, whichever server is asked, and runs once",
    async ({ path }) => {
      const stored = await countStored();

      const first = await post(`again ${path}`, { path });
      const second = await post(`again ${path}`, { path, at: there });

      expect(first).toMatchObject({
        status: 200,
        text: expect.stringMatching(/g1|"run": 1/) as string,
      });
      expect(second).toEqual(first);
      expect([runs, (await countStored()) - stored]).toEqual([1, 1]);
    },
  );

  test("with another body is a 422", async () => {
    await post("body", { model: "one" });
    const got = await post("body", { model: "two" });

    expect(got.status).toBe(422);
    expect(JSON.parse(got.text)).toMatchObject({ errorCode: "IDEMPOTENCY_MISMATCH" });
    expect(runs).toBe(1);
  });

  test("that still runs is a 409 on both servers, and its answer later", async () => {
    gate = Promise.withResolvers<undefined>();
    const first = post("running", { path: proxyPath });
    await expect.poll(() => runs, patience).toBe(1);

    const meanwhile = [
      await post("running", { path: proxyPath }),
      await post("running", { path: proxyPath, at: there }),
    ];
    gate.resolve(undefined);

    expect(meanwhile.map(({ status }) => status)).toEqual([409, 409]);
    const { status, text } = await first;
    expect(status).toBe(200);
    expect(await post("running", { path: proxyPath, at: there })).toMatchObject({ status, text });
    expect(runs).toBe(1);
  });

  test.each([
    { model: "failing", status: 502 },
    { model: "limited", status: 503 },
  ])("runs a $model model again, and stores each run", async ({ model, status }) => {
    const stored = await countStored();

    const got = [await post(model, { model }), await post(model, { model })];

    expect(got.map((one) => one.status)).toEqual([status, status]);
    expect([runs, (await countStored()) - stored]).toEqual([2, 2]);
  });

  test.each([
    { path: "/chat", status: 400 },
    { path: proxyPath, status: 422 },
  ])("keeps the refusal of $path as it was", async ({ path, status }) => {
    const stored = await countStored();

    const first = await post(`rejected ${path}`, { path, model: "rejected" });
    const second = await post(`rejected ${path}`, { path, model: "rejected", at: there });

    expect(first).toMatchObject({ status, text: expect.stringContaining("refused 1") as string });
    expect(second).toEqual(first);
    expect([runs, (await countStored()) - stored]).toEqual([1, 1]);
  });

  test("of a client that went away is free for its next try, and the run is stored", async () => {
    const stored = await countStored();
    gate = Promise.withResolvers<undefined>();
    const leaving = new AbortController();
    const first = post("gone", { signal: leaving.signal });
    await expect.poll(() => runs, patience).toBe(1);

    leaving.abort();
    await expect(first).rejects.toThrow("aborted");
    gate = undefined;

    await expect.poll(async () => (await post("gone")).status, patience).toBe(200);
    expect([runs, (await countStored()) - stored]).toEqual([2, 2]);
  });

  test("works over gRPC", async () => {
    const client = createClient(GenerationService, createGrpcTransport({ baseUrl: here.url }));
    const headers = { authorization: "Bearer any", "idempotency-key": "grpc" };
    const request = { project: "demo", model: "m", messages: [{ role: "user" }] };

    const first = await client.createChat(request, { headers });
    const second = await client.createChat(request, { headers });

    expect(first.generationId).toBe("g1");
    expect(second).toEqual(first);
  });

  test.each([
    { path: "/chat", stream: true, message: "message" },
    { path: proxyPath, stream: true, message: "error.message" },
    { path: `${proxyPath}/stream`, stream: false, message: "error.message" },
  ])("on a stream, $path (stream: $stream), is a 400 that says so", async (row) => {
    const got = await post("streamed", row);

    expect(got.status).toBe(400);
    expect(JSON.parse(got.text)).toHaveProperty(
      row.message,
      expect.stringContaining("Idempotency-Key"),
    );
    expect(runs).toBe(0);
  });
});
