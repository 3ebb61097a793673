// Runs an open evaluator on the events of a list, some side by side. Called by run-chunk.ts.

import type { StoredEvent } from "../../tracing/events/event.ts";
import type { SelectedEvents } from "../../tracing/selection/selection.ts";
import type { RunnableEvaluator } from "../evaluators/definition.ts";
import { hasGroundTruth, toEvaluatedEvent } from "../runner/evaluated-event.ts";
import type { OpenRunner } from "../runner/runner.ts";
import type { EndedRun } from "../scores/scores.ts";
import type { ResultBatch } from "./result-batch.ts";
import { runEvent } from "./run-event.ts";
import type { RunEventOptions } from "./run-event.ts";

export type RunEventsOptions = Pick<RunEventOptions, "signal" | "pauseMs" | "onBug"> & {
  readonly eventIds: readonly string[];
  readonly evaluator: RunnableEvaluator;
  readonly opened: OpenRunner;
  readonly batch: ResultBatch;
  read(eventIds: readonly string[]): Promise<SelectedEvents>;
  /** Whether no further event is to be begun, the first one aside. */
  readonly isOver: () => boolean;
};

/** Events asked for at a time. */
const eventsPerReadMax = 100;

/**
 * Runs events in order until there are none left or it is over, and commits every result. Fails
 * with the first error that says nothing about the evaluator, once what has run is committed.
 */
export async function runEvents(options: RunEventsOptions): Promise<void> {
  const { opened, batch, signal, isOver } = options;
  const events = readInOrder(options);
  let begun = 0;
  let faults: readonly unknown[] = [];
  /** An event waited for a place for as long as there was time. */
  let isCrowded = false;

  async function takeNext(): Promise<StoredEvent | undefined> {
    // A step that is short of time does one event all the same, or it would never get on.
    if (signal.aborted || faults.length > 0 || isCrowded) return undefined;
    if (begun > 0 && isOver()) return undefined;
    begun += 1;
    const next = await events.next();
    return next.done ? undefined : next.value;
  }

  async function workThrough(): Promise<void> {
    try {
      for (let event = await takeNext(); event; event = await takeNext()) {
        const ended = await runOne(event, options);
        if (ended) await batch.add(ended);
        else isCrowded = true;
      }
    } catch (error) {
      faults = [...faults, error];
    }
  }

  await Promise.all(Array.from({ length: opened.concurrency }, workThrough));
  await batch.flush();
  signal.throwIfAborted();
  if (faults.length > 0) throw faults[0];
}

async function runOne(
  event: StoredEvent,
  options: RunEventsOptions,
): Promise<EndedRun | undefined> {
  const { evaluator, opened, isOver } = options;
  const eventId = event.event_id;
  // It may have been there when the event was chosen.
  if (evaluator.readsGroundTruth && !hasGroundTruth(event)) {
    return { eventId, result: { kind: "skip" } };
  }
  const shown = toEvaluatedEvent(event, evaluator.projectId);
  const result = await runEvent(() => opened.run(shown), { ...options, mayWait: () => !isOver() });
  // What the code printed is shown by trials only, and may be a megabyte.
  return result && { eventId, result: { ...result, output: "" } };
}

/** Yields the events that are still there, holding some megabytes of them at a time. */
async function* readInOrder({
  eventIds,
  read,
}: Pick<RunEventsOptions, "eventIds" | "read">): AsyncGenerator<StoredEvent, undefined> {
  for (let from = 0; from < eventIds.length;) {
    const { events, read: count } = await read(eventIds.slice(from, from + eventsPerReadMax));
    yield* events;
    from += Math.max(1, count);
  }
}
