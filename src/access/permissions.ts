// Dotted permission names, their wildcards, and the table of powers over the organization itself.
// Source: docs/spec.md, Authentication, 4; docs/decisions.md, 33.

import { scopeLevels } from "./scope.ts";

/** Parts of a pattern such as `project.event.get`, `project.event.*` or `*`. */
const partPattern = /^[a-z][a-z0-9_]*$/;
const partsMax = 6;
const lengthMax = 128;

const levels: ReadonlySet<string> = new Set(scopeLevels);

/**
 * Tells whether a pattern includes a permission, or another pattern as a whole. `*` as the last
 * part means one or more parts, so `project.*` includes `project.event.get` and `project.event.*`.
 */
export function covers(pattern: string, permission: string): boolean {
  if (pattern === permission || pattern === "*") return true;
  if (!pattern.endsWith(".*")) return false;
  const prefix = pattern.slice(0, -1);
  return permission.length > prefix.length && permission.startsWith(prefix);
}

/** Tells whether some permission is in both patterns. */
export function overlaps(one: string, other: string): boolean {
  return covers(one, other) || covers(other, one);
}

/** Returns patterns for exactly the permissions that are in both lists. */
export function intersect(ones: readonly string[], others: readonly string[]): readonly string[] {
  const both = ones.flatMap((one) =>
    anyCovers(others, one) ? [one] : others.filter((other) => covers(one, other)),
  );
  return [...new Set(both)];
}

/** Tells whether any of the patterns includes the permission. */
export function anyCovers(patterns: readonly string[], permission: string): boolean {
  return patterns.some((pattern) => covers(pattern, permission));
}

/**
 * Returns the fault in the text of a pattern, or undefined. The first part must be a level of
 * scopes. A name that no call requires is allowed, since a roles manifest may be that of a later
 * release; keys and policies may not have one (key-policies.ts).
 */
export function findPatternFault(pattern: string): string | undefined {
  if (pattern === "*") return undefined;
  if (pattern.length > lengthMax) return `is longer than ${lengthMax} characters`;
  const parts = pattern.split(".");
  const [level = ""] = parts;
  if (!levels.has(level)) return `must begin with one of ${scopeLevels.join(", ")}`;
  if (parts.length < 2 || parts.length > partsMax) return "must have parts, such as a.b.get";
  const names = parts.at(-1) === "*" ? parts.slice(0, -1) : parts;
  if (!names.every((part) => partPattern.test(part))) {
    return "must be lower-case parts joined by dots, with * only as the last part";
  }
  return undefined;
}

/** Permissions of the calls that create keys. */
const creatingPermissions: readonly string[] = [
  "project.ingestion_api_key.post",
  "project.project_api_key.post",
  "project.ro_project_api_key.post",
  "project.fine_grained_api_key_dp.post",
  "workspace.fine_grained_api_key_dp.post",
  "workspace.fine_grained_api_key_cp.post",
  "org.fine_grained_api_key_dp.post",
  "org.fine_grained_api_key_cp.post",
];

/** Returns the first key-creating permission that a pattern includes, or undefined. */
export function findKeyCreation(pattern: string): string | undefined {
  return creatingPermissions.find((permission) => covers(pattern, permission));
}

/**
 * Powers over the organization itself: only a caller that holds one may grant it
 * (docs/decisions.md, 33). All other permissions may be granted inside the giver's own scope,
 * within the organization's policy.
 */
const organizationPowers: readonly string[] = [
  // Above every organization: organizations themselves, and the list of roles.
  "system.*",
  // The organization itself: its data planes, members, keys, key policy, providers and audit log.
  "org.*",
  // Members at every level: a person's role outlives the key that granted it.
  "dataplane.member.create",
  "dataplane.member.put",
  "dataplane.member.delete",
  "workspace.member.create",
  "workspace.member.put",
  "workspace.member.delete",
  "project.member.create",
  "project.member.put",
  "project.member.delete",
  // The same holds for a created key, which outlives its creator.
  ...creatingPermissions,
];

/**
 * Returns the powers over the organization itself that a pattern grants, as patterns that the giver
 * must hold as a whole: `org.member.put` for itself, `project.member.create` and others for
 * `project.*`, and `*` for `*`. Empty if the pattern grants none.
 */
export function listPowers(pattern: string): readonly string[] {
  return pattern === "*" ? [pattern] : intersect([pattern], organizationPowers);
}
