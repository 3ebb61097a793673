// What a call that is to be refused was refused with. Used by tests of services.

import { ServiceError } from "../../src/base/errors.ts";

/** Returns the reason and message of a failure that has a reason, else `none`. */
export async function reasonOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "none";
  } catch (error) {
    if (error instanceof ServiceError) return `${error.reason} ${error.message}`;
    throw error;
  }
}
