// SQL of configurations, their versions and their environments, in the control database.

import type { JsonObject } from "../../base/json.ts";
import type { Fragment, Sql } from "../../postgres/database.ts";
import { namedRows } from "../../postgres/project-rows.ts";
import { readSizedPage, type RowsPage } from "../../postgres/sized-page.ts";
import type { ConfigurationType, Content, Environment } from "./configuration.ts";

/** Content as it is stored; the tags stand beside it. */
type StoredContent = {
  readonly type: ConfigurationType;
  readonly provider: string;
  readonly parameters: JsonObject;
  readonly userProperties: JsonObject;
};

export type ConfigurationRow = {
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly lastVersion: number;
  readonly content: StoredContent;
  readonly tags: readonly string[];
  readonly environments: readonly Environment[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

export type VersionRow = {
  readonly version: number;
  readonly content: StoredContent;
  readonly tags: readonly string[];
  readonly fullSha: string;
  readonly message: string;
  readonly createdAt: Date;
  readonly createdBy: string;
  /** Environments in which this version is deployed. */
  readonly environments: readonly Environment[];
};

/** Returns the deployed environments of a configuration, of one version if it is given. */
function environmentsOf(sql: Sql, condition: Fragment): Fragment {
  return sql`
    (
      select coalesce(array_agg(environment), '{}')
      from configuration_environments as deployed
      where deployed.configuration_id = configurations.configuration_id and ${condition}
    )`;
}

/** Selects configurations with their newest content, or with that of an environment. */
function selectConfigurations(sql: Sql, environment: Environment | undefined): Fragment {
  const wanted =
    environment === undefined
      ? sql`last_version`
      : sql`(
          select deployed.version from configuration_environments as deployed
          where deployed.configuration_id = configurations.configuration_id
            and environment = ${environment}
        )`;
  return sql`
    select
      configurations.configuration_id as id,
      name,
      version,
      last_version as "lastVersion",
      content,
      tags,
      ${environmentsOf(sql, sql`true`)} as environments,
      configurations.created_at as "createdAt",
      updated_at as "updatedAt"
    from configurations
    join configuration_versions using (configuration_id)
    where version = ${wanted} and deleted_at is null`;
}

/** Configurations of projects and their names. */
export const configurationRows = namedRows({
  table: "configurations",
  idColumn: "configuration_id",
  noun: "configuration",
});

export type Wanted = {
  readonly id: string;
  readonly environment?: Environment | undefined;
};

export async function findConfiguration(
  sql: Sql,
  projectId: string,
  { id, environment }: Wanted,
): Promise<ConfigurationRow | undefined> {
  const [row] = await sql<ConfigurationRow[]>`
    ${selectConfigurations(sql, environment)}
      and project_id = ${projectId} and configurations.configuration_id = ${id}`;
  return row;
}

/** Returns the id of the configuration of a name. */
export async function findId(
  sql: Sql,
  projectId: string,
  name: string,
): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    select configuration_id as id from configurations
    where project_id = ${projectId} and name = ${name} and deleted_at is null`;
  return row?.id;
}

export type ConfigurationsPage = {
  readonly limit: number;
  readonly afterName: string;
  readonly name: string | undefined;
  readonly environment: Environment | undefined;
  readonly tags: readonly string[];
};

/** Returns configurations by name in byte order; fewer than `limit` if they are large. */
export async function listConfigurations(
  sql: Sql,
  projectId: string,
  { limit, afterName, name, environment, tags }: ConfigurationsPage,
): Promise<RowsPage<ConfigurationRow>> {
  const ofName = name === undefined ? sql`true` : sql`name = ${name}`;
  const rows = sql`
    ${selectConfigurations(sql, environment)}
      and project_id = ${projectId} and name collate "C" > ${afterName} and ${ofName}
      and tags @> ${[...tags]}::text[]
    order by name collate "C"
    limit ${limit + 1}`;
  return readSizedPage<ConfigurationRow>(sql, {
    rows,
    content: "content",
    order: sql`name collate "C"`,
    limit,
  });
}

/** Inserts a configuration without its first version, which the caller inserts after it. */
export async function insertConfiguration(
  sql: Sql,
  row: {
    readonly id: string;
    readonly projectId: string;
    readonly name: string;
    readonly createdBy: string;
  },
): Promise<void> {
  await sql`
    insert into configurations (configuration_id, project_id, name, last_version, created_by)
    values (${row.id}, ${row.projectId}, ${row.name}, 1, ${row.createdBy})`;
}

export async function updateConfiguration(
  sql: Sql,
  row: { readonly id: string; readonly name: string; readonly lastVersion: number },
): Promise<void> {
  await sql`
    update configurations
    set name = ${row.name}, last_version = ${row.lastVersion}, updated_at = clock_timestamp()
    where configuration_id = ${row.id}`;
}

/** Marks a configuration as deleted. Its versions stay, because events refer to them. */
export async function markDeleted(sql: Sql, id: string): Promise<void> {
  await sql`delete from configuration_environments where configuration_id = ${id}`;
  await sql`update configurations set deleted_at = now() where configuration_id = ${id}`;
}

export type NewVersionRow = {
  readonly id: string;
  readonly version: number;
  readonly content: Content;
  readonly fullSha: string;
  readonly message: string;
  readonly createdBy: string;
};

export async function insertVersion(sql: Sql, row: NewVersionRow): Promise<void> {
  const { tags, ...content } = row.content;
  await sql`
    insert into configuration_versions (
      configuration_id, version, content, tags, full_sha, message, created_by
    )
    values (
      ${row.id}, ${row.version}, ${JSON.stringify(content)}::text::json, ${[...tags]},
      ${row.fullSha}, ${row.message}, ${row.createdBy}
    )`;
}

/** Deploys a version in an environment, in place of the one deployed there. */
export async function deployVersion(
  sql: Sql,
  row: {
    readonly id: string;
    readonly environment: Environment;
    readonly version: number;
    readonly deployedBy: string;
  },
): Promise<void> {
  await sql`
    insert into configuration_environments (
      configuration_id, environment, version, deployed_by
    )
    values (${row.id}, ${row.environment}, ${row.version}, ${row.deployedBy})
    on conflict (configuration_id, environment) do update
    set version = excluded.version, deployed_by = excluded.deployed_by, deployed_at = now()`;
}

/** Returns which version is deployed in which environment. */
export async function listDeployments(
  sql: Sql,
  id: string,
): Promise<readonly { readonly environment: Environment; readonly version: number }[]> {
  return sql`
    select environment, version from configuration_environments where configuration_id = ${id}`;
}

/** Withdraws the versions deployed in environments other than the given ones. */
export async function withdrawOthers(
  sql: Sql,
  id: string,
  kept: readonly Environment[],
): Promise<void> {
  await sql`
    delete from configuration_environments
    where configuration_id = ${id} and environment <> all(${[...kept]})`;
}

function selectVersions(sql: Sql): Fragment {
  return sql`
    select
      version,
      content,
      tags,
      full_sha as "fullSha",
      message,
      configuration_versions.created_at as "createdAt",
      configuration_versions.created_by as "createdBy",
      ${environmentsOf(sql, sql`deployed.version = configuration_versions.version`)} as environments
    from configuration_versions
    join configurations using (configuration_id)`;
}

export async function findVersion(
  sql: Sql,
  id: string,
  version: number,
): Promise<VersionRow | undefined> {
  const [row] = await sql<VersionRow[]>`
    ${selectVersions(sql)} where configuration_id = ${id} and version = ${version}`;
  return row;
}

/** Returns versions ordered by number; fewer than `limit` if they are large. */
export async function listVersions(
  sql: Sql,
  id: string,
  { limit, afterVersion }: { readonly limit: number; readonly afterVersion: number },
): Promise<RowsPage<VersionRow>> {
  const rows = sql`
    ${selectVersions(sql)}
    where configuration_id = ${id} and version > ${afterVersion}
    order by version
    limit ${limit + 1}`;
  return readSizedPage<VersionRow>(sql, { rows, content: "content", order: sql`version`, limit });
}
