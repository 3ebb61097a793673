// The levels of tenancy, and an active scope with the scopes above it. Source: docs/spec.md, "What
// the service does", 7.

import type { ProjectId } from "../base/ids.ts";

/** From the widest to the narrowest; `system` is above every organization. */
export const scopeLevels = ["system", "org", "dataplane", "workspace", "project"] as const;
export type ScopeLevel = (typeof scopeLevels)[number];

/** Levels of an organization and of the scopes inside it. */
export type LevelInOrg = Exclude<ScopeLevel, "system">;

/** Ids from the organization down to the scope itself; absent for levels below it. */
export type Scope = {
  readonly level: ScopeLevel;
  /** The nil UUID for level system. */
  readonly id: string;
  readonly name: string;
  readonly orgId?: string;
  readonly dataplaneId?: string;
  readonly workspaceId?: string;
  readonly projectId?: ProjectId;
  /** Cluster that holds the events; present from the data plane down. */
  readonly clusterId?: string;
};

/** A project with the scopes above it. */
export type ProjectScope = Scope & {
  readonly level: "project";
  readonly orgId: string;
  readonly dataplaneId: string;
  readonly workspaceId: string;
  readonly projectId: ProjectId;
  readonly clusterId: string;
};

/** A project and the cluster that holds its events. */
export type ProjectRef = Pick<ProjectScope, "projectId" | "clusterId">;

export const systemScopeId = "00000000-0000-0000-0000-000000000000";

/** The scope above all organizations. */
export const systemScope: Scope = { level: "system", id: systemScopeId, name: "system" };

/** Levels of an organization, from the widest to the narrowest, with their ids in a Scope. */
const idFields = {
  org: "orgId",
  dataplane: "dataplaneId",
  workspace: "workspaceId",
  project: "projectId",
} as const satisfies Readonly<Record<LevelInOrg, keyof Scope>>;

/** From the widest to the narrowest; each contains the next. */
export const levelsInOrg = Object.keys(idFields) as readonly LevelInOrg[];

/** Tells whether a scope is the one given by `level` and `id`, or inside it. */
export function isWithin(scope: Scope, level: ScopeLevel, id: string): boolean {
  return level === "system" || scope[idFields[level]] === id;
}

/** Returns the scope's levels and ids, from the system down to the scope itself. */
export function withAbove(scope: Scope): readonly Pick<Scope, "level" | "id">[] {
  const above = levelsInOrg.flatMap((level) => {
    const id = scope[idFields[level]];
    return id === undefined ? [] : [{ level, id }];
  });
  return [systemScope, ...above];
}

/** Returns a new scope inside another one. */
export function scopeInside(
  parent: Scope,
  { level, id, name }: { readonly level: LevelInOrg; readonly id: string; readonly name: string },
): Scope {
  return { ...parent, level, id, name, [idFields[level]]: id };
}

/** Tells whether a scope is a project. */
export function isProject(scope: Scope | undefined): scope is ProjectScope {
  return scope?.level === "project";
}

/** Id of the audit chain that a scope's changes belong to. */
export function chainOf(scope: Scope): string {
  return scope.orgId ?? systemScopeId;
}
