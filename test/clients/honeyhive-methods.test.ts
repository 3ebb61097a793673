// Every public method of PyPI honeyhive 1.7.0's client, under all of its names. The client refuses
// answers that are not as they were published. Source: the published clients.

import { beforeAll, expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import { startService } from "../support/service.ts";
import {
  type Environment,
  honeyhiveReport,
  installPython,
  sayMissing,
  skipTestsWhere,
} from "./environment.ts";
import { programTimeoutMs } from "./program.ts";

type Report = {
  readonly faults: readonly string[];
  /** Methods of the client that were not called. */
  readonly uncalled: readonly string[];
  readonly called: number;
};

const service = givenStarted(startService);
let environment: Environment;
let report: Report;

beforeAll(async () => {
  environment = await installPython("honeyhive.txt");
  sayMissing("PyPI honeyhive 1.7.0", environment);
  if (environment.missing !== undefined) return;
  report = await honeyhiveReport<Report>(environment, "honeyhive_methods.py", [
    service.url,
    service.projectKey,
  ]);
}, programTimeoutMs);

skipTestsWhere(() => environment.missing);

test("every method is called and gets what it expects", () => {
  expect(report.faults).toEqual([]);
  expect(report.uncalled).toEqual([]);
  expect(report.called).toBeGreaterThan(100);
});
