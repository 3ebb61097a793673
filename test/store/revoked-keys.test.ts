// Revocation of a key together with the keys that it created, on a real database: its reach, its
// audit rows, and keys that are created at the same moment.

import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { createAudit } from "../../src/access/audit/audit.ts";
import type { CreatedKey, Keys } from "../../src/access/keys/keys.ts";
import type { KeyPrincipal } from "../../src/access/principal.ts";
import { createUuid } from "../../src/base/ids.ts";
import { createLocalKeys, findOperator } from "../../src/commands/local-access.ts";
import type { LocalProject } from "../../src/controlplane/projects/local-projects.ts";
import { type Database, openDatabase } from "../../src/postgres/database.ts";
import { createTestDatabase, givenTestDatabase } from "../support/database.ts";
import { givenAKey, scopeOfOrg, scopeOfProject } from "../support/keys.ts";
import { givenAProject } from "../support/project.ts";
import { aUserPrincipal } from "../support/controlplane.ts";
import { patience } from "../support/patience.ts";

const testDatabase = givenTestDatabase();
let database: Database;
let project: LocalProject;
let keys: Keys;

beforeAll(async () => {
  database = testDatabase.database;
  project = await givenAProject(database);
  keys = createLocalKeys(database);
});

const migrationPath = new URL(
  "../../src/postgres/migrations/0017_add_key_creators.sql",
  import.meta.url,
);

const operator = findOperator();
const expiresAt = new Date(Date.now() + 600_000);

/** A data plane key of the organization that a person made. */
function aMaker(): Promise<CreatedKey> {
  const root = scopeOfOrg(project);
  return givenAKey(database, project, { kind: "data_plane", root, permissions: ["*"], expiresAt });
}

async function principalOf({ secret }: CreatedKey): Promise<KeyPrincipal> {
  return keys.authenticate(`Bearer ${secret}`);
}

/** A key of the project that another key creates. */
async function aKeyOf(maker: CreatedKey, on: Keys = keys): Promise<CreatedKey> {
  const creator = await principalOf(maker);
  return on.create({ kind: "ingestion", root: scopeOfProject(project), name: "made", creator });
}

async function statusOf({ key }: CreatedKey): Promise<string> {
  return (await keys.get(key.id, {})).status;
}

const count = async (query: "changes" | "entries"): Promise<number> => {
  const sql = database.sql();
  const [row] =
    query === "changes"
      ? await sql<{ count: number }[]>`select count(*)::integer as count from access_changes`
      : await sql<{ count: number }[]>`select count(*)::integer as count from outbox`;
  return row?.count ?? 0;
};

describe("a created key", () => {
  test("tells which key created it, and one that a person made tells none", async () => {
    const maker = await aMaker();

    const made = await aKeyOf(maker);

    expect([maker.key.createdByKeyId, made.key.createdByKeyId]).toEqual([null, maker.key.id]);
  });

  test("of an earlier release gets its creator from the text by the migration", async () => {
    const own = await createTestDatabase();
    try {
      const other = await givenAProject(own.database);
      const [one, two] = [
        await givenAKey(own.database, other, { kind: "project" }),
        await givenAKey(own.database, other, { kind: "project" }),
      ];
      const maker = createUuid();
      await own.database.sql()`
        update api_keys set created_by = ${`key a (b) (${maker})`}, created_by_key = true
        where key_id = ${one.key.id}`;
      await own.database.sql()`
        update api_keys set created_by = ${`ada (${maker})`} where key_id = ${two.key.id}`;
      await own.database.sql()`drop index api_keys_revocation_idx`;
      await own.database.sql()`alter table api_keys drop column created_by_key_id`;

      await own.database.sql().unsafe(await readFile(migrationPath, "utf8"));

      const local = createLocalKeys(own.database);
      const creatorOf = async ({ key }: CreatedKey) => (await local.get(key.id, {})).createdByKeyId;
      expect([await creatorOf(one), await creatorOf(two)]).toEqual([maker, null]);
    } finally {
      await own.drop();
    }
  });
});

describe("revokeWithCreated", () => {
  test("ends the key and all that it created, and nothing else", async () => {
    const [maker, other] = [await aMaker(), await aMaker()];
    const made = [await aKeyOf(maker), await aKeyOf(maker)];
    const kept = await aKeyOf(other);

    const result = await keys.revokeWithCreated(maker.key.id, {}, operator);

    expect(result).toMatchObject({ createdCount: 2, key: { status: "revoked" } });
    const statuses = await Promise.all([maker, ...made, other, kept].map(statusOf));
    expect(statuses).toEqual(["revoked", "revoked", "revoked", "active", "active"]);
    await expect(principalOf(made[0] as CreatedKey)).rejects.toMatchObject({
      reason: "NOT_FOUND",
    });
  });

  test("goes through keys that created keys, revoked ones too, and a circle", async () => {
    const maker = await aMaker();
    const [first, second, third] = [await aMaker(), await aMaker(), await aMaker()];
    const chain = [maker, first, second, third, maker];
    for (const [index, { key }] of chain.entries()) {
      const by = chain[index - 1];
      // No release makes such keys: those of a key create none.
      if (by) {
        await database.sql()`
          update api_keys set created_by_key_id = ${by.key.id} where key_id = ${key.id}`;
      }
    }
    await keys.revoke(first.key.id, {}, operator.actor);

    const { createdCount } = await keys.revokeWithCreated(maker.key.id, {}, operator);

    expect(createdCount).toBe(2);
    expect(await Promise.all([second, third].map(statusOf))).toEqual(["revoked", "revoked"]);
  });

  test("writes a row for each key, tells the servers once and starts one workflow", async () => {
    const maker = await aMaker();
    const made = [await aKeyOf(maker), await aKeyOf(maker)];
    const [changesBefore, entriesBefore] = [await count("changes"), await count("entries")];

    await keys.revokeWithCreated(maker.key.id, {}, operator);

    const rows = await database.sql()<{ id: string; after: Record<string, unknown> }[]>`
      select target_id as id, after from audit_log
      where action = 'api_key.revoke'
        and target_id = any(${[maker, ...made].map(({ key }) => key.id)})
      order by sequence`;
    expect(rows.map(({ id }) => id).toSorted()).toEqual(
      [maker, ...made].map(({ key }) => key.id).toSorted(),
    );
    const withKey = rows.map(({ after }) => after["with_key"]);
    expect(withKey).toEqual([undefined, maker.key.id, maker.key.id]);
    expect((await count("changes")) - changesBefore).toBe(3);
    expect((await count("entries")) - entriesBefore).toBe(1);
  });

  test("writes down thousands of keys in few statements", async () => {
    const maker = await aMaker();
    await database.sql()`
      insert into api_keys (
        key_id, key_hash, kind, name, masked_prefix, created_by, project_id, created_by_key_id)
      select
        gen_random_uuid(), sha256(format('%s %s', ${maker.key.id}::text, number)::bytea),
        'ingestion', 'made', 'hh_', 'test', ${project.projectId}, ${maker.key.id}
      from generate_series(1, 2500) as number`;

    const [result, updates] = await database.transaction(async (sql) => {
      const revoked = await keys.revokeWithCreated(maker.key.id, {}, operator);
      // Each statement moves the end of the chain. Some from before the transaction may count too.
      const [row] = await sql<{ updates: number }[]>`
        select pg_stat_get_xact_tuples_updated('audit_heads'::regclass) as updates`;
      return [revoked, row?.updates];
    });

    expect(result.createdCount).toBe(2_500);
    expect(updates).toBeLessThan(100);
    const [report] = await Array.fromAsync(createAudit(database).verify(project.orgId));
    expect(report?.fault).toBeUndefined();
    expect(report?.rows).toBeGreaterThan(2_500);
  });

  test("is confirmed for all of its keys together", async () => {
    const maker = await aMaker();
    const made = await aKeyOf(maker);
    await keys.revokeWithCreated(maker.key.id, {}, operator);
    const isConfirmed = async ({ key }: CreatedKey) =>
      (await keys.get(key.id, {})).revocationConfirmedAt !== null;
    const other = await aMaker();
    await keys.revoke(other.key.id, {}, operator.actor);

    await keys.recordConfirmation(maker.key.id);

    const confirmed = await Promise.all([maker, made, other].map(isConfirmed));
    expect(confirmed).toEqual([true, true, false]);
  });

  test("of a key that was revoked before ends what it created", async () => {
    const maker = await aMaker();
    const made = await aKeyOf(maker);
    await keys.revoke(maker.key.id, {}, operator.actor);
    const { revokedAt } = await keys.get(maker.key.id, {});

    const { key, createdCount } = await keys.revokeWithCreated(maker.key.id, {}, operator);
    const again = keys.revokeWithCreated(maker.key.id, {}, operator);

    expect({ createdCount, revokedAt: key.revokedAt }).toEqual({ createdCount: 1, revokedAt });
    expect(await statusOf(made)).toBe("revoked");
    await expect(again).rejects.toMatchObject({ reason: "KEY_REVOKED" });
  });

  test("is refused to who may not revoke a created key, and then ends none", async () => {
    const maker = await aMaker();
    const made = await aKeyOf(maker);
    const grant = (...permissions: readonly string[]) =>
      aUserPrincipal([{ level: "org", scopeId: project.orgId, permissions }]);
    const revokeAs = (user: ReturnType<typeof grant>) =>
      keys.revokeWithCreated(maker.key.id, {}, user);

    const refused = revokeAs(grant("org.fine_grained_api_key_dp.*"));

    await expect(refused).rejects.toMatchObject({
      reason: "PERMISSION_NOT_HELD",
      message: expect.stringContaining("need project.ingestion_api_key.delete") as string,
    });
    expect(await Promise.all([maker, made].map(statusOf))).toEqual(["active", "active"]);
    const allowed = await revokeAs(grant("project.ingestion_api_key.delete"));
    expect(allowed.createdCount).toBe(1);
  });

  test("fails with NOT_FOUND where there is no key", async () => {
    for (const id of [createUuid(), "no id"]) {
      await expect(keys.revokeWithCreated(id, {}, operator)).rejects.toMatchObject({
        reason: "NOT_FOUND",
      });
    }
  });
});

describe("a key that is revoked while it creates one", () => {
  test("takes the new key with it", async () => {
    const maker = await aMaker();
    const elsewhere = openDatabase({ url: testDatabase.url });
    let revoking: ReturnType<Keys["revokeWithCreated"]> | undefined;
    try {
      const made = await elsewhere.transaction(async () => {
        const created = await aKeyOf(maker, createLocalKeys(elsewhere));
        revoking = keys.revokeWithCreated(maker.key.id, {}, operator);
        await vi.waitUntil(isLockAwaited, patience);
        return created;
      });

      expect(await revoking).toMatchObject({ createdCount: 1 });
      expect(await statusOf(made)).toBe("revoked");
    } finally {
      await elsewhere.close();
    }
  });

  test("creates none any more, though another server still takes it for good", async () => {
    const maker = await aMaker();
    const creator = await principalOf(maker);
    await keys.revokeWithCreated(maker.key.id, {}, operator);

    const creating = keys.create({
      kind: "ingestion",
      root: scopeOfProject(project),
      name: "late",
      creator,
    });

    await expect(creating).rejects.toMatchObject({ reason: "NOT_FOUND" });
  });

  async function isLockAwaited(): Promise<boolean> {
    const [row] = await database.sql()<{ isAwaited: boolean }[]>`
      select exists (select 1 from pg_locks where not granted) as "isAwaited"`;
    return row?.isAwaited ?? false;
  }
});
