// Tells from the known roles whether the person may create a key of a project. A role above the
// project may not reach it; the service then refuses the key.

import type { Me } from "../../../../../../gen/waggle/v1/me_pb.js";

/** Returns whether a permission is among patterns such as `project.*`. */
export function isPermitted(permission: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) =>
    pattern.endsWith("*") ? permission.startsWith(pattern.slice(0, -1)) : pattern === permission,
  );
}

/** Returns whether a person may create keys of a kind in a project. */
export function mayCreateKeys(
  me: Pick<Me, "grants">,
  projectId: string,
  kind: "ingestion" | "project",
): boolean {
  const permission =
    kind === "ingestion" ? "project.ingestion_api_key.post" : "project.project_api_key.post";
  return me.grants.some(
    ({ scopeType, scopeId, permissions }) =>
      (scopeType !== "project" || scopeId === projectId) && isPermitted(permission, permissions),
  );
}
