// Encryption keys of provider secrets by id: the first one encrypts, all of them decrypt.
// Source: docs/decisions.md, 21.6; docs/generations.md.

import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { ServiceError } from "../../../base/errors.ts";
import type { EncryptionKey } from "../../../config.ts";
import type { Secrets, Settings } from "../../provider.ts";

/** Row and destination that secrets are bound to: with another binding they do not decrypt. */
export type Binding = Omit<Settings, "apiVersion"> & {
  readonly id: string;
  readonly level: string;
  readonly scopeId: string;
  readonly provider: string;
};

export type Sealed = { readonly sealed: Uint8Array; readonly keyId: string };

export type EncryptionKeys = {
  /** Id of the encrypting key; undefined without keys. */
  readonly sealingKeyId: string | undefined;
  has(keyId: string): boolean;
  /** Fails with ENCRYPTION_KEY_ABSENT without keys. */
  seal(secrets: Secrets, binding: Binding): Sealed;
  /** Throws an Error that tells, without secrets, why the secrets cannot be decrypted. */
  open(sealed: Sealed, binding: Binding): Secrets;
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

    seal(secrets, binding) {
      if (!first) throw new ServiceError("ENCRYPTION_KEY_ABSENT", absentMessage);
      const plain = Buffer.from(JSON.stringify(secrets));
      return { sealed: seal(plain, first.key, textOf(binding)), keyId: first.id };
    },

    open({ sealed, keyId }, binding) {
      const key = byId.get(keyId);
      if (!key) throw new Error(`no encryption key ${keyId} is configured`);
      try {
        return JSON.parse(open(sealed, key, textOf(binding)).toString()) as Secrets;
      } catch {
        // Messages of the cipher or of the JSON parser may contain parts of the plain text.
        throw new Error(`the encryption key ${keyId} does not open them`);
      }
    },
  };
}

function textOf({ id, level, scopeId, provider, baseUrl, resourceName, region }: Binding): string {
  const parts = [id, level, scopeId, provider, baseUrl, resourceName, region];
  return JSON.stringify(["provider credentials", ...parts]);
}

const cipher = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;

/** Returns nonce, tag and ciphertext joined, without the binding. */
export function seal(plain: Uint8Array, key: Uint8Array, binding: string): Buffer {
  // A random nonce is safe for up to 2^32 texts for each key; far fewer are encrypted.
  const nonce = randomBytes(nonceBytes);
  const sealing = createCipheriv(cipher, key, nonce, { authTagLength: tagBytes });
  sealing.setAAD(Buffer.from(binding));
  const sealed = Buffer.concat([sealing.update(plain), sealing.final()]);
  return Buffer.concat([nonce, sealing.getAuthTag(), sealed]);
}

/** Throws if key or binding differ from those of `seal`, or if the bytes were changed. */
export function open(sealed: Uint8Array, key: Uint8Array, binding: string): Buffer {
  const nonce = sealed.subarray(0, nonceBytes);
  const opening = createDecipheriv(cipher, key, nonce, { authTagLength: tagBytes });
  opening.setAAD(Buffer.from(binding));
  opening.setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes));
  return Buffer.concat([opening.update(sealed.subarray(nonceBytes + tagBytes)), opening.final()]);
}
