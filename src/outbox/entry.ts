// Entries of the outbox: workflows by type, with their ids and inputs. Services, workflows and the
// relay import this file, so it has no side effects.

import { type Actor, describeActor } from "../base/actor.ts";
import type { LevelInOrg } from "../access/scope.ts";
import type { ProjectId } from "../base/ids.ts";

/** Input of archiveOrganization, archiveDataplane, archiveWorkspace and archiveProject. */
export type ArchiveInput = {
  readonly level: LevelInOrg;
  readonly id: string;
  readonly name: string;
  readonly orgId: string;
  readonly actor: Actor;
  /** Number of the access change (access/changes) that every server must read before writes end. */
  readonly changeId: number;
};

/** Input of revokeKey. */
export type RevokeKeyInput = {
  readonly keyId: string;
  /** Number of the access change that revokes the key. */
  readonly changeId: number;
  readonly orgId: string;
  /** Scope that the key is made for. */
  readonly scopeId: string;
  readonly actor: string;
};

/** Work on a project, and the actor who asked for it. */
type ProjectWork = {
  readonly projectId: ProjectId;
  readonly orgId: string;
  readonly actor: string;
};

/** A version of an evaluator. */
type EvaluatorWork = ProjectWork & {
  readonly evaluatorId: string;
  /** Name of the version, so that people recognise it. */
  readonly evaluatorName: string;
  readonly version: number;
  /** The evaluator's enablement when the work was handed out. */
  readonly enablement: number;
};

/** Input of evaluateChunk: ids only, since the events are in the database. */
export type EvaluateChunkInput = EvaluatorWork & {
  readonly chunkId: string;
  /** Absent if the chunk does not belong to a backfill. */
  readonly backfillId?: string;
  /** Number of events that the chunk began with. */
  readonly events: number;
};

/** Input of backfill. */
export type BackfillInput = EvaluatorWork & {
  readonly backfillId: string;
  /** From 1; increases by one each time the backfill is resumed. */
  readonly run: number;
};

/** Input of executeRun: ids only, since the settings are in the database. */
export type ExecuteRunInput = ProjectWork & {
  /** Id and name of the experiment run. */
  readonly runId: string;
  readonly runName: string;
  /** From 1; increases by one each time the execution is resumed. */
  readonly turn: number;
  readonly datapoints: number;
};

/** Input of evaluateAlert. */
export type EvaluateAlertInput = ProjectWork & {
  readonly alertId: string;
  readonly alertName: string;
  /** Ends of the first and the last period to be checked, in Unix milliseconds. */
  readonly firstEndMs: number;
  readonly lastEndMs: number;
};

/** Input of deliverNotification: the id only, since target and content are in the database. */
export type DeliverNotificationInput = ProjectWork & {
  readonly notificationId: string;
  readonly title: string;
};

/** Input of applyRetention. */
export type ApplyRetentionInput = ProjectWork & {
  readonly projectName: string;
  readonly runId: string;
  readonly days: number;
  /** Sessions whose newest event ended before this time go, in Unix milliseconds. */
  readonly cutoffMs: number;
};

/** Workflows that finish even if their scope is archived meanwhile. */
export const lastingWorkflowTypes = [
  "archiveOrganization",
  "archiveDataplane",
  "archiveWorkspace",
  "archiveProject",
  "revokeKey",
] as const;

/** Workflow types that the outbox starts. The types added here end with their project. */
const startedWorkflowTypes = [
  ...lastingWorkflowTypes,
  "evaluateChunk",
  "backfill",
  "executeRun",
  "evaluateAlert",
  "deliverNotification",
  "applyRetention",
] as const;

/** Workflow types that schedules of Temporal start, for all projects. */
const scheduledWorkflowTypes = ["checkAlerts", "checkRetention"] as const;

export type WorkflowType = (typeof startedWorkflowTypes)[number];
export type ScheduledWorkflowType = (typeof scheduledWorkflowTypes)[number];

/** All workflow types. */
export const workflowTypes = [...startedWorkflowTypes, ...scheduledWorkflowTypes] as const;

export type OutboxEntry = {
  readonly workflowType: WorkflowType;
  /**
   * Readable, and equal for equal work: `archive-<level>-<id>`, `revoke-key-<key id>`,
   * `evaluate-<name>-v<version>-<chunk id>`, `backfill-<name>-<backfill id>-<run>`,
   * `execute-<name>-<project id>-<run id>-<turn>`, `alert-<name>-<alert id>-<end of the period>`,
   * `notify-<title>-<notification id>`, `retain-<project>-<run id>`.
   */
  readonly workflowId: string;
  /** Plain JSON: the input of the type. */
  readonly input: unknown;
  /** Search attributes for operators in Temporal; the scope is the changed one. */
  readonly orgId: string;
  readonly scopeId: string;
  readonly actor: string;
};

const archiveTypes = {
  org: "archiveOrganization",
  dataplane: "archiveDataplane",
  workspace: "archiveWorkspace",
  project: "archiveProject",
} as const satisfies Record<ArchiveInput["level"], WorkflowType>;

/** Returns the id of the workflow that archives the contents of a scope. */
export function archiveWorkflowId(level: ArchiveInput["level"], id: string): string {
  return `archive-${level}-${id}`;
}

/** Returns the entry for the workflow that archives the contents of a scope. */
export function archiveEntry(input: ArchiveInput): OutboxEntry {
  const { level, id, orgId, actor } = input;
  return {
    workflowType: archiveTypes[level],
    workflowId: archiveWorkflowId(level, id),
    input,
    orgId,
    scopeId: id,
    actor: describeActor(actor),
  };
}

/** Returns the entry for the workflow that follows a key's revocation to every server. */
export function revokeKeyEntry(input: RevokeKeyInput): OutboxEntry {
  const { keyId, orgId, scopeId, actor } = input;
  const workflowId = `revoke-key-${keyId}`;
  return { workflowType: "revokeKey", workflowId, input, orgId, scopeId, actor };
}

function projectEntry(
  workflowType: WorkflowType,
  workflowId: string,
  input: ProjectWork,
): OutboxEntry {
  const { orgId, projectId, actor } = input;
  return { workflowType, workflowId, input, orgId, scopeId: projectId, actor };
}

/** Returns the entry for the workflow that runs a version of an evaluator on a chunk of events. */
export function evaluateChunkEntry(input: EvaluateChunkInput): OutboxEntry {
  const { evaluatorName, version, chunkId } = input;
  const workflowId = `evaluate-${toSlug(evaluatorName)}-v${version}-${chunkId}`;
  return projectEntry("evaluateChunk", workflowId, input);
}

/** Returns the entry for the workflow that runs a version of an evaluator on stored events. */
export function backfillEntry(input: BackfillInput): OutboxEntry {
  const { evaluatorName, backfillId, run } = input;
  return projectEntry("backfill", `backfill-${toSlug(evaluatorName)}-${backfillId}-${run}`, input);
}

/** Returns the entry for the workflow that executes an experiment run over its dataset. */
export function executeRunEntry(input: ExecuteRunInput): OutboxEntry {
  const { projectId, runId, runName, turn } = input;
  const workflowId = `execute-${toSlug(runName)}-${projectId}-${runId}-${turn}`;
  return projectEntry("executeRun", workflowId, input);
}

/** Returns the entry for the workflow that checks an alert for the periods that have ended. */
export function evaluateAlertEntry(input: EvaluateAlertInput): OutboxEntry {
  const { alertName, alertId, lastEndMs } = input;
  const end = new Date(lastEndMs).toISOString().slice(0, 13);
  return projectEntry("evaluateAlert", `alert-${toSlug(alertName)}-${alertId}-${end}`, input);
}

/** Returns the entry for the workflow that delivers a notification. */
export function deliverNotificationEntry(input: DeliverNotificationInput): OutboxEntry {
  const { title, notificationId } = input;
  return projectEntry("deliverNotification", `notify-${toSlug(title)}-${notificationId}`, input);
}

/** Returns the entry for the workflow that deletes the sessions that a project keeps no longer. */
export function applyRetentionEntry(input: ApplyRetentionInput): OutboxEntry {
  const { projectName, runId } = input;
  return projectEntry("applyRetention", `retain-${toSlug(projectName)}-${runId}`, input);
}

const slugCharactersMax = 40;

/** Returns a name reduced to plain characters, for use in an id. */
function toSlug(name: string): string {
  const words = name.toLowerCase().match(/[a-z0-9]+/g) ?? ["evaluator"];
  return words.join("-").slice(0, slugCharactersMax).replace(/-$/, "");
}
