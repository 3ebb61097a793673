// Model calls of judges: not streamed, and without an event. The answer contains tokens and cost.
// Source: docs/evaluators.md; docs/decisions.md, 20.1, 22.6.

import type { ProjectScope } from "../../access/scope.ts";
import { outcomes, type Reason, ServiceError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Running } from "../../base/running.ts";
import { judgeTimeoutMsMax } from "../../base/tenant-limits.ts";
import { causeOf } from "../calls/attempts.ts";
import type { ModelPrices } from "../model-prices/model-prices.ts";
import type { Prices } from "../prices/prices.ts";
import type { ModelCall, ModelCalls } from "../calls/model-calls.ts";
import { enterWaiting, type WaitingPlaces } from "../calls/waiting-places.ts";
import { type ChatAnswer, readWholeChat } from "../chat/answer.ts";
import type { Target } from "../provider.ts";
import { isRetriable, ProviderError, toServiceError } from "../provider-error.ts";
import { completionTokens, promptTokens } from "../usage.ts";

export type JudgeQuestion = {
  /** Name of a connection of the project. */
  readonly provider: string;
  readonly model: string;
  /** Messages and `options` (temperature, response_format) in the form of the OpenAI API. */
  readonly messages: readonly JudgeMessage[];
  readonly options: JsonObject;
};

export type JudgeMessage = { readonly role: string; readonly content: string };

export type JudgeAnswer = {
  readonly kind: "answer";
  /** Empty if the model returned no text. */
  readonly text: string;
  /** Whether the answer was cut at its maximum length. */
  readonly isCut: boolean;
  /** Name of the connection that answered. */
  readonly provider: string;
  readonly model: string;
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  /** Cost in US dollars; null if the price is unknown. */
  readonly cost: number | null;
};

/** Permanent failure: the same question would fail again. */
export type JudgeRefusal = {
  readonly kind: "refusal";
  readonly reason: Reason;
  /** Text for people, without secrets. */
  readonly message: string;
};

export type JudgeCalls = {
  /**
   * Asks a model. Waits for a limited time for a place among the calls of all judges, and then
   * among the project's model calls.
   *
   * Fails with PROVIDER_FAILED, PROVIDER_LIMITED, PROVIDER_TIMEOUT or OVERLOADED if a retry may
   * help, and with the signal's reason if it is aborted.
   */
  ask(
    project: ProjectScope,
    question: JudgeQuestion,
    signal: AbortSignal,
  ): Promise<JudgeAnswer | JudgeRefusal>;
};

export type JudgeCallsOptions = WaitingPlaces & {
  readonly calls: ModelCalls;
  /** Keeps the service from stopping before running calls end. */
  readonly running: Pick<Running, "run">;
  readonly modelPrices: Pick<ModelPrices, "of">;
};

export function createJudgeCalls(options: JudgeCallsOptions): JudgeCalls {
  const { calls, running, modelPrices } = options;

  async function ask(
    project: ProjectScope,
    question: JudgeQuestion,
    client: AbortSignal,
  ): Promise<JudgeAnswer | JudgeRefusal> {
    const { provider, model, messages } = question;
    const body = { ...question.options, model, messages };
    const { prices } = await modelPrices.of(project.projectId);
    let call: ModelCall | undefined;
    try {
      call = await calls.open(project, {
        request: { operation: "chat", body, isStream: false },
        provider,
        client,
        timeoutMs: judgeTimeoutMsMax,
        promptCharacters: messages.reduce((sum, { content }) => sum + content.length, 0),
        enter: (count) => enterWaiting(options, { owner: project, count, signal: client }),
      });
      const { answer, target } = await call.ask("whole");
      return toAnswer(readWholeChat(answer), target, prices, call.startedAtMs);
    } catch (error) {
      if (call?.signal.aborted || client.aborted) throw call?.signal.reason ?? client.reason;
      return toRefusal(error);
    } finally {
      call?.close();
    }
  }

  return { ask: (...asked) => running.run(() => ask(...asked)) };
}

function toAnswer(
  { choices, responseModel, usage }: ChatAnswer,
  { connection, model }: Target,
  prices: Prices,
  atMs: number,
): JudgeAnswer {
  const [choice] = choices;
  const { content } = choice?.message ?? {};
  const { cost } = prices.estimate({
    provider: connection.name,
    providerType: connection.type,
    model: responseModel ?? model,
    requestedModel: model,
    usage,
    atMs,
  });
  return {
    kind: "answer",
    text: typeof content === "string" ? content : "",
    isCut: choice?.finishReason === "length",
    provider: connection.name,
    model: responseModel ?? model,
    promptTokens: usage ? promptTokens(usage) : null,
    completionTokens: usage ? completionTokens(usage) : null,
    cost,
  };
}

/** Returns a permanent failure as a refusal; throws an error if a retry may help. */
function toRefusal(error: unknown): JudgeRefusal {
  const cause = causeOf(error);
  const known = cause instanceof ProviderError ? toServiceError(cause) : cause;
  if (!(known instanceof ServiceError)) throw error;
  const mayHelp = cause instanceof ProviderError ? mayRetry(cause) : isUnavailable(known);
  if (mayHelp) throw known;
  return { kind: "refusal", reason: known.reason, message: known.message };
}

/** Malformed and broken answers are retried too: they may be a temporary fault of the provider. */
function mayRetry(error: ProviderError): boolean {
  const passing = ["malformed", "broken", "overloaded"];
  return isRetriable(error) || passing.includes(error.failure);
}

function isUnavailable({ reason }: ServiceError): boolean {
  return outcomes[reason].status >= 500;
}
