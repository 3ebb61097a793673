// Seals stored answers that contain a key's value: opening one needs both the credential and the
// Idempotency-Key of the first call. Source: RFC 5869 (HKDF), NIST SP 800-38D (GCM).

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const cipher = "aes-256-gcm";
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const purpose = "waggle idempotency";

/** Returns nonce, tag and ciphertext in one array. */
export function sealAnswer(answer: Uint8Array, secret: string): Uint8Array {
  const nonce = randomBytes(nonceBytes);
  const sealing = createCipheriv(cipher, deriveKey(secret, nonce), nonce);
  const sealed = Buffer.concat([sealing.update(answer), sealing.final()]);
  return Buffer.concat([nonce, sealing.getAuthTag(), sealed]);
}

/** Returns the answer. Throws if it was sealed with another secret. */
export function openAnswer(sealed: Uint8Array, secret: string): Uint8Array {
  const nonce = sealed.subarray(0, nonceBytes);
  const opening = createDecipheriv(cipher, deriveKey(secret, nonce), nonce);
  opening.setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes));
  return Buffer.concat([opening.update(sealed.subarray(nonceBytes + tagBytes)), opening.final()]);
}

function deriveKey(secret: string, salt: Uint8Array): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, salt, purpose, keyBytes));
}
