// How a stream is counted that its client leaves, over every protocol: CANCELED, and OK for streams
// alone that ended by themselves.

import { request as httpRequest } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { setTimeout as delay } from "node:timers/promises";
import { createClient, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ExportService } from "../../gen/waggle/v1/export_pb.js";
import { patience } from "../support/patience.ts";
import { keyOf, startTransport, type TestTransport } from "../support/transport.ts";

const message = { item: { case: "event", value: { eventId: "e", inputs: {} } } } as const;

/** Streams by the first name of `projections`, which is the one thing that clients can say here. */
const streams = {
  /** Goes on for ever, also when its call is over. */
  async *endless() {
    for (;;) {
      yield message;
      await delay(10);
    }
  },
  /** Ends by itself when its call is over, as health watches do. */
  async *obedient(signal: AbortSignal) {
    while (!signal.aborted) {
      yield message;
      await delay(10);
    }
  },
  /** Fails when its call is over, as a query does that is cancelled. */
  async *failing(signal: AbortSignal) {
    yield message;
    await delay(60_000, undefined, { signal });
  },
  async *whole() {
    yield message;
    await delay(10);
    yield message;
  },
};
type Kind = keyof typeof streams;

let service: TestTransport;
let reasons: string[];

beforeEach(async () => {
  reasons = [];
  service = await startTransport({
    observe: ({ reason }) => reasons.push(reason),
    drainTimeoutMs: 100,
    streamEvents: ({ projections: [kind = "whole"] }, { signal }) => streams[kind as Kind](signal),
  });
});
afterEach(() => service.stop());

const headers = { authorization: keyOf("project") };

/** Opens a stream, calls `onFirst` with its first bytes, and waits until it ends or breaks. */
type Open = (kind: Kind, onFirst: (leave: () => void) => void) => Promise<void>;

type Form = { readonly path: string; readonly type: string; readonly body: (kind: Kind) => Buffer };

const rest: Form = {
  path: "/v1/events/stream",
  type: "application/json",
  body: (kind) => Buffer.from(JSON.stringify({ projections: [kind] })),
};

/** By hand, since Connect's own client cancels before it ends a connection. */
const connectForm: Form = {
  path: "/waggle.v1.ExportService/StreamEvents",
  type: "application/connect+json",
  body: (kind) => envelope({ projections: [kind] }),
};

/** `leave` ends the connection, in order or by a reset. */
function openHttp1(form: Form, how: "destroy" | "resetAndDestroy"): Open {
  const options = { method: "POST", headers: { ...headers, "content-type": form.type } };
  return (kind, onFirst) =>
    new Promise((settle) => {
      const request = httpRequest(service.url + form.path, options, (response) => {
        response.once("data", () => onFirst(() => request.socket?.[how]()));
        response.on("error", () => undefined).on("close", () => settle());
      });
      request.on("error", () => undefined).end(form.body(kind));
    });
}

/** A message of an RPC stream: a flag, its length, and JSON. */
function envelope(json: object): Buffer {
  const body = Buffer.from(JSON.stringify(json));
  const head = Buffer.alloc(5);
  head.writeUInt32BE(body.length, 1);
  return Buffer.concat([head, body]);
}

/** `leave` of a session destroys its socket; that of a stream resets the stream alone. */
function openHttp2(what: "session" | "stream"): Open {
  return (kind, onFirst) =>
    new Promise((settle) => {
      const session = connectHttp2(service.url);
      const request = session.request({ ":method": "POST", ":path": rest.path, ...headers });
      const leave = (): void => (what === "stream" ? request.close(8) : session.destroy());
      request.once("data", () => onFirst(leave));
      request
        .on("error", () => undefined)
        .on("close", () => {
          session.close();
          settle();
        });
      session.on("error", () => undefined);
      request.end(rest.body(kind));
    });
}

function openRpc(createTransport: (baseUrl: string) => Transport): Open {
  return async (kind, onFirst) => {
    const left = new AbortController();
    const client = createClient(ExportService, createTransport(service.url));
    const request = { projections: [kind] };
    let isFirst = true;
    try {
      for await (const _ of client.streamEvents(request, { headers, signal: left.signal })) {
        if (isFirst) onFirst(() => left.abort());
        isFirst = false;
      }
    } catch {
      // Left, as the test asked for.
    }
  };
}

const protocols: readonly { readonly name: string; readonly open: Open }[] = [
  { name: "REST over HTTP/1.1", open: openHttp1(rest, "destroy") },
  { name: "REST over HTTP/1.1, its socket reset", open: openHttp1(rest, "resetAndDestroy") },
  { name: "REST over HTTP/2, its socket broken", open: openHttp2("session") },
  { name: "REST over HTTP/2, its stream reset", open: openHttp2("stream") },
  { name: "gRPC", open: openRpc((baseUrl) => createGrpcTransport({ baseUrl })) },
  {
    name: "gRPC-Web over HTTP/1.1",
    open: openRpc((baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" })),
  },
  {
    name: "gRPC-Web over HTTP/2",
    open: openRpc((baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "2" })),
  },
  {
    name: "Connect over HTTP/1.1",
    open: openRpc((baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1" })),
  },
  { name: "Connect, its socket closed", open: openHttp1(connectForm, "destroy") },
  { name: "Connect, its socket reset", open: openHttp1(connectForm, "resetAndDestroy") },
  {
    name: "Connect over HTTP/2",
    open: openRpc((baseUrl) => createConnectTransport({ baseUrl, httpVersion: "2" })),
  },
];

async function reasonOfOne(): Promise<string | undefined> {
  await vi.waitUntil(() => reasons.length > 0, patience);
  return reasons[0];
}

describe.each(protocols)("a stream by $name", ({ open }) => {
  test.each(["endless", "obedient", "failing"] as const)(
    "that is %s is CANCELED when its client leaves",
    async (kind) => {
      await open(kind, (leave) => leave());

      expect(await reasonOfOne()).toBe("CANCELED");
    },
  );

  test("is OK when it ended by itself", async () => {
    await open("whole", () => undefined);

    expect(await reasonOfOne()).toBe("OK");
  });

  test.each(["endless", "obedient"] as const)(
    "that is %s is SHUTTING_DOWN when the service stops first",
    async (kind) => {
      const ended = open(kind, () => void service.stop());

      expect(await reasonOfOne()).toBe("SHUTTING_DOWN");
      await ended;
    },
  );
});

test("a stream past its client's deadline is DEADLINE_EXCEEDED", async () => {
  const session = connectHttp2(service.url);
  const request = session.request({
    ":method": "POST",
    ":path": "/waggle.v1.ExportService/StreamEvents",
    "content-type": "application/grpc+json",
    "grpc-timeout": "100m",
    ...headers,
  });
  request.on("error", () => undefined).resume();
  request.end(envelope({ projections: ["obedient"] }));

  expect(await reasonOfOne()).toBe("DEADLINE_EXCEEDED");
  session.destroy();
});
