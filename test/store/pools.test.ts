// The pools of one database: what each is for, how long its statements may take, and that work on
// one waits for none of the others.

import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { inBackground } from "../../src/base/background.ts";
import { currentTenant } from "../../src/base/tenant.ts";
import { type Database, openDatabase, type Sql } from "../../src/postgres/database.ts";
import { isCanceled } from "../../src/postgres/faults.ts";
import { dividePools } from "../../src/postgres/pools.ts";
import { givenTestDatabase } from "../support/database.ts";
import { patience } from "../support/patience.ts";

const testDatabase = givenTestDatabase();
let database: Database;

beforeAll(async () => {
  database = openDatabase({ url: testDatabase.url, connectionsMax: 8 });
});

afterAll(() => database.close());

type Setting = { readonly timeout: string; readonly pid: number };

const setting = (sql: Sql) => sql<Setting[]>`
  select current_setting('statement_timeout') as timeout, pg_backend_pid() as pid`;

const number = (value: number) => (sql: Sql) =>
  sql<{ value: number }[]>`
  select ${value}::integer as value from pg_sleep(${value % 4} / 1000.0)`;

/** Holds every connection of a kind until the test ends. */
async function holdAll(count: number, begin: (work: () => Promise<void>) => Promise<unknown>) {
  const held = Promise.withResolvers<undefined>();
  onTestFinished(() => held.resolve(undefined));
  let begun = 0;
  for (let index = 0; index < count; index += 1) {
    void begin(async () => {
      begun += 1;
      await held.promise;
    });
  }
  while (begun < count) await delay(5);
}

test.each([
  { total: 3, callers: 1, commits: 1, reads: 1 },
  { total: 4, callers: 1, commits: 2, reads: 1 },
  { total: 12, callers: 3, commits: 5, reads: 4 },
  { total: 100, callers: 25, commits: 38, reads: 37 },
])("$total connections are divided", ({ total, ...want }) => {
  expect(dividePools(total)).toEqual(want);
});

describe("statements", () => {
  test("have the time of their pool", async () => {
    const [caller] = await setting(database.on("callers").sql());
    const [commit] = await database.transaction(setting);
    const [read] = await database.reader({ owner: "p" })(setting);
    const [selection] = await database.reader({ owner: "p", kind: "selections" })(setting);

    const got = [caller, commit, read, selection].map((row) => row?.timeout);
    expect(got).toEqual(["5s", "30s", "30s", "1min"]);
  });

  test("keep the time that a database was opened with", async () => {
    const own = openDatabase({ url: testDatabase.url, statementTimeoutMs: 1_234 });
    onTestFinished(() => own.close());

    const [read] = await own.reader({ owner: "p" })(setting);
    const [selection] = await own.reader({ owner: "p", kind: "selections" })(setting);

    expect([read?.timeout, selection?.timeout]).toEqual(["1234ms", "1234ms"]);
  });

  test("for callers wait for no commit and no read", async () => {
    const callers = database.on("callers");
    await holdAll(3, (work) => database.transaction(work));
    const reading = Array.from({ length: 3 }, (_, index) => {
      const leaving = new AbortController();
      onTestFinished(() => leaving.abort());
      const read = database.reader({ owner: `p${index}`, signal: leaving.signal });
      return read((sql) => sql`select pg_sleep(20)`).catch(() => undefined);
    });
    await holdAll(1, (work) => callers.transaction(work));

    const [row] = await setting(callers.sql());

    expect(row?.timeout).toBe("5s");
    expect(reading).toHaveLength(3);
  });

  test("inside a transaction are part of it, on whichever pool", async () => {
    const pids = await database.transaction(async (sql) => {
      const [own] = await setting(sql);
      const [read] = await database.reader({ owner: "p" })(setting);
      const [caller] = await setting(database.on("callers").sql());
      const [joined] = await database.on("callers").transaction(setting);
      return [own, read, caller, joined].map((row) => row?.pid);
    });

    expect(new Set(pids).size).toBe(1);
  });
});

describe("transactions", () => {
  test("of one owner leave a connection to the others", async () => {
    await holdAll(2, (work) => database.transaction(work, { owner: "flood" }));
    let isThirdIn = false;
    void database.transaction(
      async () => {
        isThirdIn = true;
      },
      { owner: "flood" },
    );

    const other = await database.transaction(setting, { owner: "other" });

    expect(other).toHaveLength(1);
    expect(isThirdIn).toBe(false);
  });
});

describe("transactions of one organization", () => {
  test.each([
    { pool: "commits", places: 3 },
    { pool: "callers", places: 2 },
  ] as const)("leave a connection for $pool to the others", async ({ pool, places }) => {
    // A quarter of these is for callers, and one of those for key lookups.
    const own = openDatabase({
      url: testDatabase.url,
      connectionsMax: pool === "commits" ? 8 : 12,
    });
    const view = own.on(pool);
    const as = (organization: string, owner: string, work: () => Promise<void>) =>
      currentTenant.run({ owner, organization }, () => view.transaction(work));
    const late: Promise<void>[] = [];
    onTestFinished(async () => {
      await Promise.all(late);
      await own.close();
    });
    let count = 0;
    await holdAll(places - 1, (work) => as("o", `p${(count += 1)}`, work));
    let isNextIn = false;
    late.push(as("o", "next", () => Promise.resolve(void (isNextIn = true))));

    await as("other", "q", () => Promise.resolve());

    expect(isNextIn).toBe(false);
  });
});

describe("background work", () => {
  function openBoth(): Database {
    const connections = { connectionsMax: 4, backgroundConnectionsMax: 2 };
    const own = openDatabase({ url: testDatabase.url, ...connections });
    onTestFinished(() => own.close());
    return own;
  }
  const pools = ["callers", "commits", "reads"] as const;
  const pidsOf = async (own: Database) => {
    const rows = await Promise.all([
      ...pools.map((name) => own.on(name).transaction(setting)),
      ...pools.map((name) => setting(own.on(name).sql())),
      own.inTurn(setting),
      own.reader({ owner: "p" })(setting),
    ]);
    return new Set(rows.flat().map(({ pid }) => pid));
  };

  test("shares no connection with requests, under any name of a pool", async () => {
    const own = openBoth();

    const ofRequests = await pidsOf(own);
    const ofBackground = await inBackground(() => pidsOf(own));

    expect([...ofRequests].filter((pid) => ofBackground.has(pid))).toEqual([]);
    expect(ofBackground.size).toBeLessThanOrEqual(2);
  });

  test("that holds all of its connections holds up no request, nor the other way", async () => {
    const own = openBoth();
    await inBackground(() => holdAll(1, (work) => own.transaction(work)));

    expect((await pidsOf(own)).size).toBeGreaterThan(0);

    await holdAll(2, (work) => own.transaction(work));
    await holdAll(1, (work) => own.on("callers").transaction(work));
    await expect(inBackground(() => own.reader({ owner: "p" })(setting))).resolves.toHaveLength(1);
  });

  test("joins the transaction around it", async () => {
    const own = openBoth();

    const pids = await own.transaction(async (sql) => {
      const [outer] = await setting(sql);
      const [inner] = await inBackground(() => own.transaction(setting));
      return [outer?.pid, inner?.pid];
    });

    expect(new Set(pids).size).toBe(1);
  });

  test("uses the connections of requests if it has none of its own", async () => {
    const [caller] = await inBackground(() => setting(database.on("callers").sql()));

    expect(caller?.timeout).toBe("5s");
  });
});

describe("reader", () => {
  test("gives a project half of the connections", async () => {
    const leaving = new AbortController();
    const slow = database.reader({ owner: "slow", signal: leaving.signal });
    const sleeping = Array.from({ length: 6 }, () => slow((sql) => sql`select pg_sleep(20)`));
    const ended = Promise.allSettled(sleeping);

    // Postgres ignores a cancel that comes before the statement.
    await vi.waitFor(async () => {
      const rows = await database.reader({ owner: "other" })(
        (sql) => sql`
          select pid
          from pg_stat_activity
          where datname = current_database() and query like '%pg_sleep(20)%' and state = 'active'
            and pid <> pg_backend_pid()`,
      );
      expect(rows).toHaveLength(1);
    }, patience);
    leaving.abort(new Error("gone"));

    const states = (await ended).map(({ status }) => status);
    expect(states).toEqual(Array.from({ length: 6 }, () => "rejected"));
  });

  test("keeps a connection whose first caller leaves while it connects", async () => {
    const own = openDatabase({ url: testDatabase.url, connectionsMax: 3 });
    onTestFinished(() => own.close());
    const leaving = new AbortController();

    const first = own.reader({ owner: "a", signal: leaving.signal })(setting);
    leaving.abort(new Error("gone"));
    await Promise.allSettled([first]);

    await expect(own.reader({ owner: "b" })(setting)).resolves.toHaveLength(1);
  });

  test("gives each statement its own rows though a caller leaves between two others", async () => {
    const own = openDatabase({ url: testDatabase.url, connectionsMax: 3 });
    onTestFinished(() => own.close());
    const leaving = new AbortController();

    // One connection for reads, on which the three stand behind one another.
    await number(4)(own.on("reads").sql());
    const first = own.on("reads").sql()`select pg_sleep(1)`.execute();
    const second = own.reader({ owner: "a", signal: leaving.signal })(number(2));
    const sleepers = () => own.on("callers").sql()`
      select from pg_stat_activity where query = 'select pg_sleep(1)' and state = 'active'`;
    await expect.poll(sleepers, patience).toHaveLength(1);
    const third = number(3)(own.on("reads").sql()).execute();
    leaving.abort(new Error("gone"));
    await Promise.allSettled([first, second]);

    expect([...(await third)]).toEqual([{ value: 3 }]);
  });

  test("gives each of many statements its own rows while every third caller leaves", async () => {
    const reads = database.on("reads");
    const values = Array.from({ length: 600 }, (_, value) => value);

    const got = await Promise.all(
      values.map(async (value) => {
        const caller = new AbortController();
        const isLeaving = value % 3 === 0;
        if (isLeaving) setTimeout(() => caller.abort(new Error("gone")), value % 40);
        const read = reads.reader({ owner: `project ${value % 7}`, signal: caller.signal });
        // Lists run without a reader, and stand behind reads on the same connections.
        const rows = value % 2 === 0 ? read(number(value)) : number(value)(reads.sql());
        return rows.then(
          ([row]) => row?.value,
          // A cancel that comes late may end the next statement; a reader would try again.
          (error: unknown) => (isLeaving || isCanceled(error) ? value : error),
        );
      }),
    );

    expect(got).toEqual(values);
  });

  test("gives a statement its rows alone behind one that failed amid its rows", async () => {
    const own = openDatabase({ url: testDatabase.url, connectionsMax: 3 });
    onTestFinished(() => own.close());
    const sql = own.on("reads").sql();
    await number(4)(sql);

    const failed = sql`select 6 / (4 - i) from generate_series(1, 10) as i`.execute();
    const listed = number(2)(sql).execute();
    const read = own.reader({ owner: "a" })(number(3));

    await expect(failed).rejects.toThrow("division by zero");
    expect([...(await listed)]).toEqual([{ value: 2 }]);
    expect([...(await read)]).toEqual([{ value: 3 }]);
  });

  test("gives a statement its rows alone behind one whose caller left amid its rows", async () => {
    const own = openDatabase({ url: testDatabase.url, connectionsMax: 3 });
    onTestFinished(() => own.close());
    const rows = (count: number) => (sql: Sql) =>
      sql<{ value: number }[]>`
      select value, repeat('x', 1000) as text from generate_series(1, ${count}::integer) as value`;
    await own.reader({ owner: "a" })(rows(1));

    for (let round = 0; round < 10; round += 1) {
      const leaving = new AbortController();
      const left = own.reader({ owner: "a", signal: leaving.signal })(rows(100_000));
      setTimeout(() => leaving.abort(new Error("gone")), 10 + round * 5);
      await expect(left).rejects.toThrow("gone");

      const got = await own.reader({ owner: "b" })(rows(2));
      expect([...got].map((row) => row?.value)).toEqual([1, 2]);
    }
  });

  test("cancels the statement of a caller that left, and no other", async () => {
    for (let round = 0; round < 20; round += 1) {
      const leaving = new AbortController();
      const read = database.reader({ owner: "a", signal: leaving.signal });
      const sleeping = read((sql) => sql`select pg_sleep(20)`);
      const others = Array.from({ length: 4 }, () =>
        database.reader({ owner: "b" })((sql) => sql`select 1 as one from pg_sleep(0.002)`),
      );
      setTimeout(() => leaving.abort(new Error("gone")), round % 3);

      await expect(sleeping).rejects.toThrow("gone");
      expect(await Promise.all(others)).toHaveLength(4);
    }
  });

  test("says what to do when a statement takes too long", async () => {
    const own = openDatabase({ url: testDatabase.url, statementTimeoutMs: 50 });
    onTestFinished(() => own.close());

    const got = own.reader({ owner: "p" })((sql) => sql`select pg_sleep(20)`);

    const message = /longer than 50 ms; ask for less: a narrower dateRange/;
    await expect(got).rejects.toMatchObject({ reason: "DEADLINE_EXCEEDED", message });
  });

  test("ends all statements of a chart by one time", async () => {
    const endsAtMs = performance.now() + 300;
    const lesserRead = "a shorter range";
    const read = database.reader({ owner: "p", kind: "charts", endsAtMs, lesserRead });

    await read((sql) => sql`select pg_sleep(0.01)`);
    const slow = read((sql) => sql`select pg_sleep(20)`);

    const message = /longer than 20000 ms; ask for less: a shorter range$/;
    await expect(slow).rejects.toMatchObject({ reason: "DEADLINE_EXCEEDED", message });
    const next = read((sql) => sql`select 1`);
    await expect(next).rejects.toMatchObject({ reason: "DEADLINE_EXCEEDED", message });
    // Other reads keep their time.
    await expect(database.reader({ owner: "p" })(setting)).resolves.toHaveLength(1);
  });
});
