// Metrics, chunks and scores for tests of evaluation's stores and of dispatching: real tracing
// and scores on a test's database, with evaluators as plain records.

import { createUuid } from "../../src/base/ids.ts";
import type { ProjectId } from "../../src/base/ids.ts";
import type { Definition, RunnableEvaluator } from "../../src/evaluation/metrics/definition.ts";
import { createEvaluationQueue } from "../../src/evaluation/online/queue.ts";
import { createScores } from "../../src/evaluation/scores/scores.ts";
import type { ChunkKey, EndedRun } from "../../src/evaluation/scores/scores.ts";
import type { Score } from "../../src/evaluation/scores/score.ts";
import type { Clusters } from "../../src/postgres/clusters.ts";
import type { WrittenListener } from "../../src/tracing/events/write-set.ts";
import type { MaskOf } from "../../src/tracing/masking/masked-recorder.ts";
import { createTracing } from "../../src/tracing/tracing.ts";

type ScoringOptions = {
  readonly mayHaveEnabled?: (projectId: string) => boolean;
  readonly failuresMax?: number;
  readonly maskOf?: MaskOf;
  /** Called in place of the queue's own. */
  readonly listener?: WrittenListener;
};

/** Returns tracing, scores and the evaluation queue, which work together. */
export function givenScoring(clusters: Clusters, options: ScoringOptions = {}) {
  const { mayHaveEnabled = () => false, failuresMax = 10, maskOf } = options;
  const scores = createScores({ clusters, tracingOf: (place) => tracing.of(place), failuresMax });
  const queue = createEvaluationQueue({ clusters, scores, takers: [{ mayHaveEnabled }] });
  const tracing = createTracing({
    clusters,
    listener: options.listener ?? queue,
    ...(maskOf && { maskOf }),
  });
  return { tracing, scores, queue };
}

/** Returns an evaluator that runs on every event, except as a test changes it. */
export function anEvaluator(
  projectId: ProjectId,
  {
    definition,
    ...fields
  }: Partial<Omit<RunnableEvaluator, "definition">> & { definition?: Partial<Definition> } = {},
): RunnableEvaluator {
  return {
    evaluatorId: createUuid(),
    projectId,
    version: 1,
    enablement: 1,
    readsGroundTruth: false,
    ...fields,
    definition: {
      name: "accuracy",
      type: "PYTHON",
      criteria: "def accuracy(event): return 1",
      description: "",
      return_type: "float",
      enabled_in_prod: true,
      sampling_percentage: 100,
      model_provider: null,
      model_name: null,
      scale: null,
      threshold: null,
      categories: null,
      filters: { filterArray: [] },
      ...definition,
    },
  };
}

/** Returns the key of a chunk that runs an evaluator. */
export function aChunk(evaluator: RunnableEvaluator, chunkId: string = createUuid()): ChunkKey {
  const { evaluatorId, version, enablement, definition } = evaluator;
  return { chunkId, evaluatorId, version, enablement, name: definition.name };
}

export function aScore(eventId: string, score: Score, explanation?: string): EndedRun {
  return { eventId, result: { kind: "score", score, explanation, output: "" } };
}

export function aFailure(eventId: string, message = "it broke"): EndedRun {
  return { eventId, result: { kind: "failure", reason: "EXCEPTION", message, output: "" } };
}
