// Resolves names that tenants give. Not as the system does: getaddrinfo takes a thread of few while
// a name server takes its time, and reads names of this host's own. Called by address-guard.ts.
// Source: docs/decisions.md, 21.

import { Resolver } from "node:dns/promises";

/** Returns addresses of a name, at least one; fails where it has none, or nobody tells. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** Of one question to one name server, and of all of them together. */
const questionMs = 2_000;
const allMs = 5_000;
const tries = 2;
/** However many a name has, a socket needs a few. */
const addressesMax = 16;

export const resolvePublicly: Resolve = async (hostname) => {
  // Made anew, because the system's name servers may change while the service runs.
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
