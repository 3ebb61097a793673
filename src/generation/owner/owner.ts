// Whose credentials and aliases are: an organization's, a workspace's or a project's, and which of
// them a project may use. Called by credentials/ and aliases/. Source: docs/generations.md.

import type { ProjectScope, Scope } from "../../access/scope.ts";

export type OwnerLevel = "org" | "workspace" | "project";

export type Owner = { readonly level: OwnerLevel; readonly id: string };

/** Returns a scope as an owner. Data planes own nothing here, which is a bug of the caller. */
export function toOwner({ level, id }: Pick<Scope, "level" | "id">): Owner {
  if (level === "system" || level === "dataplane") throw new Error(`${level} owns nothing here`);
  return { level, id };
}

/** Ids of whose things a project may use. */
export type Heirs = Pick<ProjectScope, "projectId" | "workspaceId" | "orgId">;

/** What servers forget when what an owner has changes (access/changes/changes.ts). */
export function changeOf({ id }: Owner): string {
  return `providers:${id}`;
}

/** Of rows in order of project, workspace, organization, keeps the first of each name. */
export function nearest<T extends { readonly name: string }>(rows: readonly T[]): readonly T[] {
  const byName = new Map<string, T>();
  for (const row of rows) if (!byName.has(row.name)) byName.set(row.name, row);
  return [...byName.values()];
}
