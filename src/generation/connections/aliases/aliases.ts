// Model aliases of an organization, workspace or project: names for a list of models, which are
// tried in order. Source: docs/decisions.md, 21.3, 34.2; docs/generations.md.

import type { Actor } from "../../../base/actor.ts";
import { savedModelLengthMax } from "../../../base/field-limits.ts";
import type { ChangeParts } from "../../../access/change.ts";
import type { ProjectScope, Scope } from "../../../access/scope.ts";
import { refuse } from "../../../base/errors.ts";
import { aliasTargetsMax, modelAliasesMax } from "../../../base/tenant-limits.ts";
import { isCredentialName } from "../credentials/fields.ts";
import { createNamedRows, type NamedRow, type NamedRows } from "../owner/named-rows.ts";
import { changeOf, nearest } from "../owner/owner.ts";
import { isModelName } from "../routing/resolve.ts";
import { listUsable, type UsableAlias } from "./store.ts";

type Targets = Pick<UsableAlias, "targets">;

export type Alias = NamedRow<Targets>;

export type PutAliasOptions = UsableAlias & { readonly scope: Scope; readonly actor: Actor };

export type Aliases = Omit<NamedRows<Targets>, "put"> & {
  /**
   * Creates or replaces an alias of a scope.
   *
   * Fails with INVALID_ARGUMENT naming the field, and with NOT_FOUND if the scope was archived.
   */
  put(options: PutAliasOptions): Promise<Alias>;
  /**
   * Returns the aliases of a project; of equal names, the project's before its workspace's before
   * its organization's.
   */
  aliasesFor(project: ProjectScope): Promise<readonly UsableAlias[]>;
};

const namePattern = /^[A-Za-z0-9._-]{1,64}$/;

export function createAliases(options: ChangeParts): Aliases {
  const rows = createNamedRows<Targets>(options, {
    table: "model_aliases",
    idColumn: "alias_id",
    valueColumn: "targets",
    toColumn: (sql, { targets }) => sql`${[...targets]}`,
    type: "model_alias",
    nouns: ["alias", "aliases"],
    rowsMax: modelAliasesMax,
    isName: (text) => namePattern.test(text),
    stateOf: ({ name, targets }) => ({ name, targets }),
    newsOf: changeOf,
  });
  return {
    ...rows,

    async put({ scope, name, targets, actor }) {
      assertAlias(name, targets);
      return rows.put(scope, { name, targets }, actor);
    },

    aliasesFor: async (project) => nearest(await listUsable(options.database.sql(), project)),
  };
}

function assertAlias(name: string, targets: readonly string[]): void {
  if (!namePattern.test(name)) refuse("name", "must be 1 to 64 letters, digits, ., - and _");
  if (targets.length === 0 || targets.length > aliasTargetsMax) {
    refuse("targets", `must be 1 to ${aliasTargetsMax}`);
  }
  targets.forEach((target, index) => {
    if (isTarget(target)) return;
    refuse(`targets[${index}]`, "must be provider/model, such as openai/gpt-4o-mini");
  });
}

/** Returns whether a target is a model; an alias cannot contain another alias. */
function isTarget(target: string): boolean {
  const slash = target.indexOf("/");
  const model = target.slice(slash + 1);
  const isModel = model.length <= savedModelLengthMax && isModelName(model);
  return isCredentialName(target.slice(0, Math.max(slash, 0))) && isModel;
}
