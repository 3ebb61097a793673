// An event of a session without its payload, as the views of a session use it.

import type { SkeletonEvent } from "../../../../../gen/waggle/v1/session_pb.js";

export type SessionEvent = {
  readonly id: string;
  readonly parentId: string | undefined;
  /** `model`, `tool`, `chain` or `session`. */
  readonly type: string;
  readonly name: string;
  /** Error message, cut to 300 characters. */
  readonly error: string | undefined;
  readonly startMs: number;
  /** Equals the start where neither end nor duration is known. */
  readonly endMs: number;
  readonly durationMs: number | undefined;
  readonly model: string | undefined;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
  /** US dollars, as sent, else by the price table. */
  readonly cost: number | undefined;
  /** Whether the cost is by the price table, since none was sent. */
  readonly isCostEstimate: boolean;
  readonly hasFeedback: boolean;
};

/** Returns a message of the skeleton as an event of the views. */
export function toSessionEvent(event: SkeletonEvent): SessionEvent {
  const { startTime, duration } = event;
  const endMs = Math.max(startTime, event.endTime ?? startTime + (duration ?? 0));
  return {
    id: event.eventId,
    parentId: event.parentId,
    type: event.eventType,
    name: event.eventName,
    error: event.error === "" ? undefined : event.error,
    startMs: startTime,
    endMs,
    durationMs: duration ?? (event.endTime === undefined ? undefined : endMs - startTime),
    model: event.model,
    promptTokens: event.promptTokens,
    completionTokens: event.completionTokens,
    totalTokens: event.totalTokens,
    cost: event.cost ?? event.estimatedCost,
    isCostEstimate: event.cost === undefined && event.estimatedCost !== undefined,
    hasFeedback: event.hasFeedback,
  };
}

export type TotalCost = {
  /** US dollars; undefined if no event has a cost. */
  readonly cost: number | undefined;
  /** Whether a part of it is by the price table. */
  readonly isCostEstimate: boolean;
};

/** Adds up the costs of events, as sent and as estimated. */
export function totalCostOf(events: Iterable<SessionEvent>): TotalCost {
  let cost: number | undefined;
  let isCostEstimate = false;
  for (const event of events) {
    if (event.type === "session" || event.cost === undefined) continue;
    cost = (cost ?? 0) + event.cost;
    isCostEstimate ||= event.isCostEstimate;
  }
  return { cost, isCostEstimate };
}
