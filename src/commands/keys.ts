// `waggle keys create | list | revoke`, on the running service's database or the one of a data
// folder. Called by main.ts. Source: docs/decisions.md, 31, 32.

import { userInfo } from "node:os";
import { OperatorError } from "../base/operator-error.ts";
import { createKeys } from "../access/keys/keys.ts";
import type { Key, Keys } from "../access/keys/keys.ts";
import { keyKinds } from "../access/principal.ts";
import type { KeyKind } from "../access/principal.ts";
import { ServiceError } from "../base/errors.ts";
import type { Flags } from "../config.ts";
import { createProjects } from "../controlplane/projects/projects.ts";
import type { Project } from "../controlplane/projects/projects.ts";
import type { Database } from "../postgres/database.ts";
import { assertMigrated } from "../postgres/migrate.ts";
import { print } from "./command.ts";
import type { CommandContext } from "./command.ts";
import { firstProjectName } from "./credentials.ts";
import { withDatabase } from "./database.ts";

const usage = `usage:
  waggle keys create --kind ${keyKinds.join("|")} --name NAME [--project NAME-OR-ID]
  waggle keys list [--project NAME-OR-ID]
  waggle keys revoke KEY-ID`;

type Action = (work: {
  readonly database: Database;
  readonly keys: Keys;
  readonly flags: Flags;
  readonly operand: string | undefined;
}) => Promise<void>;

const actions: Readonly<Record<string, Action>> = {
  async create({ database, keys, flags }) {
    const { kind, name } = parseCreateFlags(flags);
    const { projectId, projectName } = await getProject(database, flags);
    const { keyId, secret } = await keys.create({ kind, projectId, name, createdBy: operator() });
    // The key alone on standard output, so that a script can take it.
    process.stderr.write(`key ${keyId} of project ${projectName}, shown only this once:\n`);
    print(secret);
  },

  async list({ database, keys, flags }) {
    const project = flags["project"] ? await getProject(database, flags) : undefined;
    printTable([
      ["ID", "KIND", "PROJECT", "NAME", "KEY", "CREATED", "BY", "STATUS"],
      ...(await keys.list(project?.projectId)).map(toCells),
    ]);
  },

  async revoke({ keys, operand }) {
    if (operand === undefined) throw new OperatorError(usage);
    try {
      await keys.revoke(operand, operator());
    } catch (error) {
      if (!(error instanceof ServiceError && error.reason === "NOT_FOUND")) throw error;
      throw new OperatorError(
        `no active key has the id ${operand}; waggle keys list shows the ids`,
      );
    }
    print(`revoked ${operand}`);
  },
};

export async function runKeys({ config, flags, operands }: CommandContext): Promise<number> {
  const [name = "", operand] = operands;
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (!action) throw new OperatorError(usage);
  if (name === "create") parseCreateFlags(flags);
  await withDatabase(config, async (database) => {
    await assertMigrated(database);
    const keys = createKeys({ database, cacheEntriesMax: 0, cacheAgeMs: 0 });
    await action({ database, keys, flags, operand });
  });
  return 0;
}

function parseCreateFlags(flags: Flags): { kind: KeyKind; name: string } {
  const kind = keyKinds.find((candidate) => candidate === flags["kind"]);
  const name = flags["name"];
  if (!kind || typeof name !== "string" || name === "") throw new OperatorError(usage);
  return { kind, name };
}

async function getProject(database: Database, flags: Flags): Promise<Project> {
  const nameOrId = String(flags["project"] ?? firstProjectName);
  const project = await createProjects(database).find(nameOrId);
  if (!project) throw new OperatorError(`no active project ${nameOrId}; name one with --project`);
  return project;
}

/** Who made or revoked a key, for the record. */
function operator(): string {
  try {
    return `command line (${userInfo().username})`;
  } catch {
    // The account has no name in a container that runs under a made-up uid.
    return `command line (uid ${process.getuid?.() ?? "?"})`;
  }
}

function toCells(key: Key): readonly string[] {
  return [
    key.keyId,
    key.kind,
    key.projectName,
    key.name,
    key.maskedPrefix,
    key.createdAt.toISOString(),
    key.createdBy,
    key.revokedAt ? `revoked by ${key.revokedBy ?? "?"}` : "active",
  ];
}

function printTable(rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? "").length)),
  );
  for (const row of rows) {
    print(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    );
  }
}
