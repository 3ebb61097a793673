// Has Python parse code that is being saved, without running it. One process serves all tenants,
// because no code is executed; it is kept for a while between inspections. Source: docs/sandbox.md.

import { ServiceError } from "../../../base/errors.ts";
import { createFairPlaces, type Owner } from "../../../base/fair-places.ts";
import { inspectionsWaitingMax, inspectionWaitMsMax } from "../../../base/tenant-limits.ts";
import { type Inspection, parseInspection } from "./answers.ts";
import type { SandboxLimits } from "./launch.ts";
import { composeMessage } from "./message.ts";
import type { Guest } from "./process.ts";

export type Inspector = {
  /**
   * Parses code. Organizations take turns, and projects inside them. Throws OVERLOADED and
   * SANDBOX_UNAVAILABLE.
   */
  inspect(code: string, owner: Owner): Promise<Inspection>;
  close(): void;
};

export type InspectorOptions = {
  readonly limits: SandboxLimits;
  readonly take: () => Promise<Guest>;
};

/** Inspections run one after another; each takes milliseconds, the worst take seconds. */
const turns = {
  max: 1,
  orgMax: 1,
  projectMax: 1,
  waitMs: inspectionWaitMsMax,
  waitersMax: inspectionsWaitingMax,
};
const refusal = "too much code is being checked; try again";

/** Time after which an idle process is ended. */
const idleMs = 60_000;

export function createInspector({ limits, take }: InspectorOptions): Inspector {
  const places = createFairPlaces({ ...turns, refusal });
  let guest: Guest | undefined;
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
    // Only the parser ran, so the code exceeds what it can parse.
    return fault("the code is too large or too deeply nested to be parsed");
  }

  async function inspectInTurn(code: string, owner: Owner): Promise<Inspection> {
    const leave = await places.enter(owner);
    try {
      return await ask(code);
    } finally {
      leave();
    }
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
