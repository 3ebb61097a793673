// The one road to a model: route, concurrency limit, memory, signal and attempts. Chats, proxied
// calls and judges differ only in the use of the answer. Source: docs/decisions.md, 20.1, 21.1.

import type { ProjectScope } from "../../access/scope.ts";
import type { Logger } from "../../base/logger.ts";
import { inDatabaseTime } from "../../base/within.ts";
import type { Routing } from "../connections/routing/routing.ts";
import type { Route } from "../provider.ts";
import { concurrentCalls } from "../providers/call-model.ts";
import {
  type AnswerMemory,
  currentAnswer,
  type Keep,
  keeperOf,
  keepPrompt,
} from "./answer-memory.ts";
import { type Backoff, runAttempts } from "./attempts.ts";
import { openCallSignal } from "./call-signal.ts";
import type { Concurrency, Release } from "./concurrency.ts";
import type { Attempt, CallEnd } from "./generation-event.ts";
import { type CallModel, type ModelAnswer, modelOf, type ModelRequest } from "./model-call.ts";

export type CallOptions = {
  readonly request: ModelRequest;
  /** Name of a connection; `model` is then a model of this connection. */
  readonly provider?: string | undefined;
  /** Aborted when the client disconnects. */
  readonly client: AbortSignal;
  /** Shortens the maximum duration of the call. */
  readonly timeoutMs?: number | undefined;
  /** Number of characters of a prompt that the request's body does not account for. */
  readonly promptCharacters?: number;
  /** Takes the places of the call; the default fails with OVERLOADED if there are none. */
  readonly enter?: (calls: number) => Release | Promise<Release>;
};

/** Answer to a call, and the attempts until it began. */
export type Asked<K extends ModelAnswer["kind"]> = Omit<CallEnd, "answer"> & {
  readonly answer: Extract<ModelAnswer, { kind: K }>;
};

export type ModelCall = {
  readonly route: Route;
  readonly startedAtMs: number;
  /** Aborted when the client is gone, the time is up, or `end` was called. */
  readonly signal: AbortSignal;
  /** Counts the gathered bytes of the answer. */
  readonly keep: Keep;
  /** Asks the targets for the kind of answer that the request wants. Fails like `runAttempts`. */
  ask<K extends ModelAnswer["kind"]>(kind: K): Promise<Asked<K>>;
  end(reason: Error): void;
  /** Frees the places and the memory of the call, and stops its timer. */
  close(): void;
};

export type ModelCalls = {
  /**
   * Opens a call of the request's model. Fails with INVALID_ARGUMENT naming `model` or `provider`,
   * with OVERLOADED, with DATABASE_UNAVAILABLE, and with the reason of an aborted client.
   */
  open(project: ProjectScope, options: CallOptions): Promise<ModelCall>;
};

export type ModelCallsOptions = {
  readonly routing: Pick<Routing, "find">;
  readonly concurrency: Concurrency;
  readonly answerMemory: AnswerMemory;
  readonly callModel: CallModel;
  /** Maximum tries of each target. */
  readonly attemptsMax: number;
  readonly backoff?: Backoff;
  /** Maximum duration of a call with all attempts and the whole answer. */
  readonly timeoutMs: number;
  readonly logger: Pick<Logger, "debug">;
};

export function createModelCalls(options: ModelCallsOptions): ModelCalls {
  const { routing, concurrency, answerMemory, callModel, attemptsMax, backoff, logger } = options;
  const onAttempt = (tried: Attempt): void => {
    const { unusable: _, ...attempt } = tried;
    logger.debug(attempt, "model call tried");
  };
  return {
    async open(project, { request, provider, client, promptCharacters = 0, ...call }) {
      const startedAtMs = Date.now();
      const timeoutMs = Math.min(call.timeoutMs ?? options.timeoutMs, options.timeoutMs);
      const enter = call.enter ?? ((calls) => concurrency.enter(project, calls));
      const route = await inDatabaseTime(routing.find(project, modelOf(request), provider));
      const targets = route.targets.map((one) => `${one.connection.name}/${one.model}`);
      logger.debug({ project_id: project.projectId, targets }, "model call routed");
      const release = await enter(concurrentCalls(route, request));
      const memory = answerMemory.open(project);
      const free = (): void => {
        memory.release();
        release();
      };
      try {
        keepPrompt(memory, promptCharacters);
        const { signal, end, close } = openCallSignal(client, timeoutMs);
        const attempting = { attemptsMax, signal, onAttempt, ...(backoff && { backoff }) };
        return {
          route,
          startedAtMs,
          signal,
          keep: keeperOf(memory),
          async ask<K extends ModelAnswer["kind"]>(kind: K) {
            const { value, target, attempts } = await currentAnswer.run(memory, () =>
              runAttempts(route, attempting, (one) => callModel(one, request, signal)),
            );
            if (value.kind !== kind) throw new Error("the answer is not of the requested kind");
            const answer = value as Asked<K>["answer"];
            return { answer, target, attempts, firstByteMs: Date.now() - startedAtMs };
          },
          end,
          close() {
            close();
            free();
          },
        };
      } catch (error) {
        free();
        throw error;
      }
    },
  };
}
