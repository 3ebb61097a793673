// Common parts of all activities: permanent failures and heartbeats.

import { ApplicationFailure, Context } from "@temporalio/activity";
import { outcomes, ServiceError } from "../base/errors.ts";

type Activity = (...words: never[]) => Promise<unknown>;

/** Interval of heartbeats, well below Temporal's heartbeat time-out. */
export const heartbeatMs = 3_000;
const serverErrorMin = 500;

/**
 * Wraps activities with heartbeats, so that Temporal retries them soon after their worker has died,
 * and makes failures permanent if a retry cannot help.
 */
export function toActivities<T extends Readonly<Record<string, Activity>>>(activities: T): T {
  return Object.fromEntries(
    Object.entries(activities).map(([name, activity]) => [
      name,
      (...words: never[]) => withHeartbeats(() => activity(...words)).catch(refuse),
    ]),
    // Names and signatures are unchanged.
  ) as unknown as T;
}

/** Heartbeat details of the running activities. */
const said = new WeakMap<Context, unknown>();

/** Sets the details of the running activity's heartbeats, such as its progress. */
export function tell(details: Readonly<Record<string, number | string>>): void {
  said.set(Context.current(), details);
}

async function withHeartbeats(work: () => Promise<unknown>): Promise<unknown> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(said.get(context)), heartbeatMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

function refuse(error: unknown): never {
  const isForGood = error instanceof ServiceError && outcomes[error.reason].status < serverErrorMin;
  if (!isForGood) throw error;
  throw ApplicationFailure.nonRetryable(error.message, error.reason);
}

/** Returns a signal that is aborted when the running activity is cancelled or its worker stops. */
export function stopSignal(): AbortSignal {
  return Context.current().cancellationSignal;
}

/** Returns whether an earlier attempt may have done a part. */
export function isRetry(): boolean {
  return attemptNumber() > 1;
}

/** Returns the number of the running attempt, from 1. */
export function attemptNumber(): number {
  return Context.current().info.attempt;
}
