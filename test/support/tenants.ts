// A tenant with a credential of every kind, created by SQL so that a test of access does not depend
// on the calls under test.

import { randomBytes } from "node:crypto";
import { createUuid } from "../../src/base/ids.ts";
import { createSecret, hashSecret, maskSecret } from "../../src/access/keys/secret.ts";
import type { KeyKind } from "../../src/access/principal.ts";
import { systemScopeId } from "../../src/access/scope.ts";
import type { ScopeLevel } from "../../src/access/scope.ts";
import type { LocalProject } from "../../src/controlplane/projects/local-projects.ts";
import type { Database } from "../../src/postgres/database.ts";

/** A project with the scopes above it. */
export type Tenant = LocalProject;

/** Headers that identify the caller. */
export type Credential = Readonly<Record<string, string>>;

export type KeyRoot = "org" | "workspace" | "project";

export type KeyOptions = {
  readonly kind: KeyKind;
  readonly root: KeyRoot;
  readonly permissions?: readonly string[];
  readonly state?: "revoked" | "expired";
};

const inAYear = new Date(Date.now() + 31_536_000_000);
const anHourAgo = new Date(Date.now() - 3_600_000);

/** Adds a key to a tenant and returns its id and value. */
export async function addKey(
  database: Database,
  tenant: Tenant,
  { kind, root, permissions, state }: KeyOptions,
): Promise<{ keyId: string; secret: string }> {
  const secret = createSecret(kind);
  const keyId = createUuid();
  const isFineGrained = kind === "data_plane" || kind === "control_plane";
  await database.sql()`
    insert into api_keys (
      key_id, key_hash, kind, name, masked_prefix, created_by,
      org_id, workspace_id, project_id, permissions, expires_at, revoked_at, revoked_by
    )
    values (
      ${keyId}, ${hashSecret(secret)}, ${kind}, 'a key', ${maskSecret(secret, kind)}, 'test',
      ${root === "org" ? tenant.orgId : null},
      ${root === "workspace" ? tenant.workspaceId : null},
      ${root === "project" ? tenant.projectId : null},
      ${isFineGrained ? [...(permissions ?? ["*"])] : null},
      ${isFineGrained ? (state === "expired" ? anHourAgo : inAYear) : null},
      ${state === "revoked" ? anHourAgo : null}, ${state === "revoked" ? "test" : null}
    )`;
  return { keyId, secret };
}

/** Adds a key and returns the header with it. */
export async function withKey(
  database: Database,
  tenant: Tenant,
  options: KeyOptions,
): Promise<Credential> {
  const { secret } = await addKey(database, tenant, options);
  return { authorization: `Bearer ${secret}` };
}

/** Returns the id of a tenant's scope of a level. */
export function scopeIdOf(tenant: Tenant, level: ScopeLevel): string {
  const ids: Readonly<Record<ScopeLevel, string>> = {
    system: systemScopeId,
    org: tenant.orgId,
    dataplane: tenant.dataplaneId,
    workspace: tenant.workspaceId,
    project: tenant.projectId,
  };
  return ids[level];
}

/** Adds a person with a role and returns the id. */
export async function addMember(
  database: Database,
  tenant: Tenant,
  { level, role }: { readonly level: ScopeLevel; readonly role: string },
): Promise<string> {
  const userId = createUuid();
  const sql = database.sql();
  await sql`insert into users (user_id, email) values (${userId}, ${`${userId}@example.org`})`;
  await sql`
    insert into memberships (user_id, level, scope_id, role, created_by)
    values (${userId}, ${level}, ${scopeIdOf(tenant, level)}, ${role}, 'test')`;
  return userId;
}

/** Signs in a new person with a role; `origin` is the service's. */
export async function withSignIn(
  database: Database,
  tenant: Tenant,
  options: { readonly level: ScopeLevel; readonly role: string; readonly origin: string },
): Promise<Credential> {
  const userId = await addMember(database, tenant, options);
  const token = randomBytes(32).toString("base64url");
  await database.sql()`
    insert into sign_in_sessions (session_hash, user_id, expires_at)
    values (${hashSecret(token)}, ${userId}, ${inAYear})`;
  return {
    cookie: `waggle_session=${token}`,
    origin: options.origin,
    "x-project-id": tenant.projectId,
  };
}
