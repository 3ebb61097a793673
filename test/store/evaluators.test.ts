// Metrics on a real database: which of them run, the memory of servers, disabling after failures,
// and audit rows.

import type { Actor } from "../../src/base/actor.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createAudit } from "../../src/access/audit/audit.ts";
import { createAccessChanges } from "../../src/access/changes/changes.ts";
import type { ProjectScope } from "../../src/access/scope.ts";
import { createLogger } from "../../src/base/logger.ts";
import { createSandbox } from "../../src/commands/sandbox.ts";
import { readConfig } from "../../src/config.ts";
import { createScopes } from "../../src/controlplane/scopes/scopes.ts";
import { createMetrics, type Metrics } from "../../src/evaluation/metrics/metrics.ts";
import type { DefinitionFields } from "../../src/evaluation/metrics/fields.ts";
import {
  createMetricVersions,
  type MetricVersions,
} from "../../src/evaluation/metrics/versions.ts";
import type { PythonSandbox } from "../../src/evaluation/runner/python/sandbox.ts";
import { givenTestDatabase } from "../support/database.ts";
import { scopeOfProject } from "../support/keys.ts";
import { givenAProject } from "../support/project.ts";
import { reasonOf } from "../support/reason.ts";
import { patience } from "../support/patience.ts";

const actor: Actor = { type: "operator", id: "t", name: "tester" };

const own = givenTestDatabase();
let sandbox: PythonSandbox;
let metrics: Metrics;
let versions: MetricVersions;
/** What servers were told to forget, in order. */
const heard: string[] = [];
const cancelled: string[] = [];

beforeAll(async () => {
  const made = createParts();
  metrics = made.metrics;
  versions = made.versions;
});

afterAll(() => sandbox.close());

/** Puts the services together; `codeBytesMax` lets pages be filled with less. */
function createParts() {
  const { database } = own;
  const changes = createAccessChanges({ database });
  changes.onForget((subject) => heard.push(subject));
  sandbox = createSandbox(readConfig({}, {}), createLogger("silent"));
  const parts = {
    database,
    changes,
    sandbox,
    audit: createAudit(database),
    scopes: createScopes(database),
    codeBytesMax: 20_000_000,
  };
  return {
    versions: createMetricVersions(parts),
    metrics: createMetrics({
      ...parts,
      cancelBackfills: (project, evaluatorId) => {
        cancelled.push(`${project.id} ${evaluatorId}`);
        return Promise.resolve();
      },
    }),
  };
}

const judge: DefinitionFields = {
  name: "tone",
  type: "LLM",
  criteria: "Rate {{ outputs }}",
  enabled_in_prod: true,
  model_provider: "openai",
  model_name: "gpt-4o-mini",
};

async function givenAProjectScope(): Promise<ProjectScope> {
  const local = await givenAProject(own.database);
  const { orgId, dataplaneId, workspaceId, projectId } = local;
  const above = { orgId, dataplaneId, workspaceId, clusterId: "default" };
  return { ...scopeOfProject(local), ...above, projectId };
}

async function givenAnEvaluator(fields: DefinitionFields = {}) {
  const project = await givenAProjectScope();
  const { id } = await metrics.create(project, { ...judge, ...fields }, actor);
  const whose = { project, id, actor };
  return {
    project,
    projectId: project.projectId,
    id,
    whose,
    get: () => metrics.get(project.projectId, id),
    disable: (enablement: number, message = "disabled after 10 failures in a row: no model") =>
      metrics.disable({ projectId: project.projectId, evaluatorId: id, enablement, message }),
  };
}

async function archive({ projectId }: ProjectScope): Promise<void> {
  const sql = own.database.sql();
  await sql`update projects set archived_at = now() where project_id = ${projectId}`;
}

describe("find", () => {
  test("returns the version that runs, or the one that is asked for", async () => {
    const { projectId, id, whose } = await givenAnEvaluator();
    await metrics.update(whose, { criteria: "Rate {{ feedback.ground_truth }}" });

    const deployed = await metrics.find(projectId, id);
    const first = await metrics.find(projectId, id, 1);

    expect(deployed).toMatchObject({
      evaluatorId: id,
      projectId,
      version: 2,
      enablement: 1,
      readsGroundTruth: true,
      definition: { criteria: "Rate {{ feedback.ground_truth }}" },
    });
    expect(first).toMatchObject({
      version: 1,
      enablement: 1,
      readsGroundTruth: false,
      definition: { criteria: "Rate {{ outputs }}" },
    });
    expect(await metrics.find(projectId, id, 3)).toBeUndefined();
  });

  test("knows nothing of what was deleted, archived, or is another project's", async () => {
    const [kept, deleted, archived] = [
      await givenAnEvaluator(),
      await givenAnEvaluator(),
      await givenAnEvaluator(),
    ];
    await metrics.delete(deleted.whose);
    await archive(archived.project);

    const found = [
      await metrics.find(kept.projectId, kept.id),
      await metrics.find(deleted.projectId, deleted.id),
      await metrics.find(archived.projectId, archived.id),
      await metrics.find(deleted.projectId, kept.id),
      await metrics.find(kept.projectId, "no id"),
    ];

    expect(found.map((one) => one?.evaluatorId)).toEqual([
      kept.id,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe("enabledOf", () => {
  test("returns those that run by themselves, as soon as a change commits", async () => {
    const { projectId, project, id, whose } = await givenAnEvaluator();
    await metrics.create(project, { ...judge, name: "off", enabled_in_prod: false }, actor);
    const question = { name: "human", type: "HUMAN", criteria: "?", enabled_in_prod: true };
    await metrics.create(project, question, actor);

    const before = await metrics.enabledOf(projectId);
    await metrics.update(whose, { sampling_percentage: 50 });
    const changed = await metrics.enabledOf(projectId);
    await metrics.update(whose, { enabled_in_prod: false });
    const after = await metrics.enabledOf(projectId);

    expect(before.map(({ evaluatorId }) => evaluatorId)).toEqual([id]);
    // No code: each server remembers those of many projects.
    expect(Object.keys(before[0]?.definition ?? {}).toSorted()).toEqual([
      "filters",
      "sampling_percentage",
    ]);
    expect(changed).toMatchObject([{ version: 2, definition: { sampling_percentage: 50 } }]);
    expect(after).toEqual([]);
    expect(heard.filter((subject) => subject === `evaluators:${projectId}`)).toHaveLength(5);
  });

  test("returns none of an archived project", async () => {
    const { project } = await givenAnEvaluator();
    await archive(project);

    expect(await metrics.enabledOf(project.projectId)).toEqual([]);
  });
});

describe("filters of all that is enabled", () => {
  test("have a million bytes in a project at most", async () => {
    const project = await givenAProjectScope();
    const filters = [{ field: "event_name", operator: "is", value: "x".repeat(49_000) }];
    const make = (name: string, enabled_in_prod: boolean) =>
      metrics.create(project, { ...judge, name, filters, enabled_in_prod }, actor);
    const made = [];
    for (let count = 0; count < 20; count += 1) made.push(await make(`m${count}`, true));
    const refusal = /^INVALID_ARGUMENT filters: those of a project's enabled metrics .* 1000000 /;

    expect(await reasonOf(make("more", true))).toMatch(refusal);
    const { id } = await make("more", false);
    const whose = { project, id, actor };
    expect(await reasonOf(metrics.update(whose, { enabled_in_prod: true }))).toMatch(refusal);

    await metrics.update({ project, id: made[0]?.id ?? "", actor }, { enabled_in_prod: false });
    await metrics.update(whose, { enabled_in_prod: true });
    expect(await metrics.enabledOf(project.projectId)).toHaveLength(20);
  });
});

describe("mayHaveEnabled", () => {
  test("is false only once it is known, and true again at once", async () => {
    const { projectId, whose } = await givenAnEvaluator({ enabled_in_prod: false });

    const unknown = metrics.mayHaveEnabled(projectId);
    await metrics.enabledOf(projectId);
    const known = metrics.mayHaveEnabled(projectId);
    await metrics.update(whose, { enabled_in_prod: true });
    const enabled = metrics.mayHaveEnabled(projectId);

    expect([unknown, known, enabled]).toEqual([true, false, true]);
  });

  test("looks up in the background what it does not know", async () => {
    const { projectId } = await givenAProjectScope();

    expect(metrics.mayHaveEnabled(projectId)).toBe(true);
    await expect.poll(() => metrics.mayHaveEnabled(projectId), patience).toBe(false);
  });
});

describe("disable", () => {
  test("makes a version that says why, once, whoever asks at the same time", async () => {
    const { projectId, id, get, disable } = await givenAnEvaluator();

    const answers = await Promise.all([disable(0), disable(0), disable(0)]);
    const late = await disable(0);
    const got = await get();
    const snapshot = await versions.get(projectId, id, "v2");

    expect(answers.toSorted()).toEqual([false, false, true]);
    expect(late).toBe(false);
    const reason = "disabled after 10 failures in a row: no model";
    expect(got).toMatchObject({ version: 2, lastVersion: 2, enablement: 0 });
    expect(got).toMatchObject({ disabledReason: reason, definition: { enabled_in_prod: false } });
    expect(snapshot).toMatchObject({ message: reason, createdBy: "evaluation", isDeployed: true });
    expect(await metrics.enabledOf(projectId)).toEqual([]);
  });

  test("leaves an evaluator alone that was deployed or enabled anew since", async () => {
    const { whose, disable, get } = await givenAnEvaluator();
    await metrics.update(whose, { criteria: "Judge {{ outputs }}" });

    const answer = await disable(0);

    expect(answer).toBe(false);
    expect(await get()).toMatchObject({ version: 2, definition: { enabled_in_prod: true } });
  });

  test("does nothing about what was deleted or archived", async () => {
    const [deleted, archived] = [await givenAnEvaluator(), await givenAnEvaluator()];
    await metrics.delete(deleted.whose);
    await archive(archived.project);

    expect([await deleted.disable(0), await archived.disable(0)]).toEqual([false, false]);
  });

  test("keeps any message that it is handed", async () => {
    const { disable, get } = await givenAnEvaluator();

    const answer = await disable(0, `a\0b\ud800${"x".repeat(5_000)}`);

    expect(answer).toBe(true);
    expect((await get()).disabledReason).toBe(`a\ufffdb\ufffd${"x".repeat(996)}`);
  });
});

describe("enablement", () => {
  test("begins again with each version that is deployed", async () => {
    const { projectId, id, whose, get } = await givenAnEvaluator();
    const fields = { description: "d" };
    const counts: number[] = [];
    const note = async () => counts.push((await get()).enablement);

    await note();
    await metrics.update(whose, fields);
    await note();
    await versions.create(whose, { message: "m", fields: {}, isDeployed: false });
    await note();
    await versions.deploy(whose, "v1");
    await note();
    await versions.restore(whose, "v2");
    await note();
    await versions.create(whose, { message: "m", fields: {}, isDeployed: true });
    await note();

    expect(counts).toEqual([0, 1, 1, 2, 3, 4]);
    expect(await metrics.find(projectId, id)).toMatchObject({ version: 5, enablement: 4 });
  });

  test.each([
    { name: "restoring", restart: "restore" },
    { name: "deploying", restart: "deploy" },
    { name: "enabling", restart: "update" },
  ] as const)("begins again by $name what the service disabled", async ({ restart }) => {
    const { whose, get, disable } = await givenAnEvaluator();
    await disable(0);

    if (restart === "update") await metrics.update(whose, { enabled_in_prod: true });
    else await versions[restart](whose, "v1");
    const got = await get();

    expect(got).toMatchObject({ disabledReason: null, enablement: 1 });
    expect(got.definition.enabled_in_prod).toBe(true);
    expect(got.enabledAt?.getTime()).toBeGreaterThan(got.createdAt.getTime());
  });

  test("mending what the service disabled does not enable it", async () => {
    const { whose, get, disable } = await givenAnEvaluator();
    await disable(0, "why");

    await metrics.update(whose, { criteria: "Judge {{ outputs }}" });

    expect(await get()).toMatchObject({
      disabledReason: "why",
      definition: { enabled_in_prod: false },
    });
  });

  test("is counted afresh for a backfill, but not while the evaluator is enabled", async () => {
    const [enabled, disabled] = [
      await givenAnEvaluator(),
      await givenAnEvaluator({ enabled_in_prod: false }),
    ];

    const counts = [
      await metrics.countAfresh(enabled.projectId, enabled.id),
      await metrics.countAfresh(disabled.projectId, disabled.id),
      await metrics.countAfresh(disabled.projectId, disabled.id),
    ];

    expect(counts).toEqual([0, 1, 2]);
    const other = metrics.countAfresh(enabled.projectId, disabled.id);
    expect(await reasonOf(other)).toBe("NOT_FOUND no such metric");
  });
});

describe("changes", () => {
  test("are audited with what was before and after, but for the code", async () => {
    const { project, id, whose, disable } = await givenAnEvaluator();
    await metrics.update(whose, { sampling_percentage: 20, criteria: "s3cret {{ outputs }}" });
    await disable(1, "why");
    await versions.deploy(whose, "v1");
    await versions.restore(whose, "v2");
    await versions.create(whose, { message: "m", fields: { name: "other" }, isDeployed: false });
    await metrics.delete(whose);

    const { items } = await createAudit(own.database).list(project.orgId, {});

    const named = (version: string, more: object = {}) =>
      expect.objectContaining({
        version,
        name: "tone",
        type: "LLM",
        ...more,
      }) as object;
    const target = { targetType: "evaluator", targetId: id, scopeId: project.id };
    expect(items.toReversed()).toMatchObject([
      { ...target, action: "evaluator.create", actorName: "tester", after: named("v1") },
      {
        ...target,
        action: "evaluator.update",
        before: named("v1", { sampling_percentage: 10 }),
        after: named("v2", { sampling_percentage: 20 }),
      },
      {
        ...target,
        action: "evaluator.disable",
        actorType: "system",
        actorId: "evaluation",
        before: named("v2", { enabled_in_prod: true }),
        after: named("v3", { enabled_in_prod: false, disabled_reason: "why" }),
      },
      { action: "evaluator.deploy", before: named("v3"), after: named("v1") },
      { action: "evaluator.restore", before: named("v1"), after: named("v4") },
      { action: "evaluator.add_version", after: named("v5", { name: "other" }) },
      { action: "evaluator.delete", before: named("v4"), after: undefined },
    ]);
    expect(JSON.stringify(items)).not.toContain("s3cret");
  });

  test("of an archived project are refused", async () => {
    const { project, whose } = await givenAnEvaluator();
    await archive(project);

    const reasons = [
      await reasonOf(metrics.create(project, { ...judge, name: "x" }, actor)),
      await reasonOf(metrics.update(whose, { description: "x" })),
      await reasonOf(versions.restore(whose, "v1")),
      await reasonOf(metrics.delete(whose)),
    ];

    expect(new Set(reasons)).toEqual(new Set(["NOT_FOUND no active project"]));
  });

  test("that delete an evaluator end its backfill in the same transaction", async () => {
    const { project, id, whose } = await givenAnEvaluator();

    await metrics.delete(whose);

    expect(cancelled).toContain(`${project.id} ${id}`);
  });
});

describe("limits", () => {
  test("a project has at most 1,000 evaluators", async () => {
    const { project, id } = await givenAnEvaluator();
    await own.database.sql()`
      insert into evaluators (
        evaluator_id, project_id, name, deployed_version, last_version, is_enabled, created_by
      )
      select gen_random_uuid(), project_id, 'm' || n, 1, 1, false, 'test'
      from evaluators, generate_series(2, 1000) as n
      where evaluator_id = ${id}`;

    const made = metrics.create(project, { ...judge, name: "one more" }, actor);

    await expect(made).rejects.toThrow("a project has at most 1000 metrics; delete one first");
  });

  test("an evaluator has at most 10,000 versions, and can still be disabled", async () => {
    const { id, whose, disable, get } = await givenAnEvaluator();
    await own.database.sql()`
      update evaluators set last_version = 10000 where evaluator_id = ${id}`;

    const updated = metrics.update(whose, { description: "x" });

    await expect(updated).rejects.toThrow("the metric has 10000 versions, which is the limit");
    expect(await disable(0)).toBe(true);
    expect(await get()).toMatchObject({ version: 10_001 });
  });

  test("pages are cut where they would be too long for one answer", async () => {
    const { project, projectId, id, whose } = await givenAnEvaluator({ name: "a" });
    const criteria = `${"x".repeat(9_000_000)} {{ outputs }}`;
    for (const name of ["b", "c", "d"]) {
      await metrics.create(project, { ...judge, name, criteria }, actor);
    }
    for (const description of ["1", "2"]) await metrics.update(whose, { criteria, description });
    const read = async (cursor?: string) => {
      const { items, nextCursor } = await metrics.list(projectId, { cursor });
      return { names: items.map(({ definition }) => definition.name), nextCursor };
    };

    const first = await read();
    const second = await read(first.nextCursor);
    const ofVersions = await versions.list(projectId, id, {});

    expect(first.names).toEqual(["a", "b"]);
    expect(second.names).toEqual(["c", "d"]);
    expect(second.nextCursor).toBeUndefined();
    expect(ofVersions.items.map(({ version }) => version)).toEqual([1, 2, 3]);
    expect(ofVersions.nextCursor).toBeUndefined();
  });
});
