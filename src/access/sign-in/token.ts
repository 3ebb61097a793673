// Random tokens for sessions, attempts, browsers and links. Only their hash is stored.

import { createHash, randomBytes } from "node:crypto";

const tokenBytes = 32;
const tokenPattern = /^[\w-]{43}$/;

/** Returns a new token: 256 random bits, in characters that need no escaping anywhere. */
export function createToken(): string {
  return randomBytes(tokenBytes).toString("base64url");
}

/** Tells whether a text has the form of a token. */
export function isToken(text: string | undefined | null): text is string {
  return typeof text === "string" && tokenPattern.test(text);
}

/** Returns the stored form of a token. */
export function hashToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
