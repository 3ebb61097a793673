// Workflows to start, written down in the transaction of the change that asks for them, so that
// none is lost or doubled whatever dies. Called by services; outbox/relay.ts starts what waits.
// Source: docs/design.md, Workflows; docs/decisions.md, 29, 32.

import type { Actor } from "../access/principal.ts";
import type { ScopeLevel } from "../access/scope.ts";
import type { Database } from "../postgres/database.ts";
import * as store from "./store.ts";

/** What starts archiveOrganization, archiveDataplane, archiveWorkspace and archiveProject. */
export type ArchiveInput = {
  readonly level: Exclude<ScopeLevel, "system">;
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

export type WorkflowType =
  "archiveOrganization" | "archiveDataplane" | "archiveWorkspace" | "archiveProject" | "revokeKey";

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

export type Outbox = {
  /**
   * Has a workflow started once the ambient transaction has committed, and not when it is undone.
   * Asking for the same workflow id again changes nothing.
   *
   * Throws outside a transaction: the change and its workflow belong together.
   */
  append(entry: OutboxEntry): Promise<void>;
};

export function createOutbox(database: Database): Outbox {
  return {
    async append(entry) {
      if (!database.isInTransaction()) throw new Error("outbox.append outside a transaction");
      const sql = database.sql();
      await store.insertEntry(sql, entry);
      await store.notify(sql);
    },
  };
}

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
    actor: actor.name,
  };
}

/** Returns the entry for the workflow that follows a key's revocation to every server. */
export function revokeKeyEntry(input: RevokeKeyInput): OutboxEntry {
  const { keyId, orgId, scopeId, actor } = input;
  const workflowId = `revoke-key-${keyId}`;
  return { workflowType: "revokeKey", workflowId, input, orgId, scopeId, actor };
}
