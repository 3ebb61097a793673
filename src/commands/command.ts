// What every command is given, and how it speaks to the person at the terminal.

import type { Config, Flags } from "../config.ts";

export type CommandContext = {
  readonly config: Config;
  readonly flags: Flags;
  /** Words after the command's name. */
  readonly operands: readonly string[];
  /** Everything on the command line but the command's name. */
  readonly words: readonly string[];
};

export type Command = {
  readonly summary: string;
  /** Returns the exit code. */
  readonly run: (context: CommandContext) => Promise<number>;
};

for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    // Whoever read it has gone (`waggle keys list | head -1`): the command still has to finish.
    if (error.code !== "EPIPE") throw error;
  });
}

/** Writes a line for people. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Writes rows of cells in columns, the first row being the titles. */
export function printTable(rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? "").length)),
  );
  for (const row of rows) {
    const cells = row.map((cell, column) => cell.padEnd(widths[column] ?? 0));
    print(cells.join("  ").trimEnd());
  }
}
