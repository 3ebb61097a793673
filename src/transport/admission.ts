// The bytes that the request read now holds: for what is not told whose bytes it has, Connect's
// decompression. Called by rpc.ts and compression.ts. Source: docs/spec.md, Limits.

import { AsyncLocalStorage } from "node:async_hooks";
import type { Reservation } from "../base/byte-budget.ts";

export const currentReservation = new AsyncLocalStorage<Reservation>();
