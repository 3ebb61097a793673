// Runs one version of an evaluator on the events of a chunk, for some seconds per step: reads the
// unfinished runs, runs them, and commits results as they come.
// Source: docs/decisions.md, 24.1 and 25.1; docs/workflows.md.

import { setTimeout as delay } from "node:timers/promises";
import type { ProjectScope } from "../../access/scope.ts";
import { ServiceError } from "../../base/errors.ts";
import type { FairPlaces } from "../../base/fair-places.ts";
import { chunkEventsMax } from "../../base/limits.ts";
import type { Logger } from "../../base/logger.ts";
import { findProject, type Scopes } from "../../controlplane/scopes/scopes.ts";
import type { EvaluateChunkInput } from "../../outbox/entry.ts";
import type { CommittedScores } from "../../observability/metrics.ts";
import type { TracingOf } from "../../tracing/tracing.ts";
import type { BackfillRuns } from "../backfills/backfill-runs.ts";
import type { RunnableEvaluator } from "../metrics/definition.ts";
import { disableAfterFailures, type FailureCount } from "../metrics/disable-after-failures.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { EventMemory } from "../runner/event-memory.ts";
import type { OpenRunner, Runner } from "../runner/runner.ts";
import type { ChunkCounts, ChunkKey, Committed, EndedRun, Scores } from "./scores.ts";
import { createResultBatch } from "./result-batch.ts";
import { runEvents } from "./run-events.ts";
import { inTurn } from "./turns.ts";
import { isPermanent, openPatiently, toFailure } from "./run-event.ts";

/** Reason for the end of a chunk. */
export type ChunkEnd =
  /** Every event has a score or a failure. */
  | { readonly kind: "done" }
  /** The rest is obsolete: the evaluator is disabled or deleted, or its project archived. */
  | { readonly kind: "dropped"; readonly reason: string }
  /** Another version has been deployed; the rest of the events wait for it. */
  | { readonly kind: "requeued"; readonly reason: string }
  /** The evaluator failed too often in a row, in this chunk or before. */
  | { readonly kind: "disabled"; readonly reason: string }
  /** The chunk's backfill is paused or has ended, and decides about the rest. */
  | { readonly kind: "held" };

export type ChunkStep = {
  readonly counts: ChunkCounts;
  /** Absent while there is more to do. */
  readonly end?: ChunkEnd;
  /** Pause before the next step, if other chunks have the tenant's places. */
  readonly pauseMs?: number;
};

export type StepContext = {
  /** Ends the step at once; finished runs are committed. */
  readonly signal: AbortSignal;
  /** Called with the number of results that this step has committed so far. */
  readonly onCommitted?: (committed: number) => void;
};

export type Chunks = {
  /**
   * Continues a chunk for the length of a step. Repeating a step changes nothing that an earlier
   * one committed. Throws errors that are not the evaluator's fault: try again.
   */
  runStep(input: EvaluateChunkInput, context: StepContext): Promise<ChunkStep>;
  /**
   * Gives unfinished events of a chunk back to the queue; those of a backfill stay in the chunk.
   */
  release(input: EvaluateChunkInput): Promise<void>;
};

export type ChunksOptions = {
  readonly scopes: Pick<Scopes, "find">;
  readonly metrics: Pick<Metrics, "find" | "disable">;
  readonly scores: Pick<
    Scores,
    | "runningOf"
    | "commitResults"
    | "failuresInRow"
    | "endChunk"
    | "extendChunk"
    | "touchChunk"
    | "countChunk"
  >;
  readonly tracingOf: TracingOf;
  readonly runner: Runner;
  /**
   * Places for concurrent steps of code in this process, and for steps of judges, which may wait
   * long.
   */
  readonly places: FairPlaces;
  readonly judgePlaces: FairPlaces;
  readonly eventMemory: EventMemory;
  readonly backfills: Pick<BackfillRuns, "isRunning" | "failOpenOf">;
  /** Failures in a row after which an evaluator is disabled. */
  readonly failuresMax: number;
  readonly logger: Pick<Logger, "error">;
  /** Called with the scores of each commit. */
  readonly onScores?: (scores: CommittedScores) => void;
  /** Length of a step. */
  readonly stepMs?: number;
  /** Pause before the first retry at a provider. */
  readonly pauseMs?: number;
  /** Time that a chunk waits for more events after running. */
  readonly lingerMs?: number;
};

/** Length of a step, after which the workflow gets the progress, so that it can be queried. */
const stepMsDefault = 10_000;
const pauseMsDefault = 1_000;
/**
 * Time that an open evaluator waits for more events: a start of the sandbox costs as much as many
 * hundred events, so it runs later events too.
 */
const lingerMsDefault = 1_000;
const lingerPollMs = 150;
/** Time between two checks that a chunk is still wanted. */
const lookMs = 2_000;
/** A chunk with its project and evaluator. */
type Work = {
  readonly input: EvaluateChunkInput;
  readonly project: ProjectScope;
  readonly evaluator: RunnableEvaluator;
};

export function createChunks(options: ChunksOptions): Chunks {
  const { scopes, metrics, scores, tracingOf, runner, backfills } = options;
  const { logger, stepMs = stepMsDefault, pauseMs = pauseMsDefault } = options;
  const { lingerMs = lingerMsDefault } = options;

  /** Returns the version that the chunk runs, or the reason to stop. */
  async function lookAfter(input: EvaluateChunkInput): Promise<RunnableEvaluator | ChunkEnd> {
    const { projectId, evaluatorId, version, enablement, backfillId } = input;
    const isOnline = backfillId === undefined;
    if (!isOnline && !(await backfills.isRunning({ projectId, backfillId }))) {
      return { kind: "held" };
    }
    const current = await metrics.find(projectId, evaluatorId);
    if (!current) return { kind: "dropped", reason: "the evaluator is deleted" };
    if (isOnline && !current.definition.enabled_in_prod) {
      return { kind: "dropped", reason: "the evaluator is disabled" };
    }
    if (isOnline && current.enablement !== enablement) {
      return { kind: "requeued", reason: "the evaluator was changed" };
    }
    if (current.version === version) return current;
    const older = await metrics.find(projectId, evaluatorId, version);
    return older ?? { kind: "dropped", reason: "the evaluator is deleted" };
  }

  async function disable({ input }: Work, count: FailureCount): Promise<ChunkEnd | undefined> {
    const reason = await disableAfterFailures(options, input, count);
    return reason === undefined ? undefined : { kind: "disabled", reason };
  }

  /**
   * Opens a runner of the version. If that fails permanently, returns one that fails on every
   * event. Undefined if there is no place during a whole step.
   */
  async function open(
    { project, evaluator }: Work,
    signal: AbortSignal,
  ): Promise<OpenRunner | undefined> {
    try {
      const ask = () => runner.open(project, evaluator, signal);
      return await openPatiently(ask, { signal, waitMs: stepMs });
    } catch (error) {
      if (!(error instanceof ServiceError && isPermanent(error))) throw error;
      const failure = toFailure(error);
      return {
        concurrency: 1,
        run: async () => failure,
        isWanted: () => false,
        close: async () => undefined,
      };
    }
  }

  /**
   * Creates a committer of results. The results, and a check now and then, tell whether to
   * continue.
   */
  function createCommit(work: Work, chunk: ChunkKey, onCommitted: StepContext["onCommitted"]) {
    let end: ChunkEnd | undefined;
    let lookedAt = Date.now();
    let committed = 0;

    async function judge(state: Committed): Promise<ChunkEnd | undefined> {
      const disabled = await disable(work, state);
      if (disabled) return disabled;
      const isFailing = state.failuresInRow >= options.failuresMax;
      if (!isFailing && Date.now() - lookedAt < lookMs) return undefined;
      lookedAt = Date.now();
      const found = await lookAfter(work.input);
      return "kind" in found ? found : undefined;
    }

    return {
      end: () => end,
      commit: async (results: readonly EndedRun[]): Promise<void> => {
        const state = await scores.commitResults(work.project, chunk, results);
        committed += state.committed;
        onCommitted?.(committed);
        options.onScores?.(countKinds(work.evaluator, results));
        end ??= await judge(state);
      },
    };
  }

  /** Waits a while for more events of the version; returns none if the step or the wait is over. */
  async function takeMoreEvents(
    { input, project }: Work,
    chunk: ChunkKey,
    { opened, deadline, signal }: { opened: OpenRunner; deadline: number; signal: AbortSignal },
  ): Promise<readonly string[]> {
    // A backfill creates its chunks itself.
    if (input.backfillId !== undefined) return [];
    const counts = await scores.countChunk(project, input.chunkId);
    if (counts === undefined || counts.events >= chunkEventsMax) return [];
    const until = Math.min(deadline, Date.now() + lingerMs);
    while (Date.now() < until && !opened.isWanted()) {
      const eventIds = await scores.extendChunk(project, chunk, chunkEventsMax);
      if (eventIds.length > 0) return eventIds;
      await delay(lingerPollMs, undefined, { signal });
    }
    return [];
  }

  async function runSome(work: Work, context: StepContext): Promise<ChunkEnd | undefined> {
    const { input, project, evaluator } = work;
    const { signal, onCommitted } = context;
    const chunk: ChunkKey = { ...input, name: evaluator.definition.name };
    const disabled = await disable(work, await scores.failuresInRow(project, chunk));
    if (disabled) return disabled;
    let eventIds = await scores.runningOf(project, input.chunkId);
    if (eventIds.length === 0) return { kind: "done" };
    await scores.touchChunk(project, input.chunkId);
    const opened = await open(work, signal);
    // Chunks of other tenants wait for their step and may get a place earlier.
    if (!opened) return undefined;
    const { selection } = tracingOf(project);
    const committing = createCommit(work, chunk, onCommitted);
    const batch = createResultBatch(committing.commit);
    const memory = options.eventMemory.open(project);
    const time = openStepTime(stepMs);
    const isOver = () => committing.end() !== undefined || Date.now() > time.endMs();
    try {
      while (eventIds.length > 0) {
        await runEvents({
          eventIds,
          evaluator,
          opened,
          signal,
          pauseMs,
          batch,
          isOver,
          onResult: time.noteResult,
          memory,
          read: (ids) => selection.read(project.projectId, ids),
          onBug: (err) => {
            const { chunkId, evaluatorId } = input;
            logger.error({ err, chunkId, evaluatorId }, "an evaluator failed to run on an event");
          },
        });
        const lingering = { opened, deadline: time.endMs(), signal };
        eventIds = isOver() ? [] : await takeMoreEvents(work, chunk, lingering);
      }
    } finally {
      memory.release();
      await opened.close();
    }
    const end = committing.end();
    if (end) return end;
    const left = await scores.runningOf(project, input.chunkId);
    return left.length === 0 ? { kind: "done" } : undefined;
  }

  async function endChunk({ input, project }: Omit<Work, "evaluator">, end: ChunkEnd) {
    if (end.kind === "held") return;
    // A backfill's interrupted chunk stays open; the backfill ends it at its own end.
    if (end.kind !== "done" && input.backfillId !== undefined) return;
    await scores.endChunk(project, input.chunkId, end.kind === "requeued" ? "requeue" : "drop");
  }

  async function countChunk({ input, project }: Omit<Work, "evaluator">): Promise<ChunkCounts> {
    const counts = await scores.countChunk(project, input.chunkId);
    return counts ?? { events: input.events, scored: 0, failed: 0, skipped: 0 };
  }

  async function endStep(
    work: Omit<Work, "evaluator">,
    end: ChunkEnd | undefined,
  ): Promise<ChunkStep> {
    if (end) await endChunk(work, end);
    return { counts: await countChunk(work), ...(end && { end }) };
  }

  return {
    async runStep(input, context) {
      const project = await findProject(scopes, input.projectId);
      if (!project) {
        const counts = { events: input.events, scored: 0, failed: 0, skipped: 0 };
        return { counts, end: { kind: "dropped", reason: "the project is archived" } };
      }
      const found = await lookAfter(input);
      if ("kind" in found) return endStep({ input, project }, found);
      const work = { input, project, evaluator: found };
      const places = found.definition.type === "LLM" ? options.judgePlaces : options.places;
      const turn = { owner: project, signal: context.signal };
      const step = await inTurn(places, turn, async () =>
        endStep(work, await runSome(work, context)),
      );
      if (!("kind" in step)) return step;
      return { counts: await countChunk(work), pauseMs: step.pauseMs };
    },

    async release(input) {
      const project = await findProject(scopes, input.projectId);
      if (!project || input.backfillId !== undefined) return;
      await scores.endChunk(project, input.chunkId, "requeue");
    },
  };
}

/**
 * Returns the time of a step, which begins anew with the first result: on a busy machine a process
 * takes longer to start than a step, and would be ended after one event each time.
 */
function openStepTime(stepMs: number) {
  let endMs = Date.now() + stepMs;
  let hasResult = false;
  return {
    endMs: () => endMs,
    noteResult: () => {
      if (!hasResult) endMs = Date.now() + stepMs;
      hasResult = true;
    },
  };
}

function countKinds(
  { definition }: RunnableEvaluator,
  results: readonly EndedRun[],
): CommittedScores {
  const failed: Record<string, number> = {};
  let scored = 0;
  for (const { result } of results) {
    if (result.kind === "score") scored += 1;
    if (result.kind === "failure") failed[result.reason] = (failed[result.reason] ?? 0) + 1;
  }
  return { type: definition.type, scored, failed };
}
