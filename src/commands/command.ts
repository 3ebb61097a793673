// Input of every command, and its output on the terminal.

import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Config, Flags } from "../config.ts";
import { orBrokenOff } from "./service-client.ts";

export type CommandContext = {
  readonly config: Config;
  readonly flags: Flags;
  /** Words after the command's name. */
  readonly operands: readonly string[];
  /** All words of the command line except the command's name. */
  readonly words: readonly string[];
};

/** Exports of a command's file. */
export type CommandModule = {
  /** Its words and flags. Without it the command has none of its own. */
  readonly usage?: string;
  /** Runs the command and returns the exit code. */
  readonly run: (context: CommandContext) => Promise<number>;
};

export type Command = {
  readonly summary: string;
  /** Calls a running service: takes the flags of a call, and of the settings --host and --port. */
  readonly isCall?: true;
  /** Flags of its own. Others that are no settings are refused. */
  readonly flags?: readonly string[];
  /** Acts, such as the `list` of `waggle keys list`, with the flags that only they have. */
  readonly acts?: Readonly<Record<string, readonly string[]>>;
  readonly load: () => Promise<CommandModule>;
};

const ended = new AbortController();
let isService = false;

/** Is aborted when the reader of standard output has ended, or it cannot be written. */
export const outputEnd = ended.signal;

for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (stream === process.stdout) ended.abort();
    // The reader has ended (`waggle keys list | head -1`): the command still has to finish.
    if (error.code === "EPIPE" || isService) return;
    // A full disk, such as that of `waggle events export > FILE`.
    process.stderr.write(`waggle: cannot write the output: ${error.message}\n`);
    process.exit(1);
  });
}

/** Lets this process go on when its output cannot be written: it is a service. */
export function outliveOutput(): void {
  isService = true;
}

/** Writes a line to standard output. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Writes an answer's bytes to standard output as they come; fails if the answer breaks off. */
export async function printBody({ body }: Response): Promise<void> {
  if (!body) return;
  const printed = pipeline(Readable.fromWeb(body), process.stdout, { end: false });
  const read = printed.catch((error: unknown) => {
    // The reader has what it wanted (`waggle events export | head`).
    if ((error as NodeJS.ErrnoException).code !== "EPIPE") throw error;
  });
  await orBrokenOff(read);
}

/** Writes rows in columns; the first row contains the titles. */
export function printTable(rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? "").length)),
  );
  for (const row of rows) {
    const cells = row.map((cell, column) => cell.padEnd(widths[column] ?? 0));
    print(cells.join("  ").trimEnd());
  }
}
