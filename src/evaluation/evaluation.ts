// Composes everything that scores events: metrics and their versions, manual runs, backfills, and
// the worker's part. Source: docs/evaluators.md.

import type { AccessChanges } from "../access/changes/changes.ts";
import type { Audit } from "../access/audit/audit.ts";
import { createFairPlaces } from "../base/fair-places.ts";
import { chunkStepsMax } from "../base/limits.ts";
import { chunkStepWaitMsMax } from "../base/tenant-limits.ts";
import type { Logger } from "../base/logger.ts";
import type { Config } from "../config.ts";
import type { Scopes } from "../controlplane/scopes/scopes.ts";
import type { Configurations } from "../generation/configurations/configurations.ts";
import type { ConfiguredCalls } from "../generation/configured/configured-calls.ts";
import type { JudgeCalls } from "../generation/judge/judge-calls.ts";
import type { CommittedScores, EvaluationStats } from "../observability/metrics.ts";
import type { Outbox } from "../outbox/outbox.ts";
import type { Clusters } from "../postgres/clusters.ts";
import type { Database } from "../postgres/database.ts";
import type { WrittenListener } from "../tracing/events/write-set.ts";
import type { TracingOf } from "../tracing/tracing.ts";
import { type BackfillRuns, createBackfillRuns } from "./backfills/backfill-runs.ts";
import { watchBackfills } from "./backfills/backfill-watch.ts";
import { type Backfills, createBackfills } from "./backfills/backfills.ts";
import { createDatapoints, type Datapoints } from "./datasets/datapoints.ts";
import { createDatasetExports, type DatasetExports } from "./datasets/files/exports.ts";
import { createDatasetImports, type DatasetImports } from "./datasets/files/imports.ts";
import { createFileReader } from "./datasets/files/read-file.ts";
import { createDatasets, type Datasets } from "./datasets/datasets.ts";
import { createEvaluations, type Evaluations } from "./evaluations/evaluations.ts";
import { createRunResults, type RunResults } from "./runs/results.ts";
import { createRuns, sessionsOf, type Runs } from "./runs/runs.ts";
import { createExecutionRuns, type ExecutionRuns } from "./executions/execution-runs.ts";
import { watchExecutions } from "./executions/execution-watch.ts";
import { createExecutions, type Executions } from "./executions/executions.ts";
import { createRunProgress, type RunProgressReader } from "./runs/progress.ts";
import { type Chunks, createChunks } from "./scores/run-chunk.ts";
import { createMetrics, type Metrics } from "./metrics/metrics.ts";
import { createMetricVersions, type MetricVersions } from "./metrics/versions.ts";
import { createReliability, type Reliability } from "./reliability/reliability.ts";
import { createWhy, type Why } from "./why/why.ts";
import { createDispatcher, type DispatcherOptions } from "./online/dispatcher.ts";
import { createEvaluationQueue } from "./online/queue.ts";
import { createEventMemory, type EventMemory } from "./runner/event-memory.ts";
import { createJudge } from "./runner/judge/judge.ts";
import type { PythonSandbox } from "./runner/python/sandbox.ts";
import { createRunner, type Runner } from "./runner/runner.ts";
import { createScores, type Scores } from "./scores/scores.ts";
import { createPreview, type Preview } from "./preview/preview.ts";
import { type Agreements, createAgreements } from "./queues/agreements.ts";
import { createHumanMetrics } from "./queues/human-metrics.ts";
import { createQueueItems, type QueueItems } from "./queues/items.ts";
import { createQueues, type Queues } from "./queues/queues.ts";
import { createReviews, type Reviews } from "./queues/reviews.ts";

export type EvaluationOptions = {
  readonly config: Pick<Config, "evaluation">;
  /** The control database. */
  readonly database: Database;
  /** Clusters with the events and scores. */
  readonly clusters: Clusters;
  readonly scopes: Pick<Scopes, "find" | "hold">;
  readonly audit: Pick<Audit, "append">;
  readonly changes: Pick<AccessChanges, "append" | "onForget">;
  readonly outbox: Outbox;
  readonly sandbox: PythonSandbox;
  /** May be created later, because creation does not call it. */
  readonly tracingOf: TracingOf;
  readonly judgeCalls: JudgeCalls;
  readonly configurations: Configurations;
  readonly configuredCalls: ConfiguredCalls;
};

export type Evaluation = {
  readonly metrics: Metrics;
  readonly versions: MetricVersions;
  readonly preview: Preview;
  readonly why: Why;
  readonly reliability: Reliability;
  readonly backfills: Backfills;
  readonly datasets: Datasets;
  readonly datapoints: Datapoints;
  readonly datasetExports: DatasetExports;
  readonly datasetImports: DatasetImports;
  readonly runs: Runs;
  readonly runResults: RunResults;
  readonly runProgress: RunProgressReader;
  readonly executions: Executions;
  readonly evaluations: Evaluations;
  /** Annotation queues, their events, and what people do with them. */
  readonly queues: Queues;
  readonly items: QueueItems;
  readonly reviews: Reviews;
  readonly agreements: Agreements;
  readonly runner: Runner;
  readonly eventMemory: EventMemory;
  readonly scores: Scores;
  /** Receives the events of each commit. */
  readonly listener: WrittenListener;
  /** Returns numbers of waiting and running work, for the operator. */
  stats(): Promise<EvaluationStats>;
};

export function createEvaluation(options: EvaluationOptions): Evaluation {
  const { config, sandbox, tracingOf, clusters } = options;
  const { failuresMax, codeBytesMax } = config.evaluation;
  const metrics = createMetrics({
    ...options,
    codeBytesMax,
    cancelBackfills: (...of) => backfills.cancelOpenOf(...of),
  });
  const scores = createScores({ clusters, tracingOf, failuresMax });
  const backfills: Backfills = createBackfills({ ...options, metrics, scores });
  const items = createQueueItems({ clusters, tracingOf });
  const queues = createQueues({ ...options, items });
  const humanMetrics = createHumanMetrics(metrics);
  const queue = createEvaluationQueue({ clusters, takers: [metrics, queues], scores });
  const eventMemory = createEventMemory();
  const datasets = createDatasets({ clusters });
  const datapoints = createDatapoints({ clusters, tracingOf });
  const datasetExports = createDatasetExports({ clusters });
  const runs: Runs = createRuns({
    clusters,
    datasets,
    async onEnded(sql, project, run) {
      const sessions = sessionsOf(run);
      const { runEvents } = tracingOf(project);
      const open = await runEvents.openSessionIds(sql, project.projectId, sessions);
      await queue.addAgain(sql, project, open);
    },
    forgetExecution: (...of) => executions.forget(...of),
  });
  const executions = createExecutions({
    ...options,
    calls: options.configuredCalls,
    datasets,
    datasetExports,
    runs,
  });
  const runResults = createRunResults({ runs, metrics, tracingOf });
  const runner = createRunner({ sandbox, judge: createJudge({ calls: options.judgeCalls }) });
  return {
    metrics,
    scores,
    backfills,
    datasets,
    datapoints,
    datasetExports,
    datasetImports: createDatasetImports({ clusters, reader: createFileReader() }),
    runs,
    runResults,
    runProgress: createRunProgress({ tracingOf, metrics, scores, queue }),
    executions,
    evaluations: createEvaluations({ runs, results: runResults, tracingOf }),
    queues,
    items,
    reviews: createReviews({ clusters, tracingOf, humanMetrics }),
    agreements: createAgreements({ clusters, humanMetrics }),
    runner,
    eventMemory,
    versions: createMetricVersions({ ...options, codeBytesMax }),
    why: createWhy({ queue, backfills, metrics, tracingOf, runs, scores, failuresMax }),
    reliability: createReliability({ metrics, clusters }),
    preview: createPreview({
      findMetric: (...named) => metrics.find(...named),
      tracingOf,
      runner,
      sandbox,
      // Separate from the memory of chunks, which could use up the project's part of it.
      eventMemory: createEventMemory(),
      limits: { codeBytesMax },
    }),
    listener: queue,
    stats: async () => ({
      ...(await queue.stats()),
      sandboxProcesses: sandbox.processCount(),
    }),
  };
}

export type EvaluationWorkOptions = Omit<EvaluationOptions, "judgeCalls" | "configurations"> & {
  readonly evaluation: Evaluation;
  /** Called with the scores of each commit. */
  readonly onScores: (scores: CommittedScores) => void;
  /** Starts workflows, and queries Temporal about them. */
  readonly client: DispatcherOptions["client"];
  readonly logger: Logger;
};

export type EvaluationWork = {
  /** Functions for the activities. */
  readonly chunks: Chunks;
  readonly backfillRuns: BackfillRuns;
  readonly executionRuns: ExecutionRuns;
  /** Begins to turn waiting evaluations into chunks, and to watch backfills, until `stop`. */
  follow(): void;
  stop(): Promise<void>;
};

/**
 * Maximum concurrent steps of chunks, code and judges. One organization gets at most three quarters
 * of them, one project half. Waiting steps give up after a while; Temporal then starts others.
 */
const stepPlaces = {
  max: chunkStepsMax,
  orgMax: (chunkStepsMax * 3) / 4,
  projectMax: chunkStepsMax / 2,
  waitMs: chunkStepWaitMsMax,
  waitersMax: chunkStepsMax,
  refusal: "the maximum number of chunks is running; try again",
};

/** Returns the part of evaluation that runs in the worker. */
export function createEvaluationWork(options: EvaluationWorkOptions): EvaluationWork {
  const { config, scopes, tracingOf, evaluation, logger } = options;
  const { metrics, scores, runner, eventMemory } = evaluation;
  const backfillRuns = createBackfillRuns({ ...options, metrics, scores });
  const chunks = createChunks({
    scopes,
    metrics,
    scores,
    tracingOf,
    runner,
    logger,
    places: createFairPlaces(stepPlaces),
    judgePlaces: createFairPlaces(stepPlaces),
    eventMemory,
    backfills: backfillRuns,
    failuresMax: config.evaluation.failuresMax,
    onScores: options.onScores,
  });
  const { runs } = evaluation;
  const executionRuns = createExecutionRuns({
    ...options,
    ...evaluation,
    calls: options.configuredCalls,
    progress: evaluation.runProgress,
    places: createFairPlaces(stepPlaces),
  });
  const dispatcher = createDispatcher({
    ...options,
    queues: evaluation.queues,
    items: evaluation.items,
    runs,
    metrics,
    scores,
    watchWork: async () => {
      await watchBackfills({ ...options, runs: backfillRuns, metrics });
      await watchExecutions({ ...options, runs, executionRuns });
    },
  });
  return {
    chunks,
    backfillRuns,
    executionRuns,
    follow: () => dispatcher.follow(),
    stop: () => dispatcher.stop(),
  };
}
