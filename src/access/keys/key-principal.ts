// Converts the row of a key to its principal. Source: docs/spec.md, Authentication, 2, 3;
// docs/decisions.md, 33.

import { defaultPolicy } from "../key-policies/key-policies.ts";
import type { Grant, KeyPrincipal } from "../principal.ts";
import { type Scope, systemScope } from "../scope.ts";
import type { LiveKeyRow } from "./store.ts";

/**
 * A policy never takes these permissions from a key that a person created and that has them: one
 * mistake would lock out the keys that could correct it. Keys created by keys stay bound; otherwise
 * a key could create keys that the policy does not bind.
 */
const neverTaken: readonly string[] = ["org.api_key_policy.get", "org.api_key_policy.put"];

export function toPrincipal(row: LiveKeyRow): KeyPrincipal {
  const root = rootOf(row);
  return {
    kind: row.kind,
    actor: { type: "key", id: row.keyId, name: row.name },
    root,
    grants: grantsOf(row, root),
    policy: policyOf(row),
    mayCreateKeys: !row.isCreatedByKey,
    expiresAtMs: row.expiresAt?.getTime(),
  };
}

function policyOf({ policy, isCreatedByKey }: LiveKeyRow): readonly string[] {
  if (!policy) return defaultPolicy;
  return isCreatedByKey ? policy : [...policy, ...neverTaken];
}

/**
 * Returns the grants: a key has its permissions at its root and in the organizations that it
 * created, which no other caller could reach. The permissions of a first start's key above all
 * organizations begin with `system.`; `*` does not include them.
 */
function grantsOf({ permissions, madeOrgIds }: LiveKeyRow, root: Scope): readonly Grant[] {
  if (!permissions) return [];
  const ofSystem = permissions.filter((permission) => permission.startsWith("system."));
  const grants: Grant[] = [{ level: root.level, scopeId: root.id, permissions }];
  for (const scopeId of madeOrgIds) grants.push({ level: "org", scopeId, permissions });
  if (ofSystem.length > 0) {
    grants.push({ level: systemScope.level, scopeId: systemScope.id, permissions: ofSystem });
  }
  return grants;
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
