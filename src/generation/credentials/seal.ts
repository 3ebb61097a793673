// Seals bytes so that only a key opens them, and only in the place they were sealed for. Called by
// encryption-keys.ts. Source: NIST SP 800-38D (GCM).

import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

const cipher = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;

/** Returns nonce, tag and ciphertext in one. `place` is not kept: it has to be known to open it. */
export function seal(plain: Uint8Array, key: Uint8Array, place: string): Buffer {
  // At random: one key seals far fewer than the 2^32 texts for which that is safe.
  const nonce = randomBytes(nonceBytes);
  const sealing = createCipheriv(cipher, key, nonce, { authTagLength: tagBytes });
  sealing.setAAD(Buffer.from(place));
  const sealed = Buffer.concat([sealing.update(plain), sealing.final()]);
  return Buffer.concat([nonce, sealing.getAuthTag(), sealed]);
}

/** Throws when key or place are not those it was sealed with, or a bit of it was changed. */
export function open(sealed: Uint8Array, key: Uint8Array, place: string): Buffer {
  const nonce = sealed.subarray(0, nonceBytes);
  const opening = createDecipheriv(cipher, key, nonce, { authTagLength: tagBytes });
  opening.setAAD(Buffer.from(place));
  opening.setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes));
  return Buffer.concat([opening.update(sealed.subarray(nonceBytes + tagBytes)), opening.final()]);
}
