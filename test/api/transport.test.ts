// One port, every protocol: the same calls over gRPC, gRPC-Web, Connect and REST, and what all of
// them share: denial, errors, reflection, health, CORS, compression, streams.

/* oxlint-disable typescript/no-deprecated -- many clients ask in v1alpha */

import { request as httpRequest } from "node:http";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema, FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { credentials, loadPackageDefinition, Metadata } from "@grpc/grpc-js";
import { loadFileDescriptorSetFromBuffer } from "@grpc/proto-loader";
import { describe, expect, test } from "vitest";
import { BadRequestSchema, ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.js";
import { Health, HealthCheckResponse_ServingStatus } from "../../gen/grpc/health/v1/health_pb.js";
import { ServerReflection } from "../../gen/grpc/reflection/v1/reflection_pb.js";
import * as alphaReflection from "../../gen/grpc/reflection/v1alpha/reflection_pb.js";
import { EventService } from "../../gen/waggle/v1/event_pb.js";
import { ExportService } from "../../gen/waggle/v1/export_pb.js";
import { ServiceError } from "../../src/base/errors.ts";
import { givenStarted } from "../support/given.ts";
import { keyOf, startTransport, unverifiableKey } from "../support/transport.ts";

const service = givenStarted(() =>
  startTransport({
    corsOrigins: ["https://app.example.org"],
    readiness: () =>
      Promise.resolve(
        isReady
          ? { ready: true, missing: [], degraded }
          : { ready: false, missing: ["database"], degraded },
      ),
    events: {
      updateEvent: ({ eventId }, context) => {
        givenMs = context.timeoutMs();
        return { eventId: eventId === "cut" ? "cut \ud83d" : eventId, success: true };
      },
      deleteEvent: ({ eventId }) => {
        if (eventId === "bug") throw new Error("secret");
        if (eventId === "rejected") {
          throw new ServiceError("BATCH_REJECTED", "no event could be stored", {
            details: { event_ids: [], errors: rejections },
          });
        }
        throw new ServiceError("OVERLOADED", "too much");
      },
    },
    async *streamEvents({ projections: [fail] }) {
      for (let index = 0; index < 3; index += 1) {
        yield { item: { case: "event", value: { eventId: `e${index}` } } };
      }
      await Promise.resolve();
      if (fail === "fail") throw new ServiceError("DATABASE_UNAVAILABLE", "gone");
      yield { item: { case: "end", value: { done: true, count: 3 } } };
    },
  }),
);
let isReady = true;
let degraded: readonly string[] = [];
/** Milliseconds that the last update was given. */
let givenMs: number | undefined;

const rejections = [
  "events[0]: bad",
  `events[1].${"x".repeat(300)}: bad`,
  "the events are bad: all",
  `events[3].inputs: is ${"\u{1f41d}".repeat(200)}`,
  "events[4]: bad",
];

const auth = { authorization: keyOf("project") };

type Sending = Pick<Parameters<typeof createGrpcTransport>[0], "sendCompression">;

const transports: readonly { name: string; open: (sending?: Sending) => Transport }[] = [
  {
    name: "gRPC",
    open: (sending) => createGrpcTransport({ baseUrl: service.url, ...sending }),
  },
  {
    name: "gRPC-Web",
    open: (sending) =>
      createGrpcWebTransport({ baseUrl: service.url, httpVersion: "1.1", ...sending }),
  },
  {
    name: "Connect over HTTP/1.1",
    open: (sending) =>
      createConnectTransport({ baseUrl: service.url, httpVersion: "1.1", ...sending }),
  },
  {
    name: "Connect JSON over HTTP/2",
    open: (sending) =>
      createConnectTransport({
        baseUrl: service.url,
        httpVersion: "2",
        useBinaryFormat: false,
        ...sending,
      }),
  },
];

async function failureOf(call: Promise<unknown>): Promise<ConnectError> {
  return call.then(
    () => {
      throw new Error("the call succeeded");
    },
    (error: unknown) => ConnectError.from(error),
  );
}

async function rest(method: string, path: string, init: RequestInit = {}) {
  const response = await fetch(service.url + path, { method, headers: auth, ...init });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

describe.each(transports)("over $name", ({ open }) => {
  test("a unary call answers", async () => {
    const events = createClient(EventService, open());

    const got = await events.createEvent({ event: { eventId: "a" } }, { headers: auth });

    expect(got).toMatchObject({ eventId: "a", success: true });
  });

  test("a stream answers to its end", async () => {
    const exports = createClient(ExportService, open());
    const cases: (string | undefined)[] = [];

    for await (const { item } of exports.streamEvents({}, { headers: auth })) cases.push(item.case);

    expect(cases).toEqual(["event", "event", "event", "end"]);
  });

  test.each([
    { name: "a day is kept", hours: 24, want: expect.any(Number) as unknown },
    { name: "a month, longer than a timer can be, is none", hours: 720, want: undefined },
  ])("a deadline of $name", async ({ hours, want }) => {
    const events = createClient(EventService, open());
    const ms = String(hours * 3_600_000);
    const headers = { ...auth, "grpc-timeout": `${hours}H`, "connect-timeout-ms": ms };

    await events.updateEvent({ eventId: "a" }, { headers });

    expect(givenMs).toEqual(want);
  });

  test.each([
    { name: "no key", headers: {} },
    { name: "a bad key", headers: { authorization: "Bearer nobody" } },
    { name: "a key of the wrong kind", headers: { authorization: keyOf("project_read_only") } },
  ])("$name is NotFound with the one message", async ({ headers }) => {
    const events = createClient(EventService, open());

    const error = await failureOf(events.createEvent({ event: {} }, { headers }));

    expect(error.code).toBe(Code.NotFound);
    expect(error.rawMessage).toBe("Not found");
    expect(error.findDetails(ErrorInfoSchema)).toMatchObject([
      { reason: "NOT_FOUND", domain: "waggle" },
    ]);
  });

  test("an invalid field is InvalidArgument naming it", async () => {
    const events = createClient(EventService, open());

    const error = await failureOf(events.createEvent({}, { headers: auth }));

    expect(error.code).toBe(Code.InvalidArgument);
    expect(error.rawMessage).toBe("event: value is required");
    expect(error.findDetails(ErrorInfoSchema)[0]?.reason).toBe("INVALID_ARGUMENT");
    expect(error.findDetails(BadRequestSchema)).toMatchObject([
      { fieldViolations: [{ field: "event", description: "value is required" }] },
    ]);
  });

  test("a text with half a character is read with U+FFFD in its place", async () => {
    const events = createClient(EventService, open());

    const { eventId } = await events.updateEvent({ eventId: "cut" }, { headers: auth });

    expect(eventId).toBe("cut \ufffd");
  });

  test("an unknown compression is Unimplemented with a reason", async () => {
    const same = (bytes: Uint8Array) => Promise.resolve(bytes.slice());
    const snappy = { name: "snappy", compress: same, decompress: same };
    const events = createClient(EventService, open({ sendCompression: snappy }));
    const event = { eventId: "a".repeat(2_000) };

    const error = await failureOf(events.createEvent({ event }, { headers: auth }));

    expect(error.code).toBe(Code.Unimplemented);
    expect(error.rawMessage).toMatch(/^(grpc|content)-encoding: must be gzip, br, zstd or identi/);
    expect(error.findDetails(ErrorInfoSchema)[0]?.reason).toBe("NOT_IMPLEMENTED");
  });

  test("a deadline of the wrong form is InvalidArgument with a reason", async () => {
    const events = createClient(EventService, open());
    const headers = { ...auth, "grpc-timeout": "soon", "connect-timeout-ms": "soon" };

    const error = await failureOf(events.updateEvent({ eventId: "a" }, { headers }));

    expect(error.code).toBe(Code.InvalidArgument);
    expect(error.rawMessage).toMatch(/^(grpc-timeout|connect-timeout-ms): must be 1 to /);
    expect(error.findDetails(ErrorInfoSchema)[0]?.reason).toBe("INVALID_ARGUMENT");
  });

  test("a rejected batch names its first fields in few bytes", async () => {
    const events = createClient(EventService, open());

    const error = await failureOf(events.deleteEvent({ eventId: "rejected" }, { headers: auth }));

    const description = expect.stringMatching(/^is \u{1f41d}{126}\ufffd$/u) as unknown;
    expect(error.findDetails(BadRequestSchema)).toMatchObject([
      {
        fieldViolations: [
          { field: "events[0]", description: "bad" },
          { field: "events[3].inputs", description },
        ],
      },
    ]);
  });

  test("a busy service names no field", async () => {
    const events = createClient(EventService, open());

    const error = await failureOf(events.deleteEvent({ eventId: "busy" }, { headers: auth }));

    expect(error.findDetails(BadRequestSchema)).toEqual([]);
  });

  test("a bug is Internal without a message", async () => {
    const events = createClient(EventService, open());

    const error = await failureOf(events.deleteEvent({ eventId: "bug" }, { headers: auth }));

    expect(error.code).toBe(Code.Internal);
    expect(error.rawMessage).toBe("");
    expect(error.findDetails(ErrorInfoSchema)[0]?.reason).toBe("INTERNAL");
  });

  test("a 503 is Unavailable with retry-after", async () => {
    const events = createClient(EventService, open());

    const error = await failureOf(events.deleteEvent({ eventId: "busy" }, { headers: auth }));

    expect(error.code).toBe(Code.Unavailable);
    expect(error.metadata.get("retry-after")).toBe("1");
  });

  test("a key that cannot be verified is Unavailable with retry-after", async () => {
    const events = createClient(EventService, open());

    const headers = { authorization: unverifiableKey };
    const error = await failureOf(events.createEvent({ event: {} }, { headers }));

    expect(error.code).toBe(Code.Unavailable);
    expect(error.metadata.get("retry-after")).toBe("1");
    expect(error.findDetails(ErrorInfoSchema)[0]?.reason).toBe("KEY_UNVERIFIABLE");
  });

  test("health tells what readiness tells, without a key", async () => {
    const health = createClient(Health, open());

    expect((await health.check({})).status).toBe(HealthCheckResponse_ServingStatus.SERVING);
    isReady = false;
    const got = await health.check({ service: "waggle.v1.EventService" });
    isReady = true;

    expect(got.status).toBe(HealthCheckResponse_ServingStatus.NOT_SERVING);
  });
});

test("an unknown compression over Connect is answered with the known ones", async () => {
  const headers = { ...auth, "content-type": "application/json", "content-encoding": "snappy" };

  const got = await rest("POST", "/waggle.v1.EventService/CreateEvent", { headers, body: "{}" });

  expect([got.status, got.headers.get("accept-encoding")]).toEqual([501, "gzip,br,zstd"]);
});

describe("over REST", () => {
  test("a call answers 200 with its JSON and the request id", async () => {
    const got = await rest("POST", "/events", {
      headers: { ...auth, "x-request-id": "abc" },
      body: '{"event":{"event_id":"a"}}',
    });

    expect(got.status).toBe(200);
    expect(got.text).toBe('{"event_id":"a","success":true}');
    expect(got.headers.get("x-request-id")).toBe("abc");
  });

  test.each([
    { name: "no key", method: "POST", path: "/events", headers: {} },
    { name: "a bad key", method: "POST", path: "/events", headers: { authorization: "Bearer x" } },
    {
      name: "a key of the wrong kind",
      method: "POST",
      path: "/events",
      headers: { authorization: keyOf("project_read_only") },
    },
    { name: "an unknown route", method: "GET", path: "/nowhere", headers: auth },
    { name: "the wrong method", method: "PATCH", path: "/events", headers: auth },
    { name: "an unknown rpc", method: "POST", path: "/waggle.v1.EventService/No", headers: auth },
    {
      name: "the wrong method on an rpc",
      method: "PUT",
      path: "/waggle.v1.EventService/CreateEvent",
      headers: auth,
    },
    { name: "OTLP without the service", method: "POST", path: "/v1/traces", headers: {} },
    {
      name: "a preflight where it is no preflight",
      method: "OPTIONS",
      path: "/events",
      headers: {},
    },
  ])("$name is the fixed 404, byte for byte", async ({ method, path, headers }) => {
    const body = method === "GET" ? {} : { body: "{}" };
    const got = await rest(method, path, { headers, ...body });

    expect(got.status).toBe(404);
    expect(got.headers.get("content-type")).toBe("application/json");
    expect(got.text).toBe(
      '{"success":false,"statusCode":404,"errorCode":"NOT_FOUND","message":"Not found"}',
    );
  });

  test.each([
    {
      name: "an invalid field",
      body: '{"event":{"start_time":"soon"}}',
      want: "event.start_time: must be a number (Unix milliseconds) or ISO 8601 text",
      errorCode: "INVALID_ARGUMENT",
    },
    {
      name: "no JSON",
      body: "{",
      want: "the body must be JSON: unexpected end at position 1",
      errorCode: "MALFORMED_BODY",
    },
    { name: "no body", body: "", want: "event: value is required", errorCode: "INVALID_ARGUMENT" },
    {
      name: "no UTF-8",
      body: new Uint8Array([0x22, 0xff, 0x22]),
      want: "the body must be UTF-8",
      errorCode: "MALFORMED_BODY",
    },
  ])("$name is a 400 that explains", async ({ body, want, errorCode }) => {
    const got = await rest("POST", "/events", { body });

    expect(got.status).toBe(400);
    expect(JSON.parse(got.text)).toEqual({
      success: false,
      statusCode: 400,
      errorCode,
      message: want,
    });
  });

  test("a bug is a 500 without a message", async () => {
    const got = await rest("DELETE", "/v1/events/bug");
    expect([got.status, got.text]).toEqual([
      500,
      '{"success":false,"statusCode":500,"errorCode":"INTERNAL"}',
    ]);
  });

  test("a 503 has Retry-After and no message", async () => {
    const got = await rest("DELETE", "/v1/events/busy");
    expect([got.status, got.text]).toEqual([
      503,
      '{"success":false,"statusCode":503,"errorCode":"OVERLOADED"}',
    ]);
    expect(got.headers.get("retry-after")).toBe("1");
  });

  test("a key that cannot be verified is a 503 with Retry-After", async () => {
    const headers = { authorization: unverifiableKey };
    const got = await rest("POST", "/events", { headers, body: "{}" });
    expect([got.status, got.text]).toEqual([
      503,
      '{"success":false,"statusCode":503,"errorCode":"KEY_UNVERIFIABLE"}',
    ]);
    expect(got.headers.get("retry-after")).toBe("1");
  });

  test("a rejected batch is a 400 with the body of a batch", async () => {
    const got = await rest("DELETE", "/v1/events/rejected");
    expect([got.status, JSON.parse(got.text)]).toEqual([
      400,
      { event_ids: [], errors: rejections, success: false },
    ]);
  });

  test("a stream is JSON Lines, one event a line and the end last", async () => {
    const got = await rest("POST", "/v1/events/stream", { body: "{}" });

    expect(got.headers.get("content-type")).toBe("application/x-ndjson");
    const lines = got.text.trimEnd().split("\n");
    expect(lines).toHaveLength(4);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ event_id: "e0", parent_id: null });
    expect(lines[3]).toBe('{"done":true,"count":3}');
  });

  test("a stream that fails says so and never ends cleanly", async () => {
    let text = "";
    const ended = new Promise<boolean>((resolve, reject) => {
      const options = { method: "POST", headers: auth };
      const request = httpRequest(`${service.url}/v1/events/stream`, options, (response) => {
        response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
        response.on("error", () => resolve(response.complete));
        response.on("end", () => resolve(response.complete));
      });
      request.on("error", reject).end('{"projections":["fail"]}');
    });

    expect(await ended).toBe(false);
    expect(text.trimEnd().split("\n").at(-1)).toBe(
      '{"success":false,"errorCode":"DATABASE_UNAVAILABLE"}',
    );
  });

  test.each(["gzip", "br", "zstd", "gzip, deflate, br;q=0.5"])(
    "an answer is compressed by Accept-Encoding %s",
    async (encoding) => {
      const got = await rest("GET", "/v1/events/big", {
        headers: { ...auth, "accept-encoding": encoding },
      });
      expect(got.headers.get("content-encoding")).toBe(encoding.split(",")[0]);
      expect(got.headers.get("vary")).toBe("origin, accept-encoding");
      expect(JSON.parse(got.text)).toMatchObject({ event: { event_id: "big" } });
    },
  );

  test.each(["identity", "gzip;q=0"])(
    "an answer is plain for Accept-Encoding %s",
    async (value) => {
      const got = await rest("GET", "/v1/events/big", {
        headers: { ...auth, "accept-encoding": value },
      });
      expect(got.headers.get("content-encoding")).toBeNull();
    },
  );
});

describe("CORS", () => {
  test("answers a preflight from a configured origin before any key", async () => {
    const got = await rest("OPTIONS", "/events", {
      headers: { origin: "https://app.example.org", "access-control-request-method": "POST" },
    });
    expect(got.status).toBe(204);
    expect(got.headers.get("access-control-allow-origin")).toBe("https://app.example.org");
    expect(got.headers.get("access-control-allow-headers")).toContain("Authorization");
    expect(got.headers.get("access-control-allow-headers")).toContain("X-Grpc-Web");
  });

  test("names the origin on answers, errors included", async () => {
    const got = await rest("GET", "/nowhere", { headers: { origin: "https://app.example.org" } });
    expect(got.headers.get("access-control-allow-origin")).toBe("https://app.example.org");
    expect(got.headers.get("access-control-expose-headers")).toContain("Grpc-Status");
  });

  test("lets the OpenAI client of a browser ask, and read where its call is recorded", async () => {
    const origin = "https://app.example.org";
    const preflight = await rest("OPTIONS", "/v1/chat/completions", {
      headers: { origin, "access-control-request-method": "POST" },
    });
    const answer = await rest("GET", "/v1/models", { headers: { origin } });

    const allowed = preflight.headers.get("access-control-allow-headers");
    for (const name of ["X-Waggle-Session-Id", "Traceparent", "X-Stainless-Runtime-Version"]) {
      expect(allowed).toContain(name);
    }
    const exposed = answer.headers.get("access-control-expose-headers");
    for (const name of ["X-Waggle-Generation-Id", "X-Should-Retry", "Link"]) {
      expect(exposed).toContain(name);
    }
  });

  test.each([
    { name: "an answer", method: "GET", path: "/openapi.json", origin: "https://app.example.org" },
    { name: "an answer without an origin", method: "GET", path: "/openapi.json" },
    {
      name: "a stream",
      method: "POST",
      path: "/v1/events/stream",
      origin: "https://app.example.org",
    },
  ])("keeps caches from giving $name to another origin", async ({ method, path, origin }) => {
    const got = await rest(method, path, {
      headers: {
        ...auth,
        "accept-encoding": "gzip",
        "content-type": "application/json",
        ...(origin !== undefined && { origin }),
      },
      ...(method === "POST" && { body: "{}" }),
    });
    expect(got.status).toBe(200);
    expect(got.headers.get("content-encoding")).toBe("gzip");
    expect(got.headers.get("vary")).toBe("origin, accept-encoding");
  });

  test("says nothing to another origin", async () => {
    const got = await rest("OPTIONS", "/events", {
      headers: { origin: "https://evil.example", "access-control-request-method": "POST" },
    });
    expect(got.status).toBe(404);
    expect(got.headers.get("access-control-allow-origin")).toBeNull();
  });
});

describe("health and pages", () => {
  test("readyz names what is missing", async () => {
    isReady = false;
    const got = await rest("GET", "/readyz", { headers: {} });
    isReady = true;
    expect([got.status, got.text]).toEqual([
      503,
      '{"status":"unavailable","missing":["database"]}',
    ]);
    expect((await rest("GET", "/readyz", { headers: {} })).status).toBe(200);
  });

  test("readyz names what is away for some callers, and stays ready for the others", async () => {
    degraded = ["cluster eu"];
    const got = await rest("GET", "/readyz", { headers: {} });
    degraded = [];

    expect([got.status, got.text]).toEqual([200, '{"status":"ok","degraded":["cluster eu"]}']);
  });

  test("readyz and healthz answer 200 while nothing is missing", async () => {
    expect((await rest("GET", "/readyz", { headers: {} })).text).toBe('{"status":"ok"}');
    expect((await rest("GET", "/healthz", { headers: {} })).status).toBe(200);
  });

  test("readyz answers HEAD with the status and the length alone", async () => {
    isReady = false;

    const got = await fetch(`${service.url}/readyz`, { method: "HEAD" });
    isReady = true;

    expect(got.status).toBe(503);
    expect(Number(got.headers.get("content-length"))).toBeGreaterThan(2);
    expect(await got.text()).toBe("");
  });

  test("a watch tells each change", async () => {
    const health = createClient(Health, createGrpcTransport({ baseUrl: service.url }));
    const statuses: HealthCheckResponse_ServingStatus[] = [];

    for await (const { status } of health.watch({})) {
      statuses.push(status);
      isReady = statuses.length !== 1;
      if (statuses.length === 3) break;
    }

    expect(statuses).toEqual([
      HealthCheckResponse_ServingStatus.SERVING,
      HealthCheckResponse_ServingStatus.NOT_SERVING,
      HealthCheckResponse_ServingStatus.SERVING,
    ]);
  });

  test("an unknown service is unknown", async () => {
    const health = createClient(Health, createGrpcTransport({ baseUrl: service.url }));
    const error = await failureOf(health.check({ service: "none" }));
    expect(error.code).toBe(Code.NotFound);
  });
});

describe("reflection", () => {
  async function* requests(...list: readonly object[]) {
    await Promise.resolve();
    yield* list as never[];
  }

  async function ask(...list: readonly object[]) {
    const client = createClient(ServerReflection, createGrpcTransport({ baseUrl: service.url }));
    const answers = [];
    for await (const { messageResponse } of client.serverReflectionInfo(requests(...list))) {
      answers.push(messageResponse);
    }
    return answers;
  }

  test("lists services in both versions", async () => {
    const alpha = createClient(
      alphaReflection.ServerReflection,
      createGrpcTransport({ baseUrl: service.url }),
    );
    const request = { messageRequest: { case: "listServices", value: "" } };
    for await (const { messageResponse } of alpha.serverReflectionInfo(requests(request))) {
      expect(JSON.stringify(messageResponse)).toContain("waggle.v1.EventService");
    }
    expect(JSON.stringify(await ask(request))).toContain("grpc.health.v1.Health");
  });

  test("knows extensions and says what it does not know", async () => {
    const options = "google.protobuf.MethodOptions";
    const [numbers, file, none] = await ask(
      { messageRequest: { case: "allExtensionNumbersOfType", value: options } },
      {
        messageRequest: {
          case: "fileContainingExtension",
          value: { containingType: options, extensionNumber: 50101 },
        },
      },
      { messageRequest: { case: "fileContainingSymbol", value: "waggle.v1.Nothing" } },
    );
    expect(JSON.stringify(numbers)).toContain("50101");
    expect(file).toMatchObject({ case: "fileDescriptorResponse" });
    expect(none).toMatchObject({ case: "errorResponse", value: { errorCode: Code.NotFound } });
  });

  test("is enough for a generic client to call an rpc", async () => {
    const files = new Map<string, ReturnType<typeof fromFile>>();
    const fromFile = (bytes: Uint8Array) => fromBinary(FileDescriptorProtoSchema, bytes);
    const fetchFiles = async (request: object): Promise<void> => {
      const [answer] = await ask({ messageRequest: request });
      if (answer?.case !== "fileDescriptorResponse") throw new Error("no file");
      for (const bytes of answer.value.fileDescriptorProto) {
        const file = fromFile(bytes);
        files.set(file.name, file);
        for (const name of file.dependency) {
          if (!files.has(name)) await fetchFiles({ case: "fileByFilename", value: name });
        }
      }
    };
    await fetchFiles({ case: "fileContainingSymbol", value: "waggle.v1.EventService" });
    const set = create(FileDescriptorSetSchema, { file: [...files.values()] });
    const definition = loadFileDescriptorSetFromBuffer(
      Buffer.from(toBinary(FileDescriptorSetSchema, set)),
    );
    const waggle = loadPackageDefinition(definition)["waggle"] as unknown as GenericPackage;
    const address = new URL(service.url).host;
    const client = new waggle.v1.EventService(address, credentials.createInsecure());
    const metadata = new Metadata();
    metadata.set("authorization", keyOf("project"));

    const got = await new Promise((resolve, reject) => {
      client.GetEvent({ event_id: "g" }, metadata, (error, value) => {
        if (error) reject(error);
        else resolve(value);
      });
    });
    const failure = await new Promise<Error | null>((resolve) => {
      client.GetEvent({}, metadata, (error) => resolve(error));
    });
    client.close();

    expect(failure?.message).toBe("3 INVALID_ARGUMENT: event_id: value is required");
    expect(got).toMatchObject({ event: { event_id: "g" } });
  });
});

type GenericClient = {
  GetEvent(
    request: object,
    metadata: Metadata,
    done: (error: Error | null, value: unknown) => void,
  ): void;
  close(): void;
};
type GenericPackage = {
  v1: {
    EventService: new (
      address: string,
      channel: ReturnType<typeof credentials.createInsecure>,
    ) => GenericClient;
  };
};
