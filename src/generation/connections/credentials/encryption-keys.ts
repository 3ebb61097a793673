// Encryption keys of provider secrets by id: the first one encrypts, all of them decrypt.
// Source: docs/decisions.md, 34; docs/generations.md.

import { ServiceError } from "../../../base/errors.ts";
import type { EncryptionKey } from "../../../config.ts";
import type { Secrets } from "../../provider.ts";
import { open, seal } from "./seal.ts";

/** Row and destination that secrets are bound to: in another place they do not decrypt. */
export type Place = {
  readonly id: string;
  readonly level: string;
  readonly scopeId: string;
  readonly provider: string;
  readonly baseUrl: string | null;
  readonly resourceName: string | null;
  readonly region: string | null;
};

export type Sealed = { readonly sealed: Uint8Array; readonly keyId: string };

export type EncryptionKeys = {
  /** Id of the encrypting key; undefined without keys. */
  readonly sealingKeyId: string | undefined;
  has(keyId: string): boolean;
  /** Fails with ENCRYPTION_KEY_ABSENT without keys. */
  seal(secrets: Secrets, place: Place): Sealed;
  /** Throws an Error that tells, without secrets, why the secrets cannot be decrypted. */
  open(sealed: Sealed, place: Place): Secrets;
};

const absentMessage =
  "secrets cannot be stored: the operator has to set WAGGLE_ENCRYPTION_KEYS (--encryption-keys)";

/** Takes the configured keys, the encrypting one first. Without keys, both directions fail. */
export function createEncryptionKeys(keys: readonly EncryptionKey[]): EncryptionKeys {
  const byId = new Map(keys.map(({ id, key }) => [id, key]));
  const [first] = keys;
  return {
    sealingKeyId: first?.id,

    has: (keyId) => byId.has(keyId),

    seal(secrets, place) {
      if (!first) throw new ServiceError("ENCRYPTION_KEY_ABSENT", absentMessage);
      const plain = Buffer.from(JSON.stringify(secrets));
      return { sealed: seal(plain, first.key, textOf(place)), keyId: first.id };
    },

    open({ sealed, keyId }, place) {
      const key = byId.get(keyId);
      if (!key) throw new Error(`no encryption key ${keyId} is configured`);
      try {
        return JSON.parse(open(sealed, key, textOf(place)).toString()) as Secrets;
      } catch {
        // Messages of the cipher or of the JSON parser may contain parts of the plain text.
        throw new Error(`the encryption key ${keyId} does not open them`);
      }
    },
  };
}

function textOf({ id, level, scopeId, provider, baseUrl, resourceName, region }: Place): string {
  const parts = [id, level, scopeId, provider, baseUrl, resourceName, region];
  return JSON.stringify(["provider credentials", ...parts]);
}
