// Backfills: a version of an evaluator run over stored events. This file has the users' requests,
// backfill-runs.ts the workflow's steps. Source: docs/decisions.md, 24.6, 34.1; docs/evaluators.md,
// "Backfills".

import { formatVersion } from "../../base/versions.ts";
import { type Actor, describeActor } from "../../base/actor.ts";
import { changeInside, type ChangeParts } from "../../access/change.ts";
import type { ProjectScope } from "../../access/scope.ts";
import { refuse, ServiceError } from "../../base/errors.ts";
import { createUuid, isUuid, type ProjectId } from "../../base/ids.ts";
import { backfillsOfOrgMax } from "../../base/limits.ts";
import { type Page, type PageRequest, parsePageOptions, toPage } from "../../base/pages.ts";
import { backfillFilterBytesMax } from "../../base/tenant-limits.ts";
import { backfillEntry, type OutboxEntry } from "../../outbox/entry.ts";
import type { Outbox } from "../../outbox/outbox.ts";
import type { Sql } from "../../postgres/database.ts";
import type { FilterInput } from "../../tracing/export/filter.ts";
import { type Bounds, parseBounds } from "../../tracing/export/instant.ts";
import type { TracingOf } from "../../tracing/tracing.ts";
import { type RunnableEvaluator } from "../metrics/definition.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { Scores } from "../scores/scores.ts";
import { type BackfillProgress, toProgress } from "./progress.ts";
import { isEnded } from "../end-state.ts";
import { type BackfillAction, stepOf } from "./state.ts";
import * as store from "./store.ts";
import type { BackfillRow } from "./store.ts";

/** A backfill and its progress. */
export type Backfill = BackfillRow & { readonly progress: BackfillProgress };

export type BackfillRequest = Bounds & {
  /** Conditions in addition to those of the metric. */
  readonly filters: readonly FilterInput[];
  readonly includeFailed: boolean;
};

/** Path of a backfill: a metric of the project, and an id. */
export type BackfillPath = { readonly evaluatorId: string; readonly backfillId: string };

/** Caller of a request; `signal` aborts when the caller stops waiting. */
export type Caller = {
  readonly project: ProjectScope;
  readonly actor: Actor;
  readonly signal?: AbortSignal;
};

/** All methods throw NOT_FOUND if the project has no such metric or no such backfill. */
export type Backfills = {
  /**
   * Starts a backfill of the deployed version. Throws INVALID_FILTER and INVALID_ARGUMENT naming
   * the fault, and BACKFILL_RUNNING while another backfill of the metric is open or the
   * organization runs its maximum.
   */
  create(evaluatorId: string, request: BackfillRequest, caller: Caller): Promise<Backfill>;
  /** Returns backfills, newest first. INVALID_ARGUMENT names a wrong option. */
  list(project: ProjectScope, evaluatorId: string, page: PageRequest): Promise<Page<Backfill>>;
  get(project: ProjectScope, path: BackfillPath): Promise<Backfill>;
  /**
   * Pauses, resumes or cancels a backfill. Throws BACKFILL_ENDED if it is too late for that, and
   * BACKFILL_RUNNING if the organization runs its maximum.
   */
  change(
    project: ProjectScope,
    path: BackfillPath,
    action: BackfillAction,
    actor: Actor,
  ): Promise<Backfill>;
  /**
   * Cancels the open backfill of an evaluator, in the ambient transaction; the caller's audit entry
   * covers it.
   */
  cancelOpenOf(project: ProjectScope, evaluatorId: string, actor: Actor): Promise<void>;
};

export type BackfillsOptions = ChangeParts & {
  readonly metrics: Pick<Metrics, "find" | "get" | "countAfresh">;
  readonly tracingOf: TracingOf;
  readonly scores: Pick<Scores, "countBackfill">;
  readonly outbox: Outbox;
};

export function createBackfills(options: BackfillsOptions): Backfills {
  const { database, metrics, scores, outbox } = options;

  async function withProgress(project: ProjectScope, row: BackfillRow): Promise<Backfill> {
    const counts = await scores.countBackfill(project, row.id);
    return { ...row, progress: toProgress(row, counts) };
  }

  return {
    async create(evaluatorId, request, caller) {
      return withProgress(caller.project, await create(options, evaluatorId, request, caller));
    },

    async list(project, evaluatorId, page) {
      const asked = parsePageOptions("backfills", page);
      const { id } = await metrics.get(project.projectId, evaluatorId);
      const rows = await store.listBackfills(database.sql(), project.projectId, id, asked);
      const { items, nextCursor } = toPage("backfills", rows, asked.limit);
      const shown: Backfill[] = [];
      // One at a time, so that a page of any length takes one connection of the cluster.
      for (const row of items) shown.push(await withProgress(project, row));
      return { items: shown, nextCursor };
    },

    async get(project, path) {
      const { id } = await metrics.get(project.projectId, path.evaluatorId);
      const key = keyOf(project, path);
      const row = await store.findBackfill(database.sql(), key);
      if (row?.evaluatorId !== id) throw notFound();
      return withProgress(project, row);
    },

    async change(project, path, action, actor) {
      const row = await change(options, { project, path, action, actor });
      return withProgress(project, row);
    },

    async cancelOpenOf(project, evaluatorId, actor) {
      const sql = database.sql();
      const before = await store.lockOpenBackfill(sql, project.projectId, evaluatorId);
      if (!before) return;
      const entry = await takeStep(options, { project, before, action: "cancel", actor });
      if (entry) await outbox.append(entry);
    },
  };
}

async function create(
  options: BackfillsOptions,
  metricId: string,
  request: BackfillRequest,
  { project, actor, signal }: Caller,
): Promise<BackfillRow> {
  const { metrics, outbox } = options;
  const { projectId } = project;
  const evaluator = await getRunnable(options, projectId, metricId);
  const { evaluatorId, version, definition } = evaluator;
  const { fromUs, toUs } = parseBounds(request);
  if (fromUs !== undefined && toUs !== undefined && fromUs >= toUs) {
    refuse("dateRange", "ends before it begins");
  }
  if (Buffer.byteLength(JSON.stringify(request.filters)) > backfillFilterBytesMax) {
    refuse("filters", `must be at most ${backfillFilterBytesMax} bytes long`);
  }
  const { selection, exports } = options.tracingOf(project);
  // Future events do not matter here: a field that no event has is a mistake, as in exports.
  await exports.checkFilters(projectId, request.filters);
  const filters = [...definition.filters.filterArray, ...request.filters];
  const matched = await selection.count(
    projectId,
    { filters, fromUs, toUs },
    { organization: project.orgId, signal },
  );
  return changeInside(options, { scope: project, actor }, async (sql) => {
    await assertRoom(sql, project);
    const id = createUuid();
    const enablement = await metrics.countAfresh(projectId, evaluatorId);
    const entry = backfillEntry({
      backfillId: id,
      projectId,
      orgId: project.orgId,
      evaluatorId,
      version,
      enablement,
      evaluatorName: definition.name,
      run: 1,
      actor: describeActor(actor),
    });
    const isFirst = await store.insertBackfill(sql, {
      id,
      projectId,
      evaluatorId,
      version,
      matched,
      filters: request.filters,
      fromUs: fromUs ?? null,
      toUs: toUs ?? null,
      includeFailed: request.includeFailed,
      workflowId: entry.workflowId,
      createdBy: describeActor(actor),
    });
    if (!isFirst) throw running();
    const result = await store.findBackfill(sql, { projectId, backfillId: id });
    if (!result) throw new Error("an insert returned no row");
    await outbox.append(entry);
    return { result, audit: { action: "backfill.create", targetId: id, after: stateOf(result) } };
  });
}

async function getRunnable(
  { metrics }: Pick<BackfillsOptions, "metrics">,
  projectId: ProjectId,
  evaluatorId: string,
): Promise<RunnableEvaluator> {
  const evaluator = await metrics.find(projectId, evaluatorId);
  if (!evaluator) throw new ServiceError("NOT_FOUND", "no such metric");
  if (evaluator.definition.type !== "HUMAN") return evaluator;
  const message = "id: people judge by this metric, so there is nothing to run";
  throw new ServiceError("INVALID_ARGUMENT", message);
}

type ChangeRequest = {
  readonly project: ProjectScope;
  readonly path: BackfillPath;
  readonly action: BackfillAction;
  readonly actor: Actor;
};

async function change(options: BackfillsOptions, request: ChangeRequest): Promise<BackfillRow> {
  const { metrics, outbox } = options;
  const { project, path, action, actor } = request;
  const { id: evaluatorId } = await metrics.get(project.projectId, path.evaluatorId);
  const key = keyOf(project, path);
  return changeInside(options, { scope: project, actor }, async (sql) => {
    const before = await store.findBackfill(sql, key, { lock: true });
    if (before?.evaluatorId !== evaluatorId) throw notFound();
    const entry = await takeStep(options, { project, before, action, actor });
    const result = (await store.findBackfill(sql, key)) ?? before;
    if (entry) await outbox.append(entry);
    if (result.state === before.state) return { result };
    const states = { before: stateOf(before), after: stateOf(result) };
    return { result, audit: { action: `backfill.${action}`, targetId: before.id, ...states } };
  });
}

type StepRequest = {
  readonly project: ProjectScope;
  /** Locked row. */
  readonly before: BackfillRow;
  readonly action: BackfillAction;
  readonly actor: Actor;
};

/** Changes the state. Returns the workflow to start, if the change needs one. */
async function takeStep(
  { database, metrics }: BackfillsOptions,
  { project, before, action, actor }: StepRequest,
): Promise<OutboxEntry | undefined> {
  const { projectId, evaluatorId, version } = before;
  const key = { projectId, backfillId: before.id };
  const step = stepOf(action, before.state);
  switch (step.kind) {
    case "none":
      return undefined;
    case "refuse":
      throw ended(before);
    case "change":
      await store.updateState(database.sql(), key, step.to);
      return undefined;
    case "start": {
      // On cancelling, the evaluator may no longer exist.
      const evaluator = await metrics.find(projectId, evaluatorId, version);
      const isResumed = action === "resume";
      if (isResumed) await assertRoom(database.sql(), project);
      const entry = backfillEntry({
        ...key,
        orgId: project.orgId,
        evaluatorId,
        version,
        evaluatorName: evaluator?.definition.name ?? "",
        enablement: isResumed
          ? await metrics.countAfresh(projectId, evaluatorId)
          : (evaluator?.enablement ?? 0),
        run: before.run + 1,
        actor: describeActor(actor),
      });
      const next = { state: step.to, run: before.run + 1, workflowId: entry.workflowId };
      await store.updateRun(database.sql(), key, next);
      return entry;
    }
  }
}

/** Throws BACKFILL_RUNNING if the organization runs its maximum of backfills. */
async function assertRoom(sql: Sql, { orgId }: ProjectScope): Promise<void> {
  if ((await store.lockRunning(sql, orgId)) < backfillsOfOrgMax) return;
  const message =
    `${backfillsOfOrgMax} backfills of the organization run, which is the limit; ` +
    "wait for one of them, or pause or cancel it";
  throw new ServiceError("BACKFILL_RUNNING", message);
}

function keyOf(project: ProjectScope, { backfillId }: BackfillPath): store.BackfillKey {
  if (!isUuid(backfillId)) throw notFound();
  return { projectId: project.projectId, backfillId };
}

function notFound(): ServiceError {
  return new ServiceError("NOT_FOUND", "no such backfill");
}

function running(): ServiceError {
  const message = "another backfill of the metric has not ended; wait for it or cancel it";
  return new ServiceError("BACKFILL_RUNNING", message);
}

function ended({ state }: BackfillRow): ServiceError {
  const what = isEnded(state) ? `has ended: it is ${state}` : "is being cancelled";
  return new ServiceError("BACKFILL_ENDED", `the backfill ${what}; start another one`);
}

/** Returns a backfill's state for the audit log. */
function stateOf(row: BackfillRow) {
  const { evaluatorId, version, filters, fromUs, toUs, includeFailed, state, matched } = row;
  return {
    metric_id: evaluatorId,
    version: formatVersion(version),
    state,
    matched,
    filters,
    from_us: fromUs,
    to_us: toUs,
    include_failed: includeFailed,
  };
}
