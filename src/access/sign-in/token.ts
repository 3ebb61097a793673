// Random texts that stand for something: a session, an attempt, a browser, a link. Only their hash
// is stored. Called by the rest of this folder.

import { createHash, randomBytes } from "node:crypto";

const tokenBytes = 32;
const tokenPattern = /^[\w-]{43}$/;

/** Returns a new one: 256 random bits, in characters that need no escape anywhere. */
export function createToken(): string {
  return randomBytes(tokenBytes).toString("base64url");
}

/** Tells whether a text can be one. */
export function isToken(text: string | undefined | null): text is string {
  return typeof text === "string" && tokenPattern.test(text);
}

/** Returns the form in which it is stored. */
export function hashToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
