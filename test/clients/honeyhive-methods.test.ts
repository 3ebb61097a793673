// Every public method of PyPI honeyhive 1.7.0's client, under all of its names. The client refuses
// answers that are not as they were published. Source: the published clients.

import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startService, type TestService } from "../support/service.ts";
import { type Environment, honeyhiveReport, installPython, sayMissing } from "./environment.ts";
import { programTimeoutMs } from "./program.ts";

type Report = {
  readonly faults: readonly string[];
  /** Methods of the client that were not called. */
  readonly uncalled: readonly string[];
  readonly called: number;
};

let service: TestService;
let environment: Environment;
let report: Report;

beforeAll(async () => {
  service = await startService();
  environment = await installPython("honeyhive.txt");
  sayMissing("PyPI honeyhive 1.7.0", environment);
  if (environment.missing !== undefined) return;
  report = await honeyhiveReport<Report>(environment, "honeyhive_methods.py", [
    service.url,
    service.projectKey,
  ]);
}, programTimeoutMs);
afterAll(() => service?.stop());
beforeEach(({ skip }) => {
  if (environment.missing !== undefined) skip(environment.missing);
});

test("every method is called and gets what it expects", () => {
  expect(report.faults).toEqual([]);
  expect(report.uncalled).toEqual([]);
  expect(report.called).toBeGreaterThan(100);
});
