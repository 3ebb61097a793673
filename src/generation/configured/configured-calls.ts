// Model calls of experiment runs: a configuration on one datapoint, without storing the event. A
// call waits for its place, and has an idempotency key for the provider.
// Source: docs/experiments.md, "Execution"; docs/decisions.md, 39.6.

import type { ProjectScope } from "../../access/scope.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Running } from "../../base/running.ts";
import type { EventWrite } from "../../tracing/events/event.ts";
import { AttemptsError, failureOf } from "../calls/attempts.ts";
import { type CallEnd, type GenerationIds, toEventWrite } from "../calls/generation-event.ts";
import { modelOf, type ModelRequest } from "../calls/model-call.ts";
import type { ModelCalls } from "../calls/model-calls.ts";
import { costOfAttempts, estimateOf } from "../calls/store-generation.ts";
import { enterWaiting, type WaitingPlaces } from "../calls/waiting-places.ts";
import { readWholeChat } from "../chat/answer.ts";
import { type ChatTask, toChatTask, withConfiguration } from "../chat/request.ts";
import type { Environment } from "../configurations/configuration.ts";
import { toUsed, type UsableConfiguration } from "../configurations/used.ts";
import type { Routing } from "../connections/routing/routing.ts";
import type { ModelPrices } from "../model-prices/model-prices.ts";

/** A configuration, and what a run changes in it. */
export type ConfiguredModel = {
  readonly configuration: UsableConfiguration;
  readonly environment?: Environment | undefined;
  /** Replaces the configuration's model; may begin with the name of a provider. */
  readonly model?: string | undefined;
  /** Replace hyperparameters of the configuration by name. */
  readonly hyperparameters?: JsonObject | undefined;
};

export type ConfiguredCall = {
  /** Values of the placeholders. */
  readonly inputs: JsonObject;
  /** Messages after those of the configuration. */
  readonly messages: readonly JsonObject[];
  readonly ids: GenerationIds;
  readonly metadata: JsonObject;
};

export type ConfiguredEnd = {
  /** Model event with the answer or the failure. */
  readonly write: EventWrite;
  /** Cost in US dollars, of unusable answers too; null if unknown or nothing was called. */
  readonly cost: number | null;
  /** Text of the failure. */
  readonly error?: string;
};

export type ConfiguredCalls = {
  /** Throws INVALID_ARGUMENT naming the field if a call would be refused before it is sent. */
  check(
    project: ProjectScope,
    model: ConfiguredModel,
    call: Pick<ConfiguredCall, "inputs" | "messages">,
  ): Promise<void>;
  /**
   * Calls the model; a failure of the provider is a result. Throws INVALID_ARGUMENT like `check`,
   * OVERLOADED if there is no place for a time, and the reason of the signal.
   */
  call(
    project: ProjectScope,
    model: ConfiguredModel,
    call: ConfiguredCall,
    signal: AbortSignal,
  ): Promise<ConfiguredEnd>;
};

export type ConfiguredCallsOptions = WaitingPlaces & {
  readonly calls: ModelCalls;
  readonly routing: Pick<Routing, "find">;
  /** Keeps the service from stopping before running calls end. */
  readonly running: Pick<Running, "run">;
  readonly modelPrices: Pick<ModelPrices, "of">;
};

export function createConfiguredCalls(options: ConfiguredCallsOptions): ConfiguredCalls {
  const { calls, routing, running, modelPrices } = options;

  async function ask(
    project: ProjectScope,
    model: ConfiguredModel,
    { inputs, messages, ids, metadata }: ConfiguredCall,
    client: AbortSignal,
  ): Promise<ConfiguredEnd> {
    const task = toTask(model, { inputs, messages });
    const request: ModelRequest = {
      operation: "chat",
      body: task.body,
      isStream: false,
      idempotencyKey: ids.generationId,
    };
    const { prices } = await modelPrices.of(project.projectId);
    const call = await calls.open(project, {
      request,
      client,
      promptCharacters: task.filledCharacters,
      enter: (count) => enterWaiting(options, { owner: project, count, signal: client }),
    });
    let end: CallEnd;
    try {
      const { answer, ...asked } = await call.ask("whole");
      end = { ...asked, answer: readWholeChat(answer) };
    } catch (error) {
      client.throwIfAborted();
      if (!(error instanceof AttemptsError)) throw error;
      const { target, attempts, error: failed } = error;
      const { answer } = failed ?? {};
      const { text } = failureOf(error, call.signal);
      end = { target, attempts, error: text, ...(answer && { answer }) };
    } finally {
      call.close();
    }
    const finished = {
      nameFor: (name: string) => `chat ${name}`,
      source: "evaluation" as const,
      config: task.config,
      inputs: task.inputs,
      metadata,
      userProperties: {},
      ...ids,
      request,
      askedModel: call.route.asked,
      startedAtMs: call.startedAtMs,
      endedAtMs: Date.now(),
      ...end,
    };
    const estimate = estimateOf(prices, finished);
    const { error } = end;
    return {
      write: toEventWrite(finished, estimate),
      cost: costOfAttempts(prices, finished, estimate),
      ...(error !== undefined && { error }),
    };
  }

  return {
    async check(project, model, call) {
      const { body } = toTask(model, call);
      const request: ModelRequest = { operation: "chat", body, isStream: false };
      await routing.find(project, modelOf(request), undefined);
    },
    call: (...asked) => running.run(() => ask(...asked)),
  };
}

function toTask(
  { configuration, environment, model = "", hyperparameters }: ConfiguredModel,
  { inputs, messages }: Pick<ConfiguredCall, "inputs" | "messages">,
): ChatTask {
  const used = toUsed(configuration, { environment, hasMessages: messages.length > 0 });
  const request = { project: "", messages, model, hyperparameters, functions: [], inputs };
  return toChatTask(withConfiguration(request, used));
}
