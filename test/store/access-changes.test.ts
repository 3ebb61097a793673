// The log of access changes on a real Postgres: callers that servers forget, and how far each
// server has read, also when notifications and Postgres itself fail.

import { afterAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { everything } from "../../src/access/caller-memory.ts";
import { createAccessChanges } from "../../src/access/changes/changes.ts";
import type { AccessChanges, AccessChangesOptions } from "../../src/access/changes/changes.ts";
import { type Database, openDatabase } from "../../src/postgres/database.ts";
import { createTestDatabase, cutListeners, type TestDatabase } from "../support/database.ts";
import { patience } from "../support/patience.ts";

const databases: TestDatabase[] = [];
let testDatabase: TestDatabase;

beforeEach(async () => {
  testDatabase = await createTestDatabase();
  databases.push(testDatabase);
});

afterAll(async () => {
  await Promise.all(databases.map((own) => own.drop()));
});

type Server = AccessChanges & {
  readonly database: Database;
  readonly forgotten: readonly string[];
};

/** A server with a pool of its own; it polls every 20 ms unless a test says otherwise. */
function aServer(options: Partial<AccessChangesOptions> = {}): Server {
  const database = openDatabase({ url: testDatabase.url, connectionsMax: 2 });
  const changes = createAccessChanges({ database, pollMs: 20, ...options });
  const forgotten: string[] = [];
  changes.onForget((subject) => forgotten.push(subject));
  onTestFinished(async () => {
    await changes.stop();
    await database.close();
  });
  return { ...changes, database, forgotten };
}

/** Never polls again after its first look. */
const aMinute = { pollMs: 60_000 };

/** Hears no notification, as when a proxy swallows them. */
function deaf(database: Database): Database {
  return { ...database, listen: () => undefined };
}

async function givenAFollower(options: Partial<AccessChangesOptions> = {}): Promise<Server> {
  const server = aServer(options);
  server.follow();
  await vi.waitFor(() => expect(server.forgotten).toContain(everything), patience);
  return server;
}

function append(server: Server, subject: string): Promise<number> {
  return server.database.transaction(() => server.append(subject));
}

type Row = { readonly changeId: number; readonly seenAgeMs: number };

async function serverRows(): Promise<readonly Row[]> {
  return testDatabase.database.sql()<Row[]>`
    select
      change_id as "changeId",
      (extract(epoch from now() - seen_at) * 1000)::double precision as "seenAgeMs"
    from servers`;
}

describe("append", () => {
  test("tells this server when the transaction commits, and not before", async () => {
    const here = aServer();

    await here.database.transaction(async () => {
      await here.append("aa");
      expect(here.forgotten).toEqual([]);
    });

    expect(here.forgotten).toEqual(["aa"]);
  });

  test("tells nobody when the transaction is undone", async () => {
    const [here, there] = [aServer(), await givenAFollower()];

    const undone = here.database.transaction(async () => {
      await here.append("aa");
      throw new Error("undone");
    });
    await expect(undone).rejects.toThrow("undone");
    await append(here, "bb");
    await vi.waitFor(() => expect(there.forgotten).toContain("bb"), patience);

    expect(here.forgotten).toEqual(["bb"]);
    expect(there.forgotten).not.toContain("aa");
  });

  test("outside a transaction is a bug", async () => {
    await expect(aServer().append("aa")).rejects.toThrow("outside a transaction");
  });

  test("never commits a higher number before a lower one", async () => {
    const [one, other] = [aServer(), aServer()];
    const isAppended = Promise.withResolvers<number>();
    const release = Promise.withResolvers<undefined>();
    const slow = one.database.transaction(async () => {
      isAppended.resolve(await one.append("aa"));
      await release.promise;
    });
    const first = await isAppended.promise;
    let second: number | undefined;
    const quick = append(other, "bb").then((changeId) => (second = changeId));
    await vi.waitFor(async () => {
      const waiting = await testDatabase.database.sql()`
        select 1
        from pg_locks
        where locktype = 'advisory' and not granted
          and database = (select oid from pg_database where datname = current_database())`;
      expect(waiting).toHaveLength(1);
    }, patience);

    const whileWaiting = second;
    release.resolve(undefined);
    await Promise.all([slow, quick]);

    expect(whileWaiting).toBeUndefined();
    expect(second).toBeGreaterThan(first);
  });
});

describe("follow", () => {
  test("hears of a change by notification", async () => {
    const there = await givenAFollower(aMinute);

    await vi.waitFor(async () => {
      await append(aServer(), "aa");
      expect(there.forgotten).toContain("aa");
    }, patience);
  });

  test("reads a change whose notification was lost", async () => {
    const own = openDatabase({ url: testDatabase.url, connectionsMax: 2 });
    onTestFinished(() => own.close());
    const there = await givenAFollower({ database: deaf(own) });

    await append(aServer(), "aa");

    await vi.waitFor(() => expect(there.forgotten).toContain("aa"), patience);
    expect(there.forgotten.filter((subject) => subject === "aa")).toHaveLength(1);
  });

  test("reads what was appended while its listening connection was cut", async () => {
    const there = await givenAFollower(aMinute);
    const here = aServer();
    await vi.waitFor(
      async () => expect(await cutListeners(testDatabase.database)).toBe(1),
      patience,
    );

    await append(here, "aa");

    await vi.waitFor(() => expect(there.forgotten).toContain("aa"), patience);
    await vi.waitFor(async () => {
      await append(here, "bb");
      expect(there.forgotten).toContain("bb");
    }, patience);
  });

  test("forgets everything at its first look, when lookups may be under way", async () => {
    await append(aServer(), "aa");

    const there = await givenAFollower();

    expect(there.forgotten).toEqual([everything]);
  });

  test("forgets everything when changes that it has not read were swept", async () => {
    const { database } = testDatabase;
    const there = await givenAFollower();
    await database.transaction(async (sql) => {
      await sql`insert into access_changes (subject) values ('aa'), ('bb'), ('cc')`;
      await sql`delete from access_changes where subject <> 'cc'`;
    });

    await vi.waitFor(() => expect(there.forgotten).toEqual([everything, everything]), patience);
  });

  test("forgets everything when it is far behind, rather than read it all", async () => {
    const { database } = testDatabase;
    const there = await givenAFollower();

    await database.sql()`
      insert into access_changes (subject) select 'aa' from generate_series(1, 1500)`;

    await vi.waitFor(() => expect(there.forgotten).toEqual([everything, everything]), patience);
    const [row] = await serverRows();
    expect(row?.changeId).toBeLessThanOrEqual(1_500);
    await vi.waitFor(async () => expect((await serverRows())[0]?.changeId).toBe(1_500), patience);
  });

  test("forgets everything when the database was put back to an earlier state", async () => {
    const { database } = testDatabase;
    const here = aServer();
    const there = await givenAFollower();
    await append(here, "aa");
    await vi.waitFor(() => expect(there.forgotten).toContain("aa"), patience);

    await database.sql()`delete from access_changes`;

    await vi.waitFor(() => expect(there.forgotten.at(-1)).toBe(everything), patience);
  });

  test("goes on when Postgres is back, and has said once that it was away", async () => {
    const warnings: string[] = [];
    let isAway = false;
    const own = openDatabase({ url: testDatabase.url, connectionsMax: 2 });
    onTestFinished(() => own.close());
    const database: Database = {
      ...deaf(own),
      sql() {
        if (isAway) throw Object.assign(new Error("away"), { code: "ECONNREFUSED" });
        return own.sql();
      },
    };
    const logger = { warn: (_: unknown, text?: string) => warnings.push(text ?? "") };
    const there = await givenAFollower({ database, logger: logger as never });

    isAway = true;
    await vi.waitFor(() => expect(warnings).toHaveLength(1), patience);
    await append(aServer(), "aa");
    const whileAway = [...there.forgotten];
    isAway = false;

    expect(whileAway).toEqual([everything]);
    await vi.waitFor(() => expect(there.forgotten).toContain("aa"), patience);
    expect(warnings).toEqual(["access changes cannot be followed now"]);
  });

  test("sweeps old changes but the newest, and servers that are long dead", async () => {
    const { database } = testDatabase;
    await database.sql()`
      insert into access_changes (subject, changed_at)
      select 'aa', now() - interval '2 hours' from generate_series(1, 5)`;
    await database.sql()`
      insert into servers (server_id, name, seen_at, change_id)
      values (gen_random_uuid(), 'dead', now() - interval '2 hours', 1)`;

    await givenAFollower({ sweepMs: 0 });

    await vi.waitFor(async () => {
      const left = await database.sql()`select change_id from access_changes`;
      expect(left).toHaveLength(1);
      expect(await serverRows()).toHaveLength(1);
    }, patience);
  });

  test("takes the server off the register at its end, and tells nothing more", async () => {
    const there = await givenAFollower();
    await vi.waitFor(async () => expect(await serverRows()).toHaveLength(1), patience);

    await there.stop();
    await append(aServer(), "aa");

    expect(await serverRows()).toEqual([]);
    expect(there.forgotten).not.toContain("aa");
  });
});

describe("confirmedBy", () => {
  test("counts the servers that live and those that have read the change", async () => {
    const here = await givenAFollower();
    await givenAFollower();
    await insertServer({ seenSecondsAgo: 10, changeId: 0 });

    const changeId = await append(here, "aa");

    await vi.waitFor(async () => {
      expect(await here.confirmedBy(changeId)).toEqual({ live: 3, confirmed: 2 });
    }, patience);
  });

  test("leaves out a server that was not seen for longer than a memory lasts", async () => {
    const here = aServer();
    await insertServer({ seenSecondsAgo: 3_600, changeId: 0 });

    const changeId = await append(here, "aa");

    expect(await here.confirmedBy(changeId)).toEqual({ live: 0, confirmed: 0 });
  });

  test.each(["is older than a memory lasts", "was swept"])(
    "takes all servers to have forgotten when the change %s",
    async (what) => {
      const here = aServer();
      await insertServer({ seenSecondsAgo: 1, changeId: 0 });
      const changeId = await append(here, "aa");
      const before = await here.confirmedBy(changeId);

      const sql = testDatabase.database.sql();
      if (what === "was swept") await sql`delete from access_changes`;
      else await sql`update access_changes set changed_at = now() - interval '2 minutes'`;

      expect(before).toEqual({ live: 1, confirmed: 0 });
      expect(await here.confirmedBy(changeId)).toEqual({ live: 1, confirmed: 1 });
    },
  );

  async function insertServer({
    seenSecondsAgo,
    changeId,
  }: {
    seenSecondsAgo: number;
    changeId: number;
  }): Promise<void> {
    await testDatabase.database.sql()`
      insert into servers (server_id, name, seen_at, change_id)
      values (
        gen_random_uuid(), 'other', now() - ${seenSecondsAgo} * interval '1 second', ${changeId}
      )`;
  }
});
