// What may wait in the outbox: workflows by type, with their ids and inputs. Imported by services,
// workflows and the relay, so it does nothing by itself.

import { describeActor } from "../access/principal.ts";
import type { Actor } from "../access/principal.ts";
import type { LevelInOrg } from "../access/scope.ts";
import type { ProjectId } from "../base/ids.ts";

/** What starts archiveOrganization, archiveDataplane, archiveWorkspace and archiveProject. */
export type ArchiveInput = {
  readonly level: LevelInOrg;
  readonly id: string;
  readonly name: string;
  readonly orgId: string;
  readonly actor: Actor;
  /** The change of access (access/changes) that every server has to read before writes end. */
  readonly changeId: number;
};

/** What starts revokeKey. */
export type RevokeKeyInput = {
  readonly keyId: string;
  /** The change of access that says the key is revoked. */
  readonly changeId: number;
  readonly orgId: string;
  /** Where the key is rooted. */
  readonly scopeId: string;
  readonly actor: string;
};

/** A version of an evaluator, and what it works for. */
type EvaluatorWork = {
  readonly projectId: ProjectId;
  readonly orgId: string;
  readonly evaluatorId: string;
  /** Of the version, so that people recognise it. */
  readonly evaluatorName: string;
  readonly version: number;
  /** The evaluator's when the work was given out. */
  readonly enablement: number;
  readonly actor: string;
};

/** What starts evaluateChunk: ids only, the events are in the database. */
export type EvaluateChunkInput = EvaluatorWork & {
  readonly chunkId: string;
  /** Absent where events came by themselves. */
  readonly backfillId?: string;
  /** How many the chunk began with. */
  readonly events: number;
};

/** What starts backfill. */
export type BackfillInput = EvaluatorWork & {
  readonly backfillId: string;
  /** From 1; one more each time it is resumed. */
  readonly run: number;
};

/** Each finishes what was promised, whatever happens to its scope meanwhile. */
export const lastingWorkflowTypes = [
  "archiveOrganization",
  "archiveDataplane",
  "archiveWorkspace",
  "archiveProject",
  "revokeKey",
] as const;

/** Further ones end with the project that they work on. */
export const workflowTypes = [...lastingWorkflowTypes, "evaluateChunk", "backfill"] as const;

export type WorkflowType = (typeof workflowTypes)[number];

export type OutboxEntry = {
  readonly workflowType: WorkflowType;
  /**
   * Readable, and the same for the same work: `archive-<level>-<id>`, `revoke-key-<key id>`,
   * `evaluate-<name>-v<version>-<chunk id>`, `backfill-<name>-<backfill id>-<run>`.
   */
  readonly workflowId: string;
  /** Plain JSON: ArchiveInput, RevokeKeyInput, EvaluateChunkInput or BackfillInput. */
  readonly input: unknown;
  /** What operators look for in Temporal; the scope is the one that changed. */
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

/** Returns the entry for the workflow that archives what is inside a scope. */
export function archiveEntry(input: ArchiveInput): OutboxEntry {
  const { level, id, orgId, actor } = input;
  return {
    workflowType: archiveTypes[level],
    workflowId: `archive-${level}-${id}`,
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

/** Returns the entry for the workflow that runs a version of an evaluator on a chunk of events. */
export function evaluateChunkEntry(input: EvaluateChunkInput): OutboxEntry {
  const { evaluatorName, version, chunkId, orgId, projectId, actor } = input;
  const workflowId = `evaluate-${toSlug(evaluatorName)}-v${version}-${chunkId}`;
  return { workflowType: "evaluateChunk", workflowId, input, orgId, scopeId: projectId, actor };
}

/** Returns the entry for the workflow that runs a version of an evaluator on stored events. */
export function backfillEntry(input: BackfillInput): OutboxEntry {
  const { orgId, projectId, actor } = input;
  const workflowId = backfillWorkflowId(input);
  return { workflowType: "backfill", workflowId, input, orgId, scopeId: projectId, actor };
}

/** Returns the id of the workflow that makes one run of a backfill. */
export function backfillWorkflowId(
  input: Pick<BackfillInput, "evaluatorName" | "backfillId" | "run">,
): string {
  return `backfill-${toSlug(input.evaluatorName)}-${input.backfillId}-${input.run}`;
}

const slugCharactersMax = 40;

/** Returns what is left of a name in an id of plain characters. */
function toSlug(name: string): string {
  const words = name.toLowerCase().match(/[a-z0-9]+/g) ?? ["evaluator"];
  return words.join("-").slice(0, slugCharactersMax).replace(/-$/, "");
}
