// The router: takes events off the queue and queues the runs of the evaluators that have to run on
// them, as events and evaluators are now. Called by dispatcher.ts.
// Source: docs/spec.md, "Metrics and evaluations"; docs/decisions.md, 22, 23, 26.

import type { ProjectScope } from "../../access/scope.ts";
import { ServiceError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Clusters } from "../../postgres/clusters.ts";
import type { TracingOf } from "../../tracing/tracing.ts";
import type { RunnableEvaluator } from "../evaluators/definition.ts";
import { onlineFilters } from "./conditions.ts";
import { isSampled } from "./sampling.ts";
import * as queueStore from "./queue-store.ts";
import * as runStore from "./run-store.ts";

export type Router = {
  /**
   * Routes the events that wait longest in a project, a bounded number; returns how many. None
   * while another worker is at the project.
   */
  route(project: ProjectScope): Promise<number>;
};

export type RouterOptions = {
  readonly clusters: Pick<Clusters, "database">;
  readonly evaluators: {
    enabledOf(projectId: ProjectScope["projectId"]): Promise<readonly RunnableEvaluator[]>;
  };
  readonly tracingOf: TracingOf;
  readonly logger: Pick<Logger, "warn">;
};

const faultyMax = 1_000;
/** Of one transaction, which keeps the events from being deleted. */
const taken = { rowsMax: 500, eventsMax: 2_000 };
/** Fewer events where there are many evaluators, so that a transaction takes a second or so. */
const pairsMax = 200_000;

export function createRouter(options: RouterOptions): Router {
  const { clusters, evaluators, tracingOf, logger } = options;
  /** Versions whose filters could not be applied, so that it is said once. */
  const faulty = new Set<string>();

  function report({ evaluatorId, version }: RunnableEvaluator, error: unknown): void {
    const key = `${evaluatorId} ${version}`;
    if (faulty.has(key)) return;
    if (faulty.size >= faultyMax) faulty.clear();
    faulty.add(key);
    const about = { err: error, evaluatorId, version };
    logger.warn(about, "the filters of an evaluator cannot be applied; it does not run");
  }

  async function queueRuns(
    project: ProjectScope,
    evaluator: RunnableEvaluator,
    events: readonly queueStore.QueuedEvent[],
  ): Promise<void> {
    const { definition } = evaluator;
    const sampled = events.filter(({ eventId }) =>
      isSampled(eventId, definition.sampling_percentage),
    );
    if (sampled.length === 0) return;
    const { projectId } = project;
    await clusters.database(project.clusterId).step(async (sql) => {
      const ids = sampled.map(({ eventId }) => eventId);
      const filters = onlineFilters(evaluator);
      const matching = new Set(
        await tracingOf(project).selection.matching(projectId, ids, filters),
      );
      const matched = sampled.filter(({ eventId }) => matching.has(eventId));
      if (matched.length > 0) await runStore.insertQueuedRuns(sql, evaluator, matched);
    });
  }

  return {
    async route(project) {
      const { projectId, clusterId } = project;
      const enabled = await evaluators.enabledOf(projectId);
      return clusters.database(clusterId).transaction(async (sql) => {
        if (!(await queueStore.lockProject(sql, projectId))) return 0;
        const eventsMax = Math.min(taken.eventsMax, Math.ceil(pairsMax / enabled.length));
        const rows = await queueStore.takeQueueRows(sql, projectId, { ...taken, eventsMax });
        const events = earliest(rows);
        for (const evaluator of enabled) {
          try {
            await queueRuns(project, evaluator, events);
          } catch (error) {
            if (!isAboutFilters(error)) throw error;
            // The other evaluators, and the events behind these, must not wait for this one.
            report(evaluator, error);
          }
        }
        return events.length;
      });
    },
  };
}

/** Each event once, however often it was written; it waits since the first time. */
function earliest(events: readonly queueStore.QueuedEvent[]): queueStore.QueuedEvent[] {
  const found = new Map<string, queueStore.QueuedEvent>();
  for (const event of events) {
    if (!found.has(event.eventId)) found.set(event.eventId, event);
  }
  return [...found.values()];
}

/** A filter of no valid form; SQLSTATE classes of bad data and exceeded limits; a time-out. */
function isAboutFilters(error: unknown): boolean {
  if (error instanceof ServiceError) return error.reason === "INVALID_FILTER";
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && /^(22...|54...|57014)$/.test(code);
}
