// Configurations of a project: saved prompts with their model and parameters, with a version for
// each change and one deployed version in each environment.
// Source: docs/decisions.md, 34.2, 44.1, 44.2; docs/prompts.md.

import { assertCount } from "../../base/assert-count.ts";
import { refuse } from "../../base/errors.ts";
import { type Actor, describeActor } from "../../base/actor.ts";
import { changeInside, type ChangeParts, type Whose } from "../../access/change.ts";
import type { ProjectScope } from "../../access/scope.ts";
import { versionMessageLengthMax } from "../../base/field-limits.ts";
import { createUuid, isUuid, type ProjectId } from "../../base/ids.ts";
import { formatKeyCursor, type Page, parseKeyCursor, parseName } from "../../base/pages.ts";
import { configurationsOfProjectMax } from "../../base/tenant-limits.ts";
import {
  addVersion,
  deploy,
  getConfiguration,
  lockConfiguration,
  stateOf,
  toConfiguration,
} from "./change.ts";
import { type Configuration, type Environment, parseEnvironment } from "./configuration.ts";
import { compareContents } from "./diff.ts";
import { checkMessage, checkName, parseEnvironments, parseTags, toContent } from "./fields.ts";
import type { ConfigurationFields } from "./fields.ts";
import * as store from "./store.ts";
import { toUsed, type UsedConfiguration } from "./used.ts";

export type ListConfigurationsOptions = {
  /** From 1 to 1,000; the default, 1,000, is the maximum of a project. */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly name?: string | undefined;
  /** Returns only configurations deployed in this environment, with the content deployed there. */
  readonly env?: string | undefined;
  /** Returns only configurations with each of these tags. */
  readonly tags?: readonly string[];
};

export type Wanted = {
  /** Id or name. */
  readonly configuration: string;
  /** Undefined for the newest version. */
  readonly environment: string | undefined;
};

export type WantedUse = Wanted & {
  /** Whether the request has messages of its own. */
  readonly hasMessages: boolean;
};

export type Found = {
  readonly configuration: Configuration;
  readonly environment: Environment | undefined;
};

/** Each change is audited. */
export type Configurations = {
  /**
   * Creates a configuration, whose content is its first version. Throws INVALID_ARGUMENT naming the
   * field, and NAME_TAKEN.
   */
  create(project: ProjectScope, fields: ConfigurationFields, actor: Actor): Promise<Configuration>;
  /**
   * Returns configurations by name; a page of large ones may hold fewer than the limit.
   * INVALID_ARGUMENT names a wrong option.
   */
  list(projectId: ProjectId, options: ListConfigurationsOptions): Promise<Page<Configuration>>;
  /**
   * Returns a configuration with its newest content, or with that deployed in an environment.
   * Throws NOT_FOUND if there is none.
   */
  get(projectId: ProjectId, id: string, env?: string): Promise<Configuration>;
  /**
   * Returns a configuration by id or name, the newest version or the one deployed in an
   * environment. Throws INVALID_ARGUMENT naming `configuration` or `environment`.
   */
  find(projectId: ProjectId, wanted: Wanted): Promise<Found>;
  /** Like `find`, in the form of a model call. */
  use(projectId: ProjectId, wanted: WantedUse): Promise<UsedConfiguration>;
  /**
   * Changes the given fields; another content is a new version. Returns whether anything changed.
   * Throws like `create` and `get`.
   */
  update(whose: Whose, fields: ConfigurationFields): Promise<boolean>;
  /** Deletes a configuration with its deployments. Throws NOT_FOUND. */
  delete(whose: Whose): Promise<void>;
};

export function createConfigurations(options: ChangeParts): Configurations {
  const { database } = options;
  return {
    create: (project, fields, actor) => create(options, project, fields, actor),

    async list(projectId, { limit = configurationsOfProjectMax, cursor, name, env, tags = [] }) {
      assertCount("limit", limit, configurationsOfProjectMax);
      const page = {
        limit,
        afterName: cursor === undefined ? "" : parseKeyCursor("configurations", cursor, parseName),
        // No configuration has a name that Postgres refuses.
        name: name === undefined ? undefined : (parseName(name) ?? ""),
        environment: env === undefined ? undefined : parseEnvironment(env),
        tags: parseTags(tags),
      };
      const { rows, hasMore } = await database.readInTurn(projectId, (sql) =>
        store.listConfigurations(sql, projectId, page),
      );
      const last = hasMore ? rows.at(-1) : undefined;
      return {
        items: rows.map(toConfiguration),
        nextCursor: last && formatKeyCursor("configurations", last.name),
      };
    },

    get: (projectId, id, env) =>
      getConfiguration(database.sql(), projectId, {
        id,
        environment: env === undefined ? undefined : parseEnvironment(env),
      }),

    find: (projectId, wanted) => findWanted(options, projectId, wanted),

    async use(projectId, { hasMessages, ...wanted }) {
      const { configuration, environment } = await findWanted(options, projectId, wanted);
      return toUsed(configuration, { environment, hasMessages });
    },

    update: (whose, fields) => update(options, whose, fields),

    delete: (whose) =>
      changeInside(options, { scope: whose.project, actor: whose.actor }, async (sql) => {
        const before = await lockConfiguration(sql, whose);
        await store.markDeleted(sql, whose.id);
        const audit = { targetId: whose.id, before: stateOf(before) };
        return { result: undefined, audit: { action: "configuration.delete", ...audit } };
      }),
  };
}

async function findWanted(
  { database }: ChangeParts,
  projectId: ProjectId,
  { configuration: named, environment: env }: Wanted,
): Promise<Found> {
  const environment = env === undefined ? undefined : parseEnvironment(env, "environment");
  const sql = database.sql();
  const name = parseName(named);
  const byName = () => name && store.findId(sql, projectId, name);
  const find = (id: string | undefined) =>
    id && isUuid(id) ? store.findConfiguration(sql, projectId, { id, environment }) : undefined;
  const row = (await find(named)) ?? (await find((await byName()) || undefined));
  if (row) return { configuration: toConfiguration(row), environment };
  return environment === undefined
    ? refuse("configuration", "the project has no such configuration")
    : refuse("configuration", `the project has none of this name deployed in ${environment}`);
}

async function create(
  options: ChangeParts,
  project: ProjectScope,
  fields: ConfigurationFields,
  actor: Actor,
): Promise<Configuration> {
  const { projectId } = project;
  const name = checkName(fields.name ?? "");
  const content = toContent(fields, undefined);
  const named = parseEnvironments(fields.env ?? []);
  const message = checkMessage(fields.message ?? "") || "created";
  return changeInside(options, { scope: project, actor }, async (sql) => {
    await store.configurationRows.lock(sql, projectId);
    if ((await store.configurationRows.count(sql, projectId)) >= configurationsOfProjectMax) {
      const most = `a project has at most ${configurationsOfProjectMax} configurations`;
      refuse("name", `${most}; delete one first`);
    }
    const id = createUuid();
    await store.configurationRows.assertNameFree(sql, projectId, { id, name });
    await store.insertConfiguration(sql, { id, projectId, name, createdBy: describeActor(actor) });
    await addVersion(sql, { id, version: 1, content, message, actor });
    await deploy(sql, { id, version: 1, actor }, named);
    const result = await getConfiguration(sql, projectId, { id });
    const audit = { action: "configuration.create", targetId: id, after: stateOf(result) };
    return { result, audit };
  });
}

function update(options: ChangeParts, whose: Whose, fields: ConfigurationFields): Promise<boolean> {
  const { project, id, actor } = whose;
  const { projectId } = project;
  const given = fields.name === undefined ? undefined : checkName(fields.name);
  const message = checkMessage(fields.message ?? "");
  const named = fields.env === undefined ? undefined : parseEnvironments(fields.env);
  return changeInside(options, { scope: project, actor }, async (sql) => {
    const before = await lockConfiguration(sql, whose);
    const name = given ?? before.name;
    const content = toContent(fields, before);
    const changes = compareContents(before, content);
    const lastVersion = before.lastVersion + (changes.length > 0 ? 1 : 0);
    const deployed = await store.listDeployments(sql, id);
    const isDeployed =
      named === undefined ||
      (deployed.length === named.length &&
        deployed.every((one) => named.includes(one.environment) && one.version === lastVersion));
    if (changes.length === 0 && name === before.name && isDeployed) return { result: false };
    await store.configurationRows.assertNameFree(sql, projectId, { id, name });
    if (changes.length > 0) {
      const what = `updated ${changes.map(({ field }) => field).join(", ")}`;
      const version = {
        version: lastVersion,
        message: message || what.slice(0, versionMessageLengthMax),
      };
      await addVersion(sql, { ...version, id, content, actor });
    }
    await store.updateConfiguration(sql, { id, name, lastVersion });
    if (named) {
      await store.withdrawOthers(sql, id, named);
      await deploy(sql, { id, version: lastVersion, actor }, named);
    }
    const after = stateOf(await getConfiguration(sql, projectId, { id }));
    const audit = { targetId: id, before: stateOf(before), after };
    return { result: true, audit: { action: "configuration.update", ...audit } };
  });
}
