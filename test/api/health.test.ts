// Health watches on a real service: their limit, and their load on the database.

import { type Client, Code, ConnectError, createClient } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
  Http2SessionManager,
} from "@connectrpc/connect-node";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.js";
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from "../../gen/grpc/health/v1/health_pb.js";
import type { HealthCheckResponse } from "../../gen/grpc/health/v1/health_pb.js";
import { healthWatchesPerConnectionMax } from "../../src/base/limits.ts";
import { givenStarted } from "../support/given.ts";
import { patience } from "../support/patience.ts";
import { startService } from "../support/service.ts";

const service = givenStarted(startService);

const left = new AbortController();
const sessions: Http2SessionManager[] = [];

afterEach(() => {
  for (const session of sessions.splice(0)) session.abort();
});
afterAll(async () => {
  left.abort();
});

/** A client with a connection of its own. */
function connect(create: typeof createGrpcTransport = createGrpcTransport): Client<typeof Health> {
  const sessionManager = new Http2SessionManager(service.url);
  sessions.push(sessionManager);
  return createClient(Health, create({ baseUrl: service.url, sessionManager }));
}

type Watch = { readonly answers: AsyncIterator<HealthCheckResponse>; leave(): void };

/** Opens a watch and waits for its first answer. */
async function watch(client: Client<typeof Health>): Promise<Watch> {
  const gone = new AbortController();
  const answers = client.watch({}, { signal: gone.signal })[Symbol.asyncIterator]();
  expect(await answers.next()).toMatchObject({ value: { status: Status.SERVING } });
  return { answers, leave: () => gone.abort() };
}

function watchAll(client: Client<typeof Health>, count: number): Promise<readonly Watch[]> {
  return Promise.all(Array.from({ length: count }, () => watch(client)));
}

async function refusalOf(client: Client<typeof Health>): Promise<ConnectError> {
  const refusal = await watch(client).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(refusal).toBeInstanceOf(ConnectError);
  return refusal as ConnectError;
}

describe("a watch too many on one connection", () => {
  test.each([
    { protocol: "gRPC", create: createGrpcTransport },
    {
      protocol: "gRPC-Web",
      create: (options: Parameters<typeof createGrpcTransport>[0]) =>
        createGrpcWebTransport({ ...options, httpVersion: "2" }),
    },
    {
      protocol: "Connect",
      create: (options: Parameters<typeof createGrpcTransport>[0]) =>
        createConnectTransport({ ...options, httpVersion: "2" }),
    },
  ])("is refused over $protocol, naming the limit, and others go on", async ({ create }) => {
    const [client, other] = [connect(create), connect(create)];
    const watches = await watchAll(client, healthWatchesPerConnectionMax);

    const refusal = await refusalOf(client);
    const elsewhere = await watch(other);
    const checked = await client.check({});
    watches[0]?.leave();

    expect(refusal.code).toBe(Code.Unavailable);
    expect(refusal.findDetails(ErrorInfoSchema)).toMatchObject([
      {
        reason: "OVERLOADED",
        metadata: { limit: `health watches of a connection: ${healthWatchesPerConnectionMax}` },
      },
    ]);
    expect(checked.status).toBe(Status.SERVING);
    elsewhere.leave();
    // The place of the one that left is free again.
    await vi.waitFor(async () => (await watch(client)).leave(), patience);
  });
});

test("any number of callers costs the database one query a second", async () => {
  const clients = [connect(), connect(), connect()];
  const before = await countQueries();
  const startedAtMs = performance.now();

  await Promise.all(clients.map((client) => watchAll(client, healthWatchesPerConnectionMax)));
  await vi.waitUntil(
    async () => {
      await Promise.all([
        ...clients.flatMap((client) => [client.check({}), client.list({})]),
        fetch(`${service.url}/readyz`).then((response) => response.arrayBuffer()),
      ]);
      return (await countQueries()) >= before + 3;
    },
    { ...patience, interval: 20 },
  );

  const seconds = (performance.now() - startedAtMs) / 1_000;
  // One more for the second that has begun, and one that was under way.
  expect((await countQueries()) - before).toBeLessThanOrEqual(seconds + 2);
});

/** Readings of the table that readiness reads, and nothing else here. */
async function countQueries(): Promise<number> {
  const [row] = await service.database.sql()<{ count: number }[]>`
    select (coalesce(seq_scan, 0) + coalesce(idx_scan, 0))::integer as count
    from pg_stat_user_tables
    where relname = 'schema_migrations'`;
  return row?.count ?? 0;
}
