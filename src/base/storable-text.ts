// Text that Postgres takes, from any text: it refuses NUL, and UTF-8 lone surrogates. Called where
// what a caller sent is kept for people to read: the audit log, and refusals kept for a retry.

/** Returns the text with U+FFFD in the place of each NUL and lone surrogate. */
export function toStorableText(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\ufffd");
}
