// Bytes held in memory at once, over everything that holds them. Past the bound a request for more
// is refused at once, so that memory stays bounded and callers back off instead of queueing unseen.
// Source: docs/limits.md.

import { retryAfterSeconds, ServiceError } from "./errors.ts";

/** Bytes that one call holds. */
export type Reservation = {
  /** Adds bytes. Throws OVERLOADED past the bound. */
  grow(bytes: number): void;
  /** Gives bytes back, at most as many as it holds. */
  shrink(bytes: number): void;
  /** Gives everything back; calling it again does nothing. */
  release(): void;
  /** Bytes that it holds now. */
  bytes(): number;
  /** Bytes that it could hold if nothing else held any; more can never be had. */
  readonly bytesMax: number;
  /** Name of the nearest holder of the bytes; undefined where there is none. */
  readonly holder: string | undefined;
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
          // Late work of a call that has ended: its bytes are garbage already.
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
        bytes: () => held,
        bytesMax,
        holder: undefined,
      };
    },
  };
}

/** A holder of bytes, and the part of a budget that all its calls may hold together. */
export type Share = { readonly holder: string; readonly part: number };

export type SharedBudget = {
  /** Opens a reservation that counts against the whole and against each share. */
  open(shares: readonly Share[]): Reservation;
  bytesInFlight(): number;
};

/** Holds all that the holders hold. */
const all = "all";

/**
 * Returns a budget in which no holder takes more than its part, however many calls it has. `what`
 * names in the refusal what holds the bytes; `onFreed` is told of bytes that are given back.
 */
export function createSharedBudget(
  bytesMax: number,
  what: string,
  onFreed: (bytes: number) => void = () => undefined,
): SharedBudget {
  const held = new Map<string, number>();
  const heldBy = (holder: string): number => held.get(holder) ?? 0;

  function add(holders: Iterable<string>, bytes: number): void {
    for (const holder of holders) {
      const sum = heldBy(holder) + bytes;
      if (sum > 0) held.set(holder, sum);
      else held.delete(holder);
    }
  }

  function open(shares: readonly Share[]): Reservation {
    const limits = new Map([[all, bytesMax]]);
    for (const { holder, part } of shares) limits.set(holder, bytesMax * part);
    let own = 0;
    let isReleased = false;

    function shrink(bytes: number): void {
      const given = Math.min(bytes, own);
      own -= given;
      add(limits.keys(), -given);
      onFreed(given);
    }

    return {
      grow(bytes) {
        for (const [holder, max] of limits) {
          if (heldBy(holder) + bytes > max) throw overloaded(what, max);
        }
        // Late work of a call that has ended: its bytes are garbage already.
        if (isReleased) return;
        own += bytes;
        add(limits.keys(), bytes);
      },
      shrink,
      release() {
        isReleased = true;
        shrink(own);
      },
      bytes: () => own,
      bytesMax: Math.min(...limits.values()),
      holder: shares[0]?.holder,
    };
  }

  return { open, bytesInFlight: () => heldBy(all) };
}

function overloaded(what: string, max: number): ServiceError {
  const message = `${what} take more than ${max} bytes of memory; try again`;
  return new ServiceError("OVERLOADED", message, { retryAfterSeconds });
}
