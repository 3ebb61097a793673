// The keys that secrets of providers are stored under, by id: the first seals, all of them open.
// Made from the configuration; called by credentials.ts and rotate.ts.
// Source: docs/decisions.md, 34; docs/generations.md.

import { ServiceError } from "../../base/errors.ts";
import type { EncryptionKey } from "../../config.ts";
import type { Secrets } from "../provider.ts";
import { open, seal } from "./seal.ts";

/** What secrets are sealed for: moved to another row, or sent elsewhere, they do not open. */
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
  /** Id of the key that seals; undefined where there is none. */
  readonly sealingKeyId: string | undefined;
  has(keyId: string): boolean;
  /** Fails with ENCRYPTION_KEY_ABSENT where there is no key. */
  seal(secrets: Secrets, place: Place): Sealed;
  /** Throws an Error that says, without secrets, why these secrets cannot be opened. */
  open(sealed: Sealed, place: Place): Secrets;
};

const absentMessage =
  "secrets cannot be stored: the operator has to set WAGGLE_ENCRYPTION_KEYS (--encryption-keys)";

/** Takes the keys of the configuration, the one that seals first; none opens and seals nothing. */
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
        // Words of the cipher or of the JSON reader may hold parts of what was opened.
        throw new Error(`the encryption key ${keyId} does not open them`);
      }
    },
  };
}

function textOf({ id, level, scopeId, provider, baseUrl, resourceName, region }: Place): string {
  const parts = [id, level, scopeId, provider, baseUrl, resourceName, region];
  return JSON.stringify(["provider credentials", ...parts]);
}
