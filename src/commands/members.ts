// `waggle members add | list | remove | release`: manages roles from the command line, also in a
// deployment without sign-in. Source: docs/spec.md, Authentication, 6.

import type { Member } from "../access/members/members.ts";
import type { People } from "../access/people.ts";
import type { UserPrincipal } from "../access/principal.ts";
import { loadManifest } from "../access/roles/manifest.ts";
import { type Scope, type ScopeLevel, systemScope } from "../access/scope.ts";
import { ServiceError } from "../base/errors.ts";
import { OperatorError } from "../base/operator-error.ts";
import { listAll } from "../base/pages.ts";
import type { Flags } from "../config.ts";
import { createScopes } from "../controlplane/scopes/scopes.ts";
import type { Database } from "../postgres/database.ts";
import { assertMigrated } from "../postgres/migrate.ts";
import { type CommandContext, print, printTable } from "./command.ts";
import { withDatabase } from "./database.ts";
import { createLocalPeople, findOperator } from "./local-access.ts";

export const usage = `usage:
  waggle members add --email E-MAIL --role ROLE [SCOPE]
  waggle members list [SCOPE]
  waggle members remove --email E-MAIL [SCOPE]
  waggle members release --email E-MAIL
release lets the person sign in as another account of the identity provider.
SCOPE is --org, --dataplane, --workspace or --project with an id. Without one, the role is held in
all organizations, and list shows only such roles`;

type Action = (work: {
  readonly people: Pick<People, "members" | "users">;
  readonly scope: Scope;
  readonly flags: Flags;
}) => Promise<void>;

const actions: Readonly<Record<string, Action>> = {
  async add({ people, scope, flags }) {
    const [email, role] = [getFlag(flags, "email"), getFlag(flags, "role")];
    const principal = operatorPrincipal();
    const member = await people.members.add({ scope, email, role, principal });
    print(`${member.email} is ${role} of ${describe(scope)}`);
  },

  async list({ people, scope }) {
    const found = await listAll("members", (page) => people.members.list(scope, page));
    printTable([["E-MAIL", "ROLE", "NAME", "SINCE", "BY", "ID"], ...found.map(toCells)]);
  },

  async remove({ people, scope, flags }) {
    const email = getFlag(flags, "email");
    const user = await people.users.findByEmail(email);
    const principal = operatorPrincipal();
    const userId = user?.userId ?? "";
    const member = await people.members.remove({ scope, userId, principal });
    print(`${member.email} is no longer ${member.role} of ${describe(scope)}`);
  },

  async release({ people, flags }) {
    const { actor } = findOperator();
    const { email } = await people.members.release(getFlag(flags, "email"), actor).catch(refuse);
    print(`the next to sign in with ${email} is its owner; whoever was signed in is no more`);
  },
};

function refuse(cause: unknown): never {
  if (!(cause instanceof ServiceError)) throw cause;
  throw new OperatorError("nobody has this e-mail", { cause });
}

export async function run({ config, flags, operands }: CommandContext): Promise<number> {
  const [name = "", ...others] = operands;
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (!action || others.length > 0) throw new OperatorError(usage);
  const manifest = await loadManifest(config.rolesManifest);
  await withDatabase(config, async (database) => {
    await assertMigrated(database);
    const scope = await getScope(database, flags);
    const people = createLocalPeople(database, manifest);
    await action({ people, scope, flags }).catch((cause: unknown) => {
      throw explain(cause, scope);
    });
  });
  return 0;
}

/** Returns a principal with all permissions: the operator can change the database anyway. */
function operatorPrincipal(): UserPrincipal {
  const { actor } = findOperator();
  return {
    kind: "user",
    actor,
    email: actor.name,
    grants: [{ level: "system", scopeId: systemScope.id, permissions: ["*"] }],
    expiresAtMs: Infinity,
  };
}

const scopeFlags = ["org", "dataplane", "workspace", "project"] as const satisfies ScopeLevel[];

async function getScope(database: Database, flags: Flags): Promise<Scope> {
  const [level, ...others] = scopeFlags.filter((flag) => flags[flag] !== undefined);
  if (others.length > 0) throw new OperatorError(usage);
  if (level === undefined) return systemScope;
  const id = getFlag(flags, level);
  const scope = await createScopes(database).find(level, id);
  if (!scope) throw new OperatorError(`no active ${level} has the id ${id}`);
  return scope;
}

function getFlag(flags: Flags, name: string): string {
  const text = flags[name];
  if (typeof text !== "string" || text === "") throw new OperatorError(usage);
  return text;
}

function toCells(member: Member): readonly string[] {
  return [
    member.email,
    member.role,
    member.name ?? "-",
    member.createdAt.toISOString(),
    member.createdBy,
    member.userId,
  ];
}

function describe(scope: Scope): string {
  if (scope.level === "system") return "all organizations";
  return `${scope.level} ${scope.name} (${scope.id})`;
}

function explain(cause: unknown, scope: Scope): unknown {
  if (!(cause instanceof ServiceError)) return cause;
  const message =
    cause.reason === "NOT_FOUND" ? `there is no such member of ${describe(scope)}` : cause.message;
  return new OperatorError(message, { cause });
}
