// Versions of evaluators: what each was, and how one becomes the one that runs again.
// Source: docs/spec.md, "States and transitions"; docs/decisions.md, 25 and 34.

import { pageLimitMax, versionMessageLengthMax } from "../../base/field-limits.ts";
import { ServiceError } from "../../base/errors.ts";
import type { Owner } from "../../base/fair-places.ts";
import type { ProjectId } from "../../base/ids.ts";
import type { Page } from "../../base/pages.ts";
import { byPeople, changeEvaluator, getEvaluator, toRevision } from "./change.ts";
import type { ChangeParts, Plan, Whose, WhoseCode } from "./change.ts";
import { formatVersion, parseVersion } from "./definition.ts";
import { assertText, refuse } from "./fields.ts";
import type { DefinitionFields } from "./fields.ts";
import * as store from "./store.ts";
import type { EvaluatorRow, VersionRow } from "./store.ts";
import { toDefinition } from "./to-definition.ts";
import { compareDefinitions } from "./version-content.ts";
import type { FieldChange } from "./version-content.ts";

export type EvaluatorVersion = VersionRow;

export type ListVersionsOptions = {
  /** 1 to 1,000, which is the default. */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
};

export type NewVersion = {
  /** Why it is made. */
  readonly message: string;
  /** What is different from the version that runs. */
  readonly fields: DefinitionFields;
  readonly isDeployed: boolean;
};

/** Of an evaluator that the project does not have, everything fails with NOT_FOUND. */
export type EvaluatorVersions = {
  /** Returns versions, the oldest first. INVALID_ARGUMENT names a wrong option. */
  list(
    projectId: ProjectId,
    id: string,
    options: ListVersionsOptions,
  ): Promise<Page<EvaluatorVersion>>;
  /** Returns the version of a name, such as `v3`; fails with NOT_FOUND. */
  get(projectId: ProjectId, id: string, name: string): Promise<EvaluatorVersion>;
  /** Makes a version; fails as `create` of an evaluator does, with `content.` before the field. */
  create(whose: WhoseCode, version: NewVersion): Promise<EvaluatorVersion>;
  /** Returns the fields that differ between two versions; fails with NOT_FOUND. */
  compare(
    projectId: ProjectId,
    id: string,
    names: { readonly from: string; readonly to: string },
  ): Promise<readonly FieldChange[]>;
  /**
   * Makes a version the one that runs, with its failures counted afresh. Fails with NOT_FOUND, and
   * with NAME_TAKEN when another evaluator has its name now.
   */
  deploy(whose: Whose, name: string): Promise<EvaluatorVersion>;
  /** Makes a new version out of an old one and deploys it; fails as `deploy` does. */
  restore(whose: Whose, name: string): Promise<EvaluatorVersion>;
};

export function createEvaluatorVersions(parts: ChangeParts): EvaluatorVersions {
  const { database } = parts;

  async function get(projectId: ProjectId, id: string, name: string): Promise<VersionRow> {
    const { id: ownId } = await getEvaluator(database, projectId, id);
    return findNamed(ownId, parseVersion(name));
  }

  async function findNamed(id: string, version: number | undefined): Promise<VersionRow> {
    const row = version && (await store.findVersion(database.sql(), id, version));
    if (!row) throw new ServiceError("NOT_FOUND", "no such version");
    return row;
  }

  async function change(
    whose: Whose,
    makePlan: (before: EvaluatorRow) => Promise<Plan>,
  ): Promise<VersionRow> {
    return findNamed(whose.id, await changeEvaluator(parts, whose, makePlan));
  }

  return {
    async list(projectId, id, { limit = pageLimitMax, cursor }) {
      if (!(Number.isInteger(limit) && limit >= 1 && limit <= pageLimitMax)) {
        refuse("limit", `must be from 1 to ${pageLimitMax}`);
      }
      const afterVersion = cursor === undefined ? 0 : parseCursor(cursor);
      const { id: ownId } = await getEvaluator(database, projectId, id);
      const page = { limit, afterVersion };
      const { rows, hasMore } = await store.listVersions(database.sql(), ownId, page);
      const last = hasMore ? rows.at(-1) : undefined;
      return { items: rows, nextCursor: last && formatCursor(last.version) };
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
  { owner, before }: { readonly owner: Owner; readonly before: EvaluatorRow },
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

/** Names the fields that are refused as what they are to the caller: inside of `content`. */
async function inContent<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const reasons = ["INVALID_ARGUMENT", "INVALID_FILTER"];
    if (!(error instanceof ServiceError && reasons.includes(error.reason))) throw error;
    throw new ServiceError(error.reason, `content.${error.message}`, { cause: error });
  }
}

/** A page continues after a version's number. */
function formatCursor(version: number): string {
  return Buffer.from(String(version)).toString("base64url");
}

function parseCursor(cursor: string): number {
  const text = Buffer.from(cursor, "base64url").toString();
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : refuse("cursor", "it is not a next_cursor");
}
