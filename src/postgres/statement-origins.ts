// The driver keeps one Error for each statement's text, made where it first ran. Until its stack is
// read, V8 keeps the frames alive, and with them the body, events and rows of the first request.
// Reading the stack once leaves only a few lines of text.

/** Returns the driver's statement function, changed so that it keeps no request alive. */
export function withPlainOrigins<Sql extends (...words: never[]) => unknown>(sql: Sql): Sql {
  return new Proxy(sql, {
    apply: (target, self, words) => readOrigin(Reflect.apply(target, self, words)),
  });
}

/** Reads a statement's origin, which the driver then keeps as text. */
export function readOrigin(statement: unknown): unknown {
  Reflect.get(statement as object, "origin");
  return statement;
}
