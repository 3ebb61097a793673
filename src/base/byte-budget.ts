// Bytes held in memory at once, over everything that holds them. Past the bound what asks for more
// is refused at once, so that memory stays bounded and callers back off instead of queueing unseen.
// Called for bodies of requests by transport, and for answers of models by generation.
// Source: docs/spec.md, Limits.

import { ServiceError } from "./errors.ts";

/** What one call holds. */
export type Reservation = {
  /** Adds bytes. Throws OVERLOADED past the bound. */
  grow(bytes: number): void;
  /** Gives bytes back, of those it holds. */
  shrink(bytes: number): void;
  /** Gives everything back; calling it again does nothing. */
  release(): void;
};

export type ByteBudget = {
  open(): Reservation;
  bytesInFlight(): number;
};

export function createByteBudget(bytesMax: number): ByteBudget {
  let inFlight = 0;
  return {
    bytesInFlight: () => inFlight,
    open() {
      let held = 0;
      let isReleased = false;
      return {
        grow(bytes) {
          if (inFlight + bytes > bytesMax) {
            throw new ServiceError("OVERLOADED", `more than ${bytesMax} bytes in flight`);
          }
          // What comes late, of a call that has ended, is garbage already.
          if (isReleased) return;
          held += bytes;
          inFlight += bytes;
        },
        shrink(bytes) {
          const given = Math.min(bytes, held);
          held -= given;
          inFlight -= given;
        },
        release() {
          isReleased = true;
          inFlight -= held;
          held = 0;
        },
      };
    },
  };
}
