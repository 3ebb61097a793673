// The first start: scopes, the project `demo` and its keys, and credentials.json, which is the only
// place the keys' text goes. Called by start.ts.
// Source: docs/spec.md, Authentication; docs/decisions.md, 31.

import { rename } from "node:fs/promises";
import { join } from "node:path";
import { createKeys } from "../access/keys/keys.ts";
import type { ProjectId } from "../base/ids.ts";
import { createProjects } from "../controlplane/projects/projects.ts";
import type { Project } from "../controlplane/projects/projects.ts";
import { readJson, writeJson } from "../embedded/data-folder.ts";
import type { Database } from "../postgres/database.ts";

/** credentials.json, as clients and `npm run demo` read it. */
export type Credentials = {
  readonly url: string;
  readonly org_id: string;
  readonly dataplane_id: string;
  readonly workspace_id: string;
  readonly project_id: string;
  readonly project_name: string;
  readonly project_api_key: string;
  readonly ingestion_api_key: string;
};

export type CredentialsOutcome = {
  /** Absent when there is no file and no project `demo` to make keys for. */
  readonly credentials: Credentials | undefined;
  /** Whether keys were made just now. */
  readonly isNew: boolean;
  /** What the person at the terminal should know, when something was not as usual. */
  readonly remark: string | undefined;
};

export const firstProjectName = "demo";

/** Returns where the file of a data folder is. */
export function credentialsPath(dataFolder: string): string {
  return join(dataFolder, "credentials.json");
}

/**
 * Makes the first project and its keys on an empty database, in one transaction, and writes
 * credentials.json. A start that was cut off between the two left a project whose keys nobody has:
 * then the next makes new ones. Also brings the file's `url` up to date.
 */
export async function ensureCredentials(
  database: Database,
  { dataFolder, url }: { readonly dataFolder: string; readonly url: string },
): Promise<CredentialsOutcome> {
  const path = credentialsPath(dataFolder);
  const kept = await readJson<Credentials>(path);
  const projects = createProjects(database);

  const first = await database.transaction(async () => {
    const project = await projects.createFirst(firstProjectName);
    return project && toCredentials(url, project, await createFirstKeys(database, project));
  });
  if (first) {
    const remark = kept && (await setAside(path));
    await writeJson(path, first);
    return { credentials: first, isNew: true, remark };
  }

  if (kept && (await projects.find(kept.project_id))) {
    if (kept.url !== url) await writeJson(path, { ...kept, url });
    return { credentials: { ...kept, url }, isNew: false, remark: undefined };
  }
  return replaceCredentials(database, { path, url, isKept: kept !== undefined });
}

/** For a database that has its projects, where the file is missing or tells of another database. */
async function replaceCredentials(
  database: Database,
  { path, url, isKept }: { readonly path: string; readonly url: string; readonly isKept: boolean },
): Promise<CredentialsOutcome> {
  const project = await createProjects(database).find(firstProjectName);
  if (!project) {
    const remark = `no project ${firstProjectName}: make a key with "waggle keys create --project"`;
    return { credentials: undefined, isNew: false, remark };
  }
  const made = await database.transaction(() => createFirstKeys(database, project));
  const credentials = toCredentials(url, project, made);
  const setAsideRemark = isKept ? `${await setAside(path)}; ` : "";
  await writeJson(path, credentials);
  const remark = `${setAsideRemark}made new keys for project ${firstProjectName} and wrote ${path}`;
  return { credentials, isNew: true, remark };
}

async function setAside(path: string): Promise<string> {
  const aside = `${path}.${new Date().toISOString().replaceAll(":", "")}`;
  await rename(path, aside);
  return `${path} was of another database and is now ${aside}`;
}

type FirstKeys = { readonly projectKey: string; readonly ingestionKey: string };

async function createFirstKeys(database: Database, project: Project): Promise<FirstKeys> {
  const keys = createKeys({ database, cacheEntriesMax: 0, cacheAgeMs: 0 });
  const create = async (kind: "project" | "ingestion", name: string) => {
    const projectId: ProjectId = project.projectId;
    const created = await keys.create({ kind, projectId, name, createdBy: "first start" });
    return created.secret;
  };
  return {
    projectKey: await create("project", "first project key"),
    ingestionKey: await create("ingestion", "first ingestion key"),
  };
}

function toCredentials(url: string, project: Project, keys: FirstKeys): Credentials {
  return {
    url,
    org_id: project.orgId,
    dataplane_id: project.dataplaneId,
    workspace_id: project.workspaceId,
    project_id: project.projectId,
    project_name: project.projectName,
    project_api_key: keys.projectKey,
    ingestion_api_key: keys.ingestionKey,
  };
}
