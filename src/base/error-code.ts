// The code of an error, as Node, Postgres and their drivers give it.

/** Returns the SQLSTATE of an error, or the code that the driver or the system gives it. */
export function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}
