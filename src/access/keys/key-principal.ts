// Who a key stands for, from its row. Called by keys.ts.
// Source: docs/spec.md, Authentication, 2, 3; docs/decisions.md, 33.

import type { Grant, KeyPrincipal } from "../principal.ts";
import type { Scope } from "../scope.ts";
import type { LiveKeyRow } from "./store.ts";

/** Where an organization has set no policy, its keys may carry everything. */
export const defaultPolicy: readonly string[] = ["*"];

export function toPrincipal(row: LiveKeyRow): KeyPrincipal {
  const root = rootOf(row);
  return {
    kind: row.kind,
    actor: { type: "key", id: row.keyId, name: row.name },
    root,
    grants: grantsOf(row, root),
    policy: row.policy ?? defaultPolicy,
    mayCreateKeys: !row.isCreatedByKey,
    expiresAtMs: row.expiresAt?.getTime(),
  };
}

function grantsOf({ permissions }: LiveKeyRow, root: Scope): readonly Grant[] {
  return permissions ? [{ level: root.level, scopeId: root.id, permissions }] : [];
}

function rootOf(row: LiveKeyRow): Scope {
  const { orgId, dataplaneId, clusterId, workspaceId, projectId } = row;
  if (workspaceId === null || dataplaneId === null || clusterId === null) {
    return { level: "org", id: orgId, name: row.orgName, orgId };
  }
  const above = { orgId, dataplaneId, clusterId, workspaceId };
  return projectId === null
    ? { level: "workspace", id: workspaceId, name: row.workspaceName ?? "", ...above }
    : { level: "project", id: projectId, name: row.projectName ?? "", ...above, projectId };
}
