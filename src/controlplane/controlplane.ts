// Creates the services of organizations, data planes, workspaces and projects.

import type { Audit } from "../access/audit/audit.ts";
import type { AccessChanges } from "../access/changes/changes.ts";
import type { Members } from "../access/members/members.ts";
import type { Outbox } from "../outbox/outbox.ts";
import type { Database } from "../postgres/database.ts";
import { createDataplanes } from "./dataplanes/dataplanes.ts";
import type { Dataplanes, DataplanesOptions } from "./dataplanes/dataplanes.ts";
import { createOrgs } from "./orgs/orgs.ts";
import type { Orgs } from "./orgs/orgs.ts";
import { createProjects } from "./projects/projects.ts";
import type { Projects } from "./projects/projects.ts";
import { createArchives } from "./scopes/archive.ts";
import type { Archives } from "./scopes/archive.ts";
import type { Scopes } from "./scopes/scopes.ts";
import { createWorkspaces } from "./workspaces/workspaces.ts";
import type { Workspaces } from "./workspaces/workspaces.ts";

export type Controlplane = {
  readonly archives: Archives;
  readonly orgs: Orgs;
  readonly dataplanes: Dataplanes;
  readonly workspaces: Workspaces;
  readonly projects: Projects;
};

export type ControlplaneOptions = Pick<DataplanesOptions, "clusters" | "assignment"> & {
  readonly database: Database;
  readonly scopes: Pick<Scopes, "hold">;
  readonly audit: Pick<Audit, "append">;
  readonly changes: Pick<AccessChanges, "append">;
  readonly outbox: Outbox;
  readonly members: Pick<Members, "appointCreator">;
};

export function createControlplane(options: ControlplaneOptions): Controlplane {
  const archives = createArchives(options);
  const dataplanes = createDataplanes({ ...options, archives });
  return {
    archives,
    dataplanes,
    orgs: createOrgs({ ...options, dataplanes }),
    workspaces: createWorkspaces(options),
    projects: createProjects(options),
  };
}
