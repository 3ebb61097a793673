// Steps of every change of a configuration: its lock, its state, a new version, deployments.
// Source: docs/decisions.md, 34.2, 44.2; docs/prompts.md.

import { formatVersion } from "../../base/versions.ts";
import { type Actor, describeActor } from "../../base/actor.ts";
import type { Whose } from "../../access/change.ts";
import { refuse, ServiceError } from "../../base/errors.ts";
import { isUuid } from "../../base/ids.ts";
import type { JsonObject } from "../../base/json.ts";
import { configurationVersionsMax } from "../../base/tenant-limits.ts";
import type { Sql } from "../../postgres/database.ts";
import { environments, hashOf } from "./configuration.ts";
import type { Configuration, Content, Environment } from "./configuration.ts";
import * as store from "./store.ts";
import type { ConfigurationRow, Wanted } from "./store.ts";

/** Returns a configuration of a project. Throws NOT_FOUND. */
export async function getConfiguration(
  sql: Sql,
  projectId: string,
  wanted: Wanted,
): Promise<Configuration> {
  const row = isUuid(wanted.id) && (await store.findConfiguration(sql, projectId, wanted));
  if (!row) throw new ServiceError("NOT_FOUND", "no such configuration");
  return toConfiguration(row);
}

/** Locks the configurations of a project and returns one of them. Throws NOT_FOUND. */
export async function lockConfiguration(
  sql: Sql,
  { project: { projectId }, id }: Whose,
): Promise<Configuration> {
  await store.configurationRows.lock(sql, projectId);
  return getConfiguration(sql, projectId, { id });
}

export function toConfiguration({ content, ...row }: ConfigurationRow): Configuration {
  return { ...row, ...content, environments: inOrder(row.environments) };
}

/** Sorts environments as answers show them. */
export function inOrder(named: readonly Environment[]): readonly Environment[] {
  return environments.filter((one) => named.includes(one));
}

type NewVersion = {
  readonly id: string;
  readonly version: number;
  readonly content: Content;
  readonly message: string;
  readonly actor: Actor;
};

export async function addVersion(sql: Sql, { content, actor, ...row }: NewVersion): Promise<void> {
  if (row.version > configurationVersionsMax) {
    refuse("id", `has ${configurationVersionsMax} versions, which is the limit; make a new one`);
  }
  const fullSha = hashOf(content);
  await store.insertVersion(sql, { ...row, content, fullSha, createdBy: describeActor(actor) });
}

/** Deploys a version in environments. */
export async function deploy(
  sql: Sql,
  { id, actor, version }: Pick<Whose, "id" | "actor"> & { readonly version: number },
  named: readonly Environment[],
): Promise<void> {
  const deployedBy = describeActor(actor);
  for (const environment of named) {
    await store.deployVersion(sql, { id, environment, version, deployedBy });
  }
}

/** Returns a configuration's state for the audit log, without the parameters, which may be long. */
export function stateOf(configuration: Configuration): JsonObject {
  const { name, version, type, provider, parameters, tags } = configuration;
  return {
    name,
    version: formatVersion(version),
    full_sha: hashOf(configuration),
    type,
    provider,
    model: parameters["model"] ?? null,
    tags,
    env: configuration.environments,
  };
}
