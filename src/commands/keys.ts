// `waggle keys create | list | revoke` on the database of the running service or of a data folder.
// Source: docs/decisions.md, 31, 32, 33.

import { type Key, type Keys, toRoot } from "../access/keys/keys.ts";
import { isFineGrained } from "../access/keys/new-key.ts";
import { type KeyKind, keyKinds } from "../access/principal.ts";
import type { Scope } from "../access/scope.ts";
import { ServiceError } from "../base/errors.ts";
import { createdKeysRevokedMax } from "../base/limits.ts";
import { explainRefusal, OperatorError } from "../base/operator-error.ts";
import { listAll } from "../base/pages.ts";
import type { Flags } from "../config.ts";
import { createScopes } from "../controlplane/scopes/scopes.ts";
import type { Database } from "../postgres/database.ts";
import { assertMigrated } from "../postgres/migrate.ts";
import { readRequiredPermissions } from "../transport/contract.ts";
import { type CommandContext, print, printTable } from "./command.ts";
import { firstProjectName } from "./credentials.ts";
import { withDatabase } from "./database.ts";
import { createLocalKeys, findOperator } from "./local-access.ts";
import { getLocalProject } from "./local-project.ts";

export const usage = `usage:
  waggle keys create --kind ${keyKinds.join("|")} --name NAME
      [--project NAME-OR-ID | --workspace ID | --org ID]   without one: of the project demo
      [--permissions NAME,NAME,… --expires-in-days N]   for data_plane and control_plane
      a key of kind control_plane is of a workspace or an organization, and needs one of them
  waggle keys list [--project NAME-OR-ID | --workspace ID | --org ID]
  waggle keys revoke KEY-ID [--with-created]   also revokes the keys that it created`;

const dayMs = 86_400_000;
const daysMax = 36_500;

type Action = (work: {
  readonly database: Database;
  readonly keys: Keys;
  readonly flags: Flags;
  readonly operand: string | undefined;
}) => Promise<void>;

const actions: Readonly<Record<string, Action>> = {
  async create({ database, keys, flags }) {
    const root =
      (await findRoot(database, flags)) ?? (await getLocalProject(database, firstProjectName));
    const required = await readRequiredPermissions();
    const newKey = { ...parseCreateFlags(flags), required, root, creator: findOperator() };
    const { key, secret } = await keys.create(newKey).catch(explainRefusal);
    // Standard output contains only the key, for use in scripts.
    const where = `${key.rootLevel} ${key.rootName}`;
    process.stderr.write(`key ${key.id} of ${where}, shown only this once:\n`);
    print(secret);
  },

  async list({ database, keys, flags }) {
    const root = await findRoot(database, flags);
    const filter = root ? { root: toRoot(root) } : {};
    const found = await listAll("keys", (page) => keys.list(filter, page));
    const titles = ["ID", "KIND", "OF", "NAME", "KEY", "CREATED", "BY", "LAST USED", "STATUS"];
    printTable([titles, ...found.map(toCells)]);
  },

  async revoke({ keys, flags, operand }) {
    if (operand === undefined) throw new OperatorError(usage);
    if (flags["with-created"] !== true) {
      await keys.revoke(operand, {}, findOperator().actor).catch(explainUnknown(operand));
      print(`revoked ${operand}`);
      return;
    }
    const { createdCount } = await keys
      .revokeWithCreated(operand, {}, findOperator())
      .catch(explainUnknown(operand));
    print(`revoked ${operand}`);
    print(`keys that it created and that were revoked with it: ${createdCount}`);
    if (createdCount === createdKeysRevokedMax) {
      print("it may have created more: run the command again");
    }
  },
};

function explainUnknown(keyId: string): (error: unknown) => never {
  return (error) => {
    const isUnknown =
      error instanceof ServiceError && ["NOT_FOUND", "KEY_REVOKED"].includes(error.reason);
    if (!isUnknown) throw error;
    throw new OperatorError(`no active key has the id ${keyId}; waggle keys list shows the ids`);
  };
}

export async function run({ config, flags, operands }: CommandContext): Promise<number> {
  const [name = "", operand] = operands;
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  const wordsMax = name === "revoke" ? 2 : 1;
  if (!action || operands.length > wordsMax) throw new OperatorError(usage);
  if (name === "create") parseCreateFlags(flags);
  await withDatabase(config, async (database) => {
    await assertMigrated(database);
    await action({ database, keys: createLocalKeys(database), flags, operand });
  });
  return 0;
}

type CreateFlags = {
  readonly kind: KeyKind;
  readonly name: string;
  readonly permissions?: readonly string[];
  readonly expiresAt?: Date;
};

function parseCreateFlags(flags: Flags): CreateFlags {
  const kind = keyKinds.find((candidate) => candidate === flags["kind"]);
  const { name, permissions, "expires-in-days": days } = flags;
  if (!kind) throw new OperatorError(`--kind must be one of ${keyKinds.join(", ")}\n${usage}`);
  if (typeof name !== "string" || name === "") {
    throw new OperatorError(`--name is missing: what the key is for\n${usage}`);
  }
  if (!isFineGrained(kind)) {
    const above = (["workspace", "org"] as const).find((level) => flags[level]);
    if (above) {
      throw new OperatorError(
        `a key of kind ${kind} is of a project: give --project in place of --${above}\n${usage}`,
      );
    }
    if (permissions === undefined && days === undefined) return { kind, name };
    throw new OperatorError(`a key of kind ${kind} has neither permissions nor an end\n${usage}`);
  }
  if (kind === "control_plane" && !flags["workspace"] && !flags["org"]) {
    throw new OperatorError(`a key of kind ${kind} needs --workspace or --org\n${usage}`);
  }
  if (typeof permissions !== "string") {
    throw new OperatorError(`a key of kind ${kind} needs --permissions\n${usage}`);
  }
  if (days === undefined) {
    throw new OperatorError(`a key of kind ${kind} needs --expires-in-days\n${usage}`);
  }
  return {
    kind,
    name,
    permissions: permissions.split(",").map((permission) => permission.trim()),
    expiresAt: new Date(Date.now() + parseDays(days) * dayMs),
  };
}

function parseDays(text: Flags[string]): number {
  const days = typeof text === "string" && /^\d+$/.test(text) ? Number(text) : NaN;
  if (days >= 1 && days <= daysMax) return days;
  throw new OperatorError(`--expires-in-days must be a whole number from 1 to ${daysMax}`);
}

/** Returns the scope that a flag names; undefined without such a flag. */
async function findRoot(database: Database, flags: Flags): Promise<Scope | undefined> {
  const [level, other] = (["project", "workspace", "org"] as const).filter((name) => flags[name]);
  if (other) throw new OperatorError(`--${level} and --${other} cannot both be given\n${usage}`);
  if (!level) return undefined;
  const given = String(flags[level]);
  if (level === "project") return getLocalProject(database, given);
  const scope = await createScopes(database).find(level, given);
  if (!scope) throw new OperatorError(`there is no active ${level} with the id ${given}`);
  return scope;
}

function toCells(key: Key): readonly string[] {
  return [
    key.id,
    key.kind,
    `${key.rootLevel} ${key.rootName}`,
    key.name,
    key.maskedPrefix,
    key.createdAt.toISOString(),
    key.createdBy,
    key.lastUsedAt?.toISOString() ?? "never",
    key.status === "revoked" ? `revoked by ${key.revokedBy ?? "?"}` : key.status,
  ];
}
