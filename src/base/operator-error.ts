// Error of a service that cannot start or a command that cannot run, for the person at the
// terminal.

/** Printed without a stack: the message names the fault and the way out. */
export class OperatorError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = "OperatorError";
  }
}
