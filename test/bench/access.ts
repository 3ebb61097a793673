// The cost of a key per request, and the delay until another server refuses a revoked key.
// Baselines of the same run: the same call without authentication, and a bare NOTIFY.

import { type ChildProcess, spawn } from "node:child_process";
import { Agent, request } from "node:http";
import { once } from "node:events";
import { MeService } from "../../gen/waggle/v1/me_pb.js";
import { createAudit } from "../../src/access/audit/audit.ts";
import { createAuthenticator } from "../../src/access/authenticate.ts";
import { createAccessChanges } from "../../src/access/changes/changes.ts";
import { createKeyPolicies } from "../../src/access/key-policies/key-policies.ts";
import { createKeys, type Keys } from "../../src/access/keys/keys.ts";
import { meHandlers } from "../../src/access/me/handlers.ts";
import { createLogger } from "../../src/base/logger.ts";
import { createScopes } from "../../src/controlplane/scopes/scopes.ts";
import { createOutbox } from "../../src/outbox/outbox.ts";
import { type Database, openDatabase } from "../../src/postgres/database.ts";
import type { ServiceRouter } from "../../src/transport/transport.ts";
import { startTransport } from "../support/transport.ts";
import { type BenchService, startService } from "./service.ts";
import { describeMachine, formatTable, median } from "./table.ts";

export type AccessOptions = {
  readonly rounds: number;
  readonly requests: number;
  readonly revocations: number;
};

type Call = {
  readonly method: string;
  readonly url: string;
  readonly key?: string | undefined;
  readonly body?: unknown;
};

type Answer = { readonly status: number; readonly text: string };

/** One connection to each server. */
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

export async function benchAccess(options: AccessOptions): Promise<void> {
  console.log(describeMachine());
  const service = await startService();
  const other = await startSecond(service.databaseUrl);
  try {
    await benchOverhead(service, options);
    await benchRevocation(service, other.url, options);
  } finally {
    agent.destroy();
    await other.stop();
    await service.stop();
  }
}

/**
 * Measures the same call over the same transport, once with the real authenticator and a cached
 * key, once with an authenticator that knows the caller. Sends one request at a time over one
 * connection, both ways in turn, so that noise affects both.
 */
async function benchOverhead(
  { databaseUrl, credentials: { project_api_key: key } }: BenchService,
  { rounds, requests }: AccessOptions,
): Promise<void> {
  const database = openDatabase({ url: databaseUrl, connectionsMax: 2 });
  const keys = keysOf(database);
  const caller = await keys.authenticate(`Bearer ${key}`);
  const service = (router: ServiceRouter) => router.service(MeService, meHandlers());
  const open = await startTransport({
    services: service,
    authenticate: () => Promise.resolve(caller),
  });
  const real = await startTransport({
    services: service,
    authenticate: createAuthenticator({ keys }),
  });
  const callAt = (url: string): Call => ({ method: "GET", url: `${url}/v1/me`, key });
  const rows: (string | number)[][] = [];
  try {
    for (let round = 0; round <= rounds; round += 1) {
      const calls = [callAt(open.url), callAt(real.url)] as const;
      const [openUs, keyUs] = await timeInTurn(calls, requests);
      // The first round warms up.
      if (round > 0) rows.push([String(round), openUs, keyUs, keyUs - openUs, keyUs / openUs]);
    }
  } finally {
    await open.stop();
    await real.stop();
    await database.close();
  }
  console.log(`\nGET /v1/me with a cached key against no authentication, p50 of ${requests}:`);
  console.log(formatTable(["round", "without µs", "with µs", "difference µs", "ratio"], rows));
}

function keysOf(database: Database): Keys {
  const audit = createAudit(database);
  const scopes = createScopes(database);
  const changes = createAccessChanges({ database, pollMs: 5_000, logger: createLogger("silent") });
  const policies = createKeyPolicies({ database, changes, audit, scopes });
  const outbox = createOutbox(database);
  const caches = { cacheEntriesMax: 10_000, cacheAgeMs: 60_000 };
  return createKeys({ database, changes, audit, outbox, scopes, policies, ...caches });
}

/** Returns the medians of two calls made in turn, in microseconds. */
async function timeInTurn(calls: readonly [Call, Call], count: number): Promise<[number, number]> {
  const timesUs: [number[], number[]] = [[], []];
  for (let index = 0; index < count; index += 1) {
    timesUs[0].push(await timeCall(calls[0]));
    timesUs[1].push(await timeCall(calls[1]));
  }
  return [median(timesUs[0]), median(timesUs[1])];
}

async function timeCall(call: Call): Promise<number> {
  const startedAtMs = performance.now();
  const { status } = await send(call);
  if (status !== 200) throw new Error(`${call.url} answered ${status}`);
  return (performance.now() - startedAtMs) * 1_000;
}

async function benchRevocation(
  { databaseUrl, credentials }: BenchService,
  otherUrl: string,
  { revocations }: AccessOptions,
): Promise<void> {
  const keys = `${credentials.url}/v1/projects/${credentials.project_id}/ingestion_api_keys`;
  const creator = credentials.data_plane_api_key;
  const callsMs: number[] = [];
  const refusedMs: number[] = [];
  const notifyMs: number[] = [];
  for (let index = 0; index < revocations; index += 1) {
    const body = { name: `bench ${index}` };
    const created = await send({ method: "POST", url: keys, key: creator, body });
    const { key_value: key, key_id: id } = (
      JSON.parse(created.text) as { data: { key_value: string; key_id: string } }
    ).data;
    const use = { method: "GET", url: `${otherUrl}/v1/me`, key };
    if ((await send(use)).status !== 200) throw new Error("a new key is refused");
    const startedAtMs = performance.now();
    const revoked = await send({ method: "DELETE", url: `${keys}/${id}`, key: creator });
    if (revoked.status !== 200) throw new Error(`revoking answered ${revoked.text}`);
    const answeredAtMs = performance.now();
    while ((await send(use)).status === 200);
    callsMs.push(answeredAtMs - startedAtMs);
    refusedMs.push(performance.now() - answeredAtMs);
    notifyMs.push(await timeNotify(databaseUrl));
  }
  const row = (name: string, values: readonly number[]) => [
    name,
    median(values),
    Math.max(...values),
    median(values) / median(notifyMs),
  ];
  console.log(`\nRevoking through one server, using the key at another, ${revocations} times:`);
  console.log(
    formatTable(
      ["", "p50 ms", "max ms", "× NOTIFY"],
      [
        row("the revoking call", callsMs),
        row("from its answer until the other server refuses", refusedMs),
        row("a bare NOTIFY, sent and heard", notifyMs),
      ],
    ),
  );
}

async function timeNotify(url: string): Promise<number> {
  const database = openDatabase({ url, connectionsMax: 2 });
  try {
    const heard = Promise.withResolvers<undefined>();
    const listening = Promise.withResolvers<undefined>();
    database.listen(
      "bench",
      () => {
        heard.resolve(undefined);
      },
      () => {
        listening.resolve(undefined);
      },
    );
    await Promise.all([listening.promise, database.sql()`select 1`]);
    const startedAtMs = performance.now();
    await database.sql()`select pg_notify('bench', '')`;
    await heard.promise;
    return performance.now() - startedAtMs;
  } finally {
    await database.close();
  }
}

function send({ method, url, key, body }: Call): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = {
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
    };
    const sent = request(url, { method, agent, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() });
      });
    });
    sent.on("error", reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

type Second = { readonly url: string; stop(): Promise<void> };

async function startSecond(databaseUrl: string): Promise<Second> {
  const main = new URL("../../src/main.ts", import.meta.url).pathname;
  const child: ChildProcess = spawn(
    process.execPath,
    [main, "serve", "--port", "0", "--operator-port", "0", "--log-level", "fatal"],
    {
      env: { PATH: process.env["PATH"], DATABASE_URL: databaseUrl },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  let output = "";
  for await (const chunk of child.stdout ?? []) {
    output += String(chunk);
    const url = /waggle is ready on (\S+)/.exec(output)?.[1];
    if (url === undefined) continue;
    child.stdout?.resume();
    return {
      url,
      async stop() {
        child.kill("SIGTERM");
        if (child.exitCode === null) await once(child, "exit");
      },
    };
  }
  throw new Error(`the second server ended: ${output}`);
}
