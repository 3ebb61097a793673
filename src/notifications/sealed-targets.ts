// The stored targets of an owner: which secrets a change keeps, and their encryption.
// Source: docs/alerts.md; docs/decisions.md, 48.3.

import { isDeepStrictEqual } from "node:util";
import type { EncryptionKeys } from "../access/encryption-keys.ts";
import type { SealedTable } from "../access/rotate-secrets.ts";
import { refuse, ServiceError } from "../base/errors.ts";
import type { Sql } from "../postgres/database.ts";
import * as store from "./store.ts";
import type { OwnerKey, TargetsRow } from "./store.ts";
import {
  type CheckedTargets,
  createSigningSecret,
  hasWebhook,
  type Targets,
  type TargetSecrets,
} from "./target.ts";

export type StoredTargets = {
  readonly targets: Targets;
  /** The secret that signs webhooks, if it is new. */
  readonly newSecret: string | undefined;
  /** Whether a URL may have changed; `targets` has only the origin of each. */
  readonly hasNewUrl: boolean;
};

export type PutTargets = {
  /** Undefined: the targets before stay. */
  readonly checked?: CheckedTargets | undefined;
  /** Replaces the secret that signs webhooks. */
  readonly isSecretNew?: boolean | undefined;
};

type PutParts = { readonly sql: Sql; readonly keys: EncryptionKeys };

/**
 * Stores the targets of an owner. Throws ENCRYPTION_KEY_ABSENT if they have secrets and there is no
 * key, and CREDENTIAL_UNREADABLE if secrets that stay cannot be decrypted.
 */
export async function putTargets(
  { sql, keys }: PutParts,
  key: OwnerKey,
  { checked, isSecretNew = false }: PutTargets,
): Promise<StoredTargets> {
  const before = await store.findTargets(sql, key);
  const targets =
    checked?.targets ?? before?.targets ?? refuse("notification_details", "is required");
  const isSigned = hasWebhook(targets);
  if (isSecretNew && !isSigned) refuse("rotate_signing_secret", "no target is a signed webhook");
  const hasSecret = before !== undefined && hasWebhook(before.targets);
  const newSecret = isSigned && (isSecretNew || !hasSecret) ? createSigningSecret() : undefined;
  if (!checked && newSecret === undefined) return { targets, newSecret, hasNewUrl: false };
  // Only secrets that are kept must be readable: new ones can replace unreadable ones.
  const isKept = (isSigned && newSecret === undefined) || !checked;
  const open = isKept ? openForChange : tryOpen;
  const held = (before && open(keys, before)) ?? {};
  const signingSecret = isSigned ? (newSecret ?? held.signingSecret) : undefined;
  const urls = checked ? checked.urls : held.urls;
  const secrets: TargetSecrets = {
    ...(signingSecret !== undefined && { signingSecret }),
    ...(urls && Object.keys(urls).length > 0 && { urls }),
  };
  const seal = Object.keys(secrets).length === 0 ? null : keys.seal(secrets, bindingOf(key));
  await store.putTargets(sql, { ...key, targets, seal });
  const hasNewUrl = checked !== undefined && !isDeepStrictEqual(checked.urls, held.urls ?? {});
  return { targets, newSecret, hasNewUrl };
}

function openForChange(keys: EncryptionKeys, row: TargetsRow): TargetSecrets {
  try {
    return openSecrets(keys, row);
  } catch (cause) {
    const fault = `the secrets of the targets cannot be opened: ${(cause as Error).message}`;
    const wayOut = "give notification_details and rotate_signing_secret, or ask the operator";
    throw new ServiceError("CREDENTIAL_UNREADABLE", `${fault}; ${wayOut}`, { cause });
  }
}

/** Returns undefined if they cannot be decrypted. */
export function tryOpen(keys: EncryptionKeys, row: TargetsRow): TargetSecrets | undefined {
  try {
    return openSecrets(keys, row);
  } catch {
    // The reason names an encryption key, which is the operator's.
    return undefined;
  }
}

/** Throws an Error if they cannot be decrypted. */
export function openSecrets(keys: EncryptionKeys, row: TargetsRow): TargetSecrets {
  return row.seal === null ? {} : (keys.open(row.seal, bindingOf(row)) as TargetSecrets);
}

/** Text that secrets of targets are bound to. */
function bindingOf({ projectId, ownerId }: OwnerKey): string {
  return JSON.stringify(["notification targets", projectId, ownerId]);
}

/** The stored targets, for the rotation of encryption keys. */
export const targetSecrets: SealedTable = {
  type: "notification_target",
  noun: "targets",
  countByKey: store.countByKey,
  async lockOthersThan(sql, keyId, page) {
    const rows = await store.lockOthersThan(sql, keyId, page);
    return rows.map((row) => ({
      id: row.ownerId,
      reseal: (keys) => keys.seal(openSecrets(keys, row), bindingOf(row)),
    }));
  },
  updateSeal: store.updateSeal,
};
