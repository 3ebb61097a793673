// Who a key stands for, from its row. Called by keys.ts.
// Source: docs/spec.md, Authentication, 2, 3; docs/decisions.md, 33.

import { defaultPolicy } from "../key-policies/key-policies.ts";
import type { Grant, KeyPrincipal } from "../principal.ts";
import { systemScope } from "../scope.ts";
import type { Scope } from "../scope.ts";
import type { LiveKeyRow } from "./store.ts";

/**
 * No policy takes these from a key that a person made and that holds them: one slip would shut out
 * whoever mends it. Keys that keys made stay bound, or a policy would bind nobody for long.
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
 * A key holds its permissions at its root and in the organizations it made, which nobody else could
 * reach. What a first start's key may do above all of them begins with `system.`; `*` does not.
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
