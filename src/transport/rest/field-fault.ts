// A fault in a JSON request at one field, with the path to it. Thrown by the readers of one value,
// given its path by the readers around it, so that good requests never build a path.

/** Names in a path are cut here: they come from the request, which may hold names of megabytes. */
const nameCharsMax = 128;

/** `message` says what the value must be; `path` grows from inside out: `events[3].start_time`. */
export class FieldFault extends Error {
  path: string;

  constructor(message: string, options: { cause?: unknown } = {}) {
    // A batch may have 100,000 faults, each of which is told and none of which is a bug: its stack
    // would take ten times as long as all else.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, options);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = "FieldFault";
    this.path = "";
  }

  within(field: string): this {
    const name = field.length > nameCharsMax ? `${field.slice(0, nameCharsMax)}…` : field;
    this.path =
      this.path === "" || this.path.startsWith("[")
        ? `${name}${this.path}`
        : `${name}.${this.path}`;
    return this;
  }

  at(index: number): this {
    return this.within(`[${index}]`);
  }

  /** The text a caller sees: `start_time: must be a number`. */
  get text(): string {
    return this.path === "" ? this.message : `${this.path}: ${this.message}`;
  }
}

/** Adds a field's name to a fault on its way out; leaves other errors alone. */
export function withinField(error: unknown, field: string): unknown {
  return error instanceof FieldFault ? error.within(field) : error;
}

/** Adds an array position to a fault on its way out; leaves other errors alone. */
export function atIndex(error: unknown, index: number): unknown {
  return error instanceof FieldFault ? error.at(index) : error;
}
