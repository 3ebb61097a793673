// Gives generations their ids and their place in a trace, and stores them as model events. The
// answer is sent after `finish`. Source: docs/decisions.md, 5, 7, 18, 20, 28.

import type { ProjectScope, Scope } from "../../access/scope.ts";
import { ServiceError } from "../../base/errors.ts";
import { createUuid, isRecordId } from "../../base/ids.ts";
import { present } from "../../base/json.ts";
import { errorLengthMax } from "../../base/limits.ts";
import { createRunning, type Running } from "../../base/running.ts";
import type { CostEstimate, EventWrite } from "../../tracing/events/event.ts";
import type { TracingOf } from "../../tracing/tracing.ts";
import type { ProviderType } from "../provider.ts";
import type { Usage } from "../usage.ts";
import { type FinishedGeneration, toEventWrite } from "./generation-event.ts";

/** Place in a trace from the request; ids have 1 to 128 printable characters. */
export type Placement = {
  readonly sessionId?: string | undefined;
  readonly parentId?: string | undefined;
};

/** Ids of a running generation. */
export type Place = {
  readonly generationId: string;
  readonly sessionId: string;
  readonly parentId: string | undefined;
};

/** Model call to be priced. */
export type PricedCall = {
  /** Name of the connection: a known provider's name or any other. */
  readonly provider: string;
  readonly providerType: ProviderType | undefined;
  /** Model name in the answer; else the requested one. */
  readonly model: string;
  /** Requested model name, used if `model` has no price. */
  readonly requestedModel?: string | undefined;
  readonly usage: Usage | undefined;
  readonly atMs: number;
  /** True for a stream of the OpenAI API, which reports `usage` only on request. */
  readonly isOpenAiStream?: boolean;
};

export type Prices = {
  /** Returns the cost of a call; null with a reason if the price is unknown. */
  estimate(call: PricedCall): CostEstimate;
};

export type Generations = Running & {
  /** Creates the ids of a generation. Fails with INVALID_ARGUMENT naming the malformed id. */
  place(placement: Placement): Place;
  /**
   * Stores a generation and returns its cost. `commit` runs the write, at once or together with
   * other writes. Fails with NOT_FOUND if the project was archived meanwhile.
   */
  finish(
    project: ProjectScope,
    generation: FinishedGeneration,
    commit: (effect: () => Promise<void>) => Promise<void>,
  ): Promise<CostEstimate>;
};

export type GenerationsOptions = {
  readonly tracingOf: TracingOf;
  readonly findScope: (level: "project", id: string) => Promise<Scope | undefined>;
  readonly prices: Prices;
};

/**
 * Time after admission in which the project counts as active without a check. Archiving waits
 * longer than this time plus a commit.
 */
const activeMs = 10_000;

export function createGenerations(options: GenerationsOptions): Generations {
  const { tracingOf, findScope, prices } = options;
  const running = createRunning();

  async function assertActive(project: ProjectScope, sinceMs: number): Promise<void> {
    if (Date.now() - sinceMs < activeMs) return;
    if (await findScope("project", project.id)) return;
    throw new ServiceError("NOT_FOUND", "the project was archived while a model ran");
  }

  async function store(project: ProjectScope, write: EventWrite): Promise<void> {
    await assertActive(project, write.start_time ?? 0);
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

  return {
    place({ sessionId, parentId }) {
      const session = idOf("session_id", sessionId);
      const parent = idOf("parent_id", parentId);
      return { generationId: createUuid(), sessionId: session ?? createUuid(), parentId: parent };
    },

    async finish(project, generation, commit) {
      const estimate = prices.estimate({
        provider: generation.provider,
        providerType: generation.providerType,
        model: generation.responseModel ?? generation.model,
        requestedModel: generation.model,
        usage: generation.usage,
        atMs: generation.startedAtMs,
        isOpenAiStream:
          generation.source === "proxy" && generation.isStream && generation.error === undefined,
      });
      await commit(() => store(project, toEventWrite(generation, estimate)));
      return estimate;
    },

    ...running,
  };
}

/** Faults of one event that can be worked around: its session and its payload. */
const storableFaults = 2;

// Returns the event without the refused part. The model ran, so its event must be stored: in a new
// session if the given session id belongs to an event of another kind, and without its payload if
// no event can hold it.
function withoutFault(write: EventWrite, fault: string): EventWrite {
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
  throw new ServiceError("INVALID_ARGUMENT", `${field}: must be 1 to 128 printable characters`);
}
