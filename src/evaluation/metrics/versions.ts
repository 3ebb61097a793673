// Versions of evaluators: listing, comparing, deploying and restoring them.
// Source: docs/spec.md, "States and transitions"; docs/decisions.md, 25.3 and 34.1.

import { assertCount } from "../../base/assert-count.ts";
import { formatVersion, parseVersion, parseVersionNumber } from "../../base/versions.ts";
import { pageLimitMax, versionMessageLengthMax } from "../../base/field-limits.ts";
import { refuse, ServiceError } from "../../base/errors.ts";
import type { Owner } from "../../base/fair-places.ts";
import type { ProjectId } from "../../base/ids.ts";
import { formatKeyCursor, type Page, type PageRequest, parseKeyCursor } from "../../base/pages.ts";
import { byPeople, changeMetric, getMetric, toRevision } from "./change.ts";
import type { ChangeParts, Plan, Whose, WhoseCode } from "./change.ts";
import { assertText } from "../../base/assert-text.ts";
import type { DefinitionFields } from "./fields.ts";
import * as store from "./store.ts";
import type { MetricRow, VersionRow } from "./store.ts";
import { toDefinition } from "./to-definition.ts";
import { compareDefinitions, type FieldChange } from "./version-content.ts";

export type MetricVersion = VersionRow;

export type NewVersion = {
  /** Reason for the version. */
  readonly message: string;
  /** Differences from the deployed version. */
  readonly fields: DefinitionFields;
  readonly isDeployed: boolean;
};

/** All methods throw NOT_FOUND if the project has no such evaluator. */
export type MetricVersions = {
  /** Returns versions, oldest first; 1,000 by default. INVALID_ARGUMENT names a wrong option. */
  list(projectId: ProjectId, id: string, page: PageRequest): Promise<Page<MetricVersion>>;
  /** Returns the version of a name, such as `v3`. Throws NOT_FOUND. */
  get(projectId: ProjectId, id: string, name: string): Promise<MetricVersion>;
  /** Creates a version. Throws like `create` of an evaluator, with `content.` before the field. */
  create(whose: WhoseCode, version: NewVersion): Promise<MetricVersion>;
  /** Returns the fields that differ between two versions. Throws NOT_FOUND. */
  compare(
    projectId: ProjectId,
    id: string,
    names: { readonly from: string; readonly to: string },
  ): Promise<readonly FieldChange[]>;
  /**
   * Deploys a version and resets the count of failures. Throws NOT_FOUND, and NAME_TAKEN if another
   * evaluator has its name by now.
   */
  deploy(whose: Whose, name: string): Promise<MetricVersion>;
  /** Creates a new version from an old one and deploys it. Throws like `deploy`. */
  restore(whose: Whose, name: string): Promise<MetricVersion>;
};

export function createMetricVersions(parts: ChangeParts): MetricVersions {
  const { database } = parts;

  async function get(projectId: ProjectId, id: string, name: string): Promise<VersionRow> {
    const { id: ownId } = await getMetric(database, projectId, id);
    return findNamed(ownId, parseVersion(name));
  }

  async function findNamed(id: string, version: number | undefined): Promise<VersionRow> {
    const row = version && (await store.findVersion(database.sql(), id, version));
    if (!row) throw new ServiceError("NOT_FOUND", "no such version");
    return row;
  }

  async function change(
    whose: Whose,
    makePlan: (before: MetricRow) => Promise<Plan>,
  ): Promise<VersionRow> {
    return findNamed(whose.id, await changeMetric(parts, whose, makePlan));
  }

  return {
    async list(projectId, id, { limit = pageLimitMax, cursor }) {
      assertCount("limit", limit, pageLimitMax);
      const afterVersion =
        cursor === undefined ? 0 : parseKeyCursor("metric-versions", cursor, parseVersionNumber);
      const { id: ownId } = await getMetric(database, projectId, id);
      const page = { limit, afterVersion };
      const { rows, hasMore } = await database.readInTurn(projectId, (sql) =>
        store.listVersions(sql, ownId, page),
      );
      const last = hasMore ? rows.at(-1) : undefined;
      return { items: rows, nextCursor: last && formatKeyCursor("metric-versions", last.version) };
    },

    get,

    create: (whose, version) =>
      change(whose, (before) => planVersion(parts, { owner: whose.project, before }, version)),

    async compare(projectId, id, { from, to }) {
      const [before, after] = [await get(projectId, id, from), await get(projectId, id, to)];
      return compareDefinitions(before.definition, after.definition);
    },

    deploy: (whose, name) =>
      change(whose, async ({ id }) => {
        const { definition, readsGroundTruth, version } = await findNamed(id, parseVersion(name));
        const action = "evaluator.deploy";
        return { definition, readsGroundTruth, version, action, deploy: byPeople };
      }),

    restore: (whose, name) =>
      change(whose, async ({ id }) => {
        const { definition, readsGroundTruth, version } = await findNamed(id, parseVersion(name));
        const message = `restored ${formatVersion(version)}`;
        const action = "evaluator.restore";
        return { definition, readsGroundTruth, message, action, deploy: byPeople };
      }),
  };
}

async function planVersion(
  parts: ChangeParts,
  { owner, before }: { readonly owner: Owner; readonly before: MetricRow },
  { message, fields, isDeployed }: NewVersion,
): Promise<Plan> {
  if (message.trim() === "") refuse("message", "must not be blank");
  assertText("message", message, versionMessageLengthMax);
  const revision = await inContent(() =>
    toRevision(parts, owner, toDefinition(fields, before.definition, parts), before),
  );
  const action = "evaluator.add_version";
  return { ...revision, message, action, ...(isDeployed && { deploy: byPeople }) };
}

/** Prefixes the field in errors with `content.`, its place in the request. */
async function inContent<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const reasons = ["INVALID_ARGUMENT", "INVALID_FILTER"];
    if (!(error instanceof ServiceError && reasons.includes(error.reason))) throw error;
    throw new ServiceError(error.reason, `content.${error.message}`, { cause: error });
  }
}
