// Whether grants permit an rpc in a scope, as the service decides it: the grants carry the
// permissions of the person's roles, and the rpc says which one it takes.

import { type DescMethod, getOption } from "@bufbuild/protobuf";
import type { MyGrant } from "../../../../gen/waggle/v1/me_pb.js";
import { access } from "../../../../gen/waggle/v1/options_pb.js";

/** From the widest to the narrowest. */
const levels = ["system", "org", "dataplane", "workspace", "project"] as const;

/** A scope and the known ids of the scopes above it. */
export type Place = {
  readonly level: (typeof levels)[number];
  /** Ids by level; that of the scope itself is always known. */
  readonly ids: Readonly<Record<string, string | undefined>>;
};

export type Grants = readonly Pick<MyGrant, "scopeType" | "scopeId" | "permissions">[];

/**
 * Returns whether the grants permit a call in a scope; undefined if that depends on a scope above
 * it whose id is not known.
 */
export function mayCall(grants: Grants, method: DescMethod, place: Place): boolean | undefined {
  const permission = getOption(method, access).permission.replace("{scope}", place.level);
  const answers = grants
    .filter(({ permissions }) => isPermitted(permission, permissions))
    .map((grant) => isAbove(grant, place));
  return answers.includes(true) || (answers.includes(undefined) ? undefined : false);
}

/** Returns whether a permission is among patterns such as `project.*`. */
function isPermitted(permission: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) =>
    pattern.endsWith("*") ? permission.startsWith(pattern.slice(0, -1)) : pattern === permission,
  );
}

/** Returns whether a grant holds in a scope, being in the scope itself or above it. */
function isAbove({ scopeType, scopeId }: Grants[number], { level, ids }: Place) {
  if (scopeType === "system") return true;
  const names: readonly string[] = levels;
  if (names.indexOf(scopeType) > names.indexOf(level)) return false;
  const id = ids[scopeType];
  return id === undefined ? undefined : id === scopeId;
}
