// Error of a service that cannot start or a command that cannot run, for the person at the
// terminal.

import { ServiceError } from "./errors.ts";

/** Printed without a stack: the message names the fault and the way out. */
export class OperatorError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = "OperatorError";
  }
}

/** Rethrows a refusal by a rule as an error of the operator, who can correct it. */
export function explainRefusal(error: unknown): never {
  if (!(error instanceof ServiceError)) throw error;
  throw new OperatorError(error.message, { cause: error });
}
