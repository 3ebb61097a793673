// PyPI honeyhive 1.7.0 as its users run experiments: evaluate() over own and managed datasets,
// results, comparisons, and the calls on datasets, datapoints and runs.
// Source: the published client; docs/experiments.md; docs/decisions.md, 27 and 39.4.

import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startService, type TestService } from "../support/service.ts";
import { type Environment, installPython, pythonOf, sayMissing } from "./environment.ts";
import { programTimeoutMs, readReport } from "./program.ts";

const title = "PyPI honeyhive 1.7.0";

type Json = Readonly<Record<string, unknown>>;
type Result = {
  readonly run_id: string;
  readonly status: string;
  readonly passed: readonly string[];
  readonly metrics: { readonly details: readonly Json[] };
  readonly datapoints: readonly Json[];
};
type Runs = { readonly evaluations: readonly Json[]; readonly pagination: Json };
type Report = {
  readonly first: Result;
  readonly second: Result;
  readonly managed: Result;
  readonly managed_run: { readonly evaluation: Json };
  readonly compared: Json;
  readonly pairs: { readonly events: readonly Json[]; readonly totalEvents: number };
  readonly listed: { readonly datasets: readonly Json[] };
  readonly renamed: { readonly datasets: readonly Json[] };
  readonly changed: { readonly datapoint: readonly Json[] };
  readonly points: { readonly datapoints: readonly Json[] };
  readonly runs: Runs;
  readonly by_ids: Runs;
  readonly left: Runs;
  readonly deleted_run: Json;
  readonly deleted_dataset: Json;
  readonly logged: readonly string[];
};

let environment: Environment;
let service: TestService;
let report: Report;

beforeAll(async () => {
  environment = await installPython("honeyhive.txt");
  sayMissing(title, environment);
  if (environment.missing !== undefined) return;
  service = await startService();
  report = await readReport<Report>({
    command: pythonOf(environment.folder),
    words: [
      join(import.meta.dirname, "python/honeyhive_experiments.py"),
      service.url,
      service.projectKey,
    ],
    env: { HONEYHIVE_TELEMETRY: "false", PYTHONDONTWRITEBYTECODE: "1" },
  });
}, programTimeoutMs);
afterAll(() => service?.stop());
beforeEach(({ skip }) => {
  if (environment.missing !== undefined) skip(environment.missing);
});

const namesOf = ({ evaluations }: Runs): unknown[] => evaluations.map(({ name }) => name);

describe(title, () => {
  test("logs no warning and no error", () => {
    expect(report.logged).toEqual([]);
  });

  test("evaluates over a dataset of its own, and reads the result at once", () => {
    const { first } = report;

    expect(first.status).toBe("completed");
    expect(first.datapoints).toHaveLength(3);
    expect(first.passed).toHaveLength(3);
    expect(first.metrics.details).toMatchObject([
      { metric_name: "exact", event_name: "short", event_type: "chain", aggregate: 2 / 3 },
      { metric_name: "length", event_name: "short", event_type: "chain", aggregate: 1 },
    ]);
    expect(report.second.metrics.details).toMatchObject([{ aggregate: 2 / 3 }, { aggregate: 2 }]);
  });

  test("compares two runs of functions with different names", () => {
    expect(report.compared).toMatchObject({
      common_datapoints: 3,
      metric_deltas: {
        exact: { found_count: 3, improved_count: 1, degraded_count: 1, same_count: 1 },
        length: { old_aggregate: 1, new_aggregate: 2, improved_count: 2, same_count: 1 },
      },
    });
  });

  test("reads pairs of sessions", () => {
    const { events, totalEvents } = report.pairs;

    expect([events.length, totalEvents]).toEqual([3, 3]);
    for (const { datapoint_id: id, event_1: one, event_2: two } of events) {
      expect(one).toMatchObject({ event_type: "session", metadata: { datapoint_id: id } });
      expect(two).toMatchObject({ event_type: "session", metadata: { datapoint_id: id } });
    }
  });

  test("evaluates over a dataset of the service, whose version the run names", () => {
    const [dataset] = report.listed.datasets;
    const points = dataset?.["datapoints"] as string[];

    expect(points).toHaveLength(3);
    expect(report.managed.datapoints.map(({ datapoint_id: id }) => id)).toEqual(
      expect.arrayContaining(points),
    );
    expect(report.managed_run.evaluation).toMatchObject({
      name: "managed_echo",
      status: "completed",
      dataset_id: dataset?.["id"],
      event_ids: expect.arrayContaining(
        report.managed.datapoints.map(({ session_id: id }) => id),
      ) as unknown,
    });
  });

  test("changes datapoints and datasets", () => {
    expect(report.changed.datapoint).toMatchObject([{ inputs: { question: "changed" } }]);
    expect(report.points.datapoints).toHaveLength(3);
    const [renamed] = report.renamed.datasets;
    expect(renamed).toMatchObject({ name: "renamed", description: "changed" });
    expect(renamed?.["datapoints"]).toHaveLength(1);
    expect(report.deleted_dataset).toEqual({ result: { id: renamed?.["id"] } });
  });

  test("lists and deletes runs", () => {
    expect(namesOf(report.runs)).toEqual(["own_echo", "own_short"]);
    expect(report.runs.pagination).toMatchObject({ total: 2, total_unfiltered: 3 });
    expect(namesOf(report.by_ids)).toEqual(["own_echo", "own_short"]);
    expect(report.deleted_run).toEqual({ id: report.first.run_id, deleted: true });
    expect(namesOf(report.left)).toEqual(["managed_echo", "own_echo"]);
  });
});
