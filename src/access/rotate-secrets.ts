// Encrypts all stored secrets again with the first encryption key, so that older keys can be
// removed. Source: docs/decisions.md, 21.6; docs/generations.md.

import type { Actor } from "../base/actor.ts";
import { ServiceError } from "../base/errors.ts";
import type { Database, Sql } from "../postgres/database.ts";
import type { Audit } from "./audit/audit.ts";
import type { EncryptionKeys, Sealed } from "./encryption-keys.ts";
import { systemScope, systemScopeId } from "./scope.ts";

/** Number of rows under an encryption key. */
export type KeyUse = { readonly keyId: string; readonly count: number };

/** A row with secrets. */
export type SealedRow = {
  readonly id: string;
  /** Encrypts its secrets with the first key. Throws an Error if they cannot be decrypted. */
  readonly reseal: (keys: EncryptionKeys) => Sealed;
};

/** A table whose rows have secrets. */
export type SealedTable = {
  /** Type of a row in the audit log, and its name in sentences. */
  readonly type: string;
  readonly noun: string;
  countByKey(sql: Sql): Promise<readonly KeyUse[]>;
  /** Locks and returns up to `limit` rows under other keys than `keyId`, by id. */
  lockOthersThan(
    sql: Sql,
    keyId: string,
    page: { readonly afterId: string; readonly limit: number },
  ): Promise<readonly SealedRow[]>;
  /** Replaces the encrypted form of unchanged secrets, so `updated_at` stays. */
  updateSeal(sql: Sql, id: string, sealed: Sealed): Promise<void>;
};

export type UnopenedSecrets = {
  readonly noun: string;
  readonly id: string;
  readonly fault: string;
};

export type RotationReport = {
  /** Id of the key that now encrypts everything except `unopened`. */
  readonly keyId: string;
  /** Number of rows that were encrypted again. */
  readonly resealed: number;
  /** Rows that could not be decrypted and are unchanged. */
  readonly unopened: readonly UnopenedSecrets[];
  /** Number of rows under each key afterwards. */
  readonly uses: readonly KeyUse[];
};

export type RotationOptions = {
  readonly database: Database;
  readonly tables: readonly SealedTable[];
  readonly keys: EncryptionKeys;
  readonly audit: Pick<Audit, "append">;
  readonly actor: Actor;
  readonly batchMax?: number;
};

/** Maximum rows of a batch, which are locked until the batch commits. */
const batchMaxDefault = 100;

/**
 * Encrypts all secrets with the first key that are encrypted with another one. Each batch commits
 * by itself, so that a second run continues after an interrupted one. Servers may run meanwhile.
 *
 * Fails with ENCRYPTION_KEY_ABSENT if no key is configured. Fails with CREDENTIAL_UNREADABLE,
 * naming the secrets, if some are encrypted with keys that are not configured; then changes
 * nothing.
 */
export async function rotateSecrets(options: RotationOptions): Promise<RotationReport> {
  const { keys, tables } = options;
  const keyId = keys.sealingKeyId;
  if (keyId === undefined) {
    throw new ServiceError("ENCRYPTION_KEY_ABSENT", "set WAGGLE_ENCRYPTION_KEYS");
  }
  assertKnown(await findUnknownKeys(options));
  let resealed = 0;
  const unopened: UnopenedSecrets[] = [];
  for (const table of tables) {
    for (let afterId: string | undefined = systemScopeId; afterId !== undefined;) {
      const batch: Batch = await rotateBatch(options, table, { keyId, afterId });
      resealed += batch.resealed;
      unopened.push(...batch.unopened);
      afterId = batch.lastId;
    }
  }
  return { keyId, resealed, unopened, uses: await countUses(options) };
}

type Stored = Pick<RotationOptions, "database" | "tables">;

/** Returns the keys of stored secrets that are not configured. */
export async function findUnknownKeys({
  keys,
  ...stored
}: Stored & Pick<RotationOptions, "keys">): Promise<readonly KeyUse[]> {
  return (await countUses(stored)).filter(({ keyId }) => !keys.has(keyId));
}

async function countUses({ database, tables }: Stored): Promise<readonly KeyUse[]> {
  const counts = await Promise.all(tables.map((table) => table.countByKey(database.sql())));
  const byKey = Map.groupBy(counts.flat(), ({ keyId }) => keyId);
  return [...byKey].map(([keyId, uses]) => ({
    keyId,
    count: uses.reduce((sum, { count }) => sum + count, 0),
  }));
}

function assertKnown(unknown: readonly KeyUse[]): void {
  if (unknown.length === 0) return;
  const names = unknown.map(({ keyId, count }) => `${keyId} (${count})`).join(", ");
  throw new ServiceError(
    "CREDENTIAL_UNREADABLE",
    `secrets are sealed under keys that WAGGLE_ENCRYPTION_KEYS does not name: ${names}`,
  );
}

type Batch = {
  readonly resealed: number;
  readonly unopened: readonly UnopenedSecrets[];
  /** Undefined at the end. */
  readonly lastId: string | undefined;
};

function rotateBatch(
  { database, keys, audit, actor, batchMax = batchMaxDefault }: RotationOptions,
  table: SealedTable,
  { keyId, afterId }: { readonly keyId: string; readonly afterId: string },
): Promise<Batch> {
  const { type, noun } = table;
  return database.transaction(async (sql) => {
    const rows = await table.lockOthersThan(sql, keyId, { afterId, limit: batchMax });
    const unopened: UnopenedSecrets[] = [];
    for (const row of rows) {
      const sealed = sealAgain(keys, row);
      if ("fault" in sealed) unopened.push({ noun, id: row.id, fault: sealed.fault });
      else await table.updateSeal(sql, row.id, sealed);
    }
    const resealed = rows.length - unopened.length;
    if (resealed > 0) {
      await audit.append({
        actor,
        scope: systemScope,
        action: `${type}.rotate`,
        target: { type: "encryption_key", id: keyId },
        after: { [noun]: resealed },
      });
    }
    return { resealed, unopened, lastId: rows.at(-1)?.id };
  });
}

/** Returns a fault instead of throwing, so that one damaged row does not stop the others. */
function sealAgain(keys: EncryptionKeys, row: SealedRow) {
  try {
    return row.reseal(keys);
  } catch (error) {
    return { fault: (error as Error).message };
  }
}
