// The port itself: which protocol a connection speaks, clients that break off, stall or lie, and
// the graceful end.

import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { createConnection } from "node:net";
import { Duplex } from "node:stream";
import { text as readText } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { describe, expect, test } from "vitest";
import { EventService } from "../../gen/waggle/v1/event_pb.js";
import { givenStarted } from "../support/given.ts";
import { openRaw } from "../support/socket.ts";
import { keyOf, startTransport } from "../support/transport.ts";

const service = givenStarted(() => startTransport({ bodyStallMs: 300 }));

const authorization = keyOf("project");

function post(path: string, headers: readonly string[]): string {
  const all = ["host: x", `authorization: ${authorization}`, ...headers];
  return `POST ${path} HTTP/1.1\r\n${all.join("\r\n")}\r\n\r\n`;
}

/** A socket whose writes leave one byte at a time. */
function byteByByte(url: string): Duplex {
  const { hostname, port } = new URL(url);
  const socket = createConnection({ host: hostname, port: Number(port), noDelay: true });
  const duplex = new Duplex({
    read: () => undefined,
    write(chunk: Buffer, _encoding, done) {
      const writeAll = async (): Promise<void> => {
        for (const byte of chunk) {
          socket.write(Buffer.from([byte]));
          await delay(1);
        }
      };
      writeAll().then(() => done(), done);
    },
    destroy(error, done) {
      socket.destroy();
      done(error);
    },
  });
  socket.on("data", (chunk: Buffer) => duplex.push(chunk));
  socket.on("end", () => duplex.push(null));
  return duplex;
}

async function isAlive(): Promise<boolean> {
  const response = await fetch(`${service.url}/healthz`);
  return response.ok;
}

describe("sniffing", () => {
  test("HTTP/2 is recognised however its preface is cut", async () => {
    const session = connectHttp2(service.url, {
      createConnection: () => byteByByte(service.url),
    });
    const request = session.request({ ":path": "/healthz" });
    const status = await new Promise<unknown>((resolve, reject) => {
      request.on("response", (headers) => resolve(headers[":status"]));
      request.on("error", reject);
    });
    session.destroy();
    expect(status).toBe(200);
  });

  test("HTTP/1.1 is recognised however its first line is cut", async () => {
    const raw = openRaw(service.url);
    // P is also how the preface begins.
    for (const byte of "PUT /nowhere HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n") {
      raw.send(byte);
      await delay(1);
    }
    expect(await raw.until(/Not found/)).toMatch(/^HTTP\/1\.1 404 /);
    raw.socket.destroy();
  });

  test("HTTP/1.0 without Host is answered, on every kind of route", async () => {
    for (const line of [
      "GET /healthz HTTP/1.0",
      "POST /waggle.v1.EventService/GetEvent HTTP/1.0\r\ncontent-type: application/json",
    ]) {
      const raw = openRaw(service.url);
      raw.send(`${line}\r\n\r\n`);
      expect(await raw.closed(10_000)).toMatch(/^HTTP\/1\.1 (200|404) /);
    }
    expect(await isAlive()).toBe(true);
  });

  test("a Host that is no authority harms no one", async () => {
    const raw = openRaw(service.url);
    raw.send(
      "POST /waggle.v1.EventService/GetEvent HTTP/1.1\r\nhost: a b[\r\n" +
        "content-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}",
    );
    expect(await raw.closed(10_000)).toMatch(/^HTTP\/1\.1 404 /);
  });

  test.each([
    { name: "no request line", bytes: "\x16\x03\x01\x02\x00\x01\x00" },
    { name: "a broken header", bytes: "GET / HTTP/1.1\r\nno colon\r\n\r\n" },
    { name: "headers without end", bytes: `GET / HTTP/1.1\r\nx: ${"y".repeat(70_000)}` },
  ])("$name is a bare 4xx and a closed connection", async ({ bytes }) => {
    const raw = openRaw(service.url);
    raw.send(bytes);
    expect(await raw.closed(10_000)).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(await isAlive()).toBe(true);
  });

  test("connections cut at any byte leave the service whole", async () => {
    const requests = [
      `${post("/events", ["content-length: 12"])}{"event":{}}`,
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0",
    ];
    for (const request of requests) {
      for (let cut = 0; cut <= request.length; cut += 3) {
        const raw = openRaw(service.url);
        raw.socket.write(request.slice(0, cut), "latin1", () =>
          cut % 2 === 0 ? raw.socket.destroy() : raw.socket.resetAndDestroy(),
        );
      }
    }
    await delay(200);
    expect(await isAlive()).toBe(true);
    const events = createClient(EventService, createGrpcTransport({ baseUrl: service.url }));
    const got = await events.getEvent({ eventId: "a" }, { headers: { authorization } });
    expect(got.event?.eventId).toBe("a");
  });
});

describe("requests whose head cannot be read", () => {
  const long = "x".repeat(20_000);

  test.each([
    { name: "of a long address", head: `GET /v1/events?filters=${long} HTTP/1.1`, status: 431 },
    { name: "of long header lines", head: `GET / HTTP/1.1\r\nx-long: ${long}`, status: 431 },
    { name: "of no HTTP", head: "GET / HTTP/one", status: 400 },
  ])("$name are refused in the form of other errors", async ({ head, status }) => {
    const raw = openRaw(service.url);
    raw.send(`${head}\r\nhost: a\r\n\r\n`);
    const [lines = "", body = ""] = (await raw.closed(10_000)).split("\r\n\r\n");
    expect(lines).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(lines).toContain("content-type: application/json");
    const error = { success: false, statusCode: status, errorCode: "INVALID_ARGUMENT" };
    expect(JSON.parse(body)).toMatchObject(error);
  });

  test("over HTTP/2 are refused in the same form", async () => {
    const session = connectHttp2(service.url);
    const request = session.request({ ":path": "/", "x-long": "x".repeat(16_300) });
    const [headers] = (await once(request, "response")) as [Record<string, unknown>];
    const text = await readText(request);
    session.destroy();
    expect(headers).toMatchObject({ ":status": 431, "content-type": "application/json" });
    expect(JSON.parse(text)).toMatchObject({ errorCode: "INVALID_ARGUMENT" });
  });
});

describe("bodies that stall", () => {
  test.each([
    { name: "REST", path: "/events", headers: ["content-length: 100"] },
    { name: "chunked REST", path: "/events", headers: ["transfer-encoding: chunked"] },
    {
      name: "Connect",
      path: "/waggle.v1.EventService/CreateEvent",
      headers: ["content-type: application/json", "content-length: 100"],
    },
  ])("over $name are answered with an error and closed", async ({ path, headers }) => {
    const raw = openRaw(service.url);
    raw.send(post(path, headers));
    const text = await raw.closed(10_000);
    expect(text).toMatch(/^HTTP\/1\.1 (408|504) /);
    expect(text.toLowerCase()).toContain("connection: close");
  });

  test("over gRPC end the stream", async () => {
    const session = connectHttp2(service.url);
    const request = session.request({
      ":method": "POST",
      ":path": "/waggle.v1.EventService/CreateEvent",
      "content-type": "application/grpc",
      authorization,
      te: "trailers",
    });
    request.write(Buffer.from([0, 0, 0, 0, 50, 1]));
    const status = await new Promise<unknown>((resolve, reject) => {
      request.on("error", reject);
      request.on("trailers", (trailers: Record<string, unknown>) =>
        resolve(trailers["grpc-status"]),
      );
      request.on("response", (headers) => {
        if (headers["grpc-status"] !== undefined) resolve(headers["grpc-status"]);
      });
      request.resume();
    });
    session.destroy();
    expect(String(status)).toBe("4");
  });

  test("a refusal does not wait for the body", async () => {
    // Longer than the test waits for the refusal.
    const own = await startTransport({ bodyStallMs: 60_000 });
    const raw = openRaw(own.url);
    raw.send("POST /events HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n");
    const text = await raw.until(/Not found/, 10_000);
    expect(text).toMatch(/^HTTP\/1\.1 404 /);
    expect(text.toLowerCase()).toContain("connection: close");
    await raw.closed(10_000);
    await own.stop();
  });
});

/** Returns a handler that tells when it is called, and answers when it is released. */
function holdEvents() {
  const called = Promise.withResolvers<undefined>();
  const held = Promise.withResolvers<undefined>();
  return {
    events: {
      async getEvent({ eventId }: { readonly eventId: string }) {
        called.resolve(undefined);
        await held.promise;
        return { event: { eventId } };
      },
    },
    called: called.promise,
    release: () => held.resolve(undefined),
  };
}

describe("close", () => {
  test("lets a running request end and refuses new connections", async () => {
    const { events, called, release } = holdEvents();
    const own = await startTransport({ drainTimeoutMs: 30_000, events });
    const idle = openRaw(own.url);
    idle.send("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n");
    await idle.until(/ok/);
    const running = fetch(`${own.url}/v1/events/a`, { headers: { authorization } });
    await called;

    const stopped = own.stop();
    await idle.closed(10_000);
    await expect(fetch(`${own.url}/healthz`)).rejects.toThrow();
    release();

    expect((await running).status).toBe(200);
    await stopped;
  });

  test("ends a connection behind an answer that began before it, at once", async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const own = await startTransport({
      drainTimeoutMs: 30_000,
      async *streamEvents() {
        yield { item: { case: "event", value: { eventId: "first" } } };
        await held;
        yield { item: { case: "end", value: { done: true } } };
      },
    });
    const raw = openRaw(own.url);
    raw.send(`${post("/v1/events/stream", ["content-length: 2"])}{}`);
    // Its head, out by now, keeps the connection alive.
    await raw.until(/keep-alive[^]*first/);

    const stopped = own.stop();
    await delay(50);
    release();

    expect(await raw.closed(10_000)).toMatch(/"done":true/);
    await stopped;
  });

  test("tells the client of a connection that will close", async () => {
    const { events, called, release } = holdEvents();
    const own = await startTransport({ drainTimeoutMs: 30_000, events });
    const raw = openRaw(own.url);
    raw.send(`GET /v1/events/a HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n\r\n`);
    await called;
    const stopped = own.stop();
    release();
    expect(await raw.closed(10_000)).toMatch(/^HTTP\/1\.1 200 [^]*connection: close/i);
    await stopped;
  });

  test("lets a slow client read the whole of an answer", async () => {
    const bytes = 30_000_000;
    const own = await startTransport({
      drainTimeoutMs: 30_000,
      events: {
        getEvent: ({ eventId }) => ({ event: { eventId, inputs: { text: "x".repeat(bytes) } } }),
      },
    });
    const raw = openRaw(own.url);
    raw.send(`GET /v1/events/a HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n\r\n`);
    await once(raw.socket, "data");
    raw.socket.pause();
    await delay(300);

    const stopped = own.stop();
    await delay(100);
    raw.socket.resume();

    expect((await raw.closed(10_000)).length).toBeGreaterThan(bytes);
    await stopped;
  });

  test("does not wait for connections that have said nothing", async () => {
    const own = await startTransport({ drainTimeoutMs: 30_000 });
    const raw = openRaw(own.url);
    await delay(50);
    const stopped = own.stop();
    await raw.closed(10_000);
    await stopped;
  });

  test("over HTTP/2 refuses new streams and lets open ones end", async () => {
    const { events, called, release } = holdEvents();
    const own = await startTransport({ drainTimeoutMs: 30_000, events });
    const session = connectHttp2(own.url);
    const goaway = new Promise((resolve) => session.once("goaway", resolve));
    const request = session.request({ ":path": "/v1/events/a", authorization });
    const status = new Promise((resolve) =>
      request.on("response", (headers) => resolve(headers[":status"])),
    );
    request.resume();
    await called;

    const stopped = own.stop();

    expect(await goaway).toBe(0);
    const late = session.request({ ":path": "/healthz" });
    await expect(once(late, "response")).rejects.toThrow(/GOAWAY/);
    release();
    expect(await status).toBe(200);
    await stopped;
  });

  test("tells what does not end in the drain time, and cuts off who hears nothing", async () => {
    const { events, called } = holdEvents();
    const own = await startTransport({ drainTimeoutMs: 100, events });
    const { hostname, port } = new URL(own.url);
    const half = createConnection({ host: hostname, port: Number(port) });
    half.write("GET /healthz HTTP/1.1\r\n");
    const closed = once(half, "close");
    const running = fetch(`${own.url}/v1/events/a`, { headers: { authorization } });
    await called;

    await own.stop();

    const answer = await running;
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ errorCode: "SHUTTING_DOWN" });
    await closed;
  });

  test("ends HTTP/2 connections that are idle", async () => {
    // Longer than a test may take.
    const own = await startTransport({ drainTimeoutMs: 600_000 });
    const events = createClient(EventService, createGrpcTransport({ baseUrl: own.url }));
    await events.getEvent({ eventId: "a" }, { headers: { authorization } });

    await expect(own.stop()).resolves.toBeUndefined();
  });
});

describe("a close that waits for balancers", () => {
  test("is not ready at once, and serves callers on new connections until then", async () => {
    const own = await startTransport();
    const before = openRaw(own.url);
    before.send("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n");
    await before.until(/keep-alive[^]*ok/);
    const left = Promise.withResolvers<undefined>();

    const stopped = own.stop(left.promise);

    const ready = await fetch(`${own.url}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([
      503,
      { status: "unavailable", missing: ["stopping"] },
    ]);
    // The connection from before is closed with its next answer, not under a request.
    before.send("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n");
    expect(await before.closed(10_000)).toMatch(/keep-alive[^]*200 OK[^]*connection: close/i);
    const late = await fetch(`${own.url}/v1/events/a`, { headers: { authorization } });
    expect([late.status, late.headers.get("connection")]).toEqual([200, "close"]);
    left.resolve(undefined);
    await stopped;
    await expect(fetch(`${own.url}/healthz`)).rejects.toThrow();
  });

  test("tells clients of HTTP/2 to connect elsewhere without refusing a stream", async () => {
    const { events, release } = holdEvents();
    const own = await startTransport({ events });
    const read = (session: ReturnType<typeof connectHttp2>) => {
      const request = session.request({ ":path": "/v1/events/a", authorization });
      request.resume();
      return once(request, "response").then(([headers]) => (headers as object)[":status" as never]);
    };
    const session = connectHttp2(own.url);
    const goaway = new Promise<unknown>((settle) => {
      session.once("goaway", (_code: number, lastStream: number) => settle(lastStream));
    });
    const running = read(session);
    await once(session, "remoteSettings");
    const left = Promise.withResolvers<undefined>();

    const stopped = own.stop(left.promise);

    expect(await goaway).toBe(2 ** 31 - 1);
    const late = read(connectHttp2(own.url));
    release();
    expect(await Promise.all([running, late])).toEqual([200, 200]);
    left.resolve(undefined);
    await stopped;
  });
});
