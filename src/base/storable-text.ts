// Makes any text storable in Postgres, which refuses NUL and, in UTF-8, lone surrogates. For texts
// from callers that people read later: the audit log, and refusals kept for a retry.

/** Returns the text with each NUL and lone surrogate replaced by U+FFFD. */
export function toStorableText(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\ufffd");
}
