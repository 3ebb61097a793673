// Every public method of npm honeyhive 1.0.42 that reaches the server. Its client refuses answers
// that are not as they were published. Source: the published client; docs/decisions.md, 44.4.

import { expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import { startService } from "../support/service.ts";
import { givenReport, installNode, nodeReport } from "./environment.ts";

type Report = {
  readonly faults: readonly string[];
  /** Methods of the package that were not called. */
  readonly uncalled: readonly string[];
  readonly methods: readonly string[];
  /** Answers of the methods that the service refuses. */
  readonly refused: Readonly<Record<string, unknown>>;
  /** What the package wrote for its user after all else was done. */
  readonly complaints: readonly string[];
};

const service = givenStarted(startService);
const report = givenReport("npm honeyhive 1.0.42", installNode, (environment) =>
  nodeReport<Report>(environment, "honeyhive-methods.mjs", [
    service.url,
    service.projectKey,
    service.projectName,
  ]),
);

test("every method is called and gets what it expects", () => {
  expect(report.faults).toEqual([]);
  expect(report.uncalled).toEqual([]);
  expect(report.methods.length).toBeGreaterThan(75);
});

test("a project's key makes, renames and deletes no project", () => {
  const body = { success: false, statusCode: 404, errorCode: "NOT_FOUND", message: "Not found" };
  const refusal = { statusCode: 404, body };
  expect(report.refused).toEqual({
    "projects.createProject": refusal,
    "projects.updateProject": refusal,
    "projects.deleteProject": refusal,
  });
});

test("the LangChain handler's startNewSession, which sends no session, is refused", () => {
  expect(report.complaints).toEqual([
    expect.stringContaining("Error starting new session: Error: Failed to start new session"),
  ]);
});
