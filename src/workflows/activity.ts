// What all activities have in common: which failures are for good, and signs of life. Called by the
// activities of every job.

import { ApplicationFailure, Context } from "@temporalio/activity";
import { outcomes, ServiceError } from "../base/errors.ts";

type Activity = (...words: never[]) => Promise<unknown>;

/** Well below the time after which Temporal takes a silent activity for dead. */
const heartbeatMs = 3_000;
const serverErrorMin = 500;

/** Returns activities that Temporal does not try again where that could not help. */
export function toActivities<T extends Readonly<Record<string, Activity>>>(activities: T): T {
  return Object.fromEntries(
    Object.entries(activities).map(([name, activity]) => [
      name,
      (...words: never[]) => activity(...words).catch(refuse),
    ]),
    // The same names and signatures.
  ) as unknown as T;
}

function refuse(error: unknown): never {
  const isForGood = error instanceof ServiceError && outcomes[error.reason].status < serverErrorMin;
  if (!isForGood) throw error;
  throw ApplicationFailure.nonRetryable(error.message, error.reason);
}

/**
 * Runs a long activity's work with heartbeats, so that Temporal gives it to another worker soon
 * after this one has died. `signal` is aborted when the activity is cancelled or this worker stops.
 */
export async function withHeartbeats<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), heartbeatMs);
  try {
    return await work(context.cancellationSignal);
  } finally {
    clearInterval(timer);
  }
}

/** Tells whether this is not the first attempt, so that one before may have done a part. */
export function isRetry(): boolean {
  return Context.current().info.attempt > 1;
}
