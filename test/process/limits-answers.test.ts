// Attacks by reads: answers larger than their limit in every column, over every protocol; answers
// and streams that their client does not read; exports that it reads slowly. A second tenant does
// not notice. Source: docs/limits.md.

import { setTimeout as delay } from "node:timers/promises";
import { beforeAll, expect, test, vi } from "vitest";
import { fromJson, type JsonValue, toBinary } from "@bufbuild/protobuf";
import { ExportService } from "../../gen/waggle/v1/export_pb.js";
import { SessionService } from "../../gen/waggle/v1/session_pb.js";
import { givenStarted } from "../support/given.ts";
import {
  type Answer,
  type Call,
  type ProtocolName,
  protocols,
  rpcProtocols,
} from "../support/attack/protocols.ts";
import { startAttackedService } from "../support/attack/service.ts";
import { streamsOfProjectMax } from "../../src/base/limits.ts";
import { keylessStreamsMax, streamsOfConnectionMax } from "../../src/base/tenant-limits.ts";
import { compress } from "../support/attack/bytes.ts";
import {
  openUnread,
  openUnreadStreams,
  type Unread,
  type UnreadStreams,
} from "../support/attack/unread.ts";
import { floodAndAsk, othersThanRefusals, underAttack } from "../support/attack/watch.ts";
import { patience } from "../support/patience.ts";

const timeoutMs = 300_000;

const service = givenStarted(startAttackedService);

beforeAll(async () => {
  await storeLargeTree();
}, timeoutMs);

const sessionId = "a-large-session";
const errorLength = 900_000;
const nameLength = 9_000;

/** Stores events whose size is in another column each: errors, children, names, a bucket. */
async function storeLargeTree(): Promise<void> {
  const event = { event_type: "tool", source: "attack", session_id: sessionId, inputs: {} };
  const large = { ...event, error: "e".repeat(errorLength) };
  const children = Array.from({ length: 50_000 }, (_, index) => `child-${"c".repeat(24)}-${index}`);
  await store(Array.from({ length: 60 }, () => large));
  await store(Array.from({ length: 60 }, () => large));
  await store(Array.from({ length: 20 }, () => ({ ...event, children_ids: children })));
  const named = (_: unknown, index: number): object => ({
    ...event,
    event_name: `${index} ${"n".repeat(nameLength)}`,
  });
  await store(Array.from({ length: 6_000 }, named));
  const session = { ...event, event_type: "session", error: "e".repeat(errorLength) };
  const sessions = Array.from({ length: 60 }, (_, index) => `session ${index}`);
  await store(sessions.map((id) => ({ ...session, session_id: id, event_id: id })));
  await store(sessions.map((id) => ({ ...session, session_id: `2 ${id}`, event_id: `2 ${id}` })));
}

async function store(events: readonly object[]): Promise<void> {
  const response = await fetch(`${service.url}/events/batch`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${service.attacker.projectKey}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({ events }),
  });
  const text = await response.text();
  expect(response.status, text.slice(0, 1_000)).toBe(200);
}

type Read = Pick<Call, "method" | "rest"> & { readonly name: string; readonly json: JsonValue };

/** Answers that are over the limit by one column each, or by all. */
const reads: readonly Read[] = [
  {
    name: "an export",
    method: ExportService.method.exportEvents,
    rest: "POST /v1/events/export",
    json: { limit: 7_500 },
  },
  {
    name: "an export of errors alone",
    method: ExportService.method.exportEvents,
    rest: "POST /v1/events/export",
    json: { limit: 7_500, projections: ["error"] },
  },
  {
    name: "a search",
    method: ExportService.method.searchEvents,
    rest: "POST /v1/events/search",
    json: { limit: 1_000 },
  },
  {
    name: "a tree",
    method: SessionService.method.getSessionTree,
    rest: `GET /v1/sessions/${sessionId}`,
    json: { session_id: sessionId },
  },
  {
    name: "a skeleton",
    method: SessionService.method.getSessionTree,
    rest: `GET /v1/sessions/${sessionId}?view=skeleton`,
    json: { session_id: sessionId, view: "skeleton" },
  },
  {
    name: "a list of sessions",
    method: SessionService.method.listSessions,
    rest: "GET /v1/sessions?limit=1000",
    json: { limit: 1_000 },
  },
];

const protocolNames = ["REST over HTTP/1.1", "REST over HTTP/2", ...rpcProtocols] as const;

function bodyOf({ method, rest, json }: Read, protocol: ProtocolName): Buffer {
  if (protocol.startsWith("REST") && rest.startsWith("GET")) return Buffer.alloc(0);
  if (protocols[protocol].codec === "json") return Buffer.from(JSON.stringify(json));
  return Buffer.from(toBinary(method.input, fromJson(method.input, json)));
}

test("answers over their limit are refused by name", { timeout: timeoutMs }, async () => {
  const key = service.attacker.readOnlyKey;

  const answers = await underAttack(service, async () => {
    const all: (readonly [string, readonly Answer[]])[] = [];
    for (const [index, read] of reads.entries()) {
      // Every protocol reads the same answer: the first read is sent over all protocols, each other
      // one over one of them in turn.
      const inTurn = protocolNames[index % protocolNames.length] ?? "gRPC";
      for (const protocol of index === 0 ? protocolNames : [inTurn]) {
        const call = { ...read, protocol, body: bodyOf(read, protocol), key };
        all.push([`${read.name} over ${protocol}`, await floodAndAsk(service, call, 5)]);
      }
    }
    return all;
  });

  for (const [name, got] of answers) expect(othersThanRefusals(got, limit), name).toEqual([]);
});

const limit = /64000000 bytes/;

/** A page under the limit of answers: 60 errors of 900 kB. */
const largestPage = {
  filters: [{ field: "error", operator: "exists" }],
  projections: ["error"],
  limit: 60,
};

/** Opens unread answers of one project, and waits until each has begun. */
async function openAll(path: string, json: object, count: number): Promise<Unread> {
  const unread = openUnread(service.url, { path, key: service.attacker.projectKey, json }, count);
  await vi.waitUntil(() => unread.heads().every((head) => head !== ""), waiting);
  return unread;
}

const waiting = { ...patience, interval: 100 };

/** Returns the answers that are neither given nor refused for later, and how many are refused. */
function readHeads(unread: Unread): { readonly others: readonly string[]; readonly later: number } {
  const later = unread.heads().filter((head) => /^HTTP\/1.1 503 [^]*retry-after: 1/i.test(head));
  const others = unread.heads().filter((head) => !/^HTTP\/1.1 (200|503)/.test(head));
  return { others, later: later.length };
}

test("unread answers stay within the project's memory", { timeout: timeoutMs }, async () => {
  const got = await underAttack(service, async () => {
    const unread = await openAll("/v1/events/export", largestPage, 14);
    await delay(2_000);
    unread.close();
    return readHeads(unread);
  });

  expect(got.others).toEqual([]);
  expect(got.later).toBeGreaterThan(0);
});

test("unread streams take places of their own project", { timeout: timeoutMs }, async () => {
  const count = 3 * streamsOfProjectMax;

  const { got, other } = await underAttack(service, async () => {
    const unread = await openAll("/v1/events/stream", {}, count);
    const stream = await readStream(service.tenant.projectKey);
    unread.close();
    return { got: readHeads(unread), other: stream };
  });

  expect(other).toMatch(/"done":true,"count":"?\d+"?\}\n$/);
  expect(got).toEqual({ others: [], later: count - streamsOfProjectMax });
});

async function readStream(key: string): Promise<string> {
  const response = await fetch(`${service.url}/v1/events/stream`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: "{}",
  });
  return response.text();
}

test("exports that are read slowly hold up no one else", { timeout: timeoutMs }, async () => {
  const got = await underAttack(service, async () => {
    const slow = await openAll("/v1/events/export", { ...largestPage, limit: 20 }, 12);
    slow.drip(10_000);
    await delay(4_000);
    slow.close();
    return readHeads(slow);
  });

  expect(got.others).toEqual([]);
});

/** Each has an answer of 4.5 MB. */
const faultyCount = 12;

test("unread answers that list faults count too", { timeout: timeoutMs }, async () => {
  const events = Array.from({ length: 100_000 }, () => ({ event_type: 1 }));
  const body = await compress("gzip", Buffer.from(JSON.stringify({ events })));
  const headers = {
    ":path": "/events/batch",
    authorization: `Bearer ${service.attacker.ingestionKey}`,
    "content-type": "application/json",
    "content-encoding": "gzip",
  };

  const statuses = await underAttack(service, async () => {
    const unread = openUnreadStreams(service.url, { method: "POST", headers, body }, faultyCount);
    await vi.waitUntil(() => unread.statuses().length === faultyCount, waiting);
    unread.close();
    return unread.statuses();
  });

  expect(new Set(statuses)).toEqual(new Set([400, 503]));
});

test("unread API documents share their bytes", { timeout: timeoutMs }, async () => {
  const headers = { ":path": "/openapi.json", "accept-encoding": "gzip" };

  const statuses = await underAttack(service, async () => {
    // Node refuses streams of a connection whose unread answers have 10 MB in all.
    const connections = Array.from({ length: 40 }, () =>
      openUnreadStreams(service.url, { method: "GET", headers }, 100),
    );
    const all = (): readonly number[] => connections.flatMap((one) => one.statuses());
    await vi.waitUntil(() => all().length === 4_000, waiting);
    for (const one of connections) one.close();
    return all();
  });

  expect(new Set(statuses)).toEqual(new Set([200]));
});

test("unread answers without a key are limited in number", { timeout: timeoutMs }, async () => {
  const headers = { ":path": "/v1/sessions" };
  const surplus = 2_000;
  const count = Math.ceil((keylessStreamsMax + surplus) / streamsOfConnectionMax);

  const { statuses, brokenOff } = await underAttack(service, async () => {
    const connections: UnreadStreams[] = [];
    for (let at = 0; at < count; at += 1) {
      const one = openUnreadStreams(
        service.url,
        { method: "GET", headers },
        streamsOfConnectionMax,
      );
      connections.push(one);
      await vi.waitUntil(() => one.statuses().length === streamsOfConnectionMax, waiting);
    }
    const brokenOff = (): number => connections.reduce((sum, one) => sum + one.brokenOff(), 0);
    await vi.waitUntil(() => brokenOff() >= surplus, waiting);
    const statuses = connections.flatMap((one) => one.statuses());
    for (const one of connections) one.close();
    return { statuses, brokenOff: brokenOff() };
  });

  expect(new Set(statuses)).toEqual(new Set([404]));
  expect(brokenOff).toBeGreaterThanOrEqual(surplus);
});

test("header lines past their limit end the stream", { timeout: timeoutMs }, async () => {
  const lines = Array.from({ length: 40 }, (_, index) => {
    return [`x-${index}`, "h".repeat(1_400)] as const;
  });
  const headers: Record<string, string> = { ...Object.fromEntries(lines), ":path": "/healthz" };

  const statuses = await underAttack(service, async () => {
    const unread = openUnreadStreams(service.url, { method: "GET", headers }, 200);
    await delay(1_000);
    unread.close();
    return unread.statuses();
  });

  expect(statuses.filter((status) => status === 200)).toEqual([]);
});
