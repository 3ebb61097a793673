// Model calls that are stored as events: chats and proxied calls. The caller is answered after the
// event is stored. Source: docs/decisions.md, 7, 20.1, 21.1.

import type { ProjectScope } from "../../access/scope.ts";
import type { BudgetGate } from "../budgets/gate.ts";
import type { Running } from "../../base/running.ts";
import { inDatabaseTime } from "../../base/within.ts";
import type { CostEstimate } from "../../tracing/events/event.ts";
import { AttemptsError, failureOf } from "./attempts.ts";
import type { CallEnd, GenerationIds, RecordedRequest } from "./generation-event.ts";
import {
  createGenerationIds,
  storeGeneration,
  type StoreGenerationParts,
  type TraceIds,
} from "./store-generation.ts";
import type { CallOptions, ModelCall, ModelCalls } from "./model-calls.ts";
import { withUsage } from "../openai/stream-usage.ts";

export type Caller = {
  /** Id of the key that calls; undefined for a person. */
  readonly keyId: string | undefined;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
  /** Runs the effect that stores the generation, at once or together with other writes. */
  readonly commit: (effect: () => Promise<void>) => Promise<void>;
  /** Called with the ids of the call after it is stored, also if it failed. */
  readonly onRecorded: (ids: GenerationIds) => void;
};

export type RecordedCallOptions = Omit<CallOptions, "client" | "enter"> & {
  readonly caller: Caller;
  readonly traceIds: TraceIds;
  readonly recorded: RecordedRequest;
};

export type RecordedCall = Omit<ModelCall, "close"> & {
  readonly ids: GenerationIds;
  /** Whether a budget counts the call. */
  readonly isCharged: boolean;
  /**
   * Stores the result, also a failure, and frees the call; `endedAtMs` defaults to now. Only the
   * first call has an effect; the others return its result.
   */
  finish(end: CallEnd): Promise<CostEstimate>;
};

export type RecordedCalls = {
  /**
   * Opens a call. Fails like `ModelCalls`, with BUDGET_EXHAUSTED, and with INVALID_ARGUMENT naming
   * a malformed id.
   */
  open(project: ProjectScope, options: RecordedCallOptions): Promise<RecordedCall>;
};

export type RecordedCallsOptions = StoreGenerationParts & {
  readonly budgets: BudgetGate;
  readonly calls: ModelCalls;
  /** Keeps the service from stopping before running calls end. */
  readonly running: Pick<Running, "run">;
};

/**
 * `ask` stores a failure before it throws it. A call that could not be sent to any provider is not
 * stored.
 */
export function createRecordedCalls(options: RecordedCallsOptions): RecordedCalls {
  const { calls, running, budgets } = options;
  return {
    async open(project, { caller, traceIds, recorded, ...rest }) {
      const ids = createGenerationIds(traceIds);
      const charge = await inDatabaseTime(budgets.admit(project, caller.keyId));
      const request = charge ? withUsage(rest.request) : rest.request;
      const call = await calls.open(project, { ...rest, request, client: caller.signal });
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
          const asked = { request, askedModel: route.asked, startedAtMs, endedAtMs: Date.now() };
          const finished = { ...recorded, ...ids, ...asked, ...end };
          const parts = { ...options, charge };
          const estimate = await storeGeneration(parts, project, finished, caller.commit);
          caller.onRecorded(ids);
          return estimate;
        } finally {
          close();
        }
      }

      let stored: Promise<CostEstimate> | undefined;
      const finish: RecordedCall["finish"] = (end) => (stored ??= store(end));

      return {
        ...call,
        ids,
        isCharged: charge !== undefined,
        finish,
        async ask(kind) {
          try {
            return await call.ask(kind);
          } catch (error) {
            const { text, thrown } = failureOf(error, call.signal);
            if (error instanceof AttemptsError) {
              const { target, attempts, error: failed } = error;
              const { answer } = failed ?? {};
              await finish({ target, attempts, error: text, ...(answer && { answer }) });
            } else close();
            throw thrown;
          }
        },
      };
    },
  };
}
