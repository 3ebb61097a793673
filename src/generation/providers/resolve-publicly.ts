// Resolves host names from tenants through DNS. Not through getaddrinfo, which blocks one of few
// threads while a name server is slow, and reads this host's own names.
// Source: docs/decisions.md, 21.

import { Resolver } from "node:dns/promises";

/** Returns at least one address of a name; fails if it has none or no server answers. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** Maximum time of one query to one name server; `allMs` limits all of them together. */
const questionMs = 2_000;
const allMs = 5_000;
const tries = 2;
/** Maximum addresses that are returned: a socket needs only a few. */
const addressesMax = 16;

export const resolvePublicly: Resolve = async (hostname) => {
  // A new resolver each time, because the system's name servers may change while the service runs.
  const resolver = new Resolver({ timeout: questionMs, tries });
  const timer = setTimeout(() => resolver.cancel(), allMs);
  try {
    return firstOf(
      await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]),
    );
  } finally {
    clearTimeout(timer);
  }
};

function firstOf(answers: readonly PromiseSettledResult<readonly string[]>[]): readonly string[] {
  const addresses = answers.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
  if (addresses.length > 0) return addresses.slice(0, addressesMax);
  const failed = answers.find((one) => one.status === "rejected");
  throw failed?.reason ?? new Error("a name without addresses");
}
