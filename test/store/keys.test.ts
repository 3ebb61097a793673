// API keys against a real Postgres: who they stand for, revocation here and elsewhere, and what
// happens when the database is away.

import type { Actor } from "../../src/base/actor.ts";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { holds } from "../../src/access/authorize.ts";
import { createAudit } from "../../src/access/audit/audit.ts";
import { createAccessChanges } from "../../src/access/changes/changes.ts";
import { createKeyPolicies } from "../../src/access/key-policies/key-policies.ts";
import { type CreatedKey, createKeys, type Keys } from "../../src/access/keys/keys.ts";
import { createLastUsed } from "../../src/access/keys/last-used.ts";
import type { NewKey } from "../../src/access/keys/new-key.ts";
import type { UserPrincipal } from "../../src/access/principal.ts";
import { systemScope } from "../../src/access/scope.ts";
import { createUuid } from "../../src/base/ids.ts";
import { createScopes } from "../../src/controlplane/scopes/scopes.ts";
import type { LocalProject } from "../../src/controlplane/projects/local-projects.ts";
import { createOutbox } from "../../src/outbox/outbox.ts";
import { type Database, openDatabase } from "../../src/postgres/database.ts";
import { givenTestDatabase } from "../support/database.ts";
import { givenAKey, scopeOfOrg, scopeOfProject } from "../support/keys.ts";
import { patience } from "../support/patience.ts";
import { givenAProject } from "../support/project.ts";

const testDatabase = givenTestDatabase();
let project: LocalProject;
const servers: Server[] = [];

beforeAll(async () => {
  project = await givenAProject(testDatabase.database);
});

afterAll(() => Promise.all(servers.map((server) => server.end())));

type Server = Keys & {
  readonly database: Database;
  follow(): void;
  end(): Promise<void>;
};

/** Keys as one server has them; the clock stands still unless a test moves it. */
function aServer({
  url = testDatabase.url,
  cacheAgeMs = 30_000,
  now = () => 0,
  onUsed,
}: {
  url?: string;
  cacheAgeMs?: number;
  now?: () => number;
  onUsed?: (keyId: string) => void;
} = {}): Server {
  const database = openDatabase({ url, connectionsMax: 2, connectTimeoutSeconds: 1 });
  const changes = createAccessChanges({ database });
  const audit = createAudit(database);
  const scopes = createScopes(database);
  const keys = createKeys({
    database,
    changes,
    audit,
    scopes,
    cacheAgeMs,
    now,
    outbox: createOutbox(database),
    policies: createKeyPolicies({ database, changes, audit, scopes }),
    cacheEntriesMax: 100,
    lookupTimeoutMs: 2_000,
    ...(onUsed && { onUsed }),
  });
  const server = {
    ...keys,
    database,
    follow: () => changes.follow(),
    async end() {
      await changes.stop();
      await database.close();
    },
  };
  servers.push(server);
  return server;
}

function aKey(options: Partial<NewKey> = {}): Promise<CreatedKey> {
  return givenAKey(testDatabase.database, project, { kind: "project", ...options });
}

const tester: Actor = { type: "user", id: "u", name: "ada@example.org" };

const bearer = (secret: string) => `Bearer ${secret}`;
const notFound = expect.objectContaining({ reason: "NOT_FOUND" }) as Error;
const unverifiable = expect.objectContaining({ reason: "KEY_UNVERIFIABLE" }) as Error;

describe("authenticate", () => {
  test.each(["project", "project_read_only", "ingestion"] as const)(
    "tells whose a %s key is",
    async (kind) => {
      const keys = aServer();

      const { key, secret } = await aKey({ kind, name: "a key" });

      expect(await keys.authenticate(bearer(secret))).toMatchObject({
        kind,
        actor: { type: "key", id: key.id, name: "a key" },
        root: {
          level: "project",
          id: project.projectId,
          name: "demo",
          orgId: project.orgId,
          workspaceId: project.workspaceId,
          clusterId: "default",
        },
        grants: [],
      });
    },
  );

  test.each([
    { name: "no header", header: undefined },
    { name: "another scheme", header: "Basic abc" },
    { name: "an unknown key", header: bearer(`hh_${"a".repeat(40)}`) },
    { name: "a key of no known shape", header: bearer("'; drop table api_keys; --") },
  ])("answers NOT_FOUND for $name, the first and the second time", async ({ header }) => {
    const keys = aServer();

    await expect(keys.authenticate(header)).rejects.toEqual(notFound);
    await expect(keys.authenticate(header)).rejects.toEqual(notFound);
  });

  test("answers NOT_FOUND when the key's project or a scope above it is archived", async () => {
    const keys = aServer();
    const { database } = testDatabase;
    const archive = {
      projects: (p: LocalProject) => database.sql()`
        update projects set archived_at = now() where project_id = ${p.projectId}`,
      workspaces: (p: LocalProject) => database.sql()`
        update workspaces set archived_at = now() where workspace_id = ${p.workspaceId}`,
      dataplanes: (p: LocalProject) => database.sql()`
        update dataplanes set archived_at = now() where dataplane_id = ${p.dataplaneId}`,
      organizations: (p: LocalProject) => database.sql()`
        update organizations set archived_at = now() where org_id = ${p.orgId}`,
    };

    for (const archiveScope of Object.values(archive)) {
      const other = await givenAProject(database);
      const { secret } = await aKey({ root: scopeOfProject(other) });
      await archiveScope(other);
      await expect(keys.authenticate(bearer(secret))).rejects.toEqual(notFound);
    }
  });

  test("stores nothing from which a key could be read", async () => {
    const { key, secret } = await aKey();

    const [row] = await testDatabase.database.sql()<{ text: string }[]>`
      select api_keys::text as text from api_keys where key_id = ${key.id}`;

    expect(row?.text).not.toContain(secret.slice("hh_".length + 4));
  });
});

describe("revoke", () => {
  test("ends a key at once on the same server", async () => {
    const keys = aServer();
    const { key, secret } = await aKey();
    await keys.authenticate(bearer(secret));

    await keys.revoke(key.id, {}, tester);

    await expect(keys.authenticate(bearer(secret))).rejects.toEqual(notFound);
  });

  test("ends a key on another server by notification", async () => {
    const [here, there] = [aServer(), aServer()];
    there.follow();
    const { key, secret } = await aKey();
    await there.authenticate(bearer(secret));

    await here.revoke(key.id, {}, tester);

    // The clock stands still, so age cannot be what ends it.
    await vi.waitFor(
      () => expect(there.authenticate(bearer(secret))).rejects.toEqual(notFound),
      patience,
    );
  });

  test("ends a key by age on a server that heard nothing, and not before", async () => {
    let nowMs = 0;
    const [here, there] = [aServer(), aServer({ cacheAgeMs: 1_000, now: () => nowMs })];
    const { key, secret } = await aKey();
    await there.authenticate(bearer(secret));
    await here.revoke(key.id, {}, tester);

    nowMs = 999;
    const remembered = await there.authenticate(bearer(secret));
    nowMs = 1_000;

    expect(remembered.actor.id).toBe(key.id);
    await expect(there.authenticate(bearer(secret))).rejects.toEqual(notFound);
  });

  test("answers KEY_REVOKED the second time, NOT_FOUND where there is no key", async () => {
    const keys = aServer();
    const { key } = await aKey();
    await keys.revoke(key.id, {}, tester);

    await expect(keys.revoke(key.id, {}, tester)).rejects.toMatchObject({ reason: "KEY_REVOKED" });
    await expect(keys.revoke(createUuid(), {}, tester)).rejects.toEqual(notFound);
    await expect(keys.revoke("no id", {}, tester)).rejects.toEqual(notFound);
  });

  test("by two at once succeeds once", async () => {
    const { key } = await aKey();

    const results = await Promise.allSettled(
      [aServer(), aServer()].map((keys) => keys.revoke(key.id, {}, tester)),
    );

    expect(results.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  });

  test("leaves the key in the list, with who revoked it", async () => {
    const keys = aServer();
    const { key } = await aKey({ name: "for the list" });

    await keys.revoke(key.id, {}, tester);

    const { items } = await keys.list(
      { root: { level: "project", id: project.projectId } },
      { limit: 1_000, after: undefined },
    );
    expect(items.find(({ id }) => id === key.id)).toMatchObject({
      name: "for the list",
      maskedPrefix: expect.stringMatching(/^hh_[A-Za-z0-9]{4}…$/) as string,
      createdBy: expect.stringMatching(/^command line/) as string,
      status: "revoked",
      revokedBy: "ada@example.org",
      revokedAt: expect.any(Date) as Date,
    });
  });

  test("takes back what an undone transaction had begun", async () => {
    const keys = aServer();
    const { key, secret } = await aKey();

    await expect(
      keys.database.transaction(async () => {
        await keys.revoke(key.id, {}, tester);
        throw new Error("undone");
      }),
    ).rejects.toThrow("undone");

    expect(await keys.authenticate(bearer(secret))).toMatchObject({ actor: { id: key.id } });
  });
});

describe("recordConfirmation", () => {
  test("keeps the first time, and nothing for a key that is not revoked", async () => {
    const keys = aServer();
    const { key } = await aKey();
    const confirmedAt = async () => (await keys.get(key.id, {})).revocationConfirmedAt;
    await keys.recordConfirmation(key.id);
    const before = await confirmedAt();
    await keys.revoke(key.id, {}, tester);

    await keys.recordConfirmation(key.id);
    const first = await confirmedAt();
    await keys.recordConfirmation(key.id);

    expect(before).toBeNull();
    expect(first).toBeInstanceOf(Date);
    expect(await confirmedAt()).toEqual(first);
  });
});

describe("revokeInside", () => {
  /** Makes keys at every root of a project of its own. */
  async function givenKeys() {
    const { database } = testDatabase;
    const own = await givenAProject(database);
    const make = (level: "org" | "workspace" | "project") =>
      givenAKey(database, own, {
        kind: "data_plane",
        root:
          level === "project" ? scopeOfProject(own) : { ...scopeOfOrg(own), ...rootOf(own, level) },
        permissions: ["project.*"],
        expiresAt: new Date(Date.now() + 60_000),
      });
    return {
      own,
      org: await make("org"),
      workspace: await make("workspace"),
      project: await make("project"),
    };
  }

  const rootOf = (own: LocalProject, level: "org" | "workspace") =>
    ({ level, id: level === "org" ? own.orgId : own.workspaceId }) as const;

  test.each([
    { level: "org", want: ["org", "project", "workspace"] },
    { level: "dataplane", want: ["project", "workspace"] },
    { level: "workspace", want: ["project", "workspace"] },
    { level: "project", want: ["project"] },
  ] as const)("ends the keys of a $level and of what is inside, archived or not", async (row) => {
    const keys = aServer();
    const made = await givenKeys();
    const { own } = made;
    const ids = {
      org: own.orgId,
      dataplane: own.dataplaneId,
      workspace: own.workspaceId,
      project: own.projectId,
    };
    await testDatabase.database.sql()`
      update projects set archived_at = now() where project_id = ${own.projectId}`;

    const count = await keys.revokeInside(row.level, ids[row.level], tester, 100);

    const revoked = [];
    for (const name of ["org", "project", "workspace"] as const) {
      const { status } = await keys.get(made[name].key.id, {});
      if (status === "revoked") revoked.push(name);
    }
    expect(revoked).toEqual(row.want);
    expect(count).toBe(row.want.length);
  });

  test("goes in steps until none is left, each with one change, and audits each key", async () => {
    const keys = aServer();
    const { own } = await givenKeys();
    const changesBefore = await countChanges();

    const counts = [];
    for (let step = 0; step < 3; step += 1) {
      counts.push(await keys.revokeInside("org", own.orgId, tester, 2));
    }

    const rows = await testDatabase.database.sql()<{ actor: string }[]>`
      select actor_name as actor
      from audit_log
      where org_id = ${own.orgId} and action = 'api_key.revoke'`;
    expect(counts).toEqual([2, 1, 0]);
    expect(rows.map(({ actor }) => actor)).toEqual(Array(3).fill("ada@example.org"));
    expect((await countChanges()) - changesBefore).toBe(2);
  });

  async function countChanges(): Promise<number> {
    const [row] = await testDatabase.database.sql()<{ count: number }[]>`
      select count(*)::integer as count from access_changes where subject = '*'`;
    return row?.count ?? 0;
  }
});

describe("a signed-in creator", () => {
  const user = (...permissions: readonly string[]): UserPrincipal => ({
    kind: "user",
    actor: tester,
    email: "ada@example.org",
    grants: [{ level: "workspace", scopeId: project.workspaceId, permissions }],
    expiresAtMs: Date.now() + 60_000,
  });
  const withPermissions = (creator: UserPrincipal, ...permissions: readonly string[]): NewKey => ({
    kind: "data_plane",
    name: "of a person",
    creator,
    permissions,
    root: scopeOfProject(project),
    expiresAt: new Date(Date.now() + 60_000),
  });

  test("hands on what the person holds there, key creation included", async () => {
    const keys = aServer();

    const { key } = await keys.create(withPermissions(user("project.*"), "project.*"));

    expect(key).toMatchObject({ createdBy: "ada@example.org", permissions: ["project.*"] });
  });

  test.each(["project.*", "project.session.get", "*"])(
    "hands on no %s that goes further",
    async (pattern) => {
      const keys = aServer();

      const creating = keys.create(
        withPermissions(user("project.event.*"), "project.event.get", pattern),
      );

      await expect(creating).rejects.toMatchObject({
        reason: "PERMISSION_NOT_HELD",
        message: expect.stringContaining(`permissions[1]: ${pattern} `) as string,
      });
    },
  );
});

describe("a first start's key", () => {
  test("may do what its permissions of the system say, and `*` alone may not", async () => {
    const keys = aServer();
    const make = (...permissions: readonly string[]) =>
      aKey({
        kind: "control_plane",
        root: scopeOfOrg(project),
        permissions,
        expiresAt: new Date(Date.now() + 60_000),
      });
    const [first, other] = [await make("*", "system.org.create"), await make("*")];

    const isHeld = await Promise.all(
      [first, other].map(async ({ secret }) =>
        holds(await keys.authenticate(bearer(secret)), "system.org.create", systemScope),
      ),
    );

    expect(isHeld).toEqual([true, false]);
  });
});

describe("last use", () => {
  test("is written when the collector flushes, at most once a minute for each key", async () => {
    const { database } = testDatabase;
    let nowMs = Date.UTC(2030, 0, 1);
    const lastUsed = createLastUsed({ database, flushMs: 60_000, now: () => nowMs });
    const keys = aServer({ onUsed: (keyId) => lastUsed.note(keyId) });
    const { key, secret } = await aKey();
    const useAt = async (ms: number) => {
      nowMs = ms;
      await keys.authenticate(bearer(secret));
      await lastUsed.stop();
      return (await keys.get(key.id, {})).lastUsedAt?.getTime();
    };
    const startMs = nowMs;

    const seen = [
      await useAt(startMs),
      await useAt(startMs + 59_999),
      await useAt(startMs + 60_000),
    ];

    expect(key.lastUsedAt).toBeNull();
    expect(seen).toEqual([startMs, startMs, startMs + 60_000]);
  });

  test("is dropped when it cannot be written, and noted again at the next use", async () => {
    const closed = openDatabase({ url: testDatabase.url });
    await closed.close();
    const { key } = await aKey();
    const notes: string[] = [];
    let isAway = true;
    const database = {
      ...closed,
      sql: () => (notes.push("asked"), isAway ? closed : testDatabase.database).sql(),
    };
    const lastUsed = createLastUsed({ database, flushMs: 60_000 });

    lastUsed.note(key.id);
    await lastUsed.stop();
    isAway = false;
    lastUsed.note(key.id);
    await lastUsed.stop();

    expect(notes).toHaveLength(2);
    expect((await aServer().get(key.id, {})).lastUsedAt).toBeInstanceOf(Date);
  });

  test("does not wait for a key that is locked", async () => {
    const { database } = testDatabase;
    const { key } = await aKey();
    const lastUsed = createLastUsed({ database, flushMs: 60_000 });
    lastUsed.note(key.id);

    await aServer().database.transaction(async (sql) => {
      await sql`select 1 from api_keys where key_id = ${key.id} for update`;
      await lastUsed.stop();
    });

    expect((await aServer().get(key.id, {})).lastUsedAt).toBeNull();
  });
});

describe("when the database is away", () => {
  test("a key that is not remembered answers KEY_UNVERIFIABLE", async () => {
    const keys = aServer({ url: "postgres://nobody@127.0.0.1:1/none" });

    await expect(keys.authenticate("Bearer hh_x")).rejects.toEqual(unverifiable);
  });

  test("a key goes on working while it is remembered, then answers KEY_UNVERIFIABLE", async () => {
    let nowMs = 0;
    const keys = aServer({ cacheAgeMs: 1_000, now: () => nowMs });
    const { key, secret } = await aKey();
    await keys.authenticate(bearer(secret));
    await keys.database.close();

    const remembered = await keys.authenticate(bearer(secret));
    nowMs = 1_000;

    expect(remembered.actor.id).toBe(key.id);
    await expect(keys.authenticate(bearer(secret))).rejects.toEqual(unverifiable);
  });

  test("a database that does not answer counts as away", async () => {
    const keys = aServer();
    const { database } = testDatabase;
    await database.transaction(async (sql) => {
      await sql`lock table api_keys in access exclusive mode`;

      await expect(keys.authenticate("Bearer hh_y")).rejects.toEqual(unverifiable);
    });
  });
});
