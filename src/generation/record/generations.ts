// Where generations begin and end: their ids and place in a trace, and their commit as model
// events. Called by chat and proxy; an answer is given after `finish`.
// Source: docs/decisions.md, 5, 7, 18, 20, 28.

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

/** What a caller says of where a generation belongs; ids of 1 to 128 printable characters. */
export type Placement = {
  readonly sessionId?: string | undefined;
  readonly parentId?: string | undefined;
};

/** Ids of a generation that runs. */
export type Place = {
  readonly generationId: string;
  readonly sessionId: string;
  readonly parentId: string | undefined;
};

/** A call of a model that is to be priced. */
export type PricedCall = {
  /** Name of a connection, which is that of a known provider or anything. */
  readonly provider: string;
  readonly providerType: ProviderType | undefined;
  /** As the provider answered it, else as it was asked. */
  readonly model: string;
  /** As it was asked: looked up where `model` has no price. */
  readonly requestedModel?: string | undefined;
  readonly usage: Usage | undefined;
  readonly atMs: number;
  /** A stream of the OpenAI API, which tells `usage` to who asks for it. */
  readonly isOpenAiStream?: boolean;
};

export type Prices = {
  /** Returns what a call cost; a price that is not known is null, with the reason. */
  estimate(call: PricedCall): CostEstimate;
};

export type Generations = Running & {
  /** Gives a generation its ids. Fails with INVALID_ARGUMENT naming the id that is none. */
  place(placement: Placement): Place;
  /**
   * Stores a generation, and returns what it cost. `commit` runs the storing, at once or with what
   * else has to be kept with it. Fails with NOT_FOUND when the project was archived meanwhile.
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
 * A project that was active when the call was let in counts as active for so long; an archive waits
 * longer than this and a commit take together.
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
        await events.create(project.projectId, kept);
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

/** Faults of one event that are got around: its session, and its payload. */
const storableFaults = 2;

// The model has run: its event is kept. Where the session that the caller named is an event of
// another kind, in a session of its own; where no event can hold it, without its payload.
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
