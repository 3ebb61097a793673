// Idempotency-Key on long work against Postgres: one run for many tries, its changes committed
// together with its answer, and runs that never came back.
// Source: docs/decisions.md, 8.2.

import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { HandOver } from "../../src/access/idempotency/claimed-runs.ts";
import { createIdempotency, type Idempotency } from "../../src/access/idempotency/idempotency.ts";
import type { Claim } from "../../src/access/idempotency/store.ts";
import { ServiceError } from "../../src/base/errors.ts";
import { createUuid } from "../../src/base/ids.ts";
import { type Database, openDatabase } from "../../src/postgres/database.ts";
import { givenTestDatabase } from "../support/database.ts";
import { patience } from "../support/patience.ts";
import { startProxy } from "../support/proxy.ts";

const testDatabase = givenTestDatabase();
let database: Database;
let idempotency: Idempotency;

beforeAll(async () => {
  database = testDatabase.database;
  idempotency = createIdempotency(database);
  await database.sql()`create table effects (name text primary key)`;
});

const scopeId = createUuid();
const claimMs = 60_000;

const claimOf = (key: string, body = 0): Claim => ({
  scopeId,
  route: "test/Run",
  key,
  requestHash: Buffer.alloc(32, body),
});

const answerOf = (text: string) => ({ bytes: Buffer.from(text), headers: { "x-of": text } });

/** An effect that leaves a row; one of a name that is taken fails. */
const effect = (name: string) => async () => {
  await database.sql()`insert into effects values (${name})`;
};

async function isStored(name: string): Promise<boolean> {
  const rows = await database.sql()`select 1 from effects where name = ${name}`;
  return rows.length > 0;
}

async function countRecords(key: string): Promise<number> {
  const rows = await database.sql()`
    select 1 from idempotency_records where idempotency_key = ${key}`;
  return rows.length;
}

/** Work that leaves an effect and answers, or fails, when it is let. */
function heldWork(name: string, end: () => ReturnType<typeof answerOf> = () => answerOf(name)) {
  const { promise: started, resolve: start } = Promise.withResolvers<undefined>();
  const { promise: released, resolve: release } = Promise.withResolvers<undefined>();
  const work = async (handOver: HandOver) => {
    start(undefined);
    await released;
    await handOver(effect(name));
    return end();
  };
  return { work, started, release: () => release(undefined) };
}

async function outcomeOf(run: Promise<{ bytes: Uint8Array }>): Promise<string> {
  try {
    return Buffer.from((await run).bytes).toString();
  } catch (error) {
    return error instanceof ServiceError ? error.reason : String(error);
  }
}

const never = () => Promise.reject(new Error("ran again"));

describe("runLong", () => {
  test("gives the first answer again, with its headers, and runs once", async () => {
    const first = await idempotency.runLong(claimOf("again"), claimMs, async (handOver) => {
      await handOver(effect("again"));
      return answerOf("first");
    });
    const second = await idempotency.runLong(claimOf("again"), claimMs, never);

    expect(first).toEqual(answerOf("first"));
    expect({ ...second, bytes: Buffer.from(second.bytes) }).toEqual(answerOf("first"));
    expect(await isStored("again")).toBe(true);
  });

  test("holds no connection while the work runs", async () => {
    const narrow = openDatabase({ url: testDatabase.url, connectionsMax: 1 });
    try {
      const run = createIdempotency(narrow).runLong(claimOf("narrow"), claimMs, async () => {
        await narrow.sql()`select 1`;
        return answerOf(`in a transaction: ${narrow.isInTransaction()}`);
      });
      expect(await outcomeOf(run)).toBe("in a transaction: false");
    } finally {
      await narrow.close();
    }
  });

  test("keeps the effect back until the answer is kept with it", async () => {
    await idempotency.runLong(claimOf("together"), claimMs, async (handOver) => {
      await handOver(effect("together"));
      expect(await isStored("together")).toBe(false);
      return answerOf("together");
    });

    expect(await isStored("together")).toBe(true);
  });

  test("answers in flight to the same key, and mismatch to another body, meanwhile", async () => {
    const { work, started, release } = heldWork("held");
    const first = idempotency.runLong(claimOf("held"), claimMs, work);
    await started;

    const again = await outcomeOf(idempotency.runLong(claimOf("held"), claimMs, never));
    const other = await outcomeOf(idempotency.runLong(claimOf("held", 1), claimMs, never));
    release();

    expect([again, other]).toEqual(["IDEMPOTENCY_IN_FLIGHT", "IDEMPOTENCY_MISMATCH"]);
    expect(await outcomeOf(first)).toBe("held");
    const later = idempotency.runLong(claimOf("held", 1), claimMs, never);
    expect(await outcomeOf(later)).toBe("IDEMPOTENCY_MISMATCH");
  });

  test("lets exactly one of many at once run, on two servers", async () => {
    const otherPool = openDatabase({ url: testDatabase.url });
    try {
      const servers = [idempotency, createIdempotency(otherPool)];
      let runs = 0;
      const tries = Array.from({ length: 12 }, async (_, index) => {
        const server = servers[index % 2] ?? idempotency;
        return outcomeOf(
          server.runLong(claimOf("many"), claimMs, () => {
            runs += 1;
            return Promise.resolve(answerOf("many"));
          }),
        );
      });

      const got = new Set(await Promise.all(tries));

      expect(runs).toBe(1);
      expect(got.has("many")).toBe(true);
      expect([...got].every((one) => one === "many" || one === "IDEMPOTENCY_IN_FLIGHT")).toBe(true);
    } finally {
      await otherPool.close();
    }
  });

  test("stores the effect of work that fails, and lets the next try run", async () => {
    const failed = idempotency.runLong(claimOf("failed"), claimMs, async (handOver) => {
      await handOver(effect("failed"));
      throw new ServiceError("PROVIDER_FAILED", "it failed");
    });

    expect(await outcomeOf(failed)).toBe("PROVIDER_FAILED");
    expect([await isStored("failed"), await countRecords("failed")]).toEqual([true, 0]);
    const next = idempotency.runLong(claimOf("failed"), claimMs, () =>
      Promise.resolve(answerOf("second")),
    );
    expect(await outcomeOf(next)).toBe("second");
  });

  test("keeps a refusal with its effect, and the provider's own words", async () => {
    const relayed = {
      status: 422,
      contentType: "application/json",
      body: Buffer.from('{"error":{"message":"no such size"}}'),
    };
    const details = { field: "size" };
    const refuse = async (handOver: HandOver) => {
      await handOver(effect("refused"));
      throw new ServiceError("PROVIDER_REJECTED", "no such size", { relayed, details });
    };
    const first = idempotency.runLong(claimOf("refused"), claimMs, refuse);
    await expect(first).rejects.toMatchObject({ reason: "PROVIDER_REJECTED" });

    const second = idempotency.runLong(claimOf("refused"), claimMs, never);

    const want = { reason: "PROVIDER_REJECTED", message: "no such size", relayed, details };
    await expect(second).rejects.toMatchObject(want);
    expect(await isStored("refused")).toBe(true);
  });

  test("keeps no 404", async () => {
    const absent = idempotency.runLong(claimOf("absent"), claimMs, () =>
      Promise.reject(new ServiceError("NOT_FOUND", "no such project")),
    );

    expect(await outcomeOf(absent)).toBe("NOT_FOUND");
    expect(await countRecords("absent")).toBe(0);
  });

  test("keeps no answer whose effect cannot be stored, and lets the next try run", async () => {
    await effect("taken")();
    const failed = idempotency.runLong(claimOf("taken"), claimMs, async (handOver) => {
      await handOver(effect("with taken"));
      await handOver(effect("taken"));
      return answerOf("never told");
    });

    await expect(failed).rejects.toThrow("duplicate key");
    expect([await isStored("with taken"), await countRecords("taken")]).toEqual([false, 0]);
    const next = idempotency.runLong(claimOf("taken"), claimMs, () =>
      Promise.resolve(answerOf("second")),
    );
    expect(await outcomeOf(next)).toBe("second");
  });
});

describe("a run that never came back", () => {
  /** As if the server had died in the middle, and the time of its claim had passed. */
  async function expire(key: string): Promise<void> {
    await database.sql()`
      update idempotency_records
      set claimed_until = now() - interval '1 second'
      where idempotency_key = ${key}`;
  }

  test("frees the key once a database is back that was away at the end", async () => {
    let isAway = false;
    const assertThere = () => {
      if (isAway) throw new Error("the database is away");
    };
    const leaving: Database = {
      ...database,
      async inTurn(work, options) {
        assertThere();
        return database.inTurn(work, options);
      },
      async transaction(work, options) {
        assertThere();
        return database.transaction(work, options);
      },
    };
    const lost = createIdempotency(leaving).runLong(claimOf("away"), claimMs, () => {
      isAway = true;
      return Promise.resolve(answerOf("lost"));
    });
    expect(await outcomeOf(lost)).toBe("Error: the database is away");
    expect(await countRecords("away")).toBe(1);

    isAway = false;

    await expect.poll(() => countRecords("away"), patience).toBe(0);
    const next = idempotency.runLong(claimOf("away"), claimMs, async () => answerOf("next"));
    expect(await outcomeOf(next)).toBe("next");
  });

  test("is in flight for its time, and then taken over by whatever body comes", async () => {
    const dead = heldWork("dead");
    void idempotency.runLong(claimOf("dead"), claimMs, dead.work).catch(() => undefined);
    await dead.started;
    const early = await outcomeOf(idempotency.runLong(claimOf("dead"), claimMs, never));
    await expire("dead");

    const late = idempotency.runLong(claimOf("dead", 1), claimMs, () =>
      Promise.resolve(answerOf("second")),
    );

    expect(early).toBe("IDEMPOTENCY_IN_FLIGHT");
    expect(await outcomeOf(late)).toBe("second");
  });

  test("changes no answer and ends no claim of the one that took over", async () => {
    const first = heldWork("slow first");
    const second = heldWork("slow second");
    const firstRun = idempotency.runLong(claimOf("slow"), claimMs, first.work);
    await first.started;
    await expire("slow");
    const secondRun = idempotency.runLong(claimOf("slow"), claimMs, second.work);
    await second.started;

    first.release();
    const firstOutcome = await outcomeOf(firstRun);
    const meanwhile = await outcomeOf(idempotency.runLong(claimOf("slow"), claimMs, never));
    second.release();

    // The model has run, so its event is stored, though the caller has left.
    expect([firstOutcome, await isStored("slow first")]).toEqual(["IDEMPOTENCY_IN_FLIGHT", true]);
    expect(meanwhile).toBe("IDEMPOTENCY_IN_FLIGHT");
    expect(await outcomeOf(secondRun)).toBe("slow second");
    const again = idempotency.runLong(claimOf("slow"), claimMs, never);
    expect(await outcomeOf(again)).toBe("slow second");
  });

  test("gives no claim free but its own when it fails late", async () => {
    const fail = () => {
      throw new ServiceError("PROVIDER_TIMEOUT", "too late");
    };
    const first = heldWork("late first", fail);
    const second = heldWork("late second");
    const firstRun = idempotency.runLong(claimOf("late"), claimMs, first.work);
    await first.started;
    await expire("late");
    const secondRun = idempotency.runLong(claimOf("late"), claimMs, second.work);
    await second.started;

    first.release();

    expect(await outcomeOf(firstRun)).toBe("PROVIDER_TIMEOUT");
    const meanwhile = idempotency.runLong(claimOf("late"), claimMs, never);
    expect(await outcomeOf(meanwhile)).toBe("IDEMPOTENCY_IN_FLIGHT");
    second.release();
    expect(await outcomeOf(secondRun)).toBe("late second");
  });
});

describe("a database that is silent", () => {
  /** Runs on a database behind a proxy that can be left hanging. */
  async function givenAProxy(timeoutMs: number) {
    const proxy = await startProxy(testDatabase.url);
    const behind = openDatabase({ url: proxy.url });
    onTestFinished(async () => {
      await proxy.open();
      await behind.close();
      await proxy.shut();
    });
    await behind.sql()`select 1`;
    return { proxy, runs: createIdempotency(behind, { timeoutMs }) };
  }

  test("is away when a run begins, and keeps no key once it answers", async () => {
    const { proxy, runs } = await givenAProxy(300);
    proxy.hang();

    expect(await outcomeOf(runs.runLong(claimOf("silent"), claimMs, never))).toBe(
      "DATABASE_UNAVAILABLE",
    );

    await proxy.open();
    await runs.drain();
    const next = idempotency.runLong(claimOf("silent"), claimMs, async () => answerOf("next"));
    expect(await outcomeOf(next)).toBe("next");
  });

  test("is away when a run ends, and keeps its answer once it answers", async () => {
    // Enough for the claim on a busy machine.
    const { proxy, runs } = await givenAProxy(3_000);

    const first = runs.runLong(claimOf("late end"), claimMs, async () => {
      proxy.hang();
      return answerOf("first");
    });
    expect(await outcomeOf(first)).toBe("DATABASE_UNAVAILABLE");

    await proxy.open();
    await runs.drain();
    const next = idempotency.runLong(claimOf("late end"), claimMs, never);
    expect(await outcomeOf(next)).toBe("first");
  });
});

describe("drain", () => {
  test("waits for the run and for what it stores", async () => {
    const own = createIdempotency(database);
    const { work, started, release } = heldWork("drained");
    const run = own.runLong(claimOf("drained"), claimMs, work);
    await started;

    const drained = own.drain().then(() => isStored("drained"));
    release();

    expect(await drained).toBe(true);
    expect(await outcomeOf(run)).toBe("drained");
  });
});

test("an answer is forgotten after 24 hours, a claim as well", async () => {
  await idempotency.runLong(claimOf("old"), claimMs, () => Promise.resolve(answerOf("first")));
  await database.sql()`
    update idempotency_records
    set created_at = now() - interval '25 hours'
    where idempotency_key = 'old'`;

  const next = idempotency.runLong(claimOf("old"), claimMs, () =>
    Promise.resolve(answerOf("second")),
  );

  expect(await outcomeOf(next)).toBe("second");
});
