// Attacks by slow bodies: each is refused by name, holds only the bytes that have arrived, and a
// second tenant does not notice. Source: docs/limits.md.

import { expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import { startAttackedService } from "../support/attack/service.ts";
import { sendSlowBodies, type SlowBody } from "../support/attack/slow.ts";
import { underAttack } from "../support/attack/watch.ts";
import { envelope } from "../support/attack/bytes.ts";

const timeoutMs = 300_000;
/** Ten bytes a second are under the smallest rate from then on. */
const stallMs = 3_000;

const service = givenStarted(() => startAttackedService("--body-timeout-ms", String(stallMs)));

const json = { "content-type": "application/json" };
const grpc = { "content-type": "application/grpc", te: "trailers" };
/** Head of a message of 4,000 bytes, of which none comes. */
const largeMessage = envelope(0, Buffer.alloc(4_000)).subarray(0, 5);

type Row = {
  readonly name: string;
  readonly count: number;
  /** Whether an ingestion key is sent along. */
  readonly hasKey?: boolean;
  readonly body: SlowBody;
  /** Whether the call takes a stream, which has a time of its own and no smallest rate. */
  readonly isStream?: boolean;
};

const reflection = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
const rows: readonly Row[] = [
  {
    name: "a page without a key over HTTP/2",
    count: 200,
    body: {
      http: 2,
      path: "/auth/sign-out",
      headers: { "content-type": "text/plain", "content-length": "1000000" },
    },
  },
  {
    name: "a page without a key over HTTP/1.1",
    count: 200,
    body: {
      http: 1,
      path: "/auth/sign-out",
      headers: { "content-type": "text/plain", "content-length": "1000000" },
    },
  },
  {
    name: "the largest batches over HTTP/2",
    count: 20,
    hasKey: true,
    body: {
      http: 2,
      path: "/events/batch",
      headers: { ...json, "content-length": "63999999" },
    },
  },
  {
    name: "the largest batches over HTTP/1.1",
    count: 20,
    hasKey: true,
    body: {
      http: 1,
      path: "/events/batch",
      headers: { ...json, "content-length": "63999999" },
    },
  },
  {
    name: "OTLP over HTTP/2",
    count: 20,
    hasKey: true,
    body: { http: 2, path: "/v1/traces", headers: { ...json, "content-length": "52000000" } },
  },
  {
    name: "a call over Connect",
    count: 20,
    hasKey: true,
    body: {
      http: 2,
      path: "/waggle.v1.EventService/CreateEventBatch",
      headers: { ...json, "content-length": "63999999" },
    },
  },
  {
    name: "a call over gRPC",
    count: 200,
    hasKey: true,
    body: {
      http: 2,
      path: "/waggle.v1.EventService/CreateEventBatch",
      headers: grpc,
      start: envelope(0, Buffer.alloc(4_000_000)).subarray(0, 5),
    },
  },
  {
    name: "health without a key over gRPC",
    count: 250,
    body: {
      http: 2,
      path: "/grpc.health.v1.Health/Check",
      headers: grpc,
      start: largeMessage,
    },
  },
  {
    name: "reflection without a key over gRPC",
    count: 250,
    body: { http: 2, path: reflection, headers: grpc, start: largeMessage },
    isStream: true,
  },
];

/** Sends the bodies of all rows at once, and returns the answers that do not name the limit. */
async function attack(sent: readonly Row[]): Promise<readonly object[]> {
  const authorization = `Bearer ${service.attacker.ingestionKey}`;
  const others = sent.map(async ({ name, body, count, hasKey, isStream }) => {
    const headers = hasKey ? { ...body.headers, authorization } : body.headers;
    const slow = sendSlowBodies(service.url, { ...body, headers }, count);
    const limit = isStream ? streamLimit : bodyLimit;
    const answers = await slow.answers();
    slow.close();
    return answers.filter(({ text }) => !limit.test(text)).map((answer) => ({ name, answer }));
  });
  return (await Promise.all(others)).flat();
}

const bodyLimit = /the body came slower than 4096 bytes a second/;
const streamLimit = new RegExp(`the stream of requests took longer than ${2 * stallMs} ms`);

test("slow bodies without a key are given up by name", { timeout: timeoutMs }, async () => {
  const others = await underAttack(service, () => attack(rows.filter(({ hasKey }) => !hasKey)));

  expect(others.slice(0, 3)).toEqual([]);
});

test("slow bodies with a key are given up by name", { timeout: timeoutMs }, async () => {
  const others = await underAttack(service, () => attack(rows.filter(({ hasKey }) => hasKey)));

  expect(others.slice(0, 3)).toEqual([]);
});
