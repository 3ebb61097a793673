// Experiments as users of PyPI honeyhive 1.7.0 run them, by evaluate() over own and managed
// datasets, and by the client of npm honeyhive 1.0.42, whose evaluate() takes no URL. Both clients
// refuse answers that are not as they were published.
// Source: the published clients; docs/experiments.md; docs/decisions.md, 27 and 39.4.

import { describe, expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import { startService } from "../support/service.ts";
import {
  givenReport,
  honeyhiveReport,
  installNode,
  installPython,
  nodeReport,
} from "./environment.ts";

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
  readonly toned: Result;
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

const service = givenStarted(startService);

const namesOf = ({ evaluations }: Runs): unknown[] => evaluations.map(({ name }) => name);

describe("PyPI honeyhive 1.7.0", () => {
  const report = givenReport(
    "PyPI honeyhive 1.7.0",
    () => installPython("honeyhive.txt"),
    (environment) =>
      honeyhiveReport<Report>(environment, "honeyhive_experiments.py", [
        service.url,
        service.projectKey,
      ]),
  );

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

  test("reads the result of an evaluator that answers text, which the client refuses", () => {
    const { toned } = report;

    expect(toned.passed).toHaveLength(3);
    expect(toned.datapoints.map(({ metrics }) => metrics)).toMatchObject(
      Array(3).fill([{ name: "tone", value: null, passed: true }]),
    );
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
    expect(report.runs.pagination).toMatchObject({ total: 2 });
    expect(namesOf(report.by_ids)).toEqual(["own_echo", "own_short"]);
    expect(report.deleted_run).toEqual({ id: report.first.run_id, deleted: true });
    expect(namesOf(report.left)).toEqual(["managed_echo", "own_echo", "toned"]);
  });
});

describe("npm honeyhive 1.0.42", () => {
  const report = givenReport("npm honeyhive 1.0.42", installNode, (environment) =>
    nodeReport<Json>(environment, "honeyhive-experiments.mjs", [
      service.url,
      service.projectKey,
      service.projectName,
    ]),
  );

  test("keeps datasets and datapoints", () => {
    expect(report).toMatchObject({
      managed: { testcases: [{ name: "npm", type: "evaluation", numPoints: 2 }] },
      one: { datapoint: [{ inputs: { question: "a" }, groundTruth: { answer: "b" } }] },
      changed: { datapoint: [{ inputs: { question: "changed" } }] },
      deleted: { deleted: true },
      renamed: { testcases: [{ name: "renamed", numPoints: 1 }] },
    });
    expect((report["listed"] as { datapoints: unknown[] }).datapoints).toHaveLength(2);
    const { testcases } = report["left"] as { testcases: readonly Json[] };
    expect(testcases.map(({ name }) => name)).not.toContain("renamed");
  });

  test("reads runs, results and comparisons", () => {
    expect(report).toMatchObject({
      got: { evaluation: { name: "newer", status: "completed" } },
      result: {
        status: "completed",
        success: true,
        metrics: { details: [{ metricName: "score", aggregate: 1.5, values: [1, 2] }] },
      },
      compared: {
        metrics: [{ metricName: "score", oldAggregate: 0.5, newAggregate: 1.5, improvedCount: 2 }],
        oldRun: { name: "older" },
        newRun: { name: "newer" },
      },
      deletedRun: { deleted: true },
    });
    const { evaluations } = report["runs"] as { evaluations: readonly Json[] };
    expect(evaluations.map(({ name }) => name).slice(0, 2)).toEqual(["newer", "older"]);
  });
});
