// Budgets of bytes held in memory at once. A reservation past the bound is refused at once, so that
// memory stays bounded and callers back off instead of queueing unseen. Source: docs/limits.md.

import { retryAfterSeconds, ServiceError } from "./errors.ts";
import type { GarbageCounter } from "./garbage.ts";

/** Bytes that one call holds. */
export type Reservation = {
  /** Adds bytes. Throws OVERLOADED past the bound. */
  grow(bytes: number): void;
  /** Returns bytes to the budget, never more than the reservation holds: they are garbage now. */
  shrink(bytes: number): void;
  /** Returns bytes like `shrink` that were reserved and never used, so that they are no garbage. */
  giveBack(bytes: number): void;
  /** Returns all bytes to the budget. A second call does nothing. */
  release(): void;
  /** Returns the bytes that the reservation holds now. */
  bytes(): number;
  /** Maximum bytes of the reservation if nothing else held any. */
  readonly bytesMax: number;
  /** Returns the end of the collection of garbage that large requests wait for; see garbage.ts. */
  collection(): Promise<void> | undefined;
  /** Name of the nearest holder of the bytes; undefined if there is none. */
  readonly holder: string | undefined;
};

export type ByteBudget = {
  open(): Reservation;
  bytesInFlight(): number;
};

/** Returns a budget without shares. */
export function createByteBudget(bytesMax: number): ByteBudget {
  const budget = createSharedBudget(bytesMax, "bytes in flight");
  return { ...budget, open: () => budget.open([]) };
}

/** A holder of bytes, and the part of a budget that all its calls may hold together. */
export type Share = { readonly holder: string; readonly part: number };

export type SharedBudget = {
  /** Opens a reservation that counts against the whole and against each share. */
  open(shares: readonly Share[]): Reservation;
  bytesInFlight(): number;
};

export type SharedBudgetOptions = {
  /** Counts the bytes that reservations return. */
  readonly garbage?: GarbageCounter;
  /** Part that reservations of more than `smallBytesMax` may hold together. Default: all. */
  readonly largeShare?: number;
};

/** Part of a budget from which on the heap is watched, since its garbage counts too. */
const pressureShare = 1 / 4;

/** Maximum bytes of a reservation that finds room when large ones hold their part. */
const smallBytesMax = 1_000_000;

/** Bytes of all open reservations of one holder. */
type Counter = { bytes: number; reservations: number };

/**
 * Returns a budget in which no holder takes more than its part, however many calls it has. `what`
 * names the bytes' use in the error message.
 */
export function createSharedBudget(
  bytesMax: number,
  what: string,
  { garbage, largeShare = 1 }: SharedBudgetOptions = {},
): SharedBudget {
  const whole: Counter = { bytes: 0, reservations: 0 };
  const counters = new Map<string, Counter>();

  function join(holder: string): Counter {
    const counter = counters.get(holder) ?? { bytes: 0, reservations: 0 };
    counter.reservations += 1;
    counters.set(holder, counter);
    return counter;
  }

  function leave(holder: string): void {
    const counter = counters.get(holder);
    if (counter === undefined) return;
    counter.reservations -= 1;
    if (counter.reservations === 0) counters.delete(holder);
  }

  function open(shares: readonly Share[]): Reservation {
    const limits = [{ counter: whole, max: bytesMax }];
    for (const { holder, part } of shares) {
      limits.push({ counter: join(holder), max: bytesMax * part });
    }
    let own = 0;
    let isReleased = false;

    function giveBack(bytes: number): number {
      const given = Math.min(bytes, own);
      own -= given;
      for (const { counter } of limits) counter.bytes -= given;
      return given;
    }

    function shrink(bytes: number): void {
      const given = giveBack(bytes);
      garbage?.note(given);
    }

    return {
      grow(bytes) {
        for (const { counter, max } of limits) {
          if (counter.bytes + bytes > max) throw overloaded(what, max);
        }
        const largeMax = bytesMax * largeShare;
        if (own + bytes > smallBytesMax && whole.bytes + bytes > largeMax) {
          throw overloaded(what, largeMax);
        }
        // Late work of a call that has ended: its bytes are garbage already.
        if (isReleased) return;
        own += bytes;
        for (const { counter } of limits) counter.bytes += bytes;
        if (whole.bytes > bytesMax * pressureShare) garbage?.look();
      },
      shrink,
      giveBack,
      release() {
        if (isReleased) return;
        isReleased = true;
        shrink(own);
        for (const { holder } of shares) leave(holder);
      },
      bytes: () => own,
      collection: () => garbage?.due(),
      bytesMax: Math.min(...limits.map(({ max }) => max)),
      holder: shares[0]?.holder,
    };
  }

  return { open, bytesInFlight: () => whole.bytes };
}

function overloaded(what: string, max: number): ServiceError {
  const message = `${what} take more than ${max} bytes of memory; try again`;
  return new ServiceError("OVERLOADED", message, { retryAfterSeconds });
}
