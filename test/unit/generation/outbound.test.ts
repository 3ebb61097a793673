// Requests to providers over real sockets: servers on loopback, and a resolver that each test
// makes.

import { execFile } from "node:child_process";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createRawServer, type AddressInfo, type Socket } from "node:net";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { request } from "undici";
import { afterEach, describe, expect, test } from "vitest";
import { createAddressGuard, type Resolve } from "../../../src/base/address-guard.ts";
import { toNetworkError } from "../../../src/generation/providers/network-error.ts";
import {
  createOutbound,
  type OutboundOptions,
} from "../../../src/generation/providers/outbound.ts";
import type { Connection } from "../../../src/generation/provider.ts";
import { connectionOf } from "./connections.ts";
import { patience } from "../../support/patience.ts";

const ending: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

type Reply = (response: ServerResponse, request: IncomingMessage) => void;

/** Starts a provider; `sockets` are those that were opened to it. */
async function startProvider(reply: Reply) {
  const sockets = new Set<Socket>();
  const server = createServer((incoming, response) => {
    incoming.resume();
    reply(response, incoming);
  });
  return { ...(await listen(server, sockets)), sockets };
}

async function listen(server: Server | ReturnType<typeof createRawServer>, sockets: Set<Socket>) {
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ending.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/v1`, port };
}

function outboundOf(over: Partial<OutboundOptions> = {}) {
  const addressGuard = createAddressGuard({ privateHosts: [] });
  const limits = { firstByteTimeoutMs: 20_000, idleTimeoutMs: 20_000 };
  const outbound = createOutbound({ addressGuard, ...limits, ...over });
  ending.push(() => outbound.close());
  return outbound;
}

type Outbound = ReturnType<typeof outboundOf>;

type Way = {
  readonly way: string;
  /** Returns the text of the answer. */
  readonly send: (to: Outbound, connection: Connection, signal?: AbortSignal) => Promise<string>;
};

const ways: readonly [Way, Way] = [
  {
    way: "undici.request",
    async send(outbound, connection, signal) {
      const { body } = await request(`${connection.baseUrl ?? ""}/chat`, {
        method: "POST",
        body: "{}",
        dispatcher: outbound.dispatcher(connection),
        ...(signal && { signal }),
      });
      return body.text();
    },
  },
  {
    way: "fetch",
    async send(outbound, connection, signal) {
      const init = { method: "POST", body: "{}", ...(signal && { signal }) };
      const answer = await outbound.fetch(connection)(`${connection.baseUrl ?? ""}/chat`, init);
      return answer.text();
    },
  },
];

const tenant = { isOperators: false };

async function faultOf(promise: Promise<unknown>, phase: "head" | "body" = "head") {
  const error = await promise.then(
    (value) => new Error(`it answered ${String(value)}`),
    (reason: unknown) => reason,
  );
  const fault = toNetworkError(error, connectionOf(), phase);
  if (!fault) throw new Error("no error of the network", { cause: error });
  return fault;
}

describe.each(ways)("by $way", ({ send }) => {
  test("answers come as they are, and their sockets are used again", async () => {
    const { url, sockets } = await startProvider((response) => response.end("hello"));
    const outbound = outboundOf();
    const connection = connectionOf({ baseUrl: url });

    const got: string[] = [];
    for (let count = 0; count < 10; count += 1) got.push(await send(outbound, connection));

    expect(got).toEqual(Array.from({ length: 10 }, () => "hello"));
    // A request that follows at once may come before the socket is free.
    expect(sockets.size).toBeLessThanOrEqual(2);
  });

  test("no encoding is asked for", async () => {
    const { url } = await startProvider((response, { headers }) =>
      response.end(headers["accept-encoding"] ?? "identity"),
    );

    expect(await send(outboundOf(), connectionOf({ baseUrl: url }))).toBe("identity");
  });

  test("an encoded answer is none: inflated it could be of any size", async () => {
    const bomb = gzipSync(Buffer.alloc(1_000_000));
    const { url } = await startProvider((response) =>
      response.writeHead(200, { "content-encoding": "gzip" }).end(bomb),
    );

    const { failure } = await faultOf(send(outboundOf(), connectionOf({ baseUrl: url })));

    expect(failure).toBe("malformed");
  });

  test.each([301, 302, 303, 307, 308])("a %i is not followed", async (status) => {
    const inner = await startProvider((response) => response.end("secret"));
    const { url } = await startProvider((response) =>
      response.writeHead(status, { location: inner.url }).end(),
    );

    const { failure, message } = await faultOf(send(outboundOf(), connectionOf({ baseUrl: url })));

    expect(failure).toBe("malformed");
    expect(message).toContain("redirect");
    expect(inner.sockets.size).toBe(0);
  });

  test("an answer that does not begin in time is a time-out, and ends its socket", async () => {
    let isClosed = false;
    const { url } = await startProvider((response) =>
      response.on("close", () => (isClosed = true)),
    );
    const outbound = outboundOf({ firstByteTimeoutMs: 30 });

    const { failure } = await faultOf(send(outbound, connectionOf({ baseUrl: url })));

    expect(failure).toBe("timeout");
    await expect.poll(() => isClosed, patience).toBe(true);
  });

  test("headers alone do not count as the first byte", async () => {
    const { url } = await startProvider((response) => response.flushHeaders());
    const outbound = outboundOf({ firstByteTimeoutMs: 30 });

    const { failure } = await faultOf(send(outbound, connectionOf({ baseUrl: url })), "body");

    expect(failure).toBe("timeout");
  });

  test("an answer may begin later than the silence it may keep afterwards", async () => {
    const { url } = await startProvider((response) => {
      response.flushHeaders();
      setTimeout(() => response.end("late"), 60);
    });
    const outbound = outboundOf({ idleTimeoutMs: 20 });

    expect(await send(outbound, connectionOf({ baseUrl: url }))).toBe("late");
  });

  test("an answer that falls silent is a time-out", async () => {
    const { url } = await startProvider((response) => response.write("begun"));
    const outbound = outboundOf({ idleTimeoutMs: 30 });

    const { failure } = await faultOf(send(outbound, connectionOf({ baseUrl: url })), "body");

    expect(failure).toBe("timeout");
  });

  test("an answer without end ends at the most that is taken", async () => {
    const { url } = await startProvider((response) => {
      const write = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536, "a")));
      };
      response.on("drain", write);
      write();
    });
    const outbound = outboundOf({ bytesMax: 1_000_000 });

    const { failure } = await faultOf(send(outbound, connectionOf({ baseUrl: url })), "body");

    expect(failure).toBe("malformed");
  });

  test("an answer of parts of one byte ends before they take more than its bytes may", async () => {
    const { url } = await startProvider((response) => {
      response.flushHeaders();
      response.socket?.end("1\r\na\r\n".repeat(20_000));
    });
    const outbound = outboundOf({ bytesMax: 1_000_000 });

    const fault = await faultOf(send(outbound, connectionOf({ baseUrl: url })), "body");

    expect(fault.message).toBe("provider local answered more than 1000000 bytes");
  });

  test("an answer of more objects and arrays than are parsed is malformed", async () => {
    const { url } = await startProvider((response) => response.end("[]".repeat(2_000_001)));

    const fault = await faultOf(send(outboundOf(), connectionOf({ baseUrl: url })), "body");

    expect(fault.message).toBe("provider local answered more than 2000000 objects and arrays");
  });

  test("an answer that breaks off is broken", async () => {
    const { url } = await startProvider((response) => {
      response.writeHead(200, { "content-length": "10" });
      response.write("half", () => response.destroy());
    });

    const fault = await faultOf(send(outboundOf(), connectionOf({ baseUrl: url })), "body");

    expect(fault).toMatchObject({ failure: "broken" });
  });

  test("what is no HTTP is malformed", async () => {
    const sockets = new Set<Socket>();
    const server = createRawServer((socket) => socket.end("220 mail.example.org ESMTP\r\n"));
    const { url } = await listen(server, sockets);

    const { failure } = await faultOf(send(outboundOf(), connectionOf({ baseUrl: url })));

    expect(failure).toBe("malformed");
  });

  test("a server that is not there is a failed connection, which tells no address", async () => {
    const { url, port } = await startProvider((response) => response.end());
    await ending.pop()?.();

    const { failure, message } = await faultOf(send(outboundOf(), connectionOf({ baseUrl: url })));

    expect(failure).toBe("connection");
    expect(message).toBe("provider local cannot be reached (ECONNREFUSED)");
    expect(message).not.toContain(String(port));
  });

  test("the signal ends a request, and is no fault of the network", async () => {
    const controller = new AbortController();
    let isClosed = false;
    const { url } = await startProvider((response) => {
      response.on("close", () => (isClosed = true));
      controller.abort();
    });
    const outbound = outboundOf();

    const got = send(outbound, connectionOf({ baseUrl: url }), controller.signal);

    const error = await got.catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: "AbortError" });
    expect(toNetworkError(error, connectionOf(), "head")).toBeUndefined();
    await expect.poll(() => isClosed, patience).toBe(true);
  });

  test("a request that waits too long for a socket is a time-out", async () => {
    const { url, sockets } = await startProvider((response) => response.write("begun"));
    const outbound = outboundOf({ socketsMax: 1, firstByteTimeoutMs: 500 });
    const connection = connectionOf({ baseUrl: url });
    const controller = new AbortController();
    const first = send(outbound, connection, controller.signal).catch(() => undefined);

    const { failure } = await faultOf(send(outbound, connection));

    expect(failure).toBe("timeout");
    expect(sockets.size).toBe(1);
    controller.abort();
    await first;
  });

  test("closing ends what runs", async () => {
    const outbound = outboundOf();
    const { url } = await startProvider(() => void outbound.close());

    const { failure } = await faultOf(send(outbound, connectionOf({ baseUrl: url })));

    expect(failure).toBe("connection");
  });

  test("a port that fetch blocks is at worst a failed connection", async () => {
    const connection = connectionOf({ baseUrl: "http://127.0.0.1:9/v1" });

    const { failure } = await faultOf(send(outboundOf(), connection));

    expect(failure).toBe("connection");
  });

  describe("for a tenant", () => {
    test("an address on loopback is refused before a socket is opened", async () => {
      const { url, sockets } = await startProvider((response) => response.end("secret"));
      const connection = connectionOf({ ...tenant, baseUrl: url });

      const { failure, message } = await faultOf(send(outboundOf(), connection));

      expect(failure).toBe("address");
      expect(message).not.toContain("127.0.0.1");
      expect(sockets.size).toBe(0);
    });

    test("a name that changes to a private address is refused when it is used", async () => {
      const { port, sockets } = await startProvider((response) => response.end("secret"));
      const answers = [["93.184.215.14"], ["127.0.0.1"]];
      const resolve: Resolve = () => Promise.resolve(answers.shift() ?? []);
      const addressGuard = createAddressGuard({ privateHosts: [], resolve });
      const baseUrl = `http://rebind.example.org:${port}/v1`;
      const outbound = outboundOf({ addressGuard });
      await addressGuard.assertAllowed("base_url", baseUrl);

      const { failure } = await faultOf(send(outbound, connectionOf({ ...tenant, baseUrl })));

      expect(failure).toBe("address");
      expect(sockets.size).toBe(0);
    });

    test("a name is resolved again for each socket", async () => {
      const asked: string[] = [];
      const resolve: Resolve = (name) => {
        asked.push(name);
        return Promise.resolve(["10.0.0.1"]);
      };
      const outbound = outboundOf({
        addressGuard: createAddressGuard({ privateHosts: [], resolve }),
      });
      const connection = connectionOf({ ...tenant, baseUrl: "http://m.example.org:8000/v1" });

      await faultOf(send(outbound, connection));
      await faultOf(send(outbound, connection));

      expect(asked).toEqual(["m.example.org", "m.example.org"]);
    });

    test("a name that is not found is a failed connection", async () => {
      const error = Object.assign(new Error("queryA ENOTFOUND"), { code: "ENOTFOUND" });
      const resolve: Resolve = () => Promise.reject(error);
      const outbound = outboundOf({
        addressGuard: createAddressGuard({ privateHosts: [], resolve }),
      });
      const connection = connectionOf({ ...tenant, baseUrl: "http://m.example.org:8000/v1" });

      const { failure } = await faultOf(send(outbound, connection));

      expect(failure).toBe("connection");
    });

    test.each(["127.0.0.1", "localhost"])("the operator's %s is reached", async (host) => {
      const { port } = await startProvider((response) => response.end("hello"));
      const addressGuard = createAddressGuard({ privateHosts: [`${host}:${port}`] });
      const connection = connectionOf({ ...tenant, baseUrl: `http://${host}:${port}/v1` });

      expect(await send(outboundOf({ addressGuard }), connection)).toBe("hello");
    });

    test("another port of the operator's host is refused", async () => {
      const { url, sockets } = await startProvider((response) => response.end("secret"));
      const addressGuard = createAddressGuard({ privateHosts: ["127.0.0.1:1"] });
      const connection = connectionOf({ ...tenant, baseUrl: url });

      const { failure } = await faultOf(send(outboundOf({ addressGuard }), connection));

      expect(failure).toBe("address");
      expect(sockets.size).toBe(0);
    });
  });
});

describe("dispatcher", () => {
  const [{ send }] = ways;

  test("keeps the sockets of connections apart", async () => {
    const { url, sockets } = await startProvider((response) => response.end("hello"));
    const outbound = outboundOf();

    for (const id of ["a", "b", "a", "b"]) await send(outbound, connectionOf({ id, baseUrl: url }));

    expect(sockets.size).toBe(2);
  });

  test("closes the sockets of the connection that was used longest ago", async () => {
    const { url, sockets } = await startProvider((response) => response.end("hello"));
    const outbound = outboundOf({ agentsMax: 2 });

    for (const id of ["a", "b", "c"]) await send(outbound, connectionOf({ id, baseUrl: url }));

    await expect
      .poll(() => [...sockets].map((socket) => socket.destroyed))
      .toEqual([true, false, false]);
  });

  test("lets a request of a connection that is given up come to its end", async () => {
    const answers: ServerResponse[] = [];
    const { url } = await startProvider((response) => answers.push(response));
    const outbound = outboundOf({ agentsMax: 1 });

    const first = send(outbound, connectionOf({ id: "a", baseUrl: url }));
    const second = send(outbound, connectionOf({ id: "b", baseUrl: url }));
    await expect.poll(() => answers.length, patience).toBe(2);
    answers.forEach((response, index) => response.end(String(index)));

    expect((await Promise.all([first, second])).toSorted()).toEqual(["0", "1"]);
  });

  test("waits for a slow reader", async () => {
    const total = 4_000_000;
    const { url } = await startProvider((response) => response.end(Buffer.alloc(total)));
    const outbound = outboundOf({ idleTimeoutMs: 300 });
    const connection = connectionOf({ baseUrl: url });
    const { body } = await request(url, { dispatcher: outbound.dispatcher(connection) });

    let bytes = 0;
    for await (const chunk of body) {
      // Longer than the silence that is allowed, once, while nothing is read.
      if (bytes === 0) await new Promise((resolve) => setTimeout(resolve, 900));
      bytes += (chunk as Buffer).length;
    }

    expect(bytes).toBe(total);
  });
});

test("an answer that is over is freed with the new objects", async () => {
  const script = new URL("../../support/answer-garbage.ts", import.meta.url).pathname;
  const words = ["--expose-gc", "--min-semi-space-size=32", "--max-semi-space-size=32", script];

  const { stdout } = await promisify(execFile)(process.execPath, words);

  // An answer that stays takes 6,000.
  expect(Number(stdout)).toBeLessThan(2_000);
});

describe("toNetworkError", () => {
  const nested = (code: string) =>
    new TypeError("fetch failed", { cause: new Error("SDK", { cause: withCode(code) }) });
  const withCode = (code: string) => Object.assign(new Error("why"), { code });

  test.each([
    { code: "ECONNREFUSED", head: "connection", body: "broken" },
    { code: "ECONNRESET", head: "connection", body: "broken" },
    { code: "EPIPE", head: "connection", body: "broken" },
    { code: "UND_ERR_SOCKET", head: "connection", body: "broken" },
    { code: "ENOTFOUND", head: "connection", body: "broken" },
    { code: "EAI_AGAIN", head: "connection", body: "broken" },
    // The process may open no more files.
    { code: "EMFILE", head: "connection", body: "broken" },
    { code: "ENFILE", head: "connection", body: "broken" },
    { code: "DEPTH_ZERO_SELF_SIGNED_CERT", head: "connection", body: "broken" },
    { code: "CERT_HAS_EXPIRED", head: "connection", body: "broken" },
    { code: "ERR_TLS_CERT_ALTNAME_INVALID", head: "connection", body: "broken" },
    { code: "UND_ERR_CONNECT_TIMEOUT", head: "timeout", body: "timeout" },
    { code: "ETIMEDOUT", head: "timeout", body: "timeout" },
    { code: "HPE_INVALID_CONSTANT", head: "malformed", body: "malformed" },
    { code: "UND_ERR_HEADERS_OVERFLOW", head: "malformed", body: "malformed" },
  ])("reads $code, however deep", ({ code, head, body }) => {
    const connection = connectionOf();

    expect(toNetworkError(nested(code), connection, "head")?.failure).toBe(head);
    expect(toNetworkError(nested(code), connection, "body")?.failure).toBe(body);
  });

  test.each([
    { name: "an abort", error: new DOMException("aborted", "AbortError") },
    { name: "undici's abort", error: withCode("UND_ERR_ABORTED") },
    { name: "a mistake of ours", error: new TypeError("undefined is not a function") },
    { name: "a wrong argument", error: withCode("ERR_INVALID_ARG_TYPE") },
    { name: "no error", error: "text" },
  ])("leaves $name alone", ({ error }) => {
    expect(toNetworkError(error, connectionOf(), "head")).toBeUndefined();
  });

  test("keeps nothing of the error but its code and words", () => {
    const error = Object.assign(withCode("ECONNRESET"), { headers: { authorization: "Bearer x" } });

    const { cause } = toNetworkError(error, connectionOf(), "head") ?? {};

    expect(cause).toEqual(new Error("ECONNRESET: why"));
    expect(Object.keys(cause as Error)).toEqual([]);
  });

  test("ends at errors that are causes of one another", () => {
    const error: Error & { cause?: unknown } = new Error("circle");
    error.cause = error;

    expect(toNetworkError(error, connectionOf(), "head")).toBeUndefined();
  });
});
