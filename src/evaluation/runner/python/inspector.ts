// Has Python parse code that is being saved, without running it. One process for everybody, since
// nothing of the code is executed; kept between inspections for a while. Called by sandbox.ts.
// Source: docs/sandbox.md.

import { ServiceError } from "../../../base/errors.ts";
import { parseInspection } from "./answers.ts";
import type { Inspection } from "./answers.ts";
import type { SandboxLimits } from "./launch.ts";
import { composeMessage } from "./message.ts";
import type { Guest } from "./process.ts";

export type Inspector = {
  /**
   * Owners are taken in turn, whatever one of them asks for. Fails with OVERLOADED and
   * SANDBOX_UNAVAILABLE.
   */
  inspect(code: string, owner: string): Promise<Inspection>;
  close(): void;
};

export type InspectorOptions = {
  readonly limits: SandboxLimits;
  readonly take: () => Promise<Guest>;
};

/** Inspections wait for one another; each takes milliseconds, and the worst of them seconds. */
const waitersMax = 200;
const ownerWaitersMax = 20;

/** So long an idle process is kept. */
const idleMs = 60_000;

export function createInspector({ limits, take }: InspectorOptions): Inspector {
  let guest: Guest | undefined;
  /** By owner, the one whose turn is next first. */
  const waiting = new Map<string, (() => Promise<void>)[]>();
  let waiters = 0;
  let isBusy = false;
  let isClosed = false;
  let idle: NodeJS.Timeout | undefined;

  async function ask(code: string): Promise<Inspection> {
    clearTimeout(idle);
    const used = guest?.isAlive() ? guest : await take();
    guest = used;
    if (isClosed) used.kill();
    const message = composeMessage("inspect", code, "");
    const reply = await used.ask({ ...message, wallMs: limits.wallMs });
    idle = setTimeout(used.kill, idleMs).unref();
    if (reply.kind === "ended" && reply.by === "KILLED") throw ended();
    const inspection = reply.kind === "answer" ? parseInspection(reply.body) : undefined;
    if (inspection) return inspection;
    used.kill();
    // Nothing but the parser ran, so the code is more than it can take.
    return fault("the code is too large or too deeply nested to be parsed");
  }

  /** The owner goes to the end of the line with what else it asks for. */
  function takeNext(): (() => Promise<void>) | undefined {
    const [next] = waiting;
    if (next === undefined) return undefined;
    const [owner, [first, ...rest]] = next;
    waiting.delete(owner);
    if (rest.length > 0) waiting.set(owner, rest);
    return first;
  }

  async function work(): Promise<void> {
    if (isBusy) return;
    isBusy = true;
    for (let turn = takeNext(); turn; turn = takeNext()) {
      await turn();
      waiters -= 1;
    }
    isBusy = false;
  }

  function inspectInTurn(code: string, owner: string): Promise<Inspection> {
    const own = waiting.get(owner) ?? [];
    if (waiters >= waitersMax || own.length >= ownerWaitersMax) {
      const message = "too much code is being checked; try again";
      throw new ServiceError("OVERLOADED", message, { retryAfterSeconds: 1 });
    }
    waiters += 1;
    const { promise, resolve, reject } = Promise.withResolvers<Inspection>();
    waiting.set(owner, [...own, () => ask(code).then(resolve, reject)]);
    void work();
    return promise;
  }

  return {
    async inspect(code, owner) {
      if (Buffer.byteLength(code) <= limits.codeBytes) return inspectInTurn(code, owner);
      return fault(`the code is longer than ${limits.codeBytes} bytes`);
    },
    close() {
      isClosed = true;
      clearTimeout(idle);
      guest?.kill();
    },
  };
}

function ended(): ServiceError {
  return new ServiceError(
    "SANDBOX_UNAVAILABLE",
    "the process that checks code was ended; try again",
  );
}

function fault(message: string): Inspection {
  return { fault: { message, line: 1, column: 1 } };
}
