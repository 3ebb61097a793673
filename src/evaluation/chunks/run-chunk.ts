// Runs one version of an evaluator on the events of a chunk, for some seconds at a time: reads what
// is still to run, runs it, and commits results as they come.
// Source: docs/decisions.md, 24 and 25; docs/workflows.md.

import { setTimeout as delay } from "node:timers/promises";
import { isProject } from "../../access/scope.ts";
import type { ProjectScope } from "../../access/scope.ts";
import { ServiceError } from "../../base/errors.ts";
import type { FairPlaces, Leave } from "../../base/fair-places.ts";
import { chunkEventsMax } from "../../base/limits.ts";
import type { Logger } from "../../base/logger.ts";
import type { Scopes } from "../../controlplane/scopes/scopes.ts";
import type { EvaluateChunkInput } from "../../outbox/entry.ts";
import type { CommittedScores } from "../../operator/metrics.ts";
import type { TracingOf } from "../../tracing/tracing.ts";
import type { BackfillRuns } from "../backfills/backfill-runs.ts";
import type { RunnableEvaluator } from "../evaluators/definition.ts";
import type { Evaluators } from "../evaluators/evaluators.ts";
import type { EventMemory } from "../runner/event-memory.ts";
import type { OpenRunner, Runner } from "../runner/runner.ts";
import type { ChunkCounts, ChunkKey, Committed, EndedRun, Scores } from "../scores/scores.ts";
import { createResultBatch } from "./result-batch.ts";
import { runEvents } from "./run-events.ts";
import { isOverloaded, isPermanent, openPatiently, toFailure } from "./run-event.ts";

/** How a chunk is over. */
export type ChunkEnd =
  /** Every event has a score or a failure. */
  | { readonly kind: "done" }
  /** Nobody wants the rest: the evaluator is disabled or deleted, or its project archived. */
  | { readonly kind: "dropped"; readonly reason: string }
  /** Another version runs by now, which gets the rest. */
  | { readonly kind: "requeued"; readonly reason: string }
  /** It failed too often in a row, here or before. */
  | { readonly kind: "disabled"; readonly reason: string }
  /** Its backfill is paused or has ended, and decides about the rest. */
  | { readonly kind: "held" };

export type ChunkStep = {
  readonly counts: ChunkCounts;
  /** Absent while there is more to do. */
  readonly end?: ChunkEnd;
  /** Time to wait before the next step, where other chunks have the places of the tenant. */
  readonly pauseMs?: number;
};

export type StepContext = {
  /** Has the step end at once; what has run is committed. */
  readonly signal: AbortSignal;
  /** Told how many results this step has committed so far. */
  readonly onCommitted?: (committed: number) => void;
};

export type Chunks = {
  /**
   * Runs what is left of a chunk, for as long as a step takes. Taking a step again changes nothing
   * that one before has committed. Fails with what is not the evaluator's doing: try again.
   */
  runStep(input: EvaluateChunkInput, context: StepContext): Promise<ChunkStep>;
  /** Gives the events of a chunk back that have not run; those of a backfill stay with it. */
  release(input: EvaluateChunkInput): Promise<void>;
};

export type ChunksOptions = {
  readonly scopes: Pick<Scopes, "find">;
  readonly evaluators: Pick<Evaluators, "find" | "disable">;
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
  /** Steps of code that run at a time in this process, and steps of judges, which may wait long. */
  readonly places: FairPlaces;
  readonly judgePlaces: FairPlaces;
  readonly eventMemory: EventMemory;
  readonly backfills: Pick<BackfillRuns, "isRunning" | "failOpenOf">;
  /** In a row, after which an evaluator is disabled. */
  readonly failuresMax: number;
  readonly logger: Pick<Logger, "error">;
  /** Told of what each commit brought. */
  readonly onScores?: (scores: CommittedScores) => void;
  /** Length of a step. */
  readonly stepMs?: number;
  /** Before a provider is asked again for the first time. */
  readonly pauseMs?: number;
  /** How long a chunk that has run waits for more events. */
  readonly lingerMs?: number;
};

/** After so much the workflow is told, so that its progress can be asked for. */
const stepMsDefault = 10_000;
const pauseMsDefault = 1_000;
/**
 * A start of the sandbox costs as much as many hundred events, so while events keep coming the one
 * that is open runs them too.
 */
const lingerMsDefault = 1_000;
const lingerPollMs = 150;
/** Whether a chunk is still wanted is asked so often. */
const lookMs = 2_000;
/**
 * A chunk without a place steps aside for so long, and for up to twice as long, so that the chunks
 * of others reach a worker before it comes again.
 */
const asideMs = 2_000;

/** A chunk and what it runs for. */
type Work = {
  readonly input: EvaluateChunkInput;
  readonly project: ProjectScope;
  readonly evaluator: RunnableEvaluator;
};

export function createChunks(options: ChunksOptions): Chunks {
  const { scopes, evaluators, scores, tracingOf, runner, backfills, failuresMax } = options;
  const { logger, stepMs = stepMsDefault, pauseMs = pauseMsDefault } = options;
  const { lingerMs = lingerMsDefault } = options;

  async function findProject(projectId: string): Promise<ProjectScope | undefined> {
    const scope = await scopes.find("project", projectId);
    return isProject(scope) ? scope : undefined;
  }

  /** Returns the version that the chunk runs, or why it is not to run any more. */
  async function lookAfter(input: EvaluateChunkInput): Promise<RunnableEvaluator | ChunkEnd> {
    const { projectId, evaluatorId, version, enablement, backfillId } = input;
    const isOnline = backfillId === undefined;
    if (!isOnline && !(await backfills.isRunning({ projectId, backfillId }))) {
      return { kind: "held" };
    }
    const current = await evaluators.find(projectId, evaluatorId);
    if (!current) return { kind: "dropped", reason: "the evaluator is deleted" };
    if (isOnline && !current.definition.enabled_in_prod) {
      return { kind: "dropped", reason: "the evaluator is disabled" };
    }
    if (isOnline && current.enablement !== enablement) {
      return { kind: "requeued", reason: "the evaluator was changed" };
    }
    if (current.version === version) return current;
    const older = await evaluators.find(projectId, evaluatorId, version);
    return older ?? { kind: "dropped", reason: "the evaluator is deleted" };
  }

  async function disable(work: Work, last: string | undefined): Promise<ChunkEnd> {
    const { projectId, evaluatorId, enablement } = work.input;
    const reason = `disabled after ${failuresMax} failures in a row`;
    const message = `${reason}: ${last ?? "unknown"}`;
    await evaluators.disable({ projectId, evaluatorId, enablement, message });
    await backfills.failOpenOf(projectId, evaluatorId, message);
    // How it failed is the evaluator's word, which may be an event's: Temporal keeps none of that.
    return { kind: "disabled", reason };
  }

  /**
   * Opens what runs the version; where that can never be, it fails on every event. Undefined when
   * there is no place for it all through a step.
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
        ...{ concurrency: 1, run: async () => failure },
        ...{ isWanted: () => false, close: async () => undefined },
      };
    }
  }

  /** Commits results, and sees by them and by looking now and then whether to go on. */
  function createCommit(work: Work, chunk: ChunkKey, onCommitted: StepContext["onCommitted"]) {
    let end: ChunkEnd | undefined;
    let lookedAt = Date.now();
    let committed = 0;

    async function judge(state: Committed): Promise<ChunkEnd | undefined> {
      if (state.failuresInRow >= failuresMax) return disable(work, state.lastFailure);
      if (Date.now() - lookedAt < lookMs) return undefined;
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

  /** Waits a while for more events of the version; none where the step or the wait is over. */
  async function takeOn(
    { input, project }: Work,
    chunk: ChunkKey,
    { opened, deadline, signal }: { opened: OpenRunner; deadline: number; signal: AbortSignal },
  ): Promise<readonly string[]> {
    // A backfill makes its chunks itself.
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
    const before = await scores.failuresInRow(project, chunk);
    if (before.failuresInRow >= failuresMax) return disable(work, before.lastFailure);
    let eventIds = await scores.runningOf(project, input.chunkId);
    if (eventIds.length === 0) return { kind: "done" };
    await scores.touchChunk(project, input.chunkId);
    const opened = await open(work, signal);
    // Chunks of others wait for their step, and may well have a place before this one.
    if (!opened) return undefined;
    const { selection } = tracingOf(project);
    const committing = createCommit(work, chunk, onCommitted);
    const batch = createResultBatch(committing.commit);
    const memory = options.eventMemory.open(project);
    const deadline = Date.now() + stepMs;
    const isOver = () => committing.end() !== undefined || Date.now() > deadline;
    try {
      while (eventIds.length > 0) {
        await runEvents({
          ...{ eventIds, evaluator, opened, signal, pauseMs, batch, isOver, memory },
          read: (ids) => selection.read(project.projectId, ids),
          onBug: (err) => {
            const { chunkId, evaluatorId } = input;
            logger.error({ err, chunkId, evaluatorId }, "an evaluator failed to run on an event");
          },
        });
        eventIds = isOver() ? [] : await takeOn(work, chunk, { opened, deadline, signal });
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
    // A backfill's chunk that is cut short stays open: the backfill ends it when it ends itself.
    if (end.kind !== "done" && input.backfillId !== undefined) return;
    await scores.endChunk(project, input.chunkId, end.kind === "requeued" ? "requeue" : "drop");
  }

  /** Waits for a place; undefined where its tenant has as many as it may for too long. */
  async function enter(
    { project, evaluator }: Work,
    signal: AbortSignal,
  ): Promise<Leave | undefined> {
    const isJudge = evaluator.definition.type === "LLM";
    try {
      return await options[isJudge ? "judgePlaces" : "places"].enter(project, signal);
    } catch (error) {
      if (!isOverloaded(error)) throw error;
      return undefined;
    }
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
      const project = await findProject(input.projectId);
      if (!project) {
        const counts = { events: input.events, scored: 0, failed: 0, skipped: 0 };
        return { counts, end: { kind: "dropped", reason: "the project is archived" } };
      }
      const found = await lookAfter(input);
      if ("kind" in found) return endStep({ input, project }, found);
      const work = { input, project, evaluator: found };
      const leave = await enter(work, context.signal);
      if (!leave) {
        const pauseMs = Math.round(asideMs * (1 + Math.random()));
        return { counts: await countChunk(work), pauseMs };
      }
      try {
        return await endStep(work, await runSome(work, context));
      } finally {
        leave();
      }
    },

    async release(input) {
      const project = await findProject(input.projectId);
      if (!project || input.backfillId !== undefined) return;
      await scores.endChunk(project, input.chunkId, "requeue");
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
