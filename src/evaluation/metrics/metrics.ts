// Metrics, which score events, with a version for each change. Source: docs/spec.md, "Metric
// definition", "Metrics and evaluations"; docs/decisions.md, 22.2, 23, 24.1, 25.1, 34.1.

import { assertCount } from "../../base/assert-count.ts";
import { type Actor, describeActor } from "../../base/actor.ts";
import { changeInside } from "../../access/change.ts";
import type { AccessChanges } from "../../access/changes/changes.ts";
import type { ProjectScope } from "../../access/scope.ts";
import { findProject } from "../../controlplane/scopes/scopes.ts";
import { refuse, ServiceError } from "../../base/errors.ts";
import { createUuid, isUuid, type ProjectId } from "../../base/ids.ts";
import { formatKeyCursor, type Page, parseKeyCursor, parseName } from "../../base/pages.ts";
import { metricsOfProjectMax } from "../../base/tenant-limits.ts";
import {
  assertFilterRoom,
  byPeople,
  changeMetric,
  getMetric,
  stateOf,
  toRevision,
} from "./change.ts";
import type { ChangeParts, Whose, WhoseCode } from "./change.ts";
import type { RoutedEvaluator, RunnableEvaluator } from "./definition.ts";
import { disableMetric, type Disabling } from "./disable-after-failures.ts";
import { createEnabledMemory, subjectOf } from "../../access/enabled-memory.ts";
import { type DefinitionFields, parseType } from "./fields.ts";
import * as store from "./store.ts";
import type { MetricRow } from "./store.ts";
import { toDefinition } from "./to-definition.ts";
import { compareDefinitions, hashDefinition } from "./version-content.ts";

/** An evaluator with its deployed version. */
export type Evaluator = MetricRow;

export type ListMetricsOptions = {
  /** From 1 to 1,000; the default, 1,000, is the maximum of a project. */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  /** Returns only evaluators of this type, by any of its names. */
  readonly type?: string | undefined;
  readonly id?: string | undefined;
};

/** Each change is audited and reaches every server when it commits. */
export type Metrics = {
  /**
   * Creates an evaluator, whose definition is its first version.
   *
   * Throws INVALID_ARGUMENT or INVALID_FILTER naming the field, for code and prompts with line and
   * column, NAME_TAKEN, and errors of the sandbox if it cannot parse code now.
   */
  create(project: ProjectScope, fields: DefinitionFields, actor: Actor): Promise<Evaluator>;
  /**
   * Returns evaluators by name; a page of large ones may hold fewer than the limit.
   * INVALID_ARGUMENT names a wrong option.
   */
  list(projectId: ProjectId, options: ListMetricsOptions): Promise<Page<Evaluator>>;
  /** Returns an evaluator. Throws NOT_FOUND if the project has no such evaluator. */
  get(projectId: ProjectId, id: string): Promise<Evaluator>;
  /**
   * Changes the given fields in a new version, which runs at once and resets the count of failures.
   * Without a difference there is no new version. Throws like `create` and `get`.
   */
  update(whose: WhoseCode, fields: DefinitionFields): Promise<void>;
  /** Deletes an evaluator and cancels its backfill; scores stay. Throws like `get`. */
  delete(whose: Whose & { readonly project: ProjectScope }): Promise<void>;
  /**
   * Returns a runnable version, by default the deployed one. Undefined if the evaluator was
   * deleted, its project is archived, or the version does not exist.
   */
  find(projectId: ProjectId, id: string, version?: number): Promise<RunnableEvaluator | undefined>;
  /** Returns the online evaluators, cached for up to a minute. */
  enabledOf(projectId: ProjectId): Promise<readonly RoutedEvaluator[]>;
  /** Returns false only if certainly no evaluator runs online; never waits. */
  mayHaveEnabled(projectId: ProjectId): boolean;
  /**
   * Disables an evaluator for its failures, with a version that states the reason. Returns false if
   * the metric was already disabled, redeployed or deleted.
   */
  disable(disabling: Disabling): Promise<boolean>;
  /**
   * Resets the count of failures of an evaluator that is not enabled, for a new backfill, in the
   * ambient transaction; returns its enablement. Throws like `get`.
   */
  countAfresh(projectId: ProjectId, id: string): Promise<number>;
};

export type MetricsOptions = ChangeParts & {
  readonly changes: Pick<AccessChanges, "append" | "onForget">;
  /**
   * Cancels the open backfill of an evaluator that is being deleted, in the ambient transaction.
   */
  readonly cancelBackfills: (
    project: ProjectScope,
    evaluatorId: string,
    actor: Actor,
  ) => Promise<void>;
};

export function createMetrics(options: MetricsOptions): Metrics {
  const { database, scopes, changes } = options;
  const memory = createEnabledMemory<RoutedEvaluator>({
    kind: "evaluators",
    async list(projectId) {
      const project = await findProject(scopes, projectId);
      if (!project) return { orgId: projectId, enabled: [] };
      const enabled = await store.listEnabled(database.sql(), projectId);
      return { orgId: project.orgId, enabled };
    },
  });
  changes.onForget((subject) => memory.forget(subject));

  return {
    create: (project, fields, actor) => create(options, { project, fields, actor }),

    async list(projectId, { limit = metricsOfProjectMax, cursor, type, id }) {
      assertCount("limit", limit, metricsOfProjectMax);
      const ofType = type === undefined ? undefined : parseType(type);
      const afterName = cursor === undefined ? "" : parseKeyCursor("metrics", cursor, parseName);
      if (id !== undefined && !isUuid(id)) return { items: [], nextCursor: undefined };
      const page = { limit, afterName, type: ofType, id };
      const { rows, hasMore } = await database.readInTurn(projectId, (sql) =>
        store.listMetrics(sql, projectId, page),
      );
      const last = hasMore ? rows.at(-1) : undefined;
      return { items: rows, nextCursor: last && formatKeyCursor("metrics", last.definition.name) };
    },

    get: (projectId, id) => getMetric(database, projectId, id),

    update: (whose, fields) => update(options, whose, fields),

    delete: (whose) => remove(options, whose),

    find: (projectId, id, version) => find(options, { projectId, id, version }),

    enabledOf: (projectId) => memory.get(projectId),

    mayHaveEnabled: (projectId) => memory.mayHaveAny(projectId),

    disable: (disabling) => disableMetric(options, disabling),

    async countAfresh(projectId, id) {
      const row = await getMetric(database, projectId, id);
      const enablement = await store.countAfresh(database.sql(), projectId, row.id);
      if (enablement === undefined) throw new ServiceError("NOT_FOUND", "no such metric");
      return enablement;
    },
  };
}

type NewMetric = {
  readonly project: ProjectScope;
  readonly fields: DefinitionFields;
  readonly actor: Actor;
};

async function create(
  options: MetricsOptions,
  { project, fields, actor }: NewMetric,
): Promise<Evaluator> {
  const { projectId } = project;
  const revision = await toRevision(options, project, toDefinition(fields, undefined, options));
  const { definition } = revision;
  return changeInside(options, { scope: project, actor }, async (sql) => {
    await store.metricRows.lock(sql, projectId);
    if ((await store.metricRows.count(sql, projectId)) >= metricsOfProjectMax) {
      refuse("name", `a project has at most ${metricsOfProjectMax} metrics; delete one first`);
    }
    const id = createUuid();
    await store.metricRows.assertNameFree(sql, projectId, { id, name: definition.name });
    await assertFilterRoom(sql, projectId, { id, definition });
    const createdBy = describeActor(actor);
    await store.insertMetric(sql, { id, projectId, definition, createdBy });
    const version = { version: 1, message: "created", fullSha: hashDefinition(definition) };
    await store.insertVersion(sql, { ...revision, ...version, id, createdBy });
    const result = await getMetric(options.database, projectId, id);
    const audit = { action: "evaluator.create", targetId: id, after: stateOf(result) };
    return { result, audit, forget: subjectOf("evaluators", projectId) };
  });
}

async function update(
  options: MetricsOptions,
  whose: WhoseCode,
  fields: DefinitionFields,
): Promise<void> {
  await changeMetric(options, whose, async (before) => {
    const given = toDefinition(fields, before.definition, options);
    const changed = compareDefinitions(before.definition, given.definition);
    if (changed.length === 0) return undefined;
    const { enabled_in_prod: isEnabled } = given.definition;
    const wasEnabled = before.definition.enabled_in_prod;
    return {
      ...(await toRevision(options, whose.project, given, before)),
      action: "evaluator.update",
      message: `updated ${changed.map(({ field }) => field).join(", ")}`,
      // An update of an evaluator that the service disabled does not enable it.
      deploy:
        isEnabled || wasEnabled
          ? byPeople
          : { isFresh: true, disabledReason: before.disabledReason },
    };
  });
}

function remove(
  options: MetricsOptions,
  { project, id, actor }: Whose & { readonly project: ProjectScope },
): Promise<void> {
  const { projectId } = project;
  return changeInside(options, { scope: project, actor }, async (sql) => {
    await store.metricRows.lock(sql, projectId);
    const before = await getMetric(options.database, projectId, id);
    await store.markDeleted(sql, id);
    await options.cancelBackfills(project, id, actor);
    const audit = { action: "evaluator.delete", targetId: id, before: stateOf(before) };
    return { result: undefined, audit, forget: subjectOf("evaluators", projectId) };
  });
}

type Wanted = {
  readonly projectId: ProjectId;
  readonly id: string;
  readonly version: number | undefined;
};

async function find(
  { database, scopes }: MetricsOptions,
  { projectId, id, version }: Wanted,
): Promise<RunnableEvaluator | undefined> {
  if (!isUuid(id) || !(await scopes.find("project", projectId))) return undefined;
  const row = await store.findMetric(database.sql(), projectId, id);
  if (!row || version === undefined || version === row.version) return row && toRunnable(row);
  const other = await store.findVersion(database.sql(), row.id, version);
  return other && toRunnable({ ...row, ...other });
}

function toRunnable(
  row: Pick<
    MetricRow,
    "id" | "projectId" | "version" | "enablement" | "definition" | "readsGroundTruth"
  >,
): RunnableEvaluator {
  const { id, projectId, version, enablement, definition, readsGroundTruth } = row;
  return { evaluatorId: id, projectId, version, enablement, definition, readsGroundTruth };
}
