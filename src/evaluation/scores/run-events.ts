// Runs an open evaluator on a list of events, some concurrently, reading only as many as fit into
// memory.

import { setTimeout as delay } from "node:timers/promises";
import type { Reservation } from "../../base/byte-budget.ts";
import type { JsonObject } from "../../base/json.ts";
import type { StoredEvent } from "../../tracing/events/event.ts";
import type { SelectedEvents } from "../../tracing/selection/selection.ts";
import type { RunnableEvaluator } from "../metrics/definition.ts";
import { hasGroundTruth, toEvaluatedEvent } from "../runner/evaluated-event.ts";
import { eventMemoryMax, memoryOfEvent, tooLarge } from "../runner/event-memory.ts";
import type { OpenRunner, RunResult } from "../runner/runner.ts";
import type { EndedRun } from "./scores.ts";
import type { ResultBatch } from "./result-batch.ts";
import { isOverloaded, runEvent, type RunEventOptions } from "./run-event.ts";

export type RunEventsOptions = Pick<RunEventOptions, "signal" | "pauseMs" | "onBug"> & {
  readonly eventIds: readonly string[];
  readonly evaluator: RunnableEvaluator;
  readonly opened: OpenRunner;
  readonly batch: ResultBatch;
  read(eventIds: readonly string[]): Promise<SelectedEvents>;
  /** Memory of the events that are read and have not run; released by the caller. */
  readonly memory: Reservation;
  /** Returns whether to begin no further event, except the first. */
  readonly isOver: () => boolean;
  /** Called after each event that has a result, before the next begins. */
  readonly onResult?: () => void;
};

/** Maximum events per read; a single event if the memory is too small for several. */
const eventsPerReadMax = 100;
/** Pause between two attempts to reserve memory. */
const memoryPauseMs = 500;

/** An event in memory. */
type HeldEvent = {
  readonly eventId: string;
  /** Event as evaluators see it; undefined if it is too large for them. */
  readonly event: JsonObject | undefined;
  /** Bytes of memory that the event takes. */
  readonly bytes: number;
};

/**
 * Runs events in order until none is left or `isOver`, and commits every result. Throws the first
 * error that is not the evaluator's fault, after committing finished runs.
 */
export async function runEvents(options: RunEventsOptions): Promise<void> {
  const { opened, batch, signal, isOver } = options;
  const events = readInOrder(options);
  let begun = 0;
  let faults: readonly unknown[] = [];
  /** True after an event found no place in time. */
  let isCrowded = false;

  async function takeNext(): Promise<HeldEvent | undefined> {
    // A step that is short of time still runs one event; otherwise it would never progress.
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
        options.onResult?.();
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
  { eventId, event, bytes }: HeldEvent,
  options: RunEventsOptions,
): Promise<EndedRun | undefined> {
  const { evaluator, opened, isOver, memory } = options;
  if (!event) return { eventId, result: tooLargeFailure };
  try {
    // The event may have had ground truth when it was selected.
    if (evaluator.readsGroundTruth && !hasGroundTruth(event)) {
      return { eventId, result: { kind: "skip" } };
    }
    const run = () => opened.run(event);
    const result = await runEvent(run, { ...options, mayWait: () => !isOver() });
    // Only a preview shows printed output, which may be a megabyte.
    return result && { eventId, result: { ...result, output: "" } };
  } finally {
    memory.shrink(bytes);
  }
}

const tooLargeFailure: RunResult = {
  kind: "failure",
  reason: "EVENT_TOO_LARGE",
  message: `the event ${tooLarge}`,
  output: "",
};

/** Yields the events that still exist, reading some megabytes at a time. */
async function* readInOrder(options: RunEventsOptions): AsyncGenerator<HeldEvent, undefined> {
  const { eventIds } = options;
  for (let from = 0; from < eventIds.length;) {
    const portion = await readPortion(eventIds.slice(from, from + eventsPerReadMax), options);
    if (!portion) return undefined;
    yield* portion.events;
    from += Math.max(1, portion.read);
  }
  return undefined;
}

/** Reads the first of some events; returns undefined if there was no memory for one in time. */
async function readPortion(
  eventIds: readonly string[],
  options: RunEventsOptions,
): Promise<{ readonly events: readonly HeldEvent[]; readonly read: number } | undefined> {
  const { evaluator, memory, isOver, signal } = options;
  for (let count = eventIds.length; ; count = 1) {
    const portion = await options.read(eventIds.slice(0, count));
    const events = portion.events.map((event) => hold(event, evaluator.projectId));
    try {
      memory.grow(events.reduce((sum, { bytes }) => sum + bytes, 0));
      return { events, read: portion.read };
    } catch (error) {
      if (!isOverloaded(error)) throw error;
    }
    if (isOver()) return undefined;
    if (count === 1) await delay(memoryPauseMs, undefined, { signal });
  }
}

function hold(stored: StoredEvent, projectId: string): HeldEvent {
  const event = toEvaluatedEvent(stored, projectId);
  const bytes = memoryOfEvent(event);
  const { event_id: eventId } = stored;
  return bytes > eventMemoryMax
    ? { eventId, event: undefined, bytes: 0 }
    : { eventId, event, bytes };
}
