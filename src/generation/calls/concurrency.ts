// Caps the calls of models that run at a time, by project. Called by chat and proxy around a whole
// generation. Source: docs/decisions.md, 21.

import { ServiceError } from "../../base/errors.ts";

export type Concurrency = {
  /**
   * Lets a call in, and returns what is to be called once at its end. Fails with OVERLOADED where
   * the project has as many as it may.
   */
  enter(projectId: string): Release;
};

/** Lets the next call in; only the first time does anything. */
export type Release = () => void;

export type ConcurrencyOptions = {
  /** Calls of one project. */
  readonly max: number;
};

export function createConcurrency({ max }: ConcurrencyOptions): Concurrency {
  const running = new Map<string, number>();

  function leave(projectId: string): void {
    const left = (running.get(projectId) ?? 1) - 1;
    if (left > 0) running.set(projectId, left);
    else running.delete(projectId);
  }

  return {
    enter(projectId) {
      const count = running.get(projectId) ?? 0;
      if (count >= max) {
        const message = `the project has ${max} calls of models running; try again`;
        throw new ServiceError("OVERLOADED", message, { retryAfterSeconds: 1 });
      }
      running.set(projectId, count + 1);
      let isReleased = false;
      return () => {
        if (!isReleased) leave(projectId);
        isReleased = true;
      };
    },
  };
}
