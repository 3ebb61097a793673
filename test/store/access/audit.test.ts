// The audit log's chain: the row of each change, and detection of every way to tamper with it.

import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Audit, type Change, createAudit } from "../../../src/access/audit/audit.ts";
import { type Scope, systemScope } from "../../../src/access/scope.ts";
import { createUuid } from "../../../src/base/ids.ts";
import type { Database } from "../../../src/postgres/database.ts";
import { givenTestDatabase } from "../../support/database.ts";

const testDatabase = givenTestDatabase();
let database: Database;
let audit: Audit;
let scope: Scope;

beforeAll(async () => {
  database = testDatabase.database;
  audit = createAudit(database);
});

beforeEach(() => {
  const id = createUuid();
  scope = { level: "org", id, name: "acme", orgId: id };
});

const actor = { type: "user", id: "u-1", name: "ada@example.com" } as const;

function aChange(fields: Partial<Change> = {}): Change {
  return {
    actor,
    scope,
    action: "org.rename",
    target: { type: "org", id: scope.id },
    before: { name: "acme" },
    after: { name: "Acme" },
    ...fields,
  };
}

function append(change: Change): Promise<void> {
  return database.transaction(() => audit.append(change));
}

async function rowsOf(orgId: string) {
  return database.sql()<
    {
      sequence: number;
      actor_name: string;
      target_id: string;
      after: unknown;
      previous_hash: Buffer;
      hash: Buffer;
    }[]
  >`
    select sequence, actor_name, target_id, after, previous_hash, hash
    from audit_log where org_id = ${orgId} order by sequence`;
}

describe("append", () => {
  test("outside a transaction is a bug", async () => {
    await expect(audit.append(aChange())).rejects.toThrow("outside a transaction");
  });

  test("is undone with the change", async () => {
    const work = database.transaction(async () => {
      await audit.append(aChange());
      throw new Error("changed my mind");
    });

    await expect(work).rejects.toThrow("changed my mind");
    expect(await rowsOf(scope.id)).toEqual([]);
  });

  test("by many at once keeps the chain without a gap", async () => {
    const writers = Array.from({ length: 20 }, () => append(aChange()));
    const undone = Array.from({ length: 5 }, () =>
      database.transaction(async () => {
        await audit.append(aChange());
        throw new Error("undone");
      }),
    );
    await Promise.allSettled([...writers, ...undone]);

    const rows = await rowsOf(scope.id);

    expect(rows.map(({ sequence }) => sequence)).toEqual(rows.map((_, index) => index + 1));
    expect(rows).toHaveLength(20);
    const previous = rows.map(({ previous_hash }) => previous_hash.toString("hex"));
    const hashes = rows.map(({ hash }) => hash.toString("hex"));
    expect(previous).toEqual(["00".repeat(32), ...hashes.slice(0, -1)]);
  });

  test("refuses changes of two organizations at once, which have two chains", async () => {
    const changes = [aChange(), aChange({ scope: systemScope })];

    const got = database.transaction(() => audit.appendAll(changes));

    await expect(got).rejects.toThrow("changes of two chains at once");
    expect(await rowsOf(scope.id)).toEqual([]);
  });

  test("keeps chains of organizations apart, and one for what is above them", async () => {
    await append(aChange());
    await append(aChange({ scope: systemScope, action: "org.create" }));

    expect(await rowsOf(scope.id)).toHaveLength(1);
    expect(await rowsOf(systemScope.id)).toHaveLength(1);
  });

  test("takes text that Postgres refuses", async () => {
    const text = "a\0b\uD800";
    await append(
      aChange({
        actor: { ...actor, name: text },
        target: { type: "member", id: text },
        after: { [text]: text },
      }),
    );

    const [row] = await rowsOf(scope.id);

    expect(row).toMatchObject({
      actor_name: "a\uFFFDb\uFFFD",
      target_id: "a\uFFFDb\uFFFD",
      after: { [text]: text },
    });
  });
});
