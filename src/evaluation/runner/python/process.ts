// One Deno process of the sandbox: started under limits, sent one message at a time, killed. Its
// output is trusted only as one line with the id of the message, below a limit.
// Source: docs/sandbox.md.

import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { ServiceError } from "../../../base/errors.ts";
import { type Launch, launchCommand, type Task } from "./launch.ts";
import { readUseOf, startTimeLimit } from "./time-limit.ts";

export type SandboxChild = ChildProcessByStdio<Writable, Readable, Readable>;

/** Cause of a process's end during a message. */
export type GuestEnd =
  | "TIME_LIMIT"
  | "OUTPUT_LIMIT"
  | "MEMORY_LIMIT"
  /** It wrote unrequested output, or output in a wrong form. */
  | "PROTOCOL"
  /** It ended by itself. */
  | "EXIT"
  /** It was ended from outside: by an operator, or by the system out of memory. */
  | "KILLED";

export type GuestReply =
  | { readonly kind: "answer"; readonly body: string }
  | { readonly kind: "ended"; readonly by: GuestEnd; readonly detail: string };

export type AskOptions = {
  /** First word of the answer's line. */
  readonly id: string;
  /** Parts to send in order; absent for the message that the process writes at its start. */
  readonly parts?: readonly Uint8Array[];
  readonly wallMs: number;
  /** If given, time waiting for a processor does not count, up to this total. */
  readonly longestMs?: number;
};

export type Guest = {
  /**
   * Waits for the line that begins with the id. One at a time; without an answer the process is
   * killed.
   */
  readonly ask: (options: AskOptions) => Promise<GuestReply>;
  readonly isAlive: () => boolean;
  /** Adds a listener to the end of the process, for any cause. */
  readonly onEnd: (listener: () => void) => void;
  readonly kill: () => void;
};

const newline = 10;

/** Minimum bytes that a chunk of output counts: a kept chunk of one byte takes more. */
const pieceBytesMin = 256;

/** Bytes of standard error to keep, which distinguish running out of memory from other ends. */
const errorTailBytes = 4_096;

/** Signals that a process raises against itself in a fatal error. */
const ownSignals = new Set(["SIGABRT", "SIGTRAP", "SIGILL", "SIGSEGV", "SIGBUS", "SIGFPE"]);

/** Maximum time of a start, which takes half a second; the rest is for a busy machine. */
const startMs = 60_000;

/** Starts a process and waits until it accepts messages. Throws SANDBOX_UNAVAILABLE. */
export async function startGuest(launch: Launch): Promise<Guest> {
  const guest = createGuest(spawnChild(launch, "serve"), launch.limits.outputBytes);
  const reply = await guest.ask({ id: "ready", wallMs: startMs });
  if (reply.kind === "answer") return guest;
  const cause = new Error(`its process ended: ${reply.by} ${reply.detail}`);
  throw new ServiceError("SANDBOX_UNAVAILABLE", "Python's sandbox cannot be started", { cause });
}

/** Starts a process whose standard streams are pipes; see launch.ts for the rest. */
export function spawnChild(launch: Launch, task: Task): SandboxChild {
  const { command, words, options } = launchCommand(launch, task);
  const child = spawn(command, words, {
    ...options,
    // The fourth is never written: its closing tells the watch that this service has ended.
    stdio: ["pipe", "pipe", "pipe", "pipe"],
    // A separate session, so that Ctrl-C in a terminal does not reach it, and a separate group.
    detached: true,
  });
  // The child counts as closed only after this end is closed too.
  child.once("exit", () => (child.stdio[3] as Writable | null)?.destroy());
  return child;
}

/**
 * Kills the process and its watch. A group keeps its number while a member lives, so a call at the
 * process's end or before never hits another process.
 */
export function killGroup({ pid }: SandboxChild): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // ESRCH: the whole group has ended.
  }
}

type Waiting = { readonly id: string; readonly settle: (reply: GuestReply) => void };

function createGuest(child: SandboxChild, capBytes: number): Guest {
  let received: Buffer[] = [];
  let receivedBytes = 0;
  let waiting: Waiting | undefined;
  let hasExited = false;
  let isAlive = true;
  const endListeners: (() => void)[] = [];
  const readErrorTail = drainErrors(child, capBytes, () => end("OUTPUT_LIMIT"));

  function settle(reply: GuestReply): void {
    const settled = waiting;
    waiting = undefined;
    received = [];
    receivedBytes = 0;
    settled?.settle(reply);
  }

  function end(by: GuestEnd, detail = ""): void {
    if (isAlive && !hasExited) killGroup(child);
    const listeners = isAlive ? endListeners : [];
    isAlive = false;
    for (const listener of listeners) listener();
    settle({ kind: "ended", by, detail });
  }

  function receive(chunk: Buffer): void {
    if (!isAlive) return;
    received.push(chunk);
    receivedBytes += Math.max(chunk.length, pieceBytesMin);
    if (receivedBytes > capBytes) end("OUTPUT_LIMIT");
    // Unrequested output could be taken for the answer to the next message.
    else if (!waiting) end("PROTOCOL");
    else if (chunk.includes(newline)) receiveLine(waiting.id, Buffer.concat(received));
  }

  function receiveLine(id: string, bytes: Buffer): void {
    const line = bytes.toString("utf8");
    if (!line.startsWith(`${id} `)) end("PROTOCOL", "it wrote a line of its own");
    else if (line.indexOf("\n") < line.length - 1) end("PROTOCOL", "it wrote more than its answer");
    else settle({ kind: "answer", body: line.slice(id.length + 1, -1) });
  }

  child.stdout.on("data", receive);
  // The `close` listener below reports the end of the process; a broken pipe precedes it.
  child.stdin.on("error", () => undefined);
  child.on("error", (error) => end("EXIT", error.message));
  child.on("exit", () => {
    killGroup(child);
    hasExited = true;
  });
  // At `close`, the last output has been received.
  child.on("close", (code, signal) => {
    const errorTail = readErrorTail();
    end(toEnd(signal, errorTail), `${signal ?? `exit code ${code}`}: ${errorTail}`);
  });

  return {
    async ask({ id, parts = [], wallMs, longestMs = wallMs }) {
      if (!isAlive) return { kind: "ended", by: "KILLED", detail: "it had ended" };
      const reply = new Promise<GuestReply>((resolve) => {
        waiting = { id, settle: resolve };
      });
      const giveUp = () => {
        if (waiting?.id === id) end("TIME_LIMIT");
      };
      const stopTime = startTimeLimit({
        wallMs,
        longestMs,
        readUse: () => (child.pid === undefined ? undefined : readUseOf(child.pid)),
        // An answer that has already arrived counts, however late this service reads it.
        onLimit: () => setImmediate(giveUp),
      });
      child.stdin.cork();
      for (const part of parts) child.stdin.write(part);
      child.stdin.uncork();
      return reply.finally(stopTime);
    },
    isAlive: () => isAlive,
    onEnd: (listener) => void endListeners.push(listener),
    kill: () => end("KILLED"),
  };
}

/** Drains standard error up to the limit; returns a function that returns its tail. */
function drainErrors(child: SandboxChild, capBytes: number, onFlood: () => void): () => string {
  let tail = "";
  let bytes = 0;
  child.stderr.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    tail = (tail + chunk.toString("latin1")).slice(-errorTailBytes);
    if (bytes > capBytes) onFlood();
  });
  return () => tail;
}

function toEnd(signal: NodeJS.Signals | null, errorTail: string): GuestEnd {
  if (/out of memory|memory allocation of \d+ bytes failed/i.test(errorTail)) return "MEMORY_LIMIT";
  return signal !== null && !ownSignals.has(signal) ? "KILLED" : "EXIT";
}
