// Limits: body classes measured after inflating, bytes in flight, and the memory of a bomb.

import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import {
  compressionGzip,
  createConnectTransport,
  createGrpcTransport,
} from "@connectrpc/connect-node";
import { describe, expect, test } from "vitest";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.js";
import { EventService } from "../../gen/waggle/v1/event_pb.js";
import { bodyBytesMaxDefault } from "../../src/base/limits.ts";
import { givenStarted } from "../support/given.ts";
import { openRaw } from "../support/socket.ts";
import { keyOf, otherProjectKey, startTransport } from "../support/transport.ts";

const recordMax = 200_000;
const batchMax = 400_000;
const service = givenStarted(() =>
  startTransport({
    bodyLimits: { ...bodyBytesMaxDefault, record: recordMax, batch: batchMax },
    bytesInFlightMax: 2_000_000,
  }),
);

const authorization = keyOf("project");

function eventOf(bytes: number): string {
  const empty = JSON.stringify({ event: { event_id: "a", inputs: { text: "" } } });
  return empty.replace('""', `"${"x".repeat(bytes - empty.length)}"`);
}

async function post(
  path: string,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
  method = "POST",
) {
  const response = await fetch(service.url + path, {
    method,
    headers: { authorization, ...headers },
    body: body as Uint8Array<ArrayBuffer>,
  });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

const encoders = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
};

describe.each(Object.entries(encoders))("a body in %s", (encoding, encode) => {
  const headers = { "content-encoding": encoding };

  test("is inflated", async () => {
    const got = await post("/events", encode(Buffer.from(eventOf(recordMax))), headers);
    expect(got).toEqual({ status: 200, json: { event_id: "a", success: true } });
  });

  test("is over the limit by what it inflates to", async () => {
    const got = await post("/events", encode(Buffer.from(eventOf(recordMax + 1))), headers);
    expect(got.status).toBe(413);
    expect(got.json).toMatchObject({ errorCode: "BODY_TOO_LARGE", statusCode: 413 });
  });

  test("is a 400 when it is broken or cut", async () => {
    const whole = encode(Buffer.from(eventOf(10_000)));
    for (const body of [Buffer.from("no such encoding at all"), whole.subarray(0, -5)]) {
      const got = await post("/events", body, headers);
      expect(got.status).toBe(400);
      expect(got.json).toMatchObject({ errorCode: "MALFORMED_BODY" });
    }
  });
});

test("a body in zstd whose window is over 8 MB is a 400", async () => {
  const window = { [constants.ZSTD_c_windowLog]: 24 };
  // Small content of a known size would have a small window.
  const text = Buffer.from(eventOf(20_000_000));
  const got = await post("/events", zstdCompressSync(text, { params: window }), {
    "content-encoding": "zstd",
  });
  expect(got).toMatchObject({ status: 400, json: { errorCode: "MALFORMED_BODY" } });
});

describe("body limits", () => {
  test("a plain body may have the limit and not a byte more", async () => {
    expect((await post("/events", eventOf(recordMax))).status).toBe(200);
    expect((await post("/events", eventOf(recordMax + 1))).status).toBe(413);
  });

  test("each class has its own", async () => {
    const events = `{"events":[${eventOf(300_000).slice(9, -1)}]}`;
    expect((await post("/events/batch", events)).status).toBe(200);
  });

  test("a /v1 form takes what a batch takes, and not a byte more", async () => {
    const bare = (bytes: number) => eventOf(bytes + 10).slice(9, -1);
    const { status, json } = await post("/v1/events", bare(batchMax));
    expect([status, json]).toEqual([200, { event_id: "a", success: true }]);
    expect((await post("/v1/events", bare(batchMax + 1))).status).toBe(413);
    const fields = JSON.stringify({ inputs: { text: "x".repeat(300_000) } });
    expect((await post("/events", fields, {}, "PUT")).status).toBe(413);
    expect((await post("/v1/events/a", fields, {}, "PUT")).status).toBe(200);
  });

  test("a chunked body is cut at the limit and the connection closed", async () => {
    const raw = openRaw(service.url);
    raw.send(
      `POST /events HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n` +
        "transfer-encoding: chunked\r\n\r\n",
    );
    const chunk = `10000\r\n${"x".repeat(0x1_0000)}\r\n`;
    for (let sent = 0; sent < 6; sent += 1) raw.send(chunk);
    expect(await raw.closed(10_000)).toMatch(/^HTTP\/1\.1 413 /);
  });

  test.each(["rot13", "constructor"])("the unknown encoding %s is a 400", async (encoding) => {
    const got = await post("/events", "{}", { "content-encoding": encoding });
    expect(got).toMatchObject({ status: 400, json: { errorCode: "MALFORMED_BODY" } });
  });

  test("a bomb costs no more memory than the limit", async () => {
    // One gibibyte of zeros, in about a megabyte.
    const bomb = Buffer.concat(
      Array.from({ length: 1_024 }, () => gzipSync(Buffer.alloc(1 << 20))),
    );
    const before = process.memoryUsage().rss;
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => post("/events", bomb, { "content-encoding": "gzip" })),
    );
    expect(answers.map((one) => one.status)).toEqual([413, 413, 413, 413]);
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1_048_576);
  });

  test("a body without a key is not read", async () => {
    const got = await post("/events", eventOf(recordMax + 1), { authorization: "Bearer nobody" });
    expect(got.status).toBe(404);
  });
});

describe("body limits over RPC", () => {
  const rpc = [
    { name: "gRPC", open: () => createGrpcTransport({ baseUrl: service.url }) },
    {
      name: "compressed gRPC",
      open: () => createGrpcTransport({ baseUrl: service.url, sendCompression: compressionGzip }),
    },
    {
      name: "Connect",
      open: () => createConnectTransport({ baseUrl: service.url, httpVersion: "1.1" }),
    },
    {
      name: "compressed Connect",
      open: () =>
        createConnectTransport({
          baseUrl: service.url,
          httpVersion: "2",
          sendCompression: compressionGzip,
        }),
    },
  ];

  test.each(rpc)("over $name a message past its class is ResourceExhausted", async ({ open }) => {
    const client = createClient(EventService, open());
    const call = (bytes: number) =>
      client.enrichEvent(
        { eventId: "a", inputs: { text: "x".repeat(bytes) } },
        { headers: { authorization } },
      );

    expect((await call(recordMax - 200)).success).toBe(true);
    const error = await call(recordMax + 1).catch((reason: unknown) => ConnectError.from(reason));

    expect(error).toBeInstanceOf(ConnectError);
    expect((error as ConnectError).code).toBe(Code.ResourceExhausted);
    expect((error as ConnectError).findDetails(ErrorInfoSchema)[0]?.reason).toBe("BODY_TOO_LARGE");
    expect((error as ConnectError).rawMessage).toContain(` over ${recordMax} bytes `);
  });

  test.each(rpc)("over $name an rpc takes what its largest REST form takes", async ({ open }) => {
    const client = createClient(EventService, open());
    const event = { eventId: "a", inputs: { text: "x".repeat(batchMax - 200) } };

    const got = await client.createEvent({ event }, { headers: { authorization } });

    expect(got.success).toBe(true);
  });
});

describe("the answer to a body far over its limit", () => {
  const rpcPath = "/waggle.v1.EventService/EnrichEvent";
  const bytes = 20_000_000;
  const routes = [
    { name: "REST", path: "/events", method: "PUT", type: "application/json", want: "413" },
    { name: "Connect JSON", path: rpcPath, method: "POST", type: "application/json", want: "429" },
    { name: "Connect", path: rpcPath, method: "POST", type: "application/proto", want: "429" },
    {
      name: "gRPC-Web",
      path: rpcPath,
      method: "POST",
      type: "application/grpc-web+proto",
      want: "200",
      trailer: "grpc-status: 8",
    },
  ];

  test.each(routes)("arrives over $name, all of it sent first", async (route) => {
    const { status, text } = await sendAllThenRead(route, authorization);
    expect(status).toBe(route.want);
    expect(text).toContain(route.trailer ?? "BODY_TOO_LARGE");
  });

  test.each(routes)("arrives over $name, without a key", async (route) => {
    const { status, text } = await sendAllThenRead(route, "Bearer nobody");
    expect(status).toBe(route.trailer ? "200" : "404");
    expect(text).toContain(route.trailer ? "grpc-status: 5" : "Not found");
  });

  test.each([
    { name: "REST", path: "/events", method: "PUT", type: "application/json", want: "413" },
    { name: "Connect JSON", path: rpcPath, method: "POST", type: "application/json", want: "429" },
    { name: "gRPC", path: rpcPath, method: "POST", type: "application/grpc", want: "8" },
  ])("arrives over $name on HTTP/2, and the stream ends", async ({ path, method, type, want }) => {
    const session = connectHttp2(service.url);
    const request = session.request({
      ":method": method,
      ":path": path,
      "content-type": type,
      authorization,
      te: "trailers",
    });
    let answer = "";
    request.on("response", (headers) => (answer += String(headers[":status"])));
    request.on(
      "trailers",
      (trailers: Record<string, unknown>) => (answer = String(trailers["grpc-status"])),
    );
    request.resume();
    const closed = once(request, "close");
    const piece = Buffer.alloc(100_000, "x");
    for (let sent = 0; sent < bytes; sent += piece.length) {
      if (!request.write(piece)) await once(request, "drain");
    }

    // Its end is never sent.
    await closed;
    session.destroy();
    expect(answer).toBe(want);
  });

  /** As clients do that look for an answer once their body is out, and fail when it cannot go. */
  async function sendAllThenRead(
    { method, path, type }: { method: string; path: string; type: string },
    key: string,
  ): Promise<{ status: string | undefined; text: string }> {
    const { hostname, port } = new URL(service.url);
    const socket = connect({ host: hostname, port: Number(port) });
    const head = [
      `${method} ${path} HTTP/1.1`,
      "host: x",
      `authorization: ${key}`,
      `content-type: ${type}`,
      `content-length: ${bytes}`,
    ];
    socket.write(`${head.join("\r\n")}\r\n\r\n`);
    const body = Buffer.alloc(bytes, "x");
    // The envelope of gRPC-Web; no JSON and no Protobuf either, which no one gets to see.
    body.writeUInt8(0, 0);
    body.writeUInt32BE(bytes - 5, 1);
    await new Promise<void>((resolve, reject) => {
      socket.once("error", reject);
      socket.write(body, (error) => (error ? reject(error) : resolve()));
    });
    let text = "";
    for await (const chunk of socket) text += (chunk as Buffer).toString("latin1");
    return { status: /^HTTP\/1\.1 (\d+)/.exec(text)?.[1], text };
  }
});

describe("bytes in flight", () => {
  test("past the bound a request is 503 with Retry-After, and accepted again after", async () => {
    const own = await startTransport({ bytesInFlightMax: 100_000 });
    const holder = openRaw(own.url);
    holder.send(
      `POST /events HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n` +
        `content-length: 90000\r\n\r\n${"x".repeat(40_000)}`,
    );
    const send = () =>
      fetch(`${own.url}/events`, {
        method: "POST",
        headers: { authorization },
        body: eventOf(20_000),
      });
    let response = await send();
    // The holder's bytes may arrive after our first request.
    for (let round = 0; response.status === 200 && round < 50; round += 1) response = await send();

    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("1");
    expect(await response.json()).toEqual({
      success: false,
      statusCode: 503,
      errorCode: "OVERLOADED",
    });

    const events = createClient(EventService, createGrpcTransport({ baseUrl: own.url }));
    const event = { eventId: "a", inputs: { text: "x".repeat(20_000) } };
    const error = await events
      .createEvent({ event }, { headers: { authorization } })
      .catch((reason: unknown) => ConnectError.from(reason));
    expect((error as ConnectError).code).toBe(Code.Unavailable);
    expect((error as ConnectError).findDetails(ErrorInfoSchema)[0]?.reason).toBe("OVERLOADED");

    const other = await fetch(`${own.url}/events`, {
      method: "POST",
      headers: { authorization: otherProjectKey },
      body: eventOf(10_000),
    });
    expect(other.status, "another project has room").toBe(200);
    holder.socket.destroy();
    for (let round = 0; response.status === 503 && round < 50; round += 1) response = await send();
    expect(response.status).toBe(200);
    await own.stop();
  });

  test("count as they arrive, not as they are declared", async () => {
    const own = await startTransport({ bytesInFlightMax: 100_000 });
    const head = `POST /events HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n`;
    const holders = Array.from({ length: 20 }, () => openRaw(own.url));
    for (const holder of holders) holder.send(`${head}content-length: 1000000\r\n\r\n{`);
    await Promise.all(holders.map(({ socket }) => once(socket, "connect")));

    const event = { method: "POST", headers: { authorization }, body: eventOf(20_000) };
    const response = await fetch(`${own.url}/events`, event);

    expect(response.status).toBe(200);
    for (const { socket } of holders) socket.destroy();
    await own.stop();
  });

  test("of a client that left count until the work has ended", async () => {
    const begun = Promise.withResolvers<undefined>();
    const seen = Promise.withResolvers<undefined>();
    const ending = Promise.withResolvers<undefined>();
    let isFirst = true;
    const own = await startTransport({
      bytesInFlightMax: 100_000,
      events: {
        async createEvent(_request, { signal }) {
          if (!isFirst) return { success: true };
          isFirst = false;
          begun.resolve(undefined);
          await once(signal, "abort");
          seen.resolve(undefined);
          await ending.promise;
          return { success: true };
        },
      },
    });
    const post = (signal?: AbortSignal) =>
      fetch(`${own.url}/events`, {
        method: "POST",
        headers: { authorization },
        body: eventOf(20_000),
        ...(signal && { signal }),
      });
    const leaving = new AbortController();
    const left = post(leaving.signal).catch(() => undefined);
    await begun.promise;
    leaving.abort();
    await left;
    await seen.promise;

    expect((await post()).status).toBe(503);

    ending.resolve(undefined);
    let response = await post();
    for (let round = 0; response.status === 503 && round < 50; round += 1) response = await post();
    expect(response.status).toBe(200);
    await own.stop();
  });
});
