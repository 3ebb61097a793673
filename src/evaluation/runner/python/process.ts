// One Deno process of the sandbox: started under limits, asked one message at a time, killed. Called
// by blanks.ts and snapshot.ts. It trusts nothing that the process says but one line with the id that
// it gave out, below a cap. Source: docs/sandbox.md.

import { spawn } from "node:child_process";
import type { ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { launchCommand } from "./launch.ts";
import type { Launch, Task } from "./launch.ts";

export type SandboxChild = ChildProcessByStdio<Writable, Readable, Readable>;

/** What ended a process while it was asked. */
export type GuestEnd =
  | "TIME_LIMIT"
  | "OUTPUT_LIMIT"
  | "MEMORY_LIMIT"
  /** It said what nobody asked, or in a wrong form. */
  | "PROTOCOL"
  /** It ended by itself. */
  | "EXIT"
  /** Somebody else ended it: an operator, or the system for want of memory. */
  | "KILLED";

export type GuestReply =
  | { readonly kind: "answer"; readonly body: string }
  | { readonly kind: "ended"; readonly by: GuestEnd; readonly detail: string };

export type AskOptions = {
  /** The line's first word. */
  readonly id: string;
  /** Sent to the process; nothing where it speaks by itself, at its start. */
  readonly bytes?: Uint8Array;
  readonly wallMs: number;
};

export type Guest = {
  /** Waits for the line that begins with the id. One at a time; where none comes, it is killed. */
  ask(options: AskOptions): Promise<GuestReply>;
  isAlive(): boolean;
  /** Calls back at the end of the process, however it ends. */
  onEnd(listener: () => void): void;
  kill(): void;
};

const newline = 10;

/** Bytes of standard error that are kept, to tell running out of memory from other ends. */
const errorTailBytes = 4_096;

/** Signals that a process raises against itself when it cannot go on. */
const ownSignals = new Set(["SIGABRT", "SIGTRAP", "SIGILL", "SIGSEGV", "SIGBUS", "SIGFPE"]);

/** Spawns a process; it is not ready before it has said so (`ask` with the id "ready"). */
export function spawnGuest(launch: Launch): Guest {
  const child = spawnChild(launch, "serve");
  const capBytes = launch.limits.outputBytes;
  let received: Buffer[] = [];
  let receivedBytes = 0;
  let errorBytes = 0;
  let errorTail = "";
  let isAlive = true;
  let hasExited = false;
  let waiting: ((reply: GuestReply) => void) | undefined;
  let expectedId = "";
  const endListeners: (() => void)[] = [];

  function settle(reply: GuestReply): void {
    const settled = waiting;
    waiting = undefined;
    received = [];
    receivedBytes = 0;
    settled?.(reply);
  }

  function end(by: GuestEnd, detail = ""): void {
    kill();
    settle({ kind: "ended", by, detail });
  }

  function kill(): void {
    if (!isAlive) return;
    isAlive = false;
    if (!hasExited) killGroup(child);
    for (const listener of endListeners) listener();
  }

  child.stdout.on("data", (chunk: Buffer) => {
    if (!isAlive) return;
    // Nobody waits: whatever it says now could be taken for the answer to the next message.
    if (!waiting) return kill();
    received.push(chunk);
    receivedBytes += chunk.length;
    if (receivedBytes > capBytes) return end("OUTPUT_LIMIT");
    const at = chunk.indexOf(newline);
    if (at === -1) return;
    if (at !== chunk.length - 1) return end("PROTOCOL", "it wrote more than its answer");
    const line = Buffer.concat(received).toString("utf8");
    if (!line.startsWith(`${expectedId} `)) return end("PROTOCOL", "it wrote a line of its own");
    settle({ kind: "answer", body: line.slice(expectedId.length + 1, -1) });
  });
  child.stderr.on("data", (chunk: Buffer) => {
    errorBytes += chunk.length;
    errorTail = (errorTail + chunk.toString("latin1")).slice(-errorTailBytes);
    if (errorBytes > capBytes) end("OUTPUT_LIMIT");
  });
  // The end of the process is told below; a broken pipe comes before it.
  child.stdin.on("error", () => undefined);
  child.on("error", (error) => end("EXIT", error.message));
  // What it left behind, the watch above all, goes with it.
  child.on("exit", () => {
    killGroup(child);
    hasExited = true;
  });
  child.on("close", (code, signal) => {
    const by = endOf(signal, errorTail);
    end(by, `${signal ?? `exit code ${code}`}: ${errorTail}`);
  });

  return {
    async ask({ id, bytes, wallMs }) {
      if (!isAlive) return { kind: "ended", by: "KILLED", detail: "it ended while nothing ran" };
      expectedId = id;
      const timer = setTimeout(() => {
        // An answer that is here already counts, however late this service comes to it.
        setImmediate(() => {
          if (expectedId === id && waiting) end("TIME_LIMIT");
        });
      }, wallMs);
      const reply = new Promise<GuestReply>((resolve) => (waiting = resolve));
      if (bytes) child.stdin.write(bytes);
      return reply.finally(() => clearTimeout(timer));
    },
    isAlive: () => isAlive,
    onEnd: (listener) => void endListeners.push(listener),
    kill: () => end("KILLED"),
  };
}

/** Its standard streams are pipes; the rest is launch.ts. */
export function spawnChild(launch: Launch, task: Task): SandboxChild {
  const { command, words, options } = launchCommand(launch, task);
  const child = spawn(command, words, {
    ...options,
    // Its own session, so that Ctrl-C in a terminal does not reach it. The fourth is never written:
    // that it closes tells the watch that this service has ended.
    stdio: ["pipe", "pipe", "pipe", "pipe"],
    detached: true,
  });
  return child as unknown as SandboxChild;
}

/** Its group is the process and the watch beside it; a group keeps its number while one is left. */
export function killGroup(child: SandboxChild): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // ESRCH: all of it has ended.
  }
}

function endOf(signal: NodeJS.Signals | null, errorTail: string): GuestEnd {
  if (/out of memory|memory allocation of \d+ bytes failed/i.test(errorTail)) return "MEMORY_LIMIT";
  return signal !== null && !ownSignals.has(signal) ? "KILLED" : "EXIT";
}
