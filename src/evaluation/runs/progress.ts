// How far the service's own evaluators are with the events of a run.
// Source: docs/experiments.md, "Progress".

import type { ProjectScope } from "../../access/scope.ts";
import type { TracingOf } from "../../tracing/tracing.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { EvaluationQueue } from "../online/queue.ts";
import type { ScoreCounts, Scores } from "../scores/scores.ts";
import { listMetrics } from "./results.ts";
import { sessionsOf } from "./runs.ts";
import type { RunRow } from "./store.ts";

/** Numbers of scores of one metric. */
export type MetricProgress = ScoreCounts & { readonly metricId: string; readonly name: string };

export type RunProgress = {
  /** Events in the sessions of the run. */
  readonly events: number;
  /** Events whose metrics are not chosen yet. */
  readonly waiting: number;
  readonly metrics: readonly MetricProgress[];
  /** Sums over the metrics. */
  readonly total: ScoreCounts;
  /** True if nothing waits or runs. */
  readonly isComplete: boolean;
};

export type RunProgressReader = {
  read(project: ProjectScope, run: RunRow): Promise<RunProgress>;
};

export type RunProgressOptions = {
  readonly tracingOf: TracingOf;
  readonly metrics: Pick<Metrics, "list">;
  readonly scores: Pick<Scores, "countEvents">;
  readonly queue: Pick<EvaluationQueue, "countWaiting">;
};

const none: ScoreCounts = { queued: 0, running: 0, scored: 0, failed: 0, cost: 0 };

export function createRunProgress(options: RunProgressOptions): RunProgressReader {
  const { tracingOf, metrics, scores, queue } = options;
  return {
    async read(project, run) {
      const sessions = sessionsOf(run);
      const counts = new Map<string, ScoreCounts>();
      let events = 0;
      let waiting = 0;
      for await (const ids of tracingOf(project).runEvents.idPages(project.projectId, sessions)) {
        events += ids.length;
        // Counts the queue before the scores: an event leaves it when its scores are queued.
        waiting += await queue.countWaiting(project, ids);
        for (const { evaluatorId, ...more } of await scores.countEvents(project, ids)) {
          counts.set(evaluatorId, add(counts.get(evaluatorId) ?? none, more));
        }
      }
      const known = await listMetrics(metrics, project);
      const names = new Map(known.map(({ id, name }) => [id, name]));
      const total = [...counts.values()].reduce(add, none);
      return {
        events,
        waiting,
        metrics: [...counts].map(([metricId, more]) => ({
          metricId,
          name: names.get(metricId) ?? "",
          ...more,
        })),
        total,
        isComplete: waiting + total.queued + total.running === 0,
      };
    },
  };
}

function add(a: ScoreCounts, b: ScoreCounts): ScoreCounts {
  return {
    queued: a.queued + b.queued,
    running: a.running + b.running,
    scored: a.scored + b.scored,
    failed: a.failed + b.failed,
    cost: a.cost + b.cost,
  };
}
