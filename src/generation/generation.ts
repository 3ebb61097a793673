// Puts together the parts of generation: providers, credentials, routing, chat, proxy, judge calls
// and prices. Source: docs/generations.md.

import type { AccessChanges } from "../access/changes/changes.ts";
import type { Keys } from "../access/keys/keys.ts";
import type { Audit } from "../access/audit/audit.ts";
import { createEncryptionKeys } from "../access/encryption-keys.ts";
import { createAddressGuard } from "../base/address-guard.ts";
import type { Logger } from "../base/logger.ts";
import { modelAnswersShare } from "../base/tenant-limits.ts";
import type { Config } from "../config.ts";
import type { Scopes } from "../controlplane/scopes/scopes.ts";
import type { Notifications } from "../notifications/notifications.ts";
import type { Clusters } from "../postgres/clusters.ts";
import type { Database } from "../postgres/database.ts";
import type { TracingOf } from "../tracing/tracing.ts";
import { type Aliases, createAliases } from "./connections/aliases/aliases.ts";
import { type Budgets, createBudgets } from "./budgets/budgets.ts";
import { createBudgetGate } from "./budgets/gate.ts";
import { createMissedNotices, type MissedNotices } from "./budgets/missed-notices.ts";
import { createSpendTeller } from "./budgets/tell-spend.ts";
import { createAnswerMemory } from "./calls/answer-memory.ts";
import { createConcurrency, processCallsMax } from "./calls/concurrency.ts";
import { createOutbound } from "./providers/outbound.ts";
import { type Chat, createChat } from "./chat/chat.ts";
import { type Configurations, createConfigurations } from "./configurations/configurations.ts";
import {
  type ConfigurationVersions,
  createConfigurationVersions,
} from "./configurations/versions.ts";
import { createCredentials, type Credentials } from "./connections/credentials/credentials.ts";
import { createJudgeCalls, type JudgeCalls } from "./judge/judge-calls.ts";
import { createModels, type Models } from "./proxy/models.ts";
import { createCallModel } from "./providers/call-model.ts";
import { createModelCalls } from "./calls/model-calls.ts";
import { createRecordedCalls } from "./calls/recorded-calls.ts";
import { createWaitingPlaces } from "./calls/waiting-places.ts";
import { type ConfiguredCalls, createConfiguredCalls } from "./configured/configured-calls.ts";
import { createProxy, type Proxy } from "./proxy/proxy.ts";
import type { ModelPrices } from "./model-prices/model-prices.ts";
import { createTools, type Tools } from "./tools/tools.ts";
import { createRunning } from "../base/running.ts";
import { createRouting, toOperatorProviders } from "./connections/routing/routing.ts";

export type Generation = {
  readonly credentials: Credentials;
  readonly aliases: Aliases;
  readonly configurations: Configurations;
  readonly configurationVersions: ConfigurationVersions;
  readonly tools: Tools;
  readonly budgets: Budgets;
  /** Work of the worker, which begins it. */
  readonly missedNotices: MissedNotices;
  readonly chat: Chat;
  readonly proxy: Proxy;
  readonly models: Models;
  readonly judgeCalls: JudgeCalls;
  readonly configuredCalls: ConfiguredCalls;
  /** Waits until every generation is stored, then closes the connections to providers. */
  close(): Promise<void>;
};

export type GenerationOptions = {
  readonly config: Config;
  readonly database: Database;
  readonly scopes: Pick<Scopes, "find" | "hold">;
  readonly audit: Pick<Audit, "append">;
  readonly changes: Pick<AccessChanges, "append" | "onForget">;
  readonly clusters: Pick<Clusters, "database" | "ids" | "away">;
  readonly keys: Pick<Keys, "get">;
  readonly notifications: Notifications;
  readonly tracingOf: TracingOf;
  readonly modelPrices: ModelPrices;
  readonly logger: Logger;
};

export function createGeneration(options: GenerationOptions): Generation {
  const { config, changes, logger } = options;
  const addressGuard = createAddressGuard({ privateHosts: config.providerPrivateHosts });
  const outbound = createOutbound({
    addressGuard,
    firstByteTimeoutMs: config.providerTimeoutMs,
    idleTimeoutMs: config.providerIdleTimeoutMs,
    // A socket for every call that may run, so that no call waits for one: requests and background
    // work have equal limits.
    socketsMax: 2 * processCallsMax(config.generationConcurrencyMax),
  });
  const encryptionKeys = createEncryptionKeys(config.encryptionKeys);
  const credentials = createCredentials({ ...options, keys: encryptionKeys, addressGuard });
  const aliases = createAliases(options);
  const configurations = createConfigurations(options);
  const routing = createRouting({
    connectionsFor: (project) => credentials.connectionsFor(project),
    aliasesFor: (project) => aliases.aliasesFor(project),
    operator: toOperatorProviders(config.operatorProviders, config.operatorAliases),
    onForget: (listener) => changes.onForget(listener),
  });
  const running = createRunning();
  const concurrency = createConcurrency({ max: config.generationConcurrencyMax });
  const answerMemory = createAnswerMemory(config.bytesInFlightMax * modelAnswersShare);
  const calls = createModelCalls({
    routing,
    concurrency,
    answerMemory,
    callModel: createCallModel(outbound),
    attemptsMax: config.providerAttemptsMax,
    timeoutMs: config.generationTimeoutMs,
    logger,
  });
  const budgets = createBudgets(options);
  const teller = createSpendTeller(options);
  const recordedCalls = createRecordedCalls({
    ...options,
    calls,
    running,
    budgets: createBudgetGate({ ...options, teller, memory: budgets.memory }),
  });
  return {
    credentials,
    aliases,
    configurations,
    configurationVersions: createConfigurationVersions(options),
    tools: createTools(options),
    budgets,
    missedNotices: createMissedNotices({ ...options, teller }),
    chat: createChat({ recordedCalls, configurations }),
    proxy: createProxy({ recordedCalls, calls, configurations, logger }),
    models: createModels({ routing, answerMemory, outbound }),
    judgeCalls: createJudgeCalls({
      calls,
      concurrency,
      running,
      places: createWaitingPlaces("judge", config.generationConcurrencyMax),
      modelPrices: options.modelPrices,
    }),
    configuredCalls: createConfiguredCalls({
      calls,
      routing,
      concurrency,
      running,
      places: createWaitingPlaces("run", config.generationConcurrencyMax),
      modelPrices: options.modelPrices,
    }),
    async close() {
      await running.drain();
      await outbound.close();
    },
  };
}
