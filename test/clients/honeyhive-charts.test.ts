// Charts as users of PyPI honeyhive 1.7.0 keep them, by both paths and kinds of keys; the client
// refuses answers that are not as they were published.
// Source: the published client; docs/decisions.md, 47.2.

import { describe, expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import { givenAProject } from "../support/project.ts";
import { startService } from "../support/service.ts";
import { addKey } from "../support/tenants.ts";
import { givenReport, honeyhiveReport, installPython } from "./environment.ts";

type Json = Readonly<Record<string, unknown>>;
type Answer = { readonly success: boolean; readonly data: Json };
type Way = {
  readonly created: Answer;
  readonly seen: Answer;
  readonly updated: Answer;
  readonly listed: { readonly data: readonly Json[] };
  readonly deleted: Json;
  readonly absent: number;
};
type Report = { readonly current: Way; readonly older: Way; readonly least: Answer };

const service = givenStarted(startService);

describe("PyPI honeyhive 1.7.0", () => {
  const report = givenReport(
    "PyPI honeyhive 1.7.0",
    () => installPython("honeyhive.txt"),
    async (environment) => {
      const { database, url } = service;
      const tenant = await givenAProject(database);
      const project = await addKey(database, tenant, { kind: "project", root: "project" });
      const dataPlane = await addKey(database, tenant, { kind: "data_plane", root: "org" });
      return honeyhiveReport<Report>(environment, "honeyhive_charts.py", [
        url,
        project.secret,
        dataPlane.secret,
        tenant.projectId,
      ]);
    },
  );

  test.each(["current", "older"] as const)("keeps a chart on the %s path", (way) => {
    const { created, seen, updated, listed, deleted, absent } = report[way];

    expect(created.data).toMatchObject({
      name: way,
      metric: "cost",
      func: "sum",
      groupBy: "model",
      bucketing: "hour",
      owner_id: "me",
      is_active: true,
      updated_at: null,
      description: null,
      dateRange: { $gte: Date.UTC(2026, 0, 1), $lte: Date.UTC(2026, 0, 31) },
      query: [{ field: "event_type", operator: "is", value: "model", type: "string" }],
    });
    // The project key reads what the data plane key made.
    expect(seen).toEqual(created);
    expect(updated.data).toMatchObject({ id: created.data["id"], name: "renamed", metric: "cost" });
    expect(updated.data["updated_at"]).not.toBeNull();
    expect(listed.data).toEqual([updated.data]);
    expect(deleted["success"]).toBe(true);
    expect(absent).toBe(404);
  });

  test("needs only a name and a metric", () => {
    expect(report.least.data).toMatchObject({ name: "least", func: null, dateRange: null });
  });
});
