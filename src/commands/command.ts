// What every command is given, and the error a command ends with when the person at the terminal
// can put it right. Imported by main.ts and the commands.

import type { Config, Flags } from "../config.ts";

export type CommandContext = {
  readonly config: Config;
  readonly flags: Flags;
  /** Words after the command's name. */
  readonly operands: readonly string[];
};

export type Command = {
  readonly summary: string;
  /** Returns the exit code. */
  readonly run: (context: CommandContext) => Promise<number>;
};

/** Printed without a stack: what was wrong and the way out. */
export class CommandError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = "CommandError";
  }
}

/** Writes a line for people. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
