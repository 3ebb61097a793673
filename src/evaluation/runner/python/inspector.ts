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
  /** Fails with OVERLOADED and SANDBOX_UNAVAILABLE. */
  inspect(code: string): Promise<Inspection>;
  close(): void;
};

export type InspectorOptions = {
  readonly limits: SandboxLimits;
  readonly take: () => Promise<Guest>;
};

/** Inspections wait for one another; each takes a few milliseconds. */
const waitersMax = 200;

/** So long an idle process is kept. */
const idleMs = 60_000;

export function createInspector({ limits, take }: InspectorOptions): Inspector {
  let guest: Guest | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let waiters = 0;
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

  async function inspectNext(code: string): Promise<Inspection> {
    if (waiters >= waitersMax) {
      throw new ServiceError("OVERLOADED", "too much code is being checked; try again");
    }
    waiters += 1;
    const turn = last.then(() => ask(code));
    last = turn.catch(() => undefined);
    return turn.finally(() => (waiters -= 1));
  }

  return {
    async inspect(code) {
      if (Buffer.byteLength(code) <= limits.codeBytes) return inspectNext(code);
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
