// Encrypts bytes with AES-256-GCM, bound to a place that has to be the same for decryption.
// Source: NIST SP 800-38D (GCM).

import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

const cipher = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;

/** Returns nonce, tag and ciphertext joined. `place` is not included: decryption needs it again. */
export function seal(plain: Uint8Array, key: Uint8Array, place: string): Buffer {
  // A random nonce is safe for up to 2^32 texts for each key; far fewer are encrypted.
  const nonce = randomBytes(nonceBytes);
  const sealing = createCipheriv(cipher, key, nonce, { authTagLength: tagBytes });
  sealing.setAAD(Buffer.from(place));
  const sealed = Buffer.concat([sealing.update(plain), sealing.final()]);
  return Buffer.concat([nonce, sealing.getAuthTag(), sealed]);
}

/** Throws if key or place differ from those of `seal`, or if the bytes were changed. */
export function open(sealed: Uint8Array, key: Uint8Array, place: string): Buffer {
  const nonce = sealed.subarray(0, nonceBytes);
  const opening = createDecipheriv(cipher, key, nonce, { authTagLength: tagBytes });
  opening.setAAD(Buffer.from(place));
  opening.setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes));
  return Buffer.concat([opening.update(sealed.subarray(nonceBytes + tagBytes)), opening.final()]);
}
