// Every way to tamper with the audit log by SQL is found, with the number of the row; and pages of
// the log. Source: docs/audit.md.

import { createHash } from "node:crypto";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Audit, createAudit } from "../../../src/access/audit/audit.ts";
import type { ChainReport } from "../../../src/access/audit/verify.ts";
import type { Scope } from "../../../src/access/scope.ts";
import { createUuid } from "../../../src/base/ids.ts";
import type { Database, Sql } from "../../../src/postgres/database.ts";
import { givenTestDatabase } from "../../support/database.ts";

const testDatabase = givenTestDatabase();
let database: Database;
let audit: Audit;
let orgId: string;

const rowsPerChain = 5;

beforeAll(async () => {
  database = testDatabase.database;
  audit = createAudit(database);
});

beforeEach(async () => {
  await database.sql()`truncate audit_log, audit_heads`;
  orgId = await givenAChain(rowsPerChain);
});

async function givenAChain(length: number, after: Record<string, unknown> = {}): Promise<string> {
  const id = createUuid();
  const scope: Scope = { level: "org", id, name: "acme", orgId: id };
  await database.transaction(async () => {
    for (let number = 1; number <= length; number += 1) {
      await audit.append({
        actor: { type: "key", id: "k", name: `key ${number}` },
        scope,
        action: "workspace.rename",
        target: { type: "workspace", id: `w-${number}` },
        before: { name: `was ${number}` },
        after: { name: `is "${number}" 🐝`, ...after },
      });
    }
  });
  return id;
}

async function verify(chain?: string): Promise<ChainReport[]> {
  return Array.fromAsync(audit.verify(chain));
}

async function faultOf(chain: string) {
  const [report] = await verify(chain);
  return report?.fault;
}

type Tampering = {
  readonly name: string;
  readonly tamper: (sql: Sql, orgId: string) => PromiseLike<unknown>;
  readonly want: number;
  readonly what: string;
};

/** One entry per column: the value that the middle row gets. */
const columns: readonly (readonly [column: string, value: string])[] = [
  ["at", "at + interval '1 microsecond'"],
  ["at", "at - interval '4052 years'"],
  ["at", "'infinity'"],
  ["actor_type", "'user'"],
  ["actor_id", "'k '"],
  ["actor_name", "'key 4'"],
  ["action", "'workspace.archive'"],
  ["scope_level", "'system'"],
  ["scope_id", "gen_random_uuid()"],
  ["target_type", "'project'"],
  ["target_id", "'w-4'"],
  ["before", "null"],
  ["before", "after"],
  ["after", "(after::text || ' ')::json"],
  ["after", "'null'"],
  ["hash", "sha256(hash)"],
];

const tamperings: readonly Tampering[] = [
  ...columns.map(([column, value]) => ({
    name: `${column} set to ${value}`,
    tamper: (sql: Sql, id: string) =>
      sql.unsafe(
        `update audit_log set ${column} = ${value} where org_id = '${id}' and sequence = 3`,
      ),
    want: 3,
    what: "was changed",
  })),
  {
    name: "previous_hash changed",
    tamper: (sql, id) =>
      sql`update audit_log set previous_hash = hash where org_id = ${id} and sequence = 3`,
    want: 3,
    what: "does not carry the hash of the row before",
  },
  {
    name: "sequence changed",
    tamper: (sql, id) =>
      sql`update audit_log set sequence = -3 where org_id = ${id} and sequence = 3`,
    want: -3,
    what: "stands before the first",
  },
  {
    name: "text moved from one column to the next",
    tamper: (sql, id) =>
      sql`
        update audit_log set actor_id = actor_id || actor_name, actor_name = ''
        where org_id = ${id} and sequence = 3`,
    want: 3,
    what: "was changed",
  },
  {
    name: "a row deleted",
    tamper: (sql, id) => sql`delete from audit_log where org_id = ${id} and sequence = 2`,
    want: 2,
    what: "is missing",
  },
  {
    name: "a row moved to another chain",
    tamper: (sql, id) =>
      sql`update audit_log set org_id = gen_random_uuid() where org_id = ${id} and sequence = 2`,
    want: 2,
    what: "is missing",
  },
  {
    name: "the tail deleted",
    tamper: (sql, id) => sql`delete from audit_log where org_id = ${id} and sequence > 3`,
    want: 4,
    what: "is missing, and every row after it: the chain ends at 5",
  },
  {
    name: "everything deleted",
    tamper: (sql, id) => sql`delete from audit_log where org_id = ${id}`,
    want: 1,
    what: "is missing, and every row after it",
  },
  {
    name: "a row deleted and the others moved up",
    async tamper(sql, id) {
      await sql`delete from audit_log where org_id = ${id} and sequence = 2`;
      await sql`
        update audit_log set sequence = sequence - 1 where org_id = ${id} and sequence > 2`;
    },
    want: 2,
    what: "does not carry the hash of the row before",
  },
  {
    name: "two rows swapped",
    async tamper(sql, id) {
      await sql`update audit_log set sequence = 99 where org_id = ${id} and sequence = 2`;
      await sql`update audit_log set sequence = 2 where org_id = ${id} and sequence = 3`;
      await sql`update audit_log set sequence = 3 where org_id = ${id} and sequence = 99`;
    },
    want: 2,
    what: "does not carry the hash of the row before",
  },
  {
    name: "a row added at the end",
    tamper: (sql, id) =>
      sql`
        insert into audit_log
        select
          org_id, 6, at, actor_type, actor_id, actor_name, action, scope_level, scope_id,
          target_type, target_id, before, after, hash, sha256(hash)
        from audit_log where org_id = ${id} and sequence = 5`,
    want: 6,
    what: "stands beyond the chain's end, which is 5",
  },
  {
    name: "the chain's end set back",
    tamper: (sql, id) => sql`update audit_heads set sequence = 4 where org_id = ${id}`,
    want: 4,
    what: "does not have the hash that the chain's end carries",
  },
  {
    name: "the chain's end deleted",
    tamper: (sql, id) => sql`delete from audit_heads where org_id = ${id}`,
    want: 1,
    what: "stands beyond the chain's end, which is 0",
  },
];

describe("verify", () => {
  test("finds nothing in chains as they were written, each told on its own", async () => {
    const other = await givenAChain(2);

    const reports = await verify();

    expect(reports.map(({ orgId: id, rows, fault }) => ({ id, rows, fault }))).toEqual(
      [
        { id: orgId, rows: rowsPerChain, fault: undefined },
        { id: other, rows: 2, fault: undefined },
      ].toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    );
  });

  test.each(tamperings)("finds $name", async ({ tamper, want, what }) => {
    await database.transaction(async (sql) => tamper(sql, orgId));

    expect(await faultOf(orgId)).toMatchObject({
      sequence: want,
      what: expect.stringContaining(what) as string,
    });
  });

  test("tells of an organization whose chain was removed as a whole", async () => {
    await database.sql()`insert into organizations (org_id, name) values (${orgId}, 'acme')`;
    await database.sql()`truncate audit_log, audit_heads`;

    const reports = await verify();

    expect(reports).toMatchObject([{ orgId, name: "acme", rows: 0 }]);
    expect(await audit.findChain(orgId)).toBe(orgId);
    expect(await audit.findChain(createUuid())).toBeUndefined();
    await database.sql()`delete from organizations where org_id = ${orgId}`;
  });

  test("finds a row of another chain put into this one", async () => {
    const other = await givenAChain(3);
    await database.sql()`update audit_log set org_id = ${orgId}, sequence = 6
      where org_id = ${other} and sequence = 3`;

    expect((await verify()).map(({ fault }) => fault?.sequence).toSorted()).toEqual([3, 6]);
  });

  test("looks at every column of the table", async () => {
    const rows = await database.sql()<{ name: string }[]>`
      select column_name as name from information_schema.columns
      where table_name = 'audit_log'`;
    const tried = new Set([...columns.map(([column]) => column)]);
    // These three have rows of their own in the table above.
    const others = ["org_id", "sequence", "previous_hash"];

    expect(rows.map(({ name }) => name).toSorted()).toEqual([...tried, ...others].toSorted());
  });

  test("walks a chain of more than a page", { timeout: 90_000 }, async () => {
    const long = await givenAChain(1_001);

    expect(await verify(long)).toMatchObject([{ rows: 1_001, fault: undefined }]);
  });

  test("walks a chain of large rows", async () => {
    const large = await givenAChain(5, { text: "x".repeat(5_000_000) });

    expect(await verify(large)).toMatchObject([{ rows: 5, fault: undefined }]);
  });

  test("goes by the documented form alone", async () => {
    const [row] = await database.sql()<Record<string, unknown>[]>`
      select org_id, sequence,
        to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at,
        actor_type, actor_id, actor_name, action, scope_level, scope_id, target_type, target_id,
        before::text, after::text, previous_hash, hash
      from audit_log where org_id = ${orgId} and sequence = 2`;
    const { previous_hash: previousHash, hash, ...hashed } = row ?? {};
    const text = JSON.stringify(Object.values(hashed));

    const got = createHash("sha256").update(previousHash as Buffer);

    expect(got.update(text, "utf8").digest("hex")).toBe((hash as Buffer).toString("hex"));
  });
});

describe("list", () => {
  test("pages from the newest to the oldest without a gap or a double", async () => {
    const sequences: number[] = [];
    let cursor: string | undefined;
    for (let pages = 0; pages < 5; pages += 1) {
      const page = await audit.list(orgId, { limit: 2, cursor });
      sequences.push(...page.items.map(({ sequence }) => sequence));
      cursor = page.nextCursor;
      if (cursor === undefined) break;
    }

    expect(sequences).toEqual([5, 4, 3, 2, 1]);
    expect(cursor).toBeUndefined();
  });

  test("answers whole entries", async () => {
    const { items: entries } = await audit.list(orgId, {});

    expect(entries[0]).toMatchObject({
      orgId,
      sequence: 5,
      actorType: "key",
      actorId: "k",
      actorName: "key 5",
      action: "workspace.rename",
      scopeLevel: "org",
      scopeId: orgId,
      targetType: "workspace",
      targetId: "w-5",
      before: { name: "was 5" },
      after: { name: 'is "5" 🐝' },
      previousHash: entries[1]?.hash,
    });
    expect(Math.abs(Date.parse(entries[0]?.at ?? "") - Date.now())).toBeLessThan(60_000);
  });

  test("ends a page of large rows early, and goes on after it", async () => {
    const large = await givenAChain(5, { text: "x".repeat(5_000_000) });
    const first = await audit.list(large, {});
    const second = await audit.list(large, { cursor: first.nextCursor });

    expect(first.items.map(({ sequence }) => sequence)).toEqual([5, 4, 3, 2]);
    expect(second.items.map(({ sequence }) => sequence)).toEqual([1]);
  });

  test.each(["", "x", "MA", "LTE", "OTk5OTk5OTk5OTk5OTk5OTk5"])(
    "refuses the cursor %j by its name",
    async (cursor) => {
      const reason = "INVALID_ARGUMENT";

      await expect(audit.list(orgId, { cursor })).rejects.toMatchObject({
        reason,
        message: expect.stringContaining("cursor: ") as string,
      });
    },
  );
});
