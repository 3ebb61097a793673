// Bytes of request bodies held in memory at once, over all connections. Past the bound a request is
// refused at once, so that memory stays bounded and clients back off instead of queueing unseen.
// Called by body.ts and rpc.ts. Source: docs/spec.md, Limits.

import { AsyncLocalStorage } from "node:async_hooks";
import { ServiceError } from "../base/errors.ts";

/** What one request holds. */
export type Reservation = {
  /** Adds bytes. Throws OVERLOADED past the bound. */
  grow(bytes: number): void;
  /** Gives everything back; calling it again does nothing. */
  release(): void;
};

export type Admission = {
  open(): Reservation;
  bytesInFlight(): number;
};

export function createAdmission(bytesMax: number): Admission {
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
          // A late chunk of a request that has ended is garbage already.
          if (isReleased) return;
          held += bytes;
          inFlight += bytes;
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

/** The reservation of the RPC read now; Connect's decompression is not told whose bytes it has. */
export const currentReservation = new AsyncLocalStorage<Reservation>();
