// API keys against a real Postgres: who they stand for, revocation here and elsewhere, and what
// happens when the database is away.

import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createKeys } from "../../src/access/keys/keys.ts";
import type { CreateKeyOptions, Keys } from "../../src/access/keys/keys.ts";
import type { Project } from "../../src/controlplane/projects/projects.ts";
import { openDatabase } from "../../src/postgres/database.ts";
import type { Database } from "../../src/postgres/database.ts";
import { createTestDatabase } from "../support/database.ts";
import type { TestDatabase } from "../support/database.ts";
import { givenAProject } from "../support/project.ts";

let testDatabase: TestDatabase;
let project: Project;
const servers: Database[] = [];

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  project = await givenAProject(testDatabase.database);
});

afterAll(async () => {
  await Promise.all(servers.map((database) => database.close()));
  await testDatabase.drop();
});

/** Keys as one server has them; the clock stands still unless a test moves it. */
function aServer({
  url = testDatabase.url,
  cacheAgeMs = 30_000,
  now = () => 0,
}: { url?: string; cacheAgeMs?: number; now?: () => number } = {}): Keys & { database: Database } {
  const database = openDatabase({ url, connectionsMax: 2, connectTimeoutSeconds: 1 });
  servers.push(database);
  const options = { database, cacheEntriesMax: 100, cacheAgeMs, lookupTimeoutMs: 2_000, now };
  return { ...createKeys(options), database };
}

function aKey(overrides: Partial<CreateKeyOptions> = {}): CreateKeyOptions {
  const { projectId } = project;
  return { kind: "project", projectId, name: "a key", createdBy: "test", ...overrides };
}

const bearer = (secret: string) => `Bearer ${secret}`;
const notFound = expect.objectContaining({ reason: "NOT_FOUND" }) as Error;
const unverifiable = expect.objectContaining({ reason: "KEY_UNVERIFIABLE" }) as Error;

describe("authenticate", () => {
  test.each(["project", "project_read_only", "ingestion"] as const)(
    "tells whose a %s key is",
    async (kind) => {
      const keys = aServer();

      const { keyId, secret } = await keys.create(aKey({ kind }));

      expect(await keys.authenticate(bearer(secret))).toMatchObject({
        kind,
        actor: { type: "key", id: keyId, name: "a key" },
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
      projects: (p: Project) => database.sql()`
        update projects set archived_at = now() where project_id = ${p.projectId}`,
      workspaces: (p: Project) => database.sql()`
        update workspaces set archived_at = now() where workspace_id = ${p.workspaceId}`,
      dataplanes: (p: Project) => database.sql()`
        update dataplanes set archived_at = now() where dataplane_id = ${p.dataplaneId}`,
      organizations: (p: Project) => database.sql()`
        update organizations set archived_at = now() where org_id = ${p.orgId}`,
    };

    for (const archiveScope of Object.values(archive)) {
      const other = await givenAProject(database);
      const { secret } = await keys.create(aKey({ projectId: other.projectId }));
      await archiveScope(other);
      await expect(keys.authenticate(bearer(secret))).rejects.toEqual(notFound);
    }
  });

  test("stores nothing from which a key could be read", async () => {
    const keys = aServer();
    const { keyId, secret } = await keys.create(aKey());

    const [row] = await testDatabase.database.sql()<{ text: string }[]>`
      select api_keys::text as text from api_keys where key_id = ${keyId}`;

    expect(row?.text).not.toContain(secret.slice("hh_".length + 4));
  });
});

describe("revoke", () => {
  test("ends a key at once on the same server", async () => {
    const keys = aServer();
    const { keyId, secret } = await keys.create(aKey());
    await keys.authenticate(bearer(secret));

    await keys.revoke(keyId, "test");

    await expect(keys.authenticate(bearer(secret))).rejects.toEqual(notFound);
  });

  test("ends a key on another server by notification", async () => {
    const [here, there] = [aServer(), aServer()];
    there.follow();
    const { keyId, secret } = await here.create(aKey());
    await there.authenticate(bearer(secret));

    await here.revoke(keyId, "test");

    // The clock stands still, so age cannot be what ends it.
    await vi.waitFor(() => expect(there.authenticate(bearer(secret))).rejects.toEqual(notFound), {
      timeout: 5_000,
    });
  });

  test("ends a key by age on a server that heard nothing, and not before", async () => {
    let nowMs = 0;
    const [here, there] = [aServer(), aServer({ cacheAgeMs: 1_000, now: () => nowMs })];
    const { keyId, secret } = await here.create(aKey());
    await there.authenticate(bearer(secret));
    await here.revoke(keyId, "test");

    nowMs = 999;
    const remembered = await there.authenticate(bearer(secret));
    nowMs = 1_000;

    expect(remembered.actor.id).toBe(keyId);
    await expect(there.authenticate(bearer(secret))).rejects.toEqual(notFound);
  });

  test("answers NOT_FOUND for a key that is absent, revoked before, or no id", async () => {
    const keys = aServer();
    const { keyId } = await keys.create(aKey());
    await keys.revoke(keyId, "test");

    await expect(keys.revoke(keyId, "test")).rejects.toEqual(notFound);
    await expect(keys.revoke("no id", "test")).rejects.toEqual(notFound);
  });

  test("leaves the key in the list, with who revoked it", async () => {
    const keys = aServer();
    const { keyId } = await keys.create(aKey({ name: "for the list" }));

    await keys.revoke(keyId, "somebody");

    const listed = await keys.list(project.projectId);
    expect(listed.find((key) => key.keyId === keyId)).toMatchObject({
      name: "for the list",
      maskedPrefix: expect.stringMatching(/^hh_[A-Za-z0-9]{4}…$/) as string,
      createdBy: "test",
      revokedBy: "somebody",
      revokedAt: expect.any(Date) as Date,
    });
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
    const { keyId, secret } = await keys.create(aKey());
    await keys.authenticate(bearer(secret));
    await keys.database.close();

    const remembered = await keys.authenticate(bearer(secret));
    nowMs = 1_000;

    expect(remembered.actor.id).toBe(keyId);
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
