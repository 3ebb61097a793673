// Where a sign-in returns to: a path of this service and nowhere else. Called by pages.ts.
// Source: RFC 9700, 4.11 (open redirectors); URL standard, 4.4.

import { ServiceError } from "../../base/errors.ts";

/** Tells whoever signed in who they are. */
export const returnPathDefault = "/v1/me";

const lengthMax = 2_000;
/** Resolves relative references; never shown. */
const anyOrigin = "http://waggle.invalid";

/**
 * Returns the path that `return_to` names. Fails with SIGN_IN_REFUSED for anything that a browser
 * could take for another place: `//host`, `/\host`, a scheme, and control characters, which
 * browsers leave out before they read on.
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
      "return_to: must be a path of this service, such as /v1/me, percent-encoded.",
    );
  }
  return text;
}
