// Encrypts all provider secrets again with the first encryption key, so that older keys can be
// removed. Source: docs/decisions.md, 21.6; docs/generations.md.

import type { Actor } from "../../../base/actor.ts";
import type { EncryptionKeys } from "../../../access/encryption-keys.ts";
import type { Audit } from "../../../access/audit/audit.ts";
import { systemScope, systemScopeId } from "../../../access/scope.ts";
import { ServiceError } from "../../../base/errors.ts";
import type { Database } from "../../../postgres/database.ts";
import { bindingOf, openSecrets } from "./secrets.ts";
import * as store from "./store.ts";
import type { CredentialRow, KeyUse } from "./store.ts";

export type UnopenedCredential = { readonly id: string; readonly fault: string };

export type RotationReport = {
  /** Id of the key that now encrypts everything except `unopened`. */
  readonly keyId: string;
  /** Number of credentials that were encrypted again. */
  readonly resealed: number;
  /** Credentials that could not be decrypted and are unchanged. */
  readonly unopened: readonly UnopenedCredential[];
  /** Number of credentials under each key afterwards. */
  readonly uses: readonly KeyUse[];
};

export type RotationOptions = {
  readonly database: Database;
  readonly keys: EncryptionKeys;
  readonly audit: Pick<Audit, "append">;
  readonly actor: Actor;
  readonly batchMax?: number;
};

/** Maximum credentials of a batch; their rows are locked until the batch commits. */
const batchMaxDefault = 100;

/**
 * Encrypts again all secrets under other keys than the first, in batches that commit one by one: a
 * second run continues after an interrupted one. Servers may run at the same time.
 *
 * Fails with ENCRYPTION_KEY_ABSENT without a key. Fails with CREDENTIAL_UNREADABLE, naming them, if
 * secrets are under keys that are not configured; then nothing is changed.
 */
export async function rotateSecrets(options: RotationOptions): Promise<RotationReport> {
  const { database, keys } = options;
  const keyId = keys.sealingKeyId;
  if (keyId === undefined) {
    throw new ServiceError("ENCRYPTION_KEY_ABSENT", "set WAGGLE_ENCRYPTION_KEYS");
  }
  assertKnown(keys, await store.countByKey(database.sql()));
  let resealed = 0;
  const unopened: UnopenedCredential[] = [];
  for (let afterId: string | undefined = systemScopeId; afterId !== undefined;) {
    const batch: Batch = await rotateBatch(options, keyId, afterId);
    resealed += batch.resealed;
    unopened.push(...batch.unopened);
    afterId = batch.lastId;
  }
  return { keyId, resealed, unopened, uses: await store.countByKey(database.sql()) };
}

function assertKnown(keys: EncryptionKeys, uses: readonly KeyUse[]): void {
  const unknown = uses.filter(({ keyId }) => !keys.has(keyId));
  if (unknown.length === 0) return;
  const names = unknown.map(({ keyId, count }) => `${keyId} (${count})`).join(", ");
  throw new ServiceError(
    "CREDENTIAL_UNREADABLE",
    `credentials are sealed under keys that WAGGLE_ENCRYPTION_KEYS does not name: ${names}`,
  );
}

type Batch = {
  readonly resealed: number;
  readonly unopened: readonly UnopenedCredential[];
  /** Undefined at the end. */
  readonly lastId: string | undefined;
};

function rotateBatch(
  { database, keys, audit, actor, batchMax = batchMaxDefault }: RotationOptions,
  keyId: string,
  afterId: string,
): Promise<Batch> {
  return database.transaction(async (sql) => {
    const rows = await store.lockOthersThan(sql, keyId, { afterId, limit: batchMax });
    const unopened: UnopenedCredential[] = [];
    for (const row of rows) {
      const sealed = sealAgain(keys, row);
      if ("fault" in sealed) unopened.push({ id: row.id, fault: sealed.fault });
      else await store.updateSeal(sql, row.id, sealed);
    }
    const resealed = rows.length - unopened.length;
    if (resealed > 0) {
      await audit.append({
        actor,
        scope: systemScope,
        action: "provider_credential.rotate",
        target: { type: "encryption_key", id: keyId },
        after: { credentials: resealed },
      });
    }
    return { resealed, unopened, lastId: rows.at(-1)?.id };
  });
}

/** Returns a fault instead of throwing, so that one damaged row does not stop the others. */
function sealAgain(keys: EncryptionKeys, row: CredentialRow) {
  try {
    return keys.seal(openSecrets(keys, row), bindingOf(row));
  } catch (error) {
    return { fault: (error as Error).message };
  }
}
