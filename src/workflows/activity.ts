// What all activities have in common: which failures are for good, and signs of life. Called by the
// activities of every job.

import { ApplicationFailure, Context } from "@temporalio/activity";
import { outcomes, ServiceError } from "../base/errors.ts";

type Activity = (...words: never[]) => Promise<unknown>;

/** Well below the time after which Temporal takes a silent activity for dead. */
export const heartbeatMs = 3_000;
const serverErrorMin = 500;

/**
 * Returns activities that show signs of life while they run, so that Temporal gives them to another
 * worker soon after this one has died, and that are not tried again where that could not help.
 */
export function toActivities<T extends Readonly<Record<string, Activity>>>(activities: T): T {
  return Object.fromEntries(
    Object.entries(activities).map(([name, activity]) => [
      name,
      (...words: never[]) => withHeartbeats(() => activity(...words)).catch(refuse),
    ]),
    // The same names and signatures.
  ) as unknown as T;
}

/** What a running activity has said of itself. */
const said = new WeakMap<Context, unknown>();

/** Has the running activity's signs of life tell how far it is. */
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

/** Returns what is aborted when the running activity is cancelled, or its worker stops. */
export function stopSignal(): AbortSignal {
  return Context.current().cancellationSignal;
}

/** Tells whether this is not the first attempt, so that one before may have done a part. */
export function isRetry(): boolean {
  return Context.current().info.attempt > 1;
}
