// Creates the services of organizations, data planes, workspaces and projects.

import type { Outbox } from "../outbox/outbox.ts";
import { type Archives, createArchives } from "./scopes/archive.ts";
import { createDataplanes, type Dataplanes, type DataplanesOptions } from "./scopes/dataplanes.ts";
import { createOrgs, type Orgs } from "./scopes/orgs.ts";
import { createDescribedScopes } from "./scopes/scope-resource.ts";
import type { DescribedScopes, ScopeResourceOptions } from "./scopes/scope-resource.ts";

export type Controlplane = {
  readonly archives: Archives;
  readonly orgs: Orgs;
  readonly dataplanes: Dataplanes;
  readonly workspaces: DescribedScopes;
  readonly projects: DescribedScopes;
};

export type ControlplaneOptions = ScopeResourceOptions &
  Pick<DataplanesOptions, "clusters" | "assignment"> & { readonly outbox: Outbox };

export function createControlplane(options: ControlplaneOptions): Controlplane {
  const archives = createArchives(options);
  const dataplanes = createDataplanes({ ...options, archives });
  return {
    archives,
    dataplanes,
    orgs: createOrgs({ ...options, dataplanes }),
    workspaces: createDescribedScopes(options, "workspace"),
    projects: createDescribedScopes(options, "project"),
  };
}
