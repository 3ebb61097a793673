// The outbox and its relay: each requested workflow starts once, also when a process dies between.

import { beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { createUuid } from "../../src/base/ids.ts";
import { createLogger } from "../../src/base/logger.ts";
import { revokeKeyEntry, type OutboxEntry } from "../../src/outbox/entry.ts";
import { createOutbox, type Outbox } from "../../src/outbox/outbox.ts";
import { createRelay, type Relay, type WorkflowStarter } from "../../src/outbox/relay.ts";
import { openDatabase } from "../../src/postgres/database.ts";
import { givenTestDatabase } from "../support/database.ts";
import { patience } from "../support/patience.ts";

const logger = createLogger("silent");

const own = givenTestDatabase();
let outbox: Outbox;

beforeAll(async () => {
  outbox = createOutbox(own.database);
});

beforeEach(async () => {
  await own.database.sql()`truncate outbox`;
});

function anEntry(): OutboxEntry {
  const ids = { keyId: createUuid(), orgId: createUuid(), scopeId: createUuid() };
  return revokeKeyEntry({ ...ids, changeId: 1, actor: "a test" });
}

async function append(...entries: readonly OutboxEntry[]): Promise<void> {
  await own.database.transaction(async () => {
    for (const entry of entries) await outbox.append(entry);
  });
}

/** Stands for Temporal: a second start of an id changes nothing. */
function aStarter(fail?: (entry: OutboxEntry) => void) {
  const calls: string[] = [];
  const client: WorkflowStarter = {
    async start(entry) {
      calls.push(entry.workflowId);
      fail?.(entry);
    },
  };
  return { client, calls };
}

function aRelay(client: WorkflowStarter, database = own.database): Relay {
  return createRelay({ database, client, logger });
}

type Row = {
  readonly workflowId: string;
  readonly isStarted: boolean;
  readonly attempts: number;
  readonly error: string | null;
  readonly delayMs: number;
};

function rows(): PromiseLike<Row[]> {
  return own.database.sql()<Row[]>`
    select
      workflow_id as "workflowId",
      started_at is not null as "isStarted",
      attempts,
      last_error as error,
      extract(epoch from due_at - now())::double precision * 1000 as "delayMs"
    from outbox
    order by outbox_id`;
}

describe("append", () => {
  test("belongs to the transaction: nothing is left of one that is undone", async () => {
    const undone = own.database.transaction(async () => {
      await outbox.append(anEntry());
      throw new Error("undone");
    });

    await expect(undone).rejects.toThrow("undone");
    await expect(outbox.append(anEntry())).rejects.toThrow("outside a transaction");
    expect(await rows()).toEqual([]);
  });

  test("asks for the same workflow once", async () => {
    const entry = anEntry();

    await append(entry, entry);
    await append(entry);

    expect(await rows()).toHaveLength(1);
  });
});

describe("the relay", () => {
  test("hands on all that an entry says", async () => {
    const entry = anEntry();
    const started: OutboxEntry[] = [];
    await append(entry);

    await aRelay({ start: async (one) => void started.push(one) }).turn();

    expect(started).toMatchObject([entry]);
    expect(await rows()).toMatchObject([{ isStarted: true, attempts: 1, error: null }]);
  });

  test("starts each entry once where two run", async () => {
    const entries = Array.from({ length: 60 }, anEntry);
    await append(...entries);
    const { client, calls } = aStarter();
    const other = openDatabase({ url: own.url, connectionsMax: 2 });
    onTestFinished(() => other.close());
    const relays = [aRelay(client), aRelay(client, other)];

    for (let turns = 0; turns < 3; turns += 1) {
      await Promise.all(relays.map((relay) => relay.turn()));
    }

    expect(calls.toSorted()).toEqual(entries.map(({ workflowId }) => workflowId).toSorted());
    expect((await rows()).every(({ isStarted }) => isStarted)).toBe(true);
  });

  test("starts again what was started but not marked when a relay died", async () => {
    const entry = anEntry();
    await append(entry);
    const { client, calls } = aStarter();
    const dying = openDatabase({ url: own.url, connectionsMax: 1 });
    onTestFinished(() => dying.close());
    const relay = aRelay(
      {
        async start(one) {
          await client.start(one);
          await own.database.sql()`
            select pg_terminate_backend(pid)
            from pg_locks
            where relation = 'outbox'::regclass and mode = 'RowShareLock'
              and pid <> pg_backend_pid()`;
        },
      },
      dying,
    );

    await expect(relay.turn()).rejects.toThrow();
    expect(await rows()).toMatchObject([{ isStarted: false, attempts: 0 }]);
    await aRelay(client).turn();

    expect(calls).toEqual([entry.workflowId, entry.workflowId]);
    expect(await rows()).toMatchObject([{ isStarted: true, attempts: 1 }]);
  });

  test("puts off what fails, longer each time up to a minute, and starts the others", async () => {
    const [bad, good] = [anEntry(), anEntry()];
    await append(bad, good);
    const { client } = aStarter(({ workflowId }) => {
      if (workflowId === bad.workflowId) throw new Error("no such luck");
    });
    const relay = aRelay(client);
    const delays: number[] = [];

    for (let turns = 0; turns < 9; turns += 1) {
      await relay.turn();
      delays.push((await rows())[0]?.delayMs ?? 0);
      await own.database.sql()`update outbox set due_at = now()`;
    }

    expect(await rows()).toMatchObject([
      { isStarted: false, attempts: 9, error: "no such luck" },
      { isStarted: true, attempts: 1, error: null },
    ]);
    const wanted = [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000];
    for (const [turn, want] of wanted.entries()) {
      expect(delays[turn]).toBeGreaterThan(want - 400);
      expect(delays[turn]).toBeLessThanOrEqual(want);
    }
  });

  test("is woken by a commit, long before its next look", async () => {
    const { client, calls } = aStarter();
    const relay = createRelay({ database: own.database, client, logger, pollMs: 60_000 });
    relay.follow();
    onTestFinished(() => relay.stop());
    await append(anEntry());
    await vi.waitUntil(() => calls.length === 1, patience);

    await append(anEntry());

    await vi.waitUntil(() => calls.length === 2, patience);
  });

  test("looks by itself where notifications are lost", async () => {
    const { client, calls } = aStarter();
    const database = { ...own.database, listen: () => undefined };
    const relay = createRelay({ database, client, logger, pollMs: 50 });
    relay.follow();
    onTestFinished(() => relay.stop());

    await append(anEntry());

    await vi.waitUntil(() => calls.length === 1, patience);
  });

  test("says once that nothing can be started, and once that it can again", async () => {
    let isAway = true;
    const lines: string[] = [];
    const { client } = aStarter(() => {
      if (isAway) throw new Error("away");
    });
    const log = {
      info: (message: string) => lines.push(message),
      warn: (_: object, message: string) => lines.push(message),
    };
    const relay = createRelay({
      database: own.database,
      client,
      logger: log as unknown as typeof logger,
    });
    const turn = async () => {
      await own.database.sql()`update outbox set due_at = now()`;
      await relay.turn();
    };
    await append(anEntry(), anEntry());

    await turn();
    await turn();
    isAway = false;
    await turn();
    await turn();

    expect(lines).toEqual([
      "workflows cannot be started now; trying again",
      "workflows are started again",
    ]);
  });
});
