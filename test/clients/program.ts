// Runs a client's program in another language and reads its last line, a JSON report.

import { spawn } from "node:child_process";
import { tmpdir } from "node:os";

export type Command = {
  readonly command: string;
  readonly words: readonly string[];
  readonly cwd?: string;
  /** Set beside what comes from outside. */
  readonly env?: Readonly<Record<string, string>>;
  /** After this time the program is ended. */
  readonly timeoutMs?: number;
};

export type Outcome = {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
};

/** Longest time of an installation on a cold cache. */
export const programTimeoutMs = 240_000;

/** Variables that would change what a client does; the rest is how a tool finds its registry. */
const keptOut =
  /^(OTEL|HH|HONEYHIVE|TRACELOOP|VITEST|PYTHON|npm_(package|lifecycle))_?|^NODE_(ENV|OPTIONS)$/;

/** Runs a program to its end; one that cannot be started has the code null. */
export function runProgram({ command, words, cwd, env, timeoutMs }: Command): Promise<Outcome> {
  const outside = Object.entries(process.env).filter(([name]) => !keptOut.test(name));
  const child = spawn(command, words, {
    cwd: cwd ?? tmpdir(),
    env: { ...Object.fromEntries(outside), ...env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: timeoutMs ?? programTimeoutMs,
  });
  const stdout: string[] = [];
  const stderr: string[] = [];
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => stdout.push(chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => stderr.push(chunk));
  return new Promise((resolve) => {
    const end = (code: number | null): void => {
      resolve({ code, stdout: stdout.join(""), stderr: stderr.join("") });
    };
    child.once("close", end);
    child.once("error", ({ message }) => {
      stderr.push(message);
      end(null);
    });
  });
}

/** Runs a program that must succeed and returns what it printed. */
export async function mustRun(command: Command): Promise<string> {
  const { code, stdout, stderr } = await runProgram(command);
  if (code !== 0) {
    const line = [command.command, ...command.words].join(" ");
    throw new Error(`${line}: ended with ${String(code)}\n${stdout}\n${stderr}`);
  }
  return stdout;
}

/** Runs a client's program, which prints its report as one JSON line at the end. */
export async function readReport<T>(command: Command): Promise<T> {
  const lines = (await mustRun(command)).trimEnd().split("\n");
  return JSON.parse(lines.at(-1) ?? "") as T;
}
