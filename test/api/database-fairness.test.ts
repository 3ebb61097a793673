// One tenant's slow reads and unread streams beside another tenant's calls, over real sockets.
// Source: docs/decisions.md, 15.1, 36.1.

import { describe, expect, onTestFinished, test } from "vitest";
import { createUuid, type ProjectId } from "../../src/base/ids.ts";
import type { LocalProject } from "../../src/controlplane/projects/local-projects.ts";
import { openDatabase, type Sql } from "../../src/postgres/database.ts";
import { givenStarted } from "../support/given.ts";
import { urlOfRows } from "../support/citus.ts";
import { countLockWaits, urlOf } from "../support/database.ts";
import { anEvent, insertEvents } from "../support/events.ts";
import { givenAKey } from "../support/keys.ts";
import { givenAProject, givenASibling } from "../support/project.ts";
import { startService } from "../support/service.ts";
import { patience } from "../support/patience.ts";

const service = givenStarted(startService);

type Headers = Readonly<Record<string, string>>;
type PostOptions = { readonly headers?: Headers; readonly signal?: AbortSignal };

function post(path: string, key: string, body: unknown, options: PostOptions = {}) {
  const { headers, ...init } = options;
  return fetch(service.url + path, {
    ...init,
    method: "POST",
    headers: { ...headers, authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

/** Partition that holds a project's events, by a name that no other server uses. */
type Partition = { readonly name: string; readonly url: string };

async function partitionOf(projectId: ProjectId): Promise<Partition> {
  await insertEvents(service.database, projectId, [anEvent()]);
  const [row] = await service.database.sql()<{ name: string }[]>`
    select tableoid::regclass::text as name
    from events
    where project_id = ${projectId}`;
  return { name: row?.name ?? "", url: await urlOfRows(service.database, projectId) };
}

/** Makes a project whose events are in none of these partitions. */
async function givenAnotherProject(partitions: readonly Partition[]) {
  const names = partitions.map(({ name }) => name);
  for (;;) {
    const project = await givenAProject(service.database, "apart");
    if (names.includes((await partitionOf(project.projectId)).name)) continue;
    return (await givenAKey(service.database, project, { kind: "project" })).secret;
  }
}

/** Makes a project beside the service's project, in the same organization, with a key. */
async function givenASiblingWithKey() {
  const project = await givenASibling(service.database, service.project);
  const { secret } = await givenAKey(service.database, project, { kind: "project" });
  return { projectId: project.projectId, key: secret };
}

/** Keeps statements on projects' events waiting; another project's, whose key is given, run. */
async function givenStalledEvents(projectIds = [service.projectId]) {
  const partitions = await Promise.all(projectIds.map(partitionOf));
  const otherKey = await givenAnotherProject(partitions);
  const locks = await Promise.all(
    [...new Map(partitions.map(({ name, url }) => [name, url]))].map(([name, url]) =>
      givenALock(url, (sql) => sql`lock table ${sql(name)} in access exclusive mode`),
    ),
  );
  return { otherKey, unlock: () => locks.forEach(({ unlock }) => unlock()) };
}

/** Holds a lock until `unlock` is called or the test ends. */
async function givenALock(url: string, lock: (sql: Sql) => Promise<unknown>) {
  const database = openDatabase({ url, connectionsMax: 1 });
  const unlock = Promise.withResolvers<undefined>();
  const locked = Promise.withResolvers<undefined>();
  const locking = database.transaction(async (sql) => {
    await lock(sql);
    locked.resolve(undefined);
    await unlock.promise;
  });
  onTestFinished(async () => {
    unlock.resolve(undefined);
    await locking;
    await database.close();
  });
  await Promise.race([locked.promise, locking]);
  return { unlock: () => unlock.resolve(undefined) };
}

/** Resolves when at least this number of statements wait for a lock. */
async function untilStalled(count: number): Promise<void> {
  const database = service.database.on("callers");
  await expect.poll(() => countLockWaits(database), patience).toBeGreaterThanOrEqual(count);
}

describe("twelve exports of one tenant that take as long as they may", () => {
  test("hold up neither the writes, nor the reads, nor the keys of another", async () => {
    const { otherKey, unlock } = await givenStalledEvents();
    let ended = 0;
    const exports = Array.from({ length: 12 }, async () => {
      const response = await post("/v1/events/export", service.projectKey, {});
      ended += 1;
      return response.status;
    });

    const event = { event_type: "tool", event_id: "b1", session_id: "s", inputs: {} };
    const written = await post("/events", otherKey, { event });
    const read = await post("/v1/events/export", otherKey, {});
    const unknownKey = await post("/events", `hh_${"a".repeat(40)}`, { event });
    const ready = await fetch(`${service.url}/readyz`);
    const endedBefore = ended;
    unlock();

    expect([written.status, read.status, unknownKey.status, ready.status]).toEqual([
      200, 200, 404, 200,
    ]);
    expect(await read.json()).toMatchObject({ totalEvents: 3 });
    expect(endedBefore).toBe(0);
    expect(await Promise.all(exports)).toEqual(Array.from({ length: 12 }, () => 200));
  });
});

describe("a flood of one tenant's events whose commits take long", () => {
  test("leaves another tenant's event a connection", async () => {
    const { otherKey, unlock } = await givenStalledEvents();
    let stored = 0;
    const flood = Array.from({ length: 40 }, async (_, index) => {
      const event = { event_type: "tool", event_id: `f${index}`, session_id: "f", inputs: {} };
      const response = await post("/events", service.projectKey, { event });
      stored += 1;
      return response.status;
    });
    await untilStalled(3);

    const event = { event_type: "tool", event_id: "b2", session_id: "s", inputs: {} };
    const written = await post("/events", otherKey, { event });
    const storedBefore = stored;
    unlock();

    expect([written.status, storedBefore]).toEqual([200, 0]);
    expect(await Promise.all(flood)).toEqual(Array.from({ length: 40 }, () => 200));
  });
});

describe("floods of two projects of one organization", () => {
  // A commit may store events of both projects and counts for each: then two or three commits use
  // all places of the organization, otherwise four.
  test.each([
    { name: "of events", isOnce: false, place: { session_id: "f" }, stalled: 2 },
    { name: "of events whose sessions are looked up", isOnce: false, place: {}, stalled: 4 },
    {
      name: "of events with Idempotency-Key",
      isOnce: true,
      place: { session_id: "f" },
      stalled: 4,
    },
  ])("$name leave another organization a connection", async ({ isOnce, place, stalled }) => {
    const sibling = await givenASiblingWithKey();
    const { otherKey, unlock } = await givenStalledEvents([service.projectId, sibling.projectId]);
    let stored = 0;
    const send = async (key: string): Promise<number> => {
      const headers: Headers = isOnce ? { "idempotency-key": createUuid() } : {};
      const event = { event_type: "tool", event_id: createUuid(), inputs: {}, ...place };
      const { status } = await post("/events", key, { event }, { headers });
      stored += 1;
      return status;
    };
    const flood = Array.from({ length: 20 }, (_, index) =>
      send(index < 10 ? service.projectKey : sibling.key),
    );
    await untilStalled(stalled);

    const event = { event_type: "tool", session_id: "s", inputs: {} };
    const written = await post("/events", otherKey, { event });
    const storedBefore = stored;
    unlock();

    expect([written.status, storedBefore]).toEqual([200, 0]);
    expect(await Promise.all(flood)).toEqual(Array.from({ length: 20 }, () => 200));
  });
});

describe("changes of one organization that take as long as they may", () => {
  test("leave another organization a connection for its own", async () => {
    const { database, project, otherProject } = service;
    const rename = (key: string, { projectId }: LocalProject) =>
      fetch(`${service.url}/v1/projects/${projectId}`, {
        method: "PUT",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ name: createUuid() }),
      });
    await database.sql()`
      insert into audit_heads (org_id, sequence, hash)
      values (${project.orgId}, 0, ${Buffer.alloc(32)}) on conflict do nothing`;
    // Every change of the organization writes down here that it happened.
    const { unlock } = await givenALock(
      await urlOf(database),
      (sql) => sql`select from audit_heads where org_id = ${project.orgId} for update`,
    );
    let ended = 0;
    const slow = Array.from({ length: 4 }, async () => {
      const response = await rename(service.controlPlaneKey, project);
      ended += 1;
      return response.status;
    });
    await untilStalled(1);

    const other = await rename(otherProject.controlPlaneKey, otherProject);
    const endedBefore = ended;
    unlock();

    expect([other.status, endedBefore]).toEqual([200, 0]);
    expect(await Promise.all(slow)).toEqual([200, 200, 200, 200]);
  });
});

describe("streams that one tenant does not read", () => {
  test("are limited, and no other tenant's stream waits for them", async () => {
    const { database, projectId, projectKey, otherProject } = service;
    const large = { text: "x".repeat(20_000) };
    const events = Array.from({ length: 2_000 }, () => anEvent({ inputs: large }));
    await insertEvents(database, projectId, events);
    const leaving = new AbortController();
    onTestFinished(() => leaving.abort());
    const unread = () => post("/v1/events/stream", projectKey, {}, { signal: leaving.signal });
    const first = await Promise.all([1, 2, 3, 4].map(unread));

    const fifth = await unread();
    const others = await Promise.all(
      [1, 2].map(() => post("/v1/events/stream", otherProject.projectKey, {})),
    );

    expect(first.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect([fifth.status, fifth.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(await fifth.json()).toMatchObject({ errorCode: "OVERLOADED" });
    for (const other of others) {
      expect(other.status).toBe(200);
      expect(await other.text()).toMatch(/"done":true/);
    }
    const [row] = await database.sql()<{ count: number }[]>`
      select count(*)::integer as count
      from pg_stat_activity
      where datname = current_database() and state like 'idle in transaction%'`;
    expect(row?.count).toBe(0);
  });
});
