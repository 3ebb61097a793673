// The time of the service. A browser whose clock is wrong would ask for the last hour of another
// day, so questions and ages go by the `Date` of the service's answers.

/**
 * Difference that counts. Answers are on their way for a while, and `Date` has whole seconds: a
 * correction by less would be no better than the clock.
 */
const differenceMinMs = 30_000;

let aheadMs = 0;

/** Learns the time from the `Date` header of an answer, as its first bytes arrive. */
export function noteServiceTime(date: string | null): void {
  const serviceMs = Date.parse(date ?? "");
  // A proxy may leave the header out.
  if (Number.isNaN(serviceMs)) return;
  const difference = serviceMs - Date.now();
  aheadMs = Math.abs(difference) < differenceMinMs ? 0 : difference;
}

/** Returns the time of the service in Unix milliseconds; the clock's own if that is right. */
export function serviceNow(): number {
  return Date.now() + aheadMs;
}
