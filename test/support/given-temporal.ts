// A Temporal for the tests of a file. They are skipped where there is none; the output then says of
// what.

import { beforeAll } from "vitest";
import type { EmbeddedTemporal } from "../../src/embedded/temporal.ts";
import { sayMissing, skipTestsWhere } from "../clients/environment.ts";
import { givenStarted } from "./given.ts";
import { startTestTemporal, type TestTemporal } from "./temporal.ts";
import { startOwnTemporal } from "./temporal-server.ts";

/** Gives a namespace of the server of the test run. */
export function givenTemporal(what: string): TestTemporal {
  const temporal = givenStarted(startTestTemporal, async (started) => {
    if (started.missing === undefined) await started.stop();
  });
  return skippedWhereMissing(what, temporal) as TestTemporal;
}

/** Gives a server that the tests may kill. */
export function givenOwnTemporal(what: string): { readonly server: EmbeddedTemporal } {
  const own = skippedWhereMissing(what, givenStarted(startOwnTemporal));
  return own as { readonly server: EmbeddedTemporal };
}

function skippedWhereMissing<T extends { readonly missing?: string }>(
  what: string,
  temporal: T,
): T {
  beforeAll(() => sayMissing(what, temporal));
  skipTestsWhere(() => temporal.missing);
  return temporal;
}
