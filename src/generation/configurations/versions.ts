// Versions of configurations: listing, comparing and deploying them.
// Source: docs/decisions.md, 44.2, 44.3; docs/prompts.md.

import { assertCount } from "../../base/assert-count.ts";
import { changeInside, type ChangeParts, type Whose } from "../../access/change.ts";
import { formatVersion, parseVersionNumber } from "../../base/versions.ts";
import { pageLimitMax } from "../../base/field-limits.ts";
import { ServiceError } from "../../base/errors.ts";
import type { ProjectId } from "../../base/ids.ts";
import { formatKeyCursor, type Page, type PageRequest, parseKeyCursor } from "../../base/pages.ts";
import type { Sql } from "../../postgres/database.ts";
import { deploy, getConfiguration, inOrder, lockConfiguration } from "./change.ts";
import { parseEnvironment, parseVersionOrNumber } from "./configuration.ts";
import type { Content, Environment } from "./configuration.ts";
import { compareContents, type FieldChange } from "./diff.ts";
import * as store from "./store.ts";
import type { VersionRow } from "./store.ts";

export type ConfigurationVersion = {
  readonly version: number;
  readonly content: Content;
  readonly fullSha: string;
  readonly message: string;
  readonly createdAt: Date;
  readonly createdBy: string;
  /** Environments in which this version is deployed. */
  readonly environments: readonly Environment[];
};

export type Comparison = {
  /** Numbers of the versions. */
  readonly from: number;
  readonly to: number;
  readonly changes: readonly FieldChange[];
};

/** All methods throw NOT_FOUND if the project has no such configuration or version. */
export type ConfigurationVersions = {
  /** Returns versions, oldest first; 1,000 by default. INVALID_ARGUMENT names a wrong option. */
  list(projectId: ProjectId, id: string, page: PageRequest): Promise<Page<ConfigurationVersion>>;
  /** Returns the version of a name, such as `v3`, or of a number. */
  get(projectId: ProjectId, id: string, name: string): Promise<ConfigurationVersion>;
  /** Returns the fields that differ between two versions. */
  compare(
    projectId: ProjectId,
    id: string,
    names: { readonly from: string; readonly to: string },
  ): Promise<Comparison>;
  /**
   * Deploys a version in an environment, in place of the one deployed there. INVALID_ARGUMENT names
   * a wrong environment.
   */
  deploy(whose: Whose, name: string, env: string): Promise<ConfigurationVersion>;
};

export function createConfigurationVersions(options: ChangeParts): ConfigurationVersions {
  const { database } = options;

  async function get(projectId: ProjectId, id: string, name: string) {
    const sql = database.sql();
    await getConfiguration(sql, projectId, { id });
    return findNamed(sql, id, name);
  }

  return {
    async list(projectId, id, { limit = pageLimitMax, cursor }) {
      assertCount("limit", limit, pageLimitMax);
      const afterVersion =
        cursor === undefined
          ? 0
          : parseKeyCursor("configuration-versions", cursor, parseVersionNumber);
      await getConfiguration(database.sql(), projectId, { id });
      const page = { limit, afterVersion };
      const { rows, hasMore } = await database.readInTurn(projectId, (sql) =>
        store.listVersions(sql, id, page),
      );
      const last = hasMore ? rows.at(-1) : undefined;
      return {
        items: rows.map(toVersion),
        nextCursor: last && formatKeyCursor("configuration-versions", last.version),
      };
    },

    get,

    async compare(projectId, id, names) {
      const before = await get(projectId, id, names.from);
      const after = await get(projectId, id, names.to);
      const changes = compareContents(before.content, after.content);
      return { from: before.version, to: after.version, changes };
    },

    async deploy(whose, name, env) {
      const { project, id, actor } = whose;
      const environment = parseEnvironment(env);
      return changeInside(options, { scope: project, actor }, async (sql) => {
        const { name: ownName, lastVersion } = await lockConfiguration(sql, whose);
        const { version } = await findNamed(sql, id, name);
        const deployed = await store.listDeployments(sql, id);
        const before = deployed.find((one) => one.environment === environment)?.version;
        if (before === version) return { result: await findNamed(sql, id, name) };
        await deploy(sql, { id, version, actor }, [environment]);
        await store.updateConfiguration(sql, { id, name: ownName, lastVersion });
        const audit = {
          action: "configuration.deploy",
          targetId: id,
          before: { env, version: before === undefined ? null : formatVersion(before) },
          after: { env, version: formatVersion(version) },
        };
        return { result: await findNamed(sql, id, name), audit };
      });
    },
  };
}

async function findNamed(sql: Sql, id: string, name: string): Promise<ConfigurationVersion> {
  const version = parseVersionOrNumber(name);
  const row = version && (await store.findVersion(sql, id, version));
  if (!row) throw new ServiceError("NOT_FOUND", "no such version");
  return toVersion(row);
}

function toVersion({ content, tags, ...row }: VersionRow): ConfigurationVersion {
  return { ...row, content: { ...content, tags }, environments: inOrder(row.environments) };
}
