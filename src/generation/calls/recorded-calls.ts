// Model calls that are stored as events: chats and proxied calls. The caller is answered after the
// event is stored. Source: docs/decisions.md, 1, 7, 20, 21.

import type { ProjectScope } from "../../access/scope.ts";
import type { Running } from "../../base/running.ts";
import type { CostEstimate } from "../../tracing/events/event.ts";
import { AttemptsError } from "./attempts.ts";
import { failureOf } from "./call-signal.ts";
import type { CallEnd, RecordedRequest } from "./generation-event.ts";
import { type Place, type Placement, type StoreGeneration, toPlace } from "./store-generation.ts";
import type { CallOptions, ModelCall, ModelCalls } from "./model-calls.ts";

/** Caller of a recorded call. */
export type Caller = {
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
  /** Runs the effect that stores the generation, at once or together with other writes. */
  readonly commit: (effect: () => Promise<void>) => Promise<void>;
  /** Called with the place of the call after it is stored, also if it failed. */
  readonly onRecorded: (place: Place) => void;
};

export type RecordedCallOptions = Omit<CallOptions, "client" | "enter"> & {
  readonly caller: Caller;
  readonly placement: Placement;
  readonly recorded: RecordedRequest;
};

export type RecordedCall = Omit<ModelCall, "close"> & {
  readonly place: Place;
  /**
   * Stores the result, also a failure, and frees the call; `endedAtMs` defaults to now. Only the
   * first call has an effect; the others return its result.
   */
  finish(end: CallEnd): Promise<CostEstimate>;
};

export type RecordedCalls = {
  /** Opens a call. Fails like `ModelCalls`, and with INVALID_ARGUMENT naming a malformed id. */
  open(project: ProjectScope, options: RecordedCallOptions): Promise<RecordedCall>;
};

export type RecordedCallsOptions = {
  readonly calls: ModelCalls;
  readonly storeGeneration: StoreGeneration;
  /** Keeps the service from stopping before running calls end. */
  readonly running: Pick<Running, "run">;
};

/**
 * The asking methods of a call store a failure before they throw it. A call that could not be sent
 * to any provider is not stored.
 */
export function createRecordedCalls(options: RecordedCallsOptions): RecordedCalls {
  const { calls, storeGeneration, running } = options;
  return {
    async open(project, { caller, placement, recorded, ...rest }) {
      const place = toPlace(placement);
      const call = await calls.open(project, { ...rest, client: caller.signal });
      const { request } = rest;
      const { route, startedAtMs } = call;
      const ended = Promise.withResolvers<void>();
      // Shutdown waits for the end of the call, also if the client stopped reading.
      void running.run(() => ended.promise);

      function close(): void {
        call.close();
        ended.resolve();
      }

      async function store(end: CallEnd): Promise<CostEstimate> {
        try {
          const { endedAtMs = Date.now() } = end;
          const times = { startedAtMs, endedAtMs };
          const asked = { request, askedModel: route.asked };
          const finished = { ...recorded, ...place, ...asked, ...end, ...times };
          const estimate = await storeGeneration(project, finished, caller.commit);
          caller.onRecorded(place);
          return estimate;
        } finally {
          close();
        }
      }

      let stored: Promise<CostEstimate> | undefined;
      const finish: RecordedCall["finish"] = (end) => (stored ??= store(end));

      const orStored = async <A>(asking: Promise<A>): Promise<A> => {
        try {
          return await asking;
        } catch (error) {
          const { text, thrown } = failureOf(error, call.signal);
          if (error instanceof AttemptsError) {
            await finish({ target: error.target, attempts: error.attempts, error: text });
          } else close();
          throw thrown;
        }
      };
      return {
        ...call,
        place,
        finish,
        askWhole: () => orStored(call.askWhole()),
        askStream: () => orStored(call.askStream()),
      };
    },
  };
}
