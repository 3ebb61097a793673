// What may wait in the outbox: workflows by type, with their ids and inputs. Imported by services,
// workflows and the relay, so it does nothing by itself.

import { describeActor } from "../access/principal.ts";
import type { Actor } from "../access/principal.ts";
import type { LevelInOrg } from "../access/scope.ts";

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

/** Each finishes what was promised, whatever happens to its scope meanwhile. */
export const workflowTypes = [
  "archiveOrganization",
  "archiveDataplane",
  "archiveWorkspace",
  "archiveProject",
  "revokeKey",
] as const;

export type WorkflowType = (typeof workflowTypes)[number];

export type OutboxEntry = {
  readonly workflowType: WorkflowType;
  /** Readable, and the same for the same work: `archive-<level>-<id>`, `revoke-key-<key id>`. */
  readonly workflowId: string;
  /** Plain JSON: ArchiveInput or RevokeKeyInput. */
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
