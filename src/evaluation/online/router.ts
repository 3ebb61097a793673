// The router: takes events off the queue and queues the runs of the evaluators that have to run on
// them, as events and evaluators are now.
// Source: docs/spec.md, "Metrics and evaluations"; docs/decisions.md, 22, 23, 26.

import type { ProjectScope } from "../../access/scope.ts";
import { ServiceError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { metricFilterMsMax, projectFilterMsMax } from "../../base/tenant-limits.ts";
import type { Clusters } from "../../postgres/clusters.ts";
import type { Sql } from "../../postgres/database.ts";
import type { TracingOf } from "../../tracing/tracing.ts";
import type { RoutedEvaluator } from "../evaluators/definition.ts";
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
    enabledOf(projectId: ProjectScope["projectId"]): Promise<readonly RoutedEvaluator[]>;
  };
  readonly tracingOf: TracingOf;
  readonly logger: Pick<Logger, "warn">;
  /** Longest time that the filters of one evaluator may take, on the events of a transaction. */
  readonly filterMsMax?: number;
};

const faultyMax = 1_000;
/** Of one transaction, which keeps the events from being deleted. */
const taken = { rowsMax: 500, eventsMax: 2_000 };
/** Fewer events where there are many evaluators, so that a transaction takes a second or so. */
const pairsMax = 200_000;
const hurriedMsMax = 50;

/** The events that an evaluator has to run on. */
type Matched = {
  readonly evaluator: RoutedEvaluator;
  readonly events: readonly queueStore.QueuedEvent[];
};

export function createRouter(options: RouterOptions): Router {
  const { clusters, evaluators, tracingOf, logger } = options;
  const { filterMsMax = metricFilterMsMax } = options;
  /** Versions whose filters could not be applied, so that it is said once. */
  const faulty = new Set<string>();

  function report({ evaluatorId, version }: RoutedEvaluator, error: unknown): void {
    const key = `${evaluatorId} ${version}`;
    if (faulty.has(key)) return;
    if (faulty.size >= faultyMax) faulty.clear();
    faulty.add(key);
    const about = { err: error, evaluatorId, version };
    logger.warn(about, "the filters of an evaluator cannot be applied; it does not run");
  }

  async function match(
    project: ProjectScope,
    evaluator: RoutedEvaluator,
    events: readonly queueStore.QueuedEvent[],
  ): Promise<Matched> {
    const { sampling_percentage: percentage } = evaluator.definition;
    const sampled = events.filter(({ eventId }) => isSampled(eventId, percentage));
    if (sampled.length === 0) return { evaluator, events: [] };
    const ids = sampled.map(({ eventId }) => eventId);
    const matching = await clusters.database(project.clusterId).step(async () => {
      const { selection } = tracingOf(project);
      return selection.matching(project.projectId, ids, onlineFilters(evaluator));
    });
    const matched = new Set(matching);
    return { evaluator, events: sampled.filter(({ eventId }) => matched.has(eventId)) };
  }

  /** Applies the filters of all evaluators, each for a bounded time. */
  async function matchAll(
    sql: Sql,
    project: ProjectScope,
    {
      enabled,
      events,
    }: {
      readonly enabled: readonly RoutedEvaluator[];
      readonly events: readonly queueStore.QueuedEvent[];
    },
  ): Promise<readonly Matched[]> {
    const hurryAt = Date.now() + projectFilterMsMax;
    let isHurried = false;
    const all: Matched[] = [];
    await queueStore.limitStatements(sql, filterMsMax);
    for (const evaluator of enabled) {
      try {
        all.push(await match(project, evaluator, events));
      } catch (error) {
        if (!isAboutFilters(error)) throw error;
        // The other evaluators, and the events behind these, must not wait for this one.
        report(evaluator, error);
      }
      if (isHurried || Date.now() < hurryAt) continue;
      isHurried = true;
      await queueStore.limitStatements(sql, hurriedMsMax);
    }
    await queueStore.limitStatements(sql, undefined);
    return all;
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
        for (const matched of await matchAll(sql, project, { enabled, events })) {
          if (matched.events.length === 0) continue;
          await runStore.insertQueuedRuns(sql, matched.evaluator, matched.events);
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
