// The driver keeps one Error for the text of each statement, made where the text ran first. Until
// its stack is read, V8 keeps the frames of that stack alive, and with them the first request of
// each statement: its body, its events, its rows. Reading it once leaves a text of some lines.

/** Returns the driver's function for statements, which keeps no request alive. */
export function withPlainOrigins<Sql extends (...words: never[]) => unknown>(sql: Sql): Sql {
  return new Proxy(sql, {
    apply: (target, self, words) => readOrigin(Reflect.apply(target, self, words)),
  });
}

/** Reads where a statement comes from, which the driver then remembers as text. */
export function readOrigin(statement: unknown): unknown {
  Reflect.get(statement as object, "origin");
  return statement;
}
