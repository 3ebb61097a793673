// Secrets of one row of credentials: which ones a change keeps, and their encryption.
// Source: docs/generations.md.

import type { EncryptionKeys } from "../../../access/encryption-keys.ts";
import type { SealedTable } from "../../../access/rotate-secrets.ts";
import { refuse, ServiceError } from "../../../base/errors.ts";
import type { SecretName, Secrets, Settings } from "../../provider.ts";
import { type CredentialFields, secretsOf } from "./fields.ts";
import { countByKey, type CredentialRow, lockOthersThan, updateSeal } from "./store.ts";

/** Row and destination that secrets are bound to: with another binding they do not decrypt. */
export type Binding = Omit<Settings, "apiVersion"> & {
  readonly id: string;
  readonly level: string;
  readonly scopeId: string;
  readonly provider: string;
};

/** Returns a binding as the text that is sealed with the secrets. */
export function bindingOf(binding: Binding): string {
  const { id, level, scopeId, provider, baseUrl, resourceName, region } = binding;
  const parts = [id, level, scopeId, provider, baseUrl, resourceName, region];
  return JSON.stringify(["provider credentials", ...parts]);
}

/** The stored credentials, for the rotation of encryption keys. */
export const credentialSecrets: SealedTable = {
  type: "provider_credential",
  noun: "credentials",
  countByKey,
  async lockOthersThan(sql, keyId, page) {
    const rows = await lockOthersThan(sql, keyId, page);
    return rows.map((row) => ({
      id: row.id,
      reseal: (keys) => keys.seal(openSecrets(keys, row), bindingOf(row)),
    }));
  },
  updateSeal,
};

/** Returns the secrets that are kept when fields rebinding some. AWS's three change together. */
export function keptOf(
  { secretNames }: Pick<CredentialRow, "secretNames">,
  fields: CredentialFields,
): readonly SecretName[] {
  if (fields.access_key_id !== undefined) return [];
  return secretNames.filter((name) => fields[name] === undefined);
}

/**
 * Throws if the destination changes while secrets are kept: a stored secret must not be sent to a
 * place that its owner did not choose.
 */
export function assertNotMoved(
  before: CredentialRow,
  settings: Settings,
  kept: readonly SecretName[],
): void {
  const moved = destinations.find(([name]) => before[name] !== settings[name]);
  if (moved === undefined || kept.length === 0) return;
  const [, field] = moved;
  refuse(field, `requests would go elsewhere than before, so give ${kept.join(", ")} again`);
}

/** Settings that tell where requests go, and their fields. */
const destinations = [
  ["baseUrl", "base_url"],
  ["resourceName", "resource_name"],
  ["region", "region"],
] as const;

type Seal = Pick<CredentialRow, "secretNames" | "sealed" | "encryptionKeyId">;

export function sealAll(keys: EncryptionKeys, secrets: Secrets, binding: Binding): Seal {
  const secretNames = namesOf(secrets);
  if (secretNames.length === 0) return { secretNames, sealed: null, encryptionKeyId: null };
  const { sealed, keyId } = keys.seal(secrets, bindingOf(binding));
  return { secretNames, sealed, encryptionKeyId: keyId };
}

type SealAgain = {
  readonly before: CredentialRow;
  readonly settings: Settings;
  readonly fields: CredentialFields;
};

/** Decrypts the stored secrets only if some are kept: new secrets can rebinding unreadable ones. */
export function sealAgain(keys: EncryptionKeys, { before, settings, fields }: SealAgain): Seal {
  const given = secretsOf(fields);
  if (namesOf(given).length === 0) {
    const { secretNames, sealed, encryptionKeyId } = before;
    return { secretNames, sealed, encryptionKeyId };
  }
  const kept = keptOf(before, fields);
  const binding = { ...before, ...settings };
  if (kept.length === 0) return sealAll(keys, given, binding);
  return sealAll(keys, { ...openForChange(keys, before), ...given }, binding);
}

function openForChange(keys: EncryptionKeys, before: CredentialRow): Secrets {
  try {
    return openSecrets(keys, before);
  } catch (error) {
    throw unreadable(before, error);
  }
}

export function openSecrets(keys: EncryptionKeys, row: CredentialRow): Secrets {
  const { sealed, encryptionKeyId: keyId } = row;
  if (sealed === null || keyId === null) return {};
  return keys.open({ sealed, keyId }, bindingOf(row)) as Secrets;
}

export function unreadable({ id, name, level }: CredentialRow, cause: unknown): ServiceError {
  const { message } = cause as Error;
  const whose = `provider credentials ${name} (${id}) of the ${level}`;
  const wayOut = "give their secrets again, or ask the operator";
  return new ServiceError(
    "CREDENTIAL_UNREADABLE",
    `${whose} cannot be opened: ${message}; ${wayOut}`,
    { cause },
  );
}

export function namesOf(secrets: Secrets): readonly SecretName[] {
  return Object.keys(secrets) as SecretName[];
}
