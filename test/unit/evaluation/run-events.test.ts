// The events of a chunk side by side, and how their results are gathered for commits.

import { describe, expect, test, vi } from "vitest";
import { ServiceError } from "../../../src/base/errors.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import type { ProjectId } from "../../../src/base/ids.ts";
import { createResultBatch } from "../../../src/evaluation/scores/result-batch.ts";
import { runEvents } from "../../../src/evaluation/scores/run-events.ts";
import type { RunEventsOptions } from "../../../src/evaluation/scores/run-events.ts";
import type { RunnableEvaluator } from "../../../src/evaluation/metrics/definition.ts";
import { createEventMemory } from "../../../src/evaluation/runner/event-memory.ts";
import type { RunResult } from "../../../src/evaluation/runner/runner.ts";
import type { EndedRun } from "../../../src/evaluation/scores/scores.ts";
import { anEvent } from "../../support/events.ts";
import { patience } from "../../support/patience.ts";

const evaluator = {
  projectId: "p1" as ProjectId,
  readsGroundTruth: false,
} as unknown as RunnableEvaluator;

const owner = { orgId: "o1", projectId: "p1" };

const score: RunResult = { kind: "score", score: 1, explanation: "so", output: "printed" };

function idsOf(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `event-${index}`);
}

/** Events are read three at a time; those in `gone` are not there any more. */
function given(
  options: Partial<RunEventsOptions> & {
    readonly run?: (event: JsonObject) => Promise<RunResult>;
    readonly concurrency?: number;
    readonly gone?: readonly string[];
    readonly feedback?: JsonObject;
  },
) {
  const { run = async () => score, concurrency = 1, gone = [], feedback = {} } = options;
  const committed: EndedRun[][] = [];
  const all: RunEventsOptions = {
    eventIds: idsOf(10),
    evaluator,
    pauseMs: 1,
    isOver: () => false,
    memory: createEventMemory().open(owner),
    signal: new AbortController().signal,
    onBug: () => undefined,
    batch: createResultBatch(async (results) => void committed.push([...results])),
    opened: { concurrency, run, isWanted: () => false, close: async () => undefined },
    read: async (ids) => {
      const portion = ids.slice(0, 3);
      const there = portion.filter((id) => !gone.includes(id));
      const events = there.map((id) => anEvent({ event_id: id, feedback }));
      return { events, read: portion.length };
    },
    ...options,
  };
  return { all, committed, ids: () => committed.flat().map(({ eventId }) => eventId) };
}

/** Has each event hold so much text, and shows what was read at a time. */
function givenLarge(characters: number, options: Partial<RunEventsOptions> = {}) {
  const asked: number[] = [];
  const text = "x".repeat(characters);
  const read: RunEventsOptions["read"] = async (ids) => {
    asked.push(ids.length);
    const events = ids.map((id) => anEvent({ event_id: id, inputs: { text } }));
    return { events, read: ids.length };
  };
  return { ...given({ read, ...options }), asked };
}

describe("runEvents", () => {
  test("reads one event at a time where there is no memory for more", async () => {
    const memory = createEventMemory().open(owner);
    const { all, ids, asked } = givenLarge(3_000_000, { memory });

    await runEvents(all);

    expect(ids()).toEqual(idsOf(10));
    expect(asked).toContain(1);
    expect(memory.bytes()).toBe(0);
  });

  test("waits for memory that others have, until its time is over", async () => {
    const shared = createEventMemory();
    const other = shared.open(owner);
    other.grow(60_000_000);
    let looks = 0;
    const memory = shared.open(owner);
    const isOver = () => (looks += 1) > 3;
    const { all, ids } = givenLarge(3_000_000, { memory, isOver });

    await runEvents(all);
    expect(ids()).toEqual([]);

    other.release();
    await runEvents({ ...all, isOver: () => false });
    expect(ids()).toEqual(idsOf(10));
  });

  test("fails on an event that is too large for any evaluator, and goes on", async () => {
    const text = "x".repeat(17_000_000);
    const read: RunEventsOptions["read"] = async ([id = ""]) => {
      const inputs = id === "event-1" ? { text } : {};
      return { events: [anEvent({ event_id: id, inputs })], read: 1 };
    };
    const { all, committed } = given({ read });

    await runEvents(all);

    const failed = committed.flat().filter(({ result }) => result.kind === "failure");
    expect(failed).toMatchObject([{ eventId: "event-1", result: { reason: "EVENT_TOO_LARGE" } }]);
    expect(committed.flat()).toHaveLength(10);
  });

  test("runs every event that is there once, several at a time where it may", async () => {
    let running = 0;
    let most = 0;
    const run = async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return score;
    };
    const { all, ids } = given({ run, concurrency: 4, gone: ["event-3"] });

    await runEvents(all);

    expect(ids().toSorted()).toEqual(idsOf(10).filter((id) => id !== "event-3"));
    expect(most).toBe(4);
  });

  test("keeps what the code printed out of the commit", async () => {
    const { all, committed } = given({ eventIds: idsOf(1) });

    await runEvents(all);

    expect(committed).toEqual([[{ eventId: "event-0", result: { ...score, output: "" } }]]);
  });

  test("begins one event though there is no time, so that a chunk gets on", async () => {
    const { all, ids } = given({ isOver: () => true });

    await runEvents(all);

    expect(ids()).toEqual(["event-0"]);
  });

  test("skips events whose ground truth has gone since they were chosen", async () => {
    const reading = { ...evaluator, readsGroundTruth: true };
    const without = given({ evaluator: reading, eventIds: idsOf(1) });
    const feedback = { ground_truth: "yes" };
    const having = given({ evaluator: reading, eventIds: idsOf(1), feedback });

    await runEvents(without.all);
    await runEvents(having.all);

    const kinds = [without, having].map(({ committed }) => committed[0]?.[0]?.result.kind);
    expect(kinds).toEqual(["skip", "score"]);
  });

  test("commits what has run before it fails with what is not the evaluator's doing", async () => {
    const away = new ServiceError("SANDBOX_UNAVAILABLE", "no sandbox");
    const run = async ({ event_id: id }: JsonObject) => {
      if (id === "event-4") throw away;
      return score;
    };
    const { all, ids } = given({ run });

    await expect(runEvents(all)).rejects.toBe(away);

    expect(ids()).toEqual(idsOf(4));
  });

  test("leaves an event that found no place for a later step", async () => {
    const run = async ({ event_id: id }: JsonObject) => {
      if (id === "event-2") throw new ServiceError("OVERLOADED", "full");
      return score;
    };
    let begun = 0;
    const { all, ids } = given({ run, isOver: () => (begun += 1) > 2 });

    await runEvents(all);

    expect(ids()).toEqual(idsOf(2));
  });
});

describe("createResultBatch", () => {
  const aResult = (eventId: string): EndedRun => ({ eventId, result: score });

  test("commits a hundred at a time, one commit after the other, in order", async () => {
    const commits: (readonly EndedRun[])[] = [];
    let running = 0;
    const batch = createResultBatch(async (results) => {
      running += 1;
      expect(running).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      commits.push(results);
      running -= 1;
    });
    const ids = idsOf(250);

    for (const id of ids) await batch.add(aResult(id));
    await batch.flush();

    expect(commits.map(({ length }) => length)).toEqual([100, 100, 50]);
    expect(commits.flat().map(({ eventId }) => eventId)).toEqual(ids);
  });

  test("commits a few after a moment, though no more come", async () => {
    const commits: (readonly EndedRun[])[] = [];
    const batch = createResultBatch(async (results) => void commits.push(results));

    await batch.add(aResult("event-0"));

    await vi.waitUntil(() => commits.length > 0, patience);
    expect(commits).toEqual([[aResult("event-0")]]);
  });

  test("commits nothing more once a commit has failed", async () => {
    const fault = new Error("the database is away");
    let commits = 0;
    const batch = createResultBatch(async () => {
      commits += 1;
      throw fault;
    });

    await batch.add(aResult("event-0"));
    await expect(batch.flush()).rejects.toBe(fault);

    await expect(batch.add(aResult("event-1"))).rejects.toBe(fault);
    await expect(batch.flush()).rejects.toBe(fault);
    expect(commits).toBe(1);
  });
});
