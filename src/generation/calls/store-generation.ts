// Gives generations their ids, and stores them as model events. The answer is sent after the
// commit. Source: docs/decisions.md, 7, 18.2, 21.2.

import type { ProjectScope } from "../../access/scope.ts";
import { refuse, ServiceError } from "../../base/errors.ts";
import { createUuid, isRecordId } from "../../base/ids.ts";
import { present } from "../../base/json.ts";
import { errorLengthMax } from "../../base/limits.ts";
import { inDatabaseTime } from "../../base/within.ts";
import type { Scopes } from "../../controlplane/scopes/scopes.ts";
import type { CostEstimate, EventWrite } from "../../tracing/events/event.ts";
import type { TracingOf } from "../../tracing/tracing.ts";
import type { Charge } from "../budgets/gate.ts";
import type { ModelPrices } from "../model-prices/model-prices.ts";
import { asksUsage } from "../openai/stream-usage.ts";
import type { Prices } from "../prices/prices.ts";
import { speaksOpenAi } from "../provider.ts";
import { type FinishedGeneration, type GenerationIds, toEventWrite } from "./generation-event.ts";

/** Ids in a trace from the request; they have 1 to 128 printable characters. */
export type TraceIds = {
  readonly sessionId?: string | undefined;
  readonly parentId?: string | undefined;
};

/** Services that store a generation. */
export type StoreGenerationParts = {
  readonly tracingOf: TracingOf;
  readonly scopes: Pick<Scopes, "find">;
  readonly modelPrices: Pick<ModelPrices, "of">;
  /** Counts the call in the commit of its event; undefined if no budget applies. */
  readonly charge?: Charge | undefined;
};

/**
 * Time after admission in which the project counts as active without a check. Archiving waits
 * longer than this time plus a commit.
 */
const activeMs = 10_000;

/**
 * Stores a generation and returns its cost. `commit` runs the write, at once or together with other
 * writes. Fails with DATABASE_UNAVAILABLE, and with NOT_FOUND if the project was archived
 * meanwhile.
 */
export function storeGeneration(
  parts: StoreGenerationParts,
  project: ProjectScope,
  generation: FinishedGeneration,
  commit: (effect: () => Promise<void>) => Promise<void>,
): Promise<CostEstimate> {
  // An event that takes longer is stored once the database answers, without its caller.
  return inDatabaseTime(priceAndStore(parts, project, generation, commit));
}

async function priceAndStore(
  parts: StoreGenerationParts,
  project: ProjectScope,
  generation: FinishedGeneration,
  commit: (effect: () => Promise<void>) => Promise<void>,
): Promise<CostEstimate> {
  const { charge, modelPrices } = parts;
  const { prices } = await modelPrices.of(project.projectId);
  const estimate = estimateOf(prices, generation);
  const effect = () => store(parts, project, toEventWrite(generation, estimate));
  const cost = chargedCost(prices, generation, estimate);
  await commit(() => (charge ? charge.commit(effect, cost) : effect()));
  return estimate;
}

/** Returns what budgets count: the cost of all attempts; 0 for a call that providers refused. */
function chargedCost(
  prices: Prices,
  generation: FinishedGeneration,
  estimate: CostEstimate,
): number | null {
  return isRefused(generation) ? 0 : costOfAttempts(prices, generation, estimate);
}

/**
 * Returns the cost of the answer, and of unusable answers of providers that were asked before, in
 * US dollars; null if no price is known.
 */
export function costOfAttempts(
  prices: Prices,
  generation: FinishedGeneration,
  { cost }: CostEstimate,
): number | null {
  const others = generation.attempts.flatMap(({ unusable }) => {
    if (!unusable || unusable.answer === generation.answer) return [];
    return estimateOf(prices, { ...generation, ...unusable }).cost ?? [];
  });
  return others.length === 0 ? cost : others.reduce((sum, one) => sum + one, cost ?? 0);
}

/**
 * Returns whether providers refused every attempt, which costs nothing. An attempt that failed
 * otherwise may be billed.
 */
function isRefused({ attempts, answer }: FinishedGeneration): boolean {
  return !answer && attempts.length > 0 && attempts.every(({ status }) => isRefusal(status));
}

/** A 408 may come after a model ran. */
function isRefusal(status = 0): boolean {
  return status >= 400 && status < 500 && status !== 408;
}

/** Returns the estimated cost of a generation. */
export function estimateOf(prices: Prices, generation: FinishedGeneration): CostEstimate {
  const { target, answer, source, request } = generation;
  const { connection, model } = target;
  return prices.estimate({
    provider: connection.name,
    providerType: connection.type,
    model: answer?.responseModel ?? model,
    requestedModel: model,
    usage: answer?.usage,
    atMs: generation.startedAtMs,
    isUsageUnasked:
      source === "proxy" &&
      request.isStream &&
      generation.error === undefined &&
      speaksOpenAi(connection.type) &&
      !asksUsage(request),
  });
}

async function store(
  { tracingOf, scopes }: StoreGenerationParts,
  project: ProjectScope,
  write: EventWrite,
): Promise<void> {
  const isFresh = Date.now() - (write.start_time ?? 0) < activeMs;
  if (!isFresh && !(await scopes.find("project", project.id))) {
    throw new ServiceError("NOT_FOUND", "the project was archived while a model ran");
  }
  const { events } = tracingOf(project);
  let kept = write;
  for (let tries = 1; ; tries += 1) {
    try {
      await events.create(project.projectId, kept, { organization: project.orgId });
      return;
    } catch (error) {
      const isRefused = error instanceof ServiceError && error.reason === "INVALID_ARGUMENT";
      if (!isRefused || tries > storableFaults) throw error;
      kept = withoutFault(kept, error.message);
    }
  }
}

/** Creates the ids of a generation. Fails with INVALID_ARGUMENT naming the malformed id. */
export function createGenerationIds({ sessionId, parentId }: TraceIds): GenerationIds {
  const session = idOf("session_id", sessionId);
  const parent = idOf("parent_id", parentId);
  return { generationId: createUuid(), sessionId: session ?? createUuid(), parentId: parent };
}

/** Faults of one event that can be worked around: its session and its payload. */
const storableFaults = 2;

// Returns the event without the refused part. The model ran, so its event must be stored: in a new
// session if the given session id belongs to an event of another kind, and without its payload if
// no event can hold it.
export function withoutFault(write: EventWrite, fault: string): EventWrite {
  const { session_id = "", metadata = {}, ...rest } = write;
  if (fault.startsWith("event.session_id:")) {
    return { ...rest, metadata: { ...metadata, refused_session_id: session_id } };
  }
  const { config = {}, error, inputs: _, outputs: __, user_properties: ___, ...bare } = write;
  const named = ["model", "provider", "type"].map((key) => [key, config[key]] as const);
  return {
    ...bare,
    ...(error !== undefined && { error: error.slice(0, errorLengthMax) }),
    inputs: {},
    config: present(Object.fromEntries(named)),
    metadata: { ...metadata, refused_payload: fault },
  };
}

function idOf(field: string, text: string | undefined): string | undefined {
  if (text === undefined || text === "") return undefined;
  if (isRecordId(text)) return text;
  return refuse(field, "must be 1 to 128 printable characters");
}
