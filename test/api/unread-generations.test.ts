// Streamed answers of models whose client stops reading: the provider is stopped, and its call is
// ended and recorded, over every protocol and on every way to a provider.
// Source: docs/limits.md, "Answers and reads"; docs/decisions.md, 20.1, 21.1.

import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect as connectHttp2,
} from "node:http2";
import { connect as connectTcp } from "node:net";
import { Duplex } from "node:stream";
import { describe, expect, test, vi } from "vitest";
import type * as limits from "../../src/base/limits.ts";
import { givenStarted } from "../support/given.ts";
import { startOpenAiStandIn } from "../support/openai-stand-in.ts";
import { lastOf, until } from "../support/proxied.ts";
import { is, type ReadEvent, readEvents } from "../support/read-back.ts";
import { startService } from "../support/service.ts";

// The limit alone is shorter here; what keeps to it is the service's own.
vi.mock("../../src/base/limits.ts", async (importOriginal) => ({
  ...(await importOriginal<typeof limits>()),
  answerStallMs: 1_000,
}));

// Long enough that its stream comes in parts of some kilobytes, for ever.
const standIn = givenStarted(() => startOpenAiStandIn(0, { text: "x".repeat(4_000_000) }));
const service = givenStarted(() => {
  const key = { api_key: "sk-stand-in" };
  return startService({
    providers: JSON.stringify({
      passed: { provider: "openai_compatible", base_url: standIn.url, ...key },
      translated: { provider: "anthropic", base_url: standIn.urls.anthropic, ...key },
    }),
  });
});

type Form = {
  readonly path: string;
  readonly type: string;
  readonly toBytes: (body: object) => Buffer;
  /** Members of its requests beside those of all. */
  readonly more: object;
};

const toJson = (body: object): Buffer => Buffer.from(JSON.stringify(body));

/** A message of an RPC stream: a flag, its length, and JSON. */
function toEnvelope(body: object): Buffer {
  const json = toJson(body);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(json.length, 1);
  return Buffer.concat([head, json]);
}

const project = { project: "demo" };
const chat: Form = { path: "/chat", type: "application/json", toBytes: toJson, more: project };
const proxy: Form = {
  path: "/v1/chat/completions",
  type: "application/json",
  toBytes: toJson,
  more: {},
};
const rpcChat = (type: string): Form => ({
  path: "/waggle.v1.GenerationService/StreamChat",
  type,
  toBytes: toEnvelope,
  more: project,
});
const rpcProxy = (type: string): Form => ({
  path: "/waggle.v1.LlmProxyService/StreamChatCompletion",
  type,
  toBytes(body) {
    const data = toJson(body).toString("base64");
    return toEnvelope({ httpBody: { contentType: "application/json", data } });
  },
  more: {},
});
const connectType = "application/connect+json";
const grpcType = "application/grpc+json";

/** Sends a request and reads nothing of its answer; returns what ends the connection. */
type Open = (form: Form, body: object) => () => void;

function connectSocket() {
  const { hostname, port } = new URL(service.url);
  return connectTcp({ host: hostname, port: Number(port) }).on("error", () => undefined);
}

const overHttp1: Open = ({ path, type, toBytes }, body) => {
  const bytes = toBytes(body);
  const socket = connectSocket().pause();
  const lines = [
    `POST ${path} HTTP/1.1`,
    "host: localhost",
    `authorization: Bearer ${service.projectKey}`,
    `content-type: ${type}`,
    `content-length: ${bytes.length}`,
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  socket.write(bytes);
  return () => socket.destroy();
};

/** The stream is not read; its connection is. */
const overHttp2: Open = (form, body) => {
  const session = connectHttp2(service.url);
  requestOver(session, form, body).pause();
  return () => session.destroy();
};

/** The connection is not read from its first 100 kB on, and the service may send any number. */
const overStuckHttp2: Open = (form, body) => {
  const session = connectHttp2(service.url, {
    settings: { initialWindowSize: 2 ** 30 },
    createConnection: stuckConnection,
  });
  session.once("connect", () => session.setLocalWindowSize(2 ** 30));
  requestOver(session, form, body).resume();
  return () => session.destroy();
};

function stuckConnection(): Duplex {
  const socket = connectSocket();
  const connection = new Duplex({
    write: (chunk: Buffer, _, done) => void socket.write(chunk, done),
    read: () => undefined,
    destroy(error, done) {
      socket.destroy();
      done(error);
    },
  });
  socket.on("data", (chunk) => {
    connection.push(chunk);
    if (socket.bytesRead > 100_000) socket.pause();
  });
  return connection;
}

function requestOver(session: ClientHttp2Session, form: Form, body: object): ClientHttp2Stream {
  session.on("error", () => undefined);
  const request = session.request({
    ":method": "POST",
    ":path": form.path,
    authorization: `Bearer ${service.projectKey}`,
    "content-type": form.type,
    te: "trailers",
  });
  request.on("error", () => undefined).end(form.toBytes(body));
  return request;
}

/** Returns the event of the generation whose message says a text, once it is stored. */
async function eventSaying(text: string): Promise<ReadEvent | undefined> {
  const access = { url: service.url, key: service.projectKey };
  const filters = [is("inputs.chat_history.0.content", text)];
  let found: ReadEvent | undefined;
  await until(async () => {
    // A field that no event has yet is refused.
    [found] = await readEvents(access, filters).catch(() => []);
    return found !== undefined;
  });
  return found;
}

/** What sockets on this machine hold by themselves; an answer may have 32 MB. */
const socketsBytesMax = 20_000_000;

describe("a stream", () => {
  test.each([
    { name: "POST /chat over HTTP/1.1", form: chat, open: overHttp1 },
    { name: "POST /chat over HTTP/2", form: chat, open: overHttp2 },
    { name: "POST /chat on a stuck HTTP/2 connection", form: chat, open: overStuckHttp2 },
    { name: "the proxy over HTTP/1.1", form: proxy, open: overHttp1 },
    { name: "the proxy over HTTP/2", form: proxy, open: overHttp2 },
    { name: "the proxy on a stuck HTTP/2 connection", form: proxy, open: overStuckHttp2 },
    { name: "the proxy, translated", form: proxy, open: overHttp1, provider: "translated" },
    { name: "StreamChat by Connect", form: rpcChat(connectType), open: overHttp1 },
    { name: "StreamChat by gRPC", form: rpcChat(grpcType), open: overHttp2 },
    { name: "the proxy's rpc by Connect", form: rpcProxy(connectType), open: overHttp1 },
    { name: "the proxy's rpc by gRPC", form: rpcProxy(grpcType), open: overHttp2 },
    { name: "the proxy's rpc, stuck", form: rpcProxy(grpcType), open: overStuckHttp2 },
  ])(
    "that nobody reads ends the provider's call: $name",
    async ({ name, form, open, provider = "passed" }) => {
      const messages = [{ role: "user", content: name }];
      const seen = standIn.requests.length;
      const body = { model: `${provider}/endless`, messages, stream: true, ...form.more };
      const leave = open(form, body);
      try {
        await until(() => standIn.requests.length > seen && standIn.running() === 0);
        const event = await eventSaying(name);

        expect(lastOf(standIn).isAborted).toBe(true);
        expect(lastOf(standIn).sentBytes()).toBeLessThan(socketsBytesMax);
        expect(event?.error).toBe("CLIENT_GONE: the client read nothing for 1000 ms");
        expect(event?.outputs).toMatchObject({ role: "assistant" });
      } finally {
        leave();
      }
    },
  );
});
