// Changes of an evaluator: a version, its deployment, the audit row and the invalidation of caches,
// in one transaction. Source: docs/spec.md, "States and transitions"; docs/decisions.md, 25.3 and
// 34.1.

import { formatVersion } from "../../base/versions.ts";
import { type Actor, describeActor } from "../../base/actor.ts";
import { changeInside, type ChangeParts as AccessChangeParts } from "../../access/change.ts";
import type { ProjectScope } from "../../access/scope.ts";
import { refuse, ServiceError } from "../../base/errors.ts";
import type { Owner } from "../../base/fair-places.ts";
import { isUuid } from "../../base/ids.ts";
import { projectFilterBytesMax } from "../../base/limits.ts";
import type { JsonObject } from "../../base/json.ts";
import { metricVersionsMax } from "../../base/tenant-limits.ts";
import type { Scopes } from "../../controlplane/scopes/scopes.ts";
import type { Database, Sql } from "../../postgres/database.ts";
import type { Definition } from "./definition.ts";
import { subjectOf } from "../../access/enabled-memory.ts";
import { inspectCriteria, type Inspector } from "./inspect.ts";
import * as store from "./store.ts";
import type { MetricRow } from "./store.ts";
import type { GivenDefinition, Limits } from "./to-definition.ts";
import { hashDefinition, toContent } from "./version-content.ts";

/** Dependencies of every change. */
export type ChangeParts = AccessChangeParts &
  Limits & {
    readonly scopes: Pick<Scopes, "find">;
    readonly sandbox: Inspector;
  };

/** An evaluator of a project, and the actor who changes it. */
export type Whose = {
  readonly project: Pick<ProjectScope, "projectId">;
  readonly id: string;
  readonly actor: Actor;
};

/** The same for changes that may parse code, which happens in the owner's turn. */
export type WhoseCode = Whose & { readonly project: Owner };

/** The content of a version. */
export type Revision = {
  readonly definition: Definition;
  readonly readsGroundTruth: boolean;
};

export type Plan = Revision & {
  /** Action in the audit log. */
  readonly action: string;
  /** Existing version of the content; absent for a new one, which has a message. */
  readonly version?: number;
  readonly message?: string;
  /** Deployment of the version; absent to leave the deployed one. */
  readonly deploy?: {
    /** Whether to reset the count of failures. */
    readonly isFresh: boolean;
    readonly disabledReason: string | null;
  };
};

/** Deployment by a person. */
export const byPeople = { isFresh: true, disabledReason: null } as const;

/**
 * Maximum attempts. A plan is made again after a concurrent change; each such change is progress of
 * another caller.
 */
const attemptsMax = 20;

/** Returns an evaluator of a project. Throws NOT_FOUND. */
export async function getMetric(
  database: Database,
  projectId: string,
  id: string,
): Promise<MetricRow> {
  const row = isUuid(id) && (await store.findMetric(database.sql(), projectId, id));
  if (!row) throw new ServiceError("NOT_FOUND", "no such metric");
  return row;
}

/**
 * Changes an evaluator by a plan made from its current state, and returns the plan's version
 * number; undefined if there is no plan and no change. No lock is held while the plan is made,
 * because it may parse code; it is made again if the evaluator changed meanwhile.
 *
 * Throws NOT_FOUND, NAME_TAKEN, and OVERLOADED if other changes keep interfering.
 */
export async function changeMetric(
  parts: ChangeParts,
  whose: Whose,
  makePlan: (before: MetricRow) => Promise<Plan | undefined>,
): Promise<number | undefined> {
  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    const { projectId } = whose.project;
    const before = await getMetric(parts.database, projectId, whose.id);
    const plan = await makePlan(before);
    if (!plan) return undefined;
    const version = await carryOut(parts, whose, { before, plan });
    if (version !== undefined) return version;
  }
  throw new ServiceError("OVERLOADED", "too many concurrent changes of this metric; try again");
}

type Step = { readonly before: MetricRow; readonly plan: Plan };

/** Returns undefined, without changes, if the evaluator has changed. */
function carryOut(
  parts: ChangeParts,
  { project: { projectId }, id, actor }: Whose,
  { before, plan }: Step,
): Promise<number | undefined> {
  const scope = { level: "project", id: projectId } as const;
  return changeInside(parts, { scope, actor }, async (sql) => {
    await store.metricRows.lock(sql, projectId);
    const now = await getMetric(parts.database, projectId, id);
    if (now.lastVersion !== before.lastVersion || now.enablement !== before.enablement) {
      return { result: undefined };
    }
    const version = plan.version ?? (await addVersion(sql, { before, plan }, actor));
    if (plan.deploy) {
      await store.metricRows.assertNameFree(sql, projectId, { id, name: plan.definition.name });
      await assertFilterRoom(sql, projectId, { id, definition: plan.definition });
      await store.deployVersion(sql, { ...plan.deploy, id, version, definition: plan.definition });
    }
    const audit = {
      action: plan.action,
      targetId: id,
      before: stateOf(before),
      after: stateOf({ ...plan, version, disabledReason: keptReason(plan) }),
    };
    return { result: version, audit, forget: plan.deploy && subjectOf("evaluators", projectId) };
  });
}

async function addVersion(sql: Sql, { before, plan }: Step, actor: Actor): Promise<number> {
  // The service must still be able to disable the evaluator.
  if (before.lastVersion >= metricVersionsMax && actor.type !== "system") {
    refuse(
      "id",
      `the metric has ${metricVersionsMax} versions, which is the limit; make a new one`,
    );
  }
  const version = before.lastVersion + 1;
  const { definition, readsGroundTruth, message = "" } = plan;
  await store.insertVersion(sql, {
    id: before.id,
    version,
    definition,
    readsGroundTruth,
    message,
    fullSha: hashDefinition(definition),
    createdBy: describeActor(actor),
  });
  await store.updateLastVersion(sql, before.id, version);
  return version;
}

/** Throws INVALID_ARGUMENT if the filters of a project's enabled evaluators get too long. */
export async function assertFilterRoom(
  sql: Sql,
  projectId: string,
  { id, definition }: { readonly id: string; readonly definition: Definition },
): Promise<void> {
  if (!definition.enabled_in_prod) return;
  const own = Buffer.byteLength(JSON.stringify(definition.filters));
  if ((await store.sumFilterBytes(sql, projectId, id)) + own <= projectFilterBytesMax) return;
  refuse(
    "filters",
    `those of a project's enabled metrics must be at most ${projectFilterBytesMax} bytes long ` +
      "together; disable one, or shorten them",
  );
}

/**
 * Returns the content of a version of a definition; unchanged criteria are not parsed again. Throws
 * INVALID_ARGUMENT naming the field, line and column, and errors of the sandbox.
 */
export async function toRevision(
  { sandbox }: Pick<ChangeParts, "sandbox">,
  owner: Owner,
  given: GivenDefinition,
  before?: Revision,
): Promise<Revision> {
  const { definition } = given;
  const isParsed =
    before?.definition.type === definition.type &&
    before.definition.criteria === definition.criteria;
  const readsGroundTruth = isParsed
    ? before.readsGroundTruth
    : await inspectCriteria(sandbox, owner, given);
  return { definition, readsGroundTruth };
}

/** Removes the last failure's text, which may contain event data: the audit log outlives events. */
function keptReason({ deploy }: Plan): string | null {
  return deploy?.disabledReason?.replace(/:.*$/s, "") ?? null;
}

/**
 * Returns an evaluator's state for the audit log, without the code and the older texts, which are
 * in the version and may be long.
 */
export function stateOf(
  of: Revision & { readonly version: number; readonly disabledReason: string | null },
): JsonObject {
  const { older_texts: _, ...definition } = of.definition;
  const { criteria: __, ...fields } = toContent(definition, of.readsGroundTruth);
  return {
    version: formatVersion(of.version),
    full_sha: hashDefinition(of.definition),
    ...fields,
    disabled_reason: of.disabledReason,
  };
}
