// Texts of requests in error messages. Imports nothing.

/** Maximum length of a quoted value. */
const quotedLengthMax = 80;

/** Quotes a text of a request for an error's message: escaped, and shortened to stay readable. */
export function quoteText(text: string): string {
  const isLong = text.length > quotedLengthMax;
  return JSON.stringify(isLong ? `${text.slice(0, quotedLengthMax)}…` : text);
}
