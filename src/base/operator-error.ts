// The error of a service that cannot start or of a command that cannot run, for the person at the
// terminal. Thrown by the commands and what they start; printed by main.ts.

/** Printed without a stack: the message says what was wrong and the way out. */
export class OperatorError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = "OperatorError";
  }
}
