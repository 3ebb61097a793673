// Writers and readers of events over HTTP that record what was acknowledged, for tests that stop
// servers, Temporal or Postgres meanwhile.

import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished } from "vitest";
import { createUuid } from "../../src/base/ids.ts";
import type { Database } from "../../src/postgres/database.ts";
import { patience } from "./patience.ts";

export type LoadOptions = {
  readonly url: string;
  readonly key: string;
  readonly writers: number;
  /** Further tries of a call; a call that has none left counts as failed. */
  readonly retriesMax: number;
  /** Pause of a writer after each round; by default short. */
  readonly pauseMs?: number;
};

/** Cause of a further try: the status, or that the connection broke before the answer. */
export type Retry = { readonly call: string; readonly cause: number | "broken connection" };

export type Load = {
  /** Source of all events of the load. */
  readonly source: string;
  /** Returns the number of acknowledged writes so far. */
  acknowledged(): number;
  readonly retries: readonly Retry[];
  /** Calls that did not succeed, with their last answer. */
  readonly failures: readonly string[];
  /** Waits until this many further writes are acknowledged. */
  more(writes: number): Promise<void>;
  /** Lets running calls end. */
  stop(): Promise<void>;
  /**
   * Reads all events through a server: everything acknowledged is there once, as it was last
   * acknowledged, nothing is there twice, and no batch is there by half. Returns their number.
   */
  expectStored(url?: string): Promise<number>;
};

/** Events that one call creates, by the mark that each carries. */
type Written = {
  readonly marks: readonly string[];
  isAcknowledged: boolean;
  /** Acknowledged tokens of an update. */
  tokens?: number;
};

const eventsPerBatch = 10;
const callMsMax = 60_000;
/** The processes under test need the processors too. */
const pauseMsDefault = 50;

export function startLoad(options: LoadOptions): Load {
  const { url, key, writers, retriesMax, pauseMs = pauseMsDefault } = options;
  const source = `load-${createUuid()}`;
  const stopping = new AbortController();
  const ending = new AbortController();
  onTestFinished(() => {
    stopping.abort();
    ending.abort();
  });
  const written: Written[] = [];
  const retries: Retry[] = [];
  const failures: string[] = [];

  /** Calls until the answer is a success; a write carries an Idempotency-Key, so it may repeat. */
  async function call(method: string, path: string, body?: unknown): Promise<unknown> {
    const name = `${method} ${path.replace(/\/v1\/events\/.*/, "/v1/events/…")}`;
    const idempotencyKey = createUuid();
    for (let attempt = 0; ; attempt += 1) {
      const answer = await request({ method, path, body, idempotencyKey });
      if (answer.status === 200) return answer.body;
      if (!isRetried(answer) || attempt >= retriesMax || ending.signal.aborted) {
        failures.push(`${name}: ${answer.status} ${JSON.stringify(answer.body)}`);
        return undefined;
      }
      retries.push({ call: name, cause: answer.status });
      await delay(answer.retryAfterMs || pauseMs);
    }
  }

  async function request({ method, path, body, idempotencyKey }: Request): Promise<Answer> {
    const isWrite = method !== "GET";
    try {
      const response = await fetch(url + path, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(isWrite && { "content-type": "application/json" }),
          ...(isWrite && { "idempotency-key": idempotencyKey }),
        },
        ...(isWrite && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(callMsMax),
      });
      const retryAfterMs = Number(response.headers.get("retry-after") ?? NaN) * 1_000;
      return { status: response.status, body: await response.json(), retryAfterMs };
    } catch (error) {
      const { cause = error } = error as Error;
      return { status: "broken connection", body: String(cause), retryAfterMs: 0 };
    }
  }

  const toEvent = (mark: string, session_id: string) => ({
    event_type: "tool",
    source,
    session_id,
    inputs: { text: "x".repeat(200) },
    metadata: { mark, total_tokens: 1 },
  });

  /** Logs one event, updates and reads it, then logs a batch. */
  async function write(session: string): Promise<void> {
    const one: Written = { marks: [createUuid()], isAcknowledged: false };
    written.push(one);
    const event = toEvent(one.marks[0] ?? "", session);
    // Without an id: only the Idempotency-Key keeps a second try from storing it twice.
    const logged = (await call("POST", "/events", { event })) as { event_id: string } | undefined;
    if (logged) {
      one.isAcknowledged = true;
      const update = { event_id: logged.event_id, metadata: { total_tokens: 3 } };
      if (await call("PUT", "/events", update)) one.tokens = 3;
      const read = (await call("GET", `/v1/events/${logged.event_id}`)) as ReadAnswer | undefined;
      const tokens = read?.event.metadata["total_tokens"];
      if (read && one.tokens !== undefined && tokens !== one.tokens) {
        failures.push(`an acknowledged update was not read: ${String(tokens)} tokens`);
      }
    }
    const marks = Array.from({ length: eventsPerBatch }, () => createUuid());
    const batch: Written = { marks, isAcknowledged: false };
    written.push(batch);
    const events = marks.map((mark) => toEvent(mark, session));
    batch.isAcknowledged = (await call("POST", "/events/batch", { events })) !== undefined;
  }

  async function writeUntilStopped(): Promise<void> {
    const session = createUuid();
    while (!stopping.signal.aborted) {
      await write(session);
      await delay(pauseMs);
    }
  }

  const running = Promise.all(Array.from({ length: writers }, writeUntilStopped));
  const acknowledged = () => written.filter((one) => one.isAcknowledged).length;
  return {
    source,
    acknowledged,
    retries,
    failures,
    async more(writes) {
      const wanted = acknowledged() + writes;
      await expect.poll(acknowledged, patience).toBeGreaterThanOrEqual(wanted);
    },
    async stop() {
      stopping.abort();
      await running;
    },
    async expectStored(reader = url) {
      const events = await readEvents({ url: reader, key, source });
      const found = Map.groupBy(events, ({ metadata }) => String(metadata["mark"]));
      expect([...found.values()].filter(({ length }) => length > 1)).toEqual([]);
      for (const { marks, isAcknowledged, tokens } of written) {
        const there = marks.filter((mark) => found.has(mark));
        if (isAcknowledged || there.length > 0) expect(there).toEqual(marks);
        const [event] = found.get(marks[0] ?? "") ?? [];
        if (tokens !== undefined) expect(event?.metadata["total_tokens"]).toBe(tokens);
      }
      return events.length;
    },
  };
}

type Request = {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly idempotencyKey: string;
};

type Answer = {
  readonly status: number | "broken connection";
  readonly body: unknown;
  readonly retryAfterMs: number;
};

/** Returns whether a call may succeed later, also where its first try is still running. */
function isRetried({ status, body }: Answer): boolean {
  const { errorCode } = body as { readonly errorCode?: unknown };
  return status === 503 || status === "broken connection" || errorCode === "IDEMPOTENCY_IN_FLIGHT";
}

type StoredEvent = { readonly metadata: Readonly<Record<string, unknown>> };
type ReadAnswer = { readonly event: StoredEvent };

async function readEvents(from: {
  readonly url: string;
  readonly key: string;
  readonly source: string;
}): Promise<readonly StoredEvent[]> {
  const response = await fetch(`${from.url}/v1/events/stream`, {
    method: "POST",
    headers: { authorization: `Bearer ${from.key}`, "content-type": "application/json" },
    body: JSON.stringify({ filters: filtersOf(from.source) }),
  });
  const lines = (await response.text()).trim().split("\n");
  const end = JSON.parse(lines.pop() ?? "{}") as { done?: boolean; count?: number };
  expect(end).toMatchObject({ done: true, count: lines.length });
  return lines.map((line) => JSON.parse(line) as StoredEvent);
}

/** Leaves out the sessions themselves, which Waggle adds. */
function filtersOf(source: string) {
  return [
    { field: "source", operator: "is", value: source },
    { field: "event_type", operator: "is", value: "tool" },
  ];
}

/** Returns the sessions whose totals differ from the sums of their events. */
export function listWrongTotals(database: Database): PromiseLike<readonly unknown[]> {
  return database.sql()`
    select session_id, t.num_events, t.total_tokens, e.events, e.tokens
    from session_totals as t
    full join (
      select
        session_id,
        count(*) as events,
        coalesce(sum((metadata ->> 'total_tokens')::int), 0) as tokens
      from events
      where event_type in ('chain', 'model', 'tool')
      group by session_id) as e using (session_id)
    where t.num_events is distinct from e.events or t.total_tokens is distinct from e.tokens`;
}
