// Seals stored answers that contain a key's value: opening one needs both the credential and the
// Idempotency-Key of the first call. Source: RFC 5869 (HKDF), NIST SP 800-38D (GCM).

import { hkdfSync } from "node:crypto";
import { type KeyOf, open, seal } from "../encryption-keys.ts";

const keyBytes = 32;
const purpose = "waggle idempotency";

/** Returns nonce, tag and ciphertext in one array. */
export function sealAnswer(answer: Uint8Array, secret: string): Uint8Array {
  return seal(answer, keyFrom(secret), "");
}

/** Returns the answer. Throws if it was sealed with another secret. */
export function openAnswer(sealed: Uint8Array, secret: string): Uint8Array {
  return open(sealed, keyFrom(secret), "");
}

function keyFrom(secret: string): KeyOf {
  return (nonce) => Buffer.from(hkdfSync("sha256", secret, nonce, purpose, keyBytes));
}
