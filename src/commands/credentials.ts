// Data of the first start: scopes, the project `demo`, its keys, and credentials.json, the only
// place where the text of the keys is stored. Source: docs/spec.md, Authentication;
// docs/decisions.md, 31, 33.

import { rename } from "node:fs/promises";
import { join } from "node:path";
import type { LocalCreator, NewKey } from "../access/keys/new-key.ts";
import { type Scope, systemScope } from "../access/scope.ts";
import { ServiceError } from "../base/errors.ts";
import { createLocalProjects, firstStart } from "../controlplane/projects/local-projects.ts";
import type { LocalProject } from "../controlplane/projects/local-projects.ts";
import { readJson, writeJson } from "../embedded/data-folder.ts";
import type { Database } from "../postgres/database.ts";
import { createLocalKeys } from "./local-access.ts";

/** Contents of credentials.json, which clients and `npm run demo` read. */
export type Credentials = {
  readonly url: string;
  readonly org_id: string;
  readonly dataplane_id: string;
  readonly workspace_id: string;
  readonly project_id: string;
  readonly project_name: string;
  readonly project_api_key: string;
  readonly ingestion_api_key: string;
  /** Key of the organization with all permissions in the control plane. */
  readonly control_plane_api_key: string;
  /** Key of the organization that may create keys and has all permissions on charts. */
  readonly data_plane_api_key: string;
};

export type CredentialsOutcome = {
  /** Absent if there is neither a file nor one project `demo` to create keys for. */
  readonly credentials: Credentials | undefined;
  /** Message for the person at the terminal if something unusual happened. */
  readonly remark: string | undefined;
};

export const firstProjectName = "demo";

/** Returns the path of the file in a data folder. */
export function credentialsPath(dataFolder: string): string {
  return join(dataFolder, "credentials.json");
}

/**
 * Creates the first project and its keys in an empty database, in one transaction, and writes
 * credentials.json. After an interruption between the two, the keys are lost, and the next start
 * creates new ones. Also updates the file's `url`.
 */
export async function ensureCredentials(
  database: Database,
  { dataFolder, url }: { readonly dataFolder: string; readonly url: string },
): Promise<CredentialsOutcome> {
  const path = credentialsPath(dataFolder);
  const kept = await readJson<Credentials>(path);
  const projects = createLocalProjects(database);

  const first = await database.transaction(async () => {
    const project = await projects.createFirst(firstProjectName);
    return project && toCredentials(url, project, await createFirstKeys(database, project));
  });
  if (first) {
    const remark = kept && (await setAside(path));
    await writeJson(path, first);
    return { credentials: first, remark };
  }

  if (kept && (await projects.find(kept.project_id))) {
    const made = await replaceEndedKeys(database, kept);
    const credentials = { ...kept, ...made, url };
    const names = Object.keys(made);
    if (kept.url !== url || names.length > 0) await writeJson(path, credentials);
    const remark = names.length > 0 ? `made a new ${names.join(" and ")} in ${path}` : undefined;
    return { credentials, remark };
  }
  return replaceCredentials(database, { path, url, isKept: kept !== undefined });
}

/**
 * Replaces the file of a non-empty database if it is missing, or if its project is archived or
 * belongs to another database.
 */
async function replaceCredentials(
  database: Database,
  { path, url, isKept }: { readonly path: string; readonly url: string; readonly isKept: boolean },
): Promise<CredentialsOutcome> {
  const found = await createLocalProjects(database).find(firstProjectName).catch(toFault);
  if (typeof found !== "object") {
    const fault = found ?? `no project ${firstProjectName}`;
    const remark = `${fault}: make a key with "waggle keys create --project"`;
    return { credentials: undefined, remark };
  }
  const made = await database.transaction(() => createFirstKeys(database, found));
  const credentials = toCredentials(url, found, made);
  const setAsideRemark = isKept ? `${await setAside(path)}; ` : "";
  await writeJson(path, credentials);
  const remark = `${setAsideRemark}made new keys for project ${firstProjectName} and wrote ${path}`;
  return { credentials, remark };
}

/** Returns what a refusal by a rule says. */
function toFault(error: unknown): string {
  if (error instanceof ServiceError) return error.message;
  throw error;
}

async function setAside(path: string): Promise<string> {
  const aside = `${path}.${new Date().toISOString().replaceAll(":", "")}`;
  await rename(path, aside);
  return `${path} names no active project and is now ${aside}`;
}

type OrgKeys = Pick<Credentials, "control_plane_api_key" | "data_plane_api_key">;
type FirstKeys = OrgKeys & Pick<Credentials, "project_api_key" | "ingestion_api_key">;

const creator: LocalCreator = { kind: "system", actor: firstStart };

async function createFirstKeys(database: Database, project: LocalProject): Promise<FirstKeys> {
  const keys = createLocalKeys(database);
  const { orgId, dataplaneId, workspaceId, projectId, projectName } = project;
  const root: Scope = {
    level: "project",
    id: projectId,
    name: projectName,
    orgId,
    dataplaneId,
    workspaceId,
    projectId,
  };
  const create = async (kind: "project" | "ingestion", name: string) =>
    (await keys.create({ kind, root, name, creator })).secret;
  return {
    project_api_key: await create("project", "first project key"),
    ingestion_api_key: await create("ingestion", "first ingestion key"),
    control_plane_api_key: await createOrgKey(database, orgId, "control_plane_api_key"),
    data_plane_api_key: await createOrgKey(database, orgId, "data_plane_api_key"),
  };
}

/** `*` covers the organization; creating another organization needs a system permission. */
const controlPlanePermissions = ["*", `${systemScope.level}.org.create`];

/** Permissions to create, list and revoke keys of every kind, and all permissions on charts. */
const dataPlanePermissions = [
  "org.fine_grained_api_key_dp.*",
  "org.fine_grained_api_key_cp.*",
  "workspace.fine_grained_api_key_dp.*",
  "workspace.fine_grained_api_key_cp.*",
  "project.fine_grained_api_key_dp.*",
  "project.ingestion_api_key.*",
  "project.project_api_key.*",
  "project.ro_project_api_key.*",
  "project.chart.*",
];

const orgKeys = {
  control_plane_api_key: {
    kind: "control_plane",
    name: "first control plane key",
    permissions: controlPlanePermissions,
  },
  data_plane_api_key: {
    kind: "data_plane",
    name: "first data plane key",
    permissions: dataPlanePermissions,
  },
} as const satisfies Record<keyof OrgKeys, Pick<NewKey, "kind" | "name" | "permissions">>;

const yearMs = 365 * 86_400_000;

/** Creates one of the organization's first keys and returns its text. */
export async function createOrgKey(
  database: Database,
  orgId: string,
  field: keyof OrgKeys,
): Promise<string> {
  const { secret } = await createLocalKeys(database).create({
    ...orgKeys[field],
    root: { level: "org", id: orgId, name: "", orgId },
    expiresAt: new Date(Date.now() + yearMs),
    creator,
  });
  return secret;
}

/**
 * Creates those of the organization's keys that are absent, because the file is from an older
 * release, or that have expired or been revoked.
 */
async function replaceEndedKeys(database: Database, kept: Credentials): Promise<Partial<OrgKeys>> {
  const made: Partial<Record<keyof OrgKeys, string>> = {};
  for (const field of ["control_plane_api_key", "data_plane_api_key"] as const) {
    if (await isGood(database, kept[field])) continue;
    made[field] = await createOrgKey(database, kept.org_id, field);
  }
  return made;
}

/** Returns whether a key is valid; it is undefined in files of older releases. */
async function isGood(database: Database, key: string | undefined): Promise<boolean> {
  if (key === undefined) return false;
  try {
    await createLocalKeys(database).authenticate(`Bearer ${key}`);
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.reason === "NOT_FOUND") return false;
    throw error;
  }
}

function toCredentials(url: string, project: LocalProject, keys: FirstKeys): Credentials {
  return {
    url,
    org_id: project.orgId,
    dataplane_id: project.dataplaneId,
    workspace_id: project.workspaceId,
    project_id: project.projectId,
    project_name: project.projectName,
    ...keys,
  };
}
