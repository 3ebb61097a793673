// Every public method of PyPI honeyhive 1.7.0's client, under all of its names. The client refuses
// answers that are not as they were published. Source: the published clients.

import { expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import { startService } from "../support/service.ts";
import { givenReport, honeyhiveReport, installPython } from "./environment.ts";

type Report = {
  readonly faults: readonly string[];
  /** Methods of the client that were not called. */
  readonly uncalled: readonly string[];
  readonly called: number;
};

const service = givenStarted(startService);
const report = givenReport(
  "PyPI honeyhive 1.7.0",
  () => installPython("honeyhive.txt"),
  (environment) =>
    honeyhiveReport<Report>(environment, "honeyhive_methods.py", [service.url, service.projectKey]),
);

test("every method is called and gets what it expects", () => {
  expect(report.faults).toEqual([]);
  expect(report.uncalled).toEqual([]);
  expect(report.called).toBeGreaterThan(100);
});
