// Judges with stand-ins of providers, composed as in the service.

import { createLogger } from "../../src/base/logger.ts";
import type { ProjectScope } from "../../src/access/scope.ts";
import type { ProjectId } from "../../src/base/ids.ts";
import type { RunnableDefinition } from "../../src/evaluation/runner/runner.ts";
import { createJudge } from "../../src/evaluation/runner/judge/judge.ts";
import type { Judge } from "../../src/evaluation/runner/runner.ts";
import { createAnswerMemory } from "../../src/generation/calls/answer-memory.ts";
import { type Concurrency, createConcurrency } from "../../src/generation/calls/concurrency.ts";
import { createWaitingPlaces } from "../../src/generation/calls/waiting-places.ts";
import { createJudgeCalls } from "../../src/generation/judge/judge-calls.ts";
import type { JudgeCalls } from "../../src/generation/judge/judge-calls.ts";
import { createModelCalls } from "../../src/generation/calls/model-calls.ts";
import type { ModelPrices } from "../../src/generation/model-prices/model-prices.ts";
import { createPrices } from "../../src/generation/prices/prices.ts";
import { noPricing } from "../../src/tracing/events/event.ts";
import type { ProviderType } from "../../src/generation/provider.ts";
import { createRouting } from "../../src/generation/connections/routing/routing.ts";
import { createRunning } from "../../src/base/running.ts";
import type { StandIn } from "./openai-stand-in.ts";
import { callModel, targetAt } from "./translated.ts";

export const providerTypes: readonly ProviderType[] = [
  ...(["openai", "azure", "anthropic", "google", "bedrock", "mistral"] as const),
  "openai_compatible",
];

/** Project of the calls; it is never looked up. */
export const judgingProject: ProjectScope = {
  level: "project",
  id: "01900000-0000-7000-8000-000000000001",
  name: "demo",
  orgId: "o",
  dataplaneId: "d",
  workspaceId: "w",
  projectId: "01900000-0000-7000-8000-000000000001" as ProjectId,
  clusterId: "main",
};

export type Judges = {
  readonly judge: Judge;
  readonly calls: JudgeCalls;
  readonly concurrency: Concurrency;
};

/** Returns judges. Each provider is named by its type, and retries do not wait. */
export function givenJudges(
  standIn: StandIn,
  limits: {
    readonly callsMax?: number;
    readonly judgeCallsMax?: number;
    readonly bytesMax?: number;
  } = {},
): Judges {
  const { callsMax = 100 } = limits;
  const concurrency = createConcurrency({ max: callsMax });
  const modelCalls = createModelCalls({
    routing: createRouting({
      connectionsFor: () => Promise.resolve([]),
      aliasesFor: () => Promise.resolve([]),
      operator: {
        connections: providerTypes.map((type) => targetAt(standIn, type, "").connection),
        aliases: [],
      },
      onForget: () => undefined,
    }),
    callModel,
    concurrency,
    logger: createLogger("silent"),
    answerMemory: createAnswerMemory(limits.bytesMax ?? 100_000_000),
    attemptsMax: 2,
    backoff: { firstMs: 0, pauseMsMax: 0, retryAfterMsMax: 0 },
    timeoutMs: 60_000,
  });
  const calls = createJudgeCalls({
    calls: modelCalls,
    running: createRunning(),
    modelPrices: tablePrices,
    concurrency,
    places: createWaitingPlaces("judge", callsMax, limits.judgeCallsMax),
  });
  return { judge: createJudge({ calls }), calls, concurrency };
}

/** The prices of the table, in every project. */
export const tablePrices: Pick<ModelPrices, "of"> = {
  of: async () => ({ prices: createPrices(), pricing: noPricing }),
};

/** Returns a judge that answers its prompt if the model plays `echo`. */
export function aJudge(over: Partial<RunnableDefinition> = {}): RunnableDefinition {
  return {
    type: "LLM",
    criteria: "Judge {{ outputs.content }} [[{{ outputs.score }}]]",
    return_type: "float",
    model_provider: "openai_compatible",
    model_name: "llama3-echo",
    scale: 5,
    categories: null,
    ...over,
  };
}
