// Byte reservation of the request being read, for Connect's decompression, which does not receive
// the call. Source: docs/spec.md, Limits.

import { AsyncLocalStorage } from "node:async_hooks";
import type { Reservation } from "../base/byte-budget.ts";

export const currentReservation = new AsyncLocalStorage<Reservation>();
