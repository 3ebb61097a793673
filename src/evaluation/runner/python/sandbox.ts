// Runs users' Python in isolation: one process per opening, never given to another.
// Source: docs/sandbox.md.

import { ServiceError } from "../../../base/errors.ts";
import { createFairPlaces, type Owner } from "../../../base/fair-places.ts";
import type { Logger } from "../../../base/logger.ts";
import { sandboxWaitMsMax, sandboxWaitingPerPlaceMax } from "../../../base/tenant-limits.ts";
import type { Inspection } from "./answers.ts";
import { createIdleProcesses } from "./idle-processes.ts";
import { createInspector } from "./inspector.ts";
import type { Launch, SandboxLimits } from "./launch.ts";
import { type Guest, startGuest } from "./process.ts";
import { openSession, type PythonSession } from "./session.ts";
import { prepareLaunch } from "./snapshot.ts";

export type { FailureReason, Inspection, PythonOutcome } from "./answers.ts";
export type { SandboxLimits } from "./launch.ts";
export type { PythonSession } from "./session.ts";

export type PythonSandboxOptions = {
  readonly limits: SandboxLimits;
  /** Maximum open evaluators. The idle processes and the one for inspections are extra. */
  readonly processesMax: number;
  /**
   * Minimum processes kept ready for the next evaluators. Under demand it grows, up to half of
   * `processesMax`.
   */
  readonly idleMin: number;
  /**
   * Folder of the snapshot, created if absent. If run as root, other accounts must be able to enter
   * it.
   */
  readonly cacheFolder: string;
  readonly logger: Pick<Logger, "info" | "warn">;
};

export type OpenOptions = {
  /** Organization and project of the evaluator. */
  readonly owner?: Owner;
  /** Ends waiting for a place, and closes the session. */
  readonly signal?: AbortSignal;
};

export type PythonSandbox = {
  /** Parses code and reports everything that is known without running it. */
  inspect(code: string, options?: Pick<OpenOptions, "owner">): Promise<Inspection>;
  /**
   * Opens an evaluator in a place. Throws OVERLOADED if no place becomes free in time, and
   * SHUTTING_DOWN after `close`.
   */
  open(code: string, options?: OpenOptions): Promise<PythonSession>;
  /** Returns whether the idle pool is full. */
  readonly isWarm: () => boolean;
  /** Returns the number of running processes, including the idle pool. */
  readonly processCount: () => number;
  /** Returns whether evaluators are waiting for a place. */
  readonly isCrowded: () => boolean;
  /** Begins to warm up in the background. Everything works without it, only slower at first. */
  readonly start: () => void;
  /** Kills every process. */
  close(): Promise<void>;
};

const refusal = "the maximum number of Python evaluators is running; try again";

/** Owner of work without an owner. */
const noOwner: Owner = { orgId: "no organization", projectId: "no project" };

export function createPythonSandbox(options: PythonSandboxOptions): PythonSandbox {
  const { limits, processesMax, logger } = options;
  const closing = new AbortController();
  const idle = createIdleProcesses({
    countMin: options.idleMin,
    countMax: options.idleMin && Math.max(options.idleMin, Math.floor(processesMax / 2)),
    spawn,
    onFailure: (error) => logger.warn({ err: error }, "Python's sandbox does not start"),
  });
  const places = createFairPlaces({
    max: processesMax,
    // One place stays free for another organization, and one more for another project.
    orgMax: Math.max(1, processesMax - 1),
    projectMax: Math.max(1, processesMax - 2),
    waitMs: sandboxWaitMsMax,
    waitersMax: processesMax * sandboxWaitingPerPlaceMax,
    refusal,
  });
  const inspector = createInspector({ limits, take: idle.take });
  let launching: Promise<Launch> | undefined;
  let processes = 0;

  function prepare(): Promise<Launch> {
    launching ??= prepareLaunch(options).then((launch) => {
      const account = launch.account ? "nobody" : "its own";
      logger.info({ account, snapshot: launch.snapshot }, "Python's sandbox is ready to start");
      return launch;
    });
    return launching;
  }

  async function spawn(): Promise<Guest> {
    try {
      const guest = await startGuest(await prepare());
      processes += 1;
      guest.onEnd(() => (processes -= 1));
      return guest;
    } catch (error) {
      // The folder may have been emptied; the next attempt recreates its content.
      launching = undefined;
      if (error instanceof ServiceError) throw error;
      const message = "Python's sandbox cannot be made ready";
      throw new ServiceError("SANDBOX_UNAVAILABLE", message, { cause: error });
    }
  }

  return {
    async inspect(code, { owner = noOwner } = {}) {
      closing.signal.throwIfAborted();
      return inspector.inspect(code, owner);
    },
    async open(code, { owner = noOwner, signal } = {}) {
      const ending = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal;
      const leave = await places.enter(owner, ending);
      return openSession({ code, limits, take: idle.take, ending, leave });
    },
    isWarm: idle.isFull,
    processCount: () => processes,
    isCrowded: () => places.isCrowded(),
    start: idle.start,
    async close() {
      closing.abort(new ServiceError("SHUTTING_DOWN", "the service is stopping; try again"));
      inspector.close();
      idle.close();
    },
  };
}
