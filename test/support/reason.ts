// The reason for which a call is refused, for tests.

import { ServiceError } from "../../src/base/errors.ts";

/** Returns the reason and message of a ServiceError, or `none` if the work succeeds. */
export async function reasonOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "none";
  } catch (error) {
    if (error instanceof ServiceError) return `${error.reason} ${error.message}`;
    throw error;
  }
}
