// Encryption keys, provider credentials, model aliases and prices for tests.

import { randomBytes } from "node:crypto";
import { createAudit } from "../../src/access/audit/audit.ts";
import { createAccessChanges } from "../../src/access/changes/changes.ts";
import type { AccessChanges } from "../../src/access/changes/changes.ts";
import { createUuid } from "../../src/base/ids.ts";
import { createLogger } from "../../src/base/logger.ts";
import type { Logger } from "../../src/base/logger.ts";
import type { EncryptionKey } from "../../src/config.ts";
import { createScopes } from "../../src/controlplane/scopes/scopes.ts";
import type { LocalProject } from "../../src/controlplane/projects/local-projects.ts";
import { createAliases } from "../../src/generation/connections/aliases/aliases.ts";
import type { Aliases } from "../../src/generation/connections/aliases/aliases.ts";
import type { AddressGuard } from "../../src/base/address-guard.ts";
import { createCredentials } from "../../src/generation/connections/credentials/credentials.ts";
import type { Credentials } from "../../src/generation/connections/credentials/credentials.ts";
import { createEncryptionKeys } from "../../src/access/encryption-keys.ts";
import type { Database } from "../../src/postgres/database.ts";
import { scopeIdOf } from "./tenants.ts";
import type { KeyRoot } from "./tenants.ts";

/** A key with its text form in the setting. */
export type TestEncryptionKey = EncryptionKey & { readonly text: string };

/** Makes a random key. */
export function anEncryptionKey(id: string): TestEncryptionKey {
  const key = randomBytes(32);
  return { id, key, text: `${id}:${key.toString("base64")}` };
}

export type TestCredentials = {
  readonly credentials: Credentials;
  readonly aliases: Aliases;
  readonly changes: AccessChanges;
};

export type TestCredentialsOptions = {
  /** Encryption keys; the first one seals. */
  readonly keys: readonly EncryptionKey[];
  readonly addressGuard?: Pick<AddressGuard, "assertAllowed">;
  readonly logger?: Pick<Logger, "error">;
};

/** Composes the services on a test's database; every address is allowed by default. */
export function createTestCredentials(
  database: Database,
  { keys, addressGuard, logger = createLogger("silent") }: TestCredentialsOptions,
): TestCredentials {
  const changes = createAccessChanges({ database });
  const parts = { database, changes, audit: createAudit(database), scopes: createScopes(database) };
  return {
    changes,
    aliases: createAliases(parts),
    credentials: createCredentials({
      ...parts,
      keys: createEncryptionKeys(keys),
      addressGuard: addressGuard ?? { assertAllowed: () => Promise.resolve() },
      logger,
    }),
  };
}

/** Adds a credential without secrets to a tenant by SQL, and returns its id. */
export async function addCredential(
  database: Database,
  tenant: LocalProject,
  level: KeyRoot,
): Promise<string> {
  const sql = database.sql();
  const id = createUuid();
  await sql`
    insert into provider_credentials (
      credential_id, ${sql(`${level}_id`)}, name, provider, secret_names, created_by
    )
    values (${id}, ${scopeIdOf(tenant, level)}, ${`stored-${id}`}, 'openai', '{}', 'test')`;
  return id;
}

/** Adds an alias to a tenant by SQL, and returns its name. */
export async function addAlias(
  database: Database,
  tenant: LocalProject,
  level: KeyRoot,
): Promise<string> {
  const sql = database.sql();
  const id = createUuid();
  const name = `stored-${id}`;
  await sql`
    insert into model_aliases (alias_id, ${sql(`${level}_id`)}, name, targets, updated_by)
    values (${id}, ${scopeIdOf(tenant, level)}, ${name}, '{openai/m}', 'test')`;
  return name;
}

/** Adds a price to a tenant by SQL, and returns its name. */
export async function addPrice(
  database: Database,
  tenant: LocalProject,
  level: KeyRoot,
): Promise<string> {
  const sql = database.sql();
  const id = createUuid();
  const name = `stored-${id}`;
  await sql`
    insert into model_prices (price_id, ${sql(`${level}_id`)}, name, rates, updated_by)
    values (${id}, ${scopeIdOf(tenant, level)}, ${name}, '{"input_mtok": 1}', 'test')`;
  return name;
}
