// Secrets that are stored, and whether the keys that encrypted them are configured.

import { createEncryptionKeys } from "../access/encryption-keys.ts";
import { findUnknownKeys, type SealedTable } from "../access/rotate-secrets.ts";
import type { Core } from "../compose/core.ts";
import type { EncryptionKey } from "../config.ts";
import { credentialSecrets } from "../generation/connections/credentials/secrets.ts";
import { targetSecrets } from "../notifications/sealed-targets.ts";
import type { Database } from "../postgres/database.ts";

export const sealedTables: readonly SealedTable[] = [credentialSecrets, targetSecrets];

type Stored = { readonly database: Database; readonly keys: readonly EncryptionKey[] };

/** Returns the keys that are not configured, with how many secrets each encrypted; "" for none. */
export async function describeUnknownKeys({ database, keys }: Stored): Promise<string> {
  const options = { database, tables: sealedTables, keys: createEncryptionKeys(keys) };
  const unknown = await findUnknownKeys(options);
  return unknown.map(({ keyId, count }) => `${keyId} (${count})`).join(", ");
}

/** Logs keys that are absent, such as after a restore, before a call needs one. */
export async function tellUnknownKeys({ config, database, logger }: Core): Promise<void> {
  try {
    const keys = await describeUnknownKeys({ database, keys: config.encryptionKeys });
    if (keys === "") return;
    logger.error({ keys }, "stored secrets cannot be read: these encryption keys are absent");
  } catch (error) {
    logger.warn({ err: error }, "cannot check whether every stored secret can be read");
  }
}
