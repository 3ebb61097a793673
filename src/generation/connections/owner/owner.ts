// Owners of credentials, aliases and prices (an organization, workspace or project), and the
// inheritance by projects. Source: docs/generations.md.

import type { Scope } from "../../../access/scope.ts";

export type OwnerLevel = "org" | "workspace" | "project";

export type Owner = { readonly level: OwnerLevel; readonly id: string };

/** Converts a scope to an owner. Data planes and the system own nothing: a bug of the caller. */
export function toOwner({ level, id }: Pick<Scope, "level" | "id">): Owner {
  if (level === "system" || level === "dataplane") throw new Error(`${level} owns nothing here`);
  return { level, id };
}

/** Returns the subject to forget when an owner's rows change (access/changes/changes.ts). */
export function changeOf({ id }: Owner): string {
  return `providers:${id}`;
}

/** Returns the first row of each name; rows are in the order project, workspace, organization. */
export function nearest<T extends { readonly name: string }>(rows: readonly T[]): readonly T[] {
  const byName = new Map<string, T>();
  for (const row of rows) if (!byName.has(row.name)) byName.set(row.name, row);
  return [...byName.values()];
}
