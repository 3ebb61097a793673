// Differences between the four levels of scopes. Source: docs/spec.md, "Control-plane resources".

import { type LevelInOrg, levelsInOrg } from "../../access/scope.ts";

export type Level = {
  readonly table: string;
  /** Column of the id, also in the table of the level below. */
  readonly id: string;
  /** For messages; the plural has an s. */
  readonly title: string;
  readonly hasDescription: boolean;
  /** Request field with the e-mail of the scope's first administrator. */
  readonly creatorField: string;
};

export const levels: Readonly<Record<LevelInOrg, Level>> = {
  org: {
    table: "organizations",
    id: "org_id",
    title: "organization",
    hasDescription: false,
    creatorField: "org_creator",
  },
  dataplane: {
    table: "dataplanes",
    id: "dataplane_id",
    title: "data plane",
    hasDescription: false,
    creatorField: "dataplane_creator",
  },
  workspace: {
    table: "workspaces",
    id: "workspace_id",
    title: "workspace",
    hasDescription: true,
    creatorField: "workspace_creator",
  },
  project: {
    table: "projects",
    id: "project_id",
    title: "project",
    hasDescription: true,
    creatorField: "project_creator",
  },
};

/** Returns the level that contains scopes of a level; undefined for organizations. */
export function levelAbove(level: LevelInOrg): LevelInOrg | undefined {
  return levelsInOrg[levelsInOrg.indexOf(level) - 1];
}

/** Returns the level of the scopes inside a scope; undefined for projects. */
export function levelBelow(level: LevelInOrg): LevelInOrg | undefined {
  return levelsInOrg[levelsInOrg.indexOf(level) + 1];
}
