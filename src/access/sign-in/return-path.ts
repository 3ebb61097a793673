// Path that a sign-in returns to; never another site. Source: RFC 9700, 4.11 (open redirectors);
// URL standard, 4.4.

import { ServiceError } from "../../base/errors.ts";

/** The web app. */
export const returnPathDefault = "/app";

const lengthMax = 2_000;
/** Resolves relative references; never shown. */
const anyOrigin = "http://waggle.invalid";

/**
 * Returns the path in `return_to`. Fails with SIGN_IN_REFUSED for any text that a browser could
 * take for another site: `//host`, `/\host`, a scheme, and control characters, which browsers
 * remove before they parse the rest.
 */
export function parseReturnPath(text: string | null): string {
  if (text === null || text === "") return returnPathDefault;
  const isPath =
    text.length <= lengthMax &&
    /^\/(?!\/)[\x21-\x7e]*$/.test(text) &&
    !text.includes("\\") &&
    URL.canParse(text, anyOrigin) &&
    new URL(text, anyOrigin).origin === anyOrigin;
  if (!isPath) {
    throw new ServiceError(
      "SIGN_IN_REFUSED",
      "return_to: must be a path of this service, such as /app, percent-encoded.",
    );
  }
  return text;
}
