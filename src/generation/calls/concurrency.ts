// Limits the concurrent model calls of a project, an organization and the process. Requests and
// background work are counted apart, so that scores refuse no chat.
// Source: docs/generations.md, "What happens to a call".

import { createForBoth } from "../../base/background.ts";
import { ServiceError } from "../../base/errors.ts";
import type { Owner } from "../../base/fair-places.ts";
import { callsOfOrgFactor, callsOfProcessFactor } from "../../base/tenant-limits.ts";

export type Concurrency = {
  /**
   * Admits a generation with this number of concurrent model calls, and returns a function to call
   * at its end. Fails with OVERLOADED if a limit would be exceeded.
   */
  enter(owner: Owner, calls?: number): Release;
};

/** Frees the places; only the first call has an effect. */
export type Release = () => void;

/** Returns the maximum calls of all projects together for a maximum of one project. */
export function processCallsMax(projectCallsMax: number): number {
  return callsOfProcessFactor * projectCallsMax;
}

/** `max` is the maximum of one project. */
export function createConcurrency({ max }: { readonly max: number }): Concurrency {
  /** Number of running calls by organization or project id. */
  const runningNow = createForBoth(() => new Map<string, number>());
  const service = "service";

  function add(running: Map<string, number>, id: string, calls: number): void {
    const count = (running.get(id) ?? 0) + calls;
    if (count > 0) running.set(id, count);
    else running.delete(id);
  }

  return {
    enter({ orgId, projectId }, asked = 1) {
      const running = runningNow();
      // A request may ask for more than the maximum: it then takes all places of the project.
      const calls = Math.min(asked, max);
      const limits = [
        { id: projectId, name: "project", callsMax: max },
        { id: orgId, name: "organization", callsMax: callsOfOrgFactor * max },
        { id: service, name: service, callsMax: processCallsMax(max) },
      ];
      for (const { id, name, callsMax } of limits) {
        if ((running.get(id) ?? 0) + calls > callsMax) throw overloaded(name, callsMax);
      }
      for (const { id } of limits) add(running, id, calls);
      let isReleased = false;
      return () => {
        if (isReleased) return;
        isReleased = true;
        for (const { id } of limits) add(running, id, -calls);
      };
    },
  };
}

function overloaded(name: string, callsMax: number): ServiceError {
  const message = `the ${name} has ${callsMax} calls of models running; try again`;
  return new ServiceError("OVERLOADED", message, { retryAfterSeconds: 1 });
}
