// Encryption keys of stored secrets by id: the first one encrypts, all of them decrypt.
// Source: docs/decisions.md, 21.6; docs/generations.md.

import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { ServiceError } from "../base/errors.ts";
import type { EncryptionKey } from "../config.ts";

export type Sealed = { readonly sealed: Uint8Array; readonly keyId: string };

export type EncryptionKeys = {
  /** Id of the encrypting key; undefined without keys. */
  readonly sealingKeyId: string | undefined;
  has(keyId: string): boolean;
  /**
   * Encrypts an object. `binding` names where it belongs: with another one it does not decrypt.
   * Fails with ENCRYPTION_KEY_ABSENT without keys.
   */
  seal(secrets: object, binding: string): Sealed;
  /** Throws an Error that tells, without secrets, why the object cannot be decrypted. */
  open(sealed: Sealed, binding: string): unknown;
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
      return { sealed: seal(plain, () => first.key, binding), keyId: first.id };
    },

    open({ sealed, keyId }, binding) {
      const key = byId.get(keyId);
      if (!key) throw new Error(`no encryption key ${keyId} is configured`);
      try {
        return JSON.parse(open(sealed, () => key, binding).toString()) as unknown;
      } catch {
        // Messages of the cipher or of the JSON parser may contain parts of the plain text.
        throw new Error(`the encryption key ${keyId} does not open them`);
      }
    },
  };
}

const cipher = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;

/** Returns the key of a nonce. */
export type KeyOf = (nonce: Uint8Array) => Uint8Array;

/** Returns nonce, tag and ciphertext joined, without the binding. */
export function seal(plain: Uint8Array, keyOf: KeyOf, binding: string): Buffer {
  // A random nonce is safe for up to 2^32 texts for each key; far fewer are encrypted.
  const nonce = randomBytes(nonceBytes);
  const sealing = createCipheriv(cipher, keyOf(nonce), nonce, { authTagLength: tagBytes });
  sealing.setAAD(Buffer.from(binding));
  const sealed = Buffer.concat([sealing.update(plain), sealing.final()]);
  return Buffer.concat([nonce, sealing.getAuthTag(), sealed]);
}

/** Throws if key or binding differ from those of `seal`, or if the bytes were changed. */
export function open(sealed: Uint8Array, keyOf: KeyOf, binding: string): Buffer {
  const nonce = sealed.subarray(0, nonceBytes);
  const opening = createDecipheriv(cipher, keyOf(nonce), nonce, { authTagLength: tagBytes });
  opening.setAAD(Buffer.from(binding));
  opening.setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes));
  return Buffer.concat([opening.update(sealed.subarray(nonceBytes + tagBytes)), opening.final()]);
}
