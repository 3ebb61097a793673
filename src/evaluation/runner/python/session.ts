// One opening of an evaluator: runs it on one event after another in a separate process.
// Source: docs/sandbox.md.

import type { Leave } from "../../../base/fair-places.ts";
import type { JsonObject } from "../../../base/json.ts";
import { type FailureReason, parseOutcome, type PythonOutcome } from "./answers.ts";
import type { SandboxLimits } from "./launch.ts";
import { composeMessage } from "./message.ts";
import type { Guest, GuestEnd, GuestReply } from "./process.ts";

export type PythonSession = {
  /**
   * Runs the evaluator on one event, one at a time. After a limit or a crash the process is gone,
   * and the next run takes a new one. Throws SANDBOX_UNAVAILABLE, which is not the evaluator's
   * fault, and the signal's reason once it is aborted.
   */
  run(event: JsonObject): Promise<PythonOutcome>;
  /** Kills the process and frees its place. Idempotent. */
  close(): Promise<void>;
};

export type OpenSessionOptions = {
  readonly code: string;
  readonly limits: SandboxLimits;
  /** Returns a ready process. */
  readonly take: () => Promise<Guest>;
  /** Closes the session. */
  readonly ending: AbortSignal;
  readonly leave: Leave;
};

/**
 * Bounds of an event's time on a busy machine, as a factor of `wallMs` and as an addition to it;
 * the smaller bound applies.
 */
const longestFactor = 6;
const longestMsMore = 60_000;

/** Reasons after which the process can be reused; others leave it in an unknown state. */
const harmless: readonly FailureReason[] = ["EXCEPTION", "RESULT", "CODE"];

export function openSession(options: OpenSessionOptions): PythonSession {
  const { code, limits, take, ending, leave } = options;
  let guest: Guest | undefined;
  let isRunning = false;
  let isClosed = false;
  const closed = Promise.withResolvers<undefined>();

  function throwIfClosed(): void {
    ending.throwIfAborted();
    if (isClosed) throw new Error("the session is closed");
  }

  /** Does not wait past the end of the session: a start can take longer than a stop may. */
  async function takeGuest(): Promise<Guest> {
    const taking = take();
    await Promise.race([taking, closed.promise]);
    if (isClosed) {
      void taking.then(
        (late) => late.kill(),
        () => undefined,
      );
    }
    throwIfClosed();
    return taking;
  }

  async function ask(event: JsonObject): Promise<GuestReply> {
    throwIfClosed();
    if (!guest?.isAlive()) guest = await takeGuest();
    // The session may have been closed while the process started.
    if (isClosed) guest.kill();
    throwIfClosed();
    const message = composeMessage("run", code, JSON.stringify(event));
    const { wallMs } = limits;
    const longestMs = Math.min(longestFactor * wallMs, wallMs + longestMsMore);
    const reply = await guest.ask({ ...message, wallMs, longestMs });
    throwIfClosed();
    return reply;
  }

  /** A process ended from outside is not the evaluator's fault, so the event is tried once more. */
  async function askTwice(event: JsonObject): Promise<GuestReply> {
    const reply = await ask(event);
    return reply.kind === "ended" && reply.by === "KILLED" ? ask(event) : reply;
  }

  function close(): void {
    isClosed = true;
    closed.resolve(undefined);
    ending.removeEventListener("abort", close);
    guest?.kill();
    leave();
  }

  ending.addEventListener("abort", close, { once: true });
  return {
    async run(event) {
      if (isRunning) throw new Error("a session runs one event at a time");
      if (Buffer.byteLength(code) > limits.codeBytes) return codeTooLong(limits);
      isRunning = true;
      try {
        const outcome = toOutcome(await askTwice(event), limits);
        if (outcome.kind === "failure" && !harmless.includes(outcome.reason)) guest?.kill();
        return outcome;
      } finally {
        isRunning = false;
      }
    },
    close: async () => close(),
  };
}

function toOutcome(reply: GuestReply, limits: SandboxLimits): PythonOutcome {
  if (reply.kind === "ended") return failure(reasons[reply.by], messageOf(reply, limits));
  const outcome = parseOutcome(reply.body);
  if (!outcome) return failure("PROTOCOL", "its process answered in a wrong form");
  if (outcome.kind === "failure" && outcome.reason === "OUTPUT_LIMIT") {
    return failure("OUTPUT_LIMIT", outputLimitMessage(limits));
  }
  return outcome;
}

const reasons: Readonly<Record<GuestEnd, FailureReason>> = {
  TIME_LIMIT: "TIME_LIMIT",
  OUTPUT_LIMIT: "OUTPUT_LIMIT",
  MEMORY_LIMIT: "MEMORY_LIMIT",
  PROTOCOL: "PROTOCOL",
  EXIT: "CRASH",
  KILLED: "CRASH",
};

function messageOf(
  { by, detail }: { by: GuestEnd; detail: string },
  limits: SandboxLimits,
): string {
  switch (by) {
    case "TIME_LIMIT":
      return `took longer than ${limits.wallMs / 1_000} s`;
    case "OUTPUT_LIMIT":
      return outputLimitMessage(limits);
    case "MEMORY_LIMIT":
      return `used more than ${Math.floor(limits.memoryBytes / 1_000_000)} MB of memory`;
    case "PROTOCOL":
      return `wrote into the sandbox's own channel: ${detail}`;
    case "EXIT":
      return "ended its process";
    case "KILLED":
      return "its process was ended from outside, twice";
  }
}

function outputLimitMessage({ outputBytes }: SandboxLimits): string {
  return `printed or returned more than ${outputBytes} bytes`;
}

function codeTooLong({ codeBytes }: SandboxLimits): PythonOutcome {
  return failure("CODE", `the code is longer than ${codeBytes} bytes`);
}

function failure(reason: FailureReason, message: string): PythonOutcome {
  return { kind: "failure", reason, message, output: "" };
}
