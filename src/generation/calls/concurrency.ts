// Caps the calls of models that run at a time: of a project, of an organization and of the process.
// Source: docs/decisions.md, 21.

import { ServiceError } from "../../base/errors.ts";
import type { Owner } from "../../base/fair-places.ts";
import { callsOfOrgFactor, callsOfProcessFactor } from "../../base/tenant-limits.ts";

export type Concurrency = {
  /**
   * Lets a generation in that asks for so many calls of models at a time, and returns what is to be
   * called once at its end. Fails with OVERLOADED where it would be more than may run.
   */
  enter(owner: Owner, calls?: number): Release;
};

/** Lets the next call in; only the first time does anything. */
export type Release = () => void;

export type ConcurrencyOptions = {
  /** Calls of one project. */
  readonly max: number;
};

/** Returns the calls of all projects together that the calls of one project allow. */
export function processCallsMax(projectCallsMax: number): number {
  return callsOfProcessFactor * projectCallsMax;
}

export function createConcurrency({ max }: ConcurrencyOptions): Concurrency {
  /** Calls that run, by the id of an organization or a project. */
  const running = new Map<string, number>();
  const service = "service";

  function add(id: string, calls: number): void {
    const count = (running.get(id) ?? 0) + calls;
    if (count > 0) running.set(id, count);
    else running.delete(id);
  }

  return {
    enter({ orgId, projectId }, asked = 1) {
      // A request may ask for more than there may ever be: it runs by itself.
      const calls = Math.min(asked, max);
      const limits = [
        { id: projectId, name: "project", callsMax: max },
        { id: orgId, name: "organization", callsMax: callsOfOrgFactor * max },
        { id: service, name: service, callsMax: processCallsMax(max) },
      ];
      for (const { id, name, callsMax } of limits) {
        if ((running.get(id) ?? 0) + calls > callsMax) throw overloaded(name, callsMax);
      }
      for (const { id } of limits) add(id, calls);
      let isReleased = false;
      return () => {
        if (isReleased) return;
        isReleased = true;
        for (const { id } of limits) add(id, -calls);
      };
    },
  };
}

function overloaded(name: string, callsMax: number): ServiceError {
  const message = `the ${name} has ${callsMax} calls of models running; try again`;
  return new ServiceError("OVERLOADED", message, { retryAfterSeconds: 1 });
}
