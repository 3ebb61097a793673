// Error for one field of a JSON request, with the path to it. The reader of a value throws it and
// the readers around add to its path, so that valid requests never build a path.

/** Maximum characters of a name in a path: names come from the request and may have megabytes. */
const nameCharsMax = 128;

/**
 * Error for one field. `message` says what the value must be; `path` grows from the inside out:
 * `items[3].name`.
 */
export class FieldFault extends Error {
  path: string;

  constructor(message: string, options: { cause?: unknown } = {}) {
    // A batch may have 100,000 of these errors, all reported and none a bug: capturing stacks would
    // take ten times as long as everything else.
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

  /** Text for the caller: `start_time: must be a number`. */
  get text(): string {
    return this.path === "" ? this.message : `${this.path}: ${this.message}`;
  }
}

/** Adds a field's name to a FieldFault and returns it; returns other errors unchanged. */
export function withinField(error: unknown, field: string): unknown {
  return error instanceof FieldFault ? error.within(field) : error;
}

/** Adds an array position to a FieldFault and returns it; returns other errors unchanged. */
export function atIndex(error: unknown, index: number): unknown {
  return error instanceof FieldFault ? error.at(index) : error;
}
