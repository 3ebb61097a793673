// The router: takes events off the queue, queues runs of the evaluators that match them, and puts
// them into the annotation queues that match them, with the current state of all of these.
// Source: docs/spec.md, "Metrics and evaluations"; docs/decisions.md, 22.2, 23, 26, 45.1.

import type { ProjectScope } from "../../access/scope.ts";
import { ServiceError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { metricFilterMsMax, projectFilterMsMax } from "../../base/tenant-limits.ts";
import type { Clusters } from "../../postgres/clusters.ts";
import type { Sql } from "../../postgres/database.ts";
import { codeOf } from "../../base/error-code.ts";
import type { FilterInput } from "../../tracing/export/filter.ts";
import type { TracingOf } from "../../tracing/tracing.ts";
import type { RoutedEvaluator } from "../metrics/definition.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { QueueItems } from "../queues/items.ts";
import type { Queues, RoutedQueue } from "../queues/queues.ts";
import type { Runs } from "../runs/runs.ts";
import type { QueuedEvent, Scores } from "../scores/scores.ts";
import { onlineFilters, openSessionFilters, runFilters, sourceFilters } from "./conditions.ts";
import { findOpenSessions } from "./open-sessions.ts";
import { isSampled } from "./sampling.ts";
import * as queueStore from "./queue-store.ts";

export type Router = {
  /**
   * Routes a bounded number of the longest waiting events of a project; returns the number. None
   * while another worker handles the project.
   */
  route(project: ProjectScope): Promise<number>;
};

export type RouterOptions = {
  readonly clusters: Pick<Clusters, "database">;
  readonly metrics: Pick<Metrics, "enabledOf">;
  readonly queues: Pick<Queues, "enabledOf">;
  readonly items: Pick<QueueItems, "addMatching">;
  readonly runs: Pick<Runs, "findEnded">;
  readonly tracingOf: TracingOf;
  readonly scores: Pick<Scores, "queueRuns">;
  readonly logger: Pick<Logger, "warn" | "debug">;
  /** Maximum time of one evaluator's filters on the events of a transaction. */
  readonly filterMsMax?: number;
};

const faultyMax = 1_000;
/** Maximum of one transaction, which keeps the events from being deleted. */
const taken = { rowsMax: 500, eventsMax: 2_000 };
/** Maximum pairs of event and what may take it, so that a transaction takes about a second. */
const pairsMax = 200_000;
const hurriedMsMax = 50;

/** An event of the queue that evaluators may run on. */
type Candidate = QueuedEvent & {
  /** Whether it belongs to an experiment run, which is evaluated without sampling. */
  readonly isOfRun: boolean;
};

/** An evaluator or an annotation queue. */
type Taker = {
  /** Fields of log lines; tells takers apart. */
  readonly about: Readonly<Record<string, string | number>>;
  /** Returns the events to take, of those given. */
  match(): Promise<readonly QueuedEvent[]>;
  /** Takes events, which are held. */
  take(events: readonly QueuedEvent[]): Promise<void>;
};

/** Events for a taker. */
type Matched = { readonly taker: Taker; readonly events: readonly QueuedEvent[] };

export function createRouter(options: RouterOptions): Router {
  const { clusters, metrics, queues, items, tracingOf, scores, logger } = options;
  const { filterMsMax = metricFilterMsMax } = options;
  /** Versions and queues whose filters failed, so that each is logged once. */
  const faulty = new Set<string>();

  function report({ about }: Taker, error: unknown): void {
    const key = Object.values(about).join(" ");
    if (faulty.has(key)) return;
    if (faulty.size >= faultyMax) faulty.clear();
    faulty.add(key);
    logger.warn(
      { err: error, ...about },
      "filters cannot be applied; the evaluator or queue takes no events",
    );
  }

  /** Returns the ids of events that meet filters. */
  async function matching(
    project: ProjectScope,
    events: readonly QueuedEvent[],
    filters: readonly FilterInput[],
  ): Promise<ReadonlySet<string>> {
    const ids = events.map(({ eventId }) => eventId);
    const found = await clusters
      .database(project.clusterId)
      .step(() => tracingOf(project).selection.matching(project.projectId, ids, filters));
    return new Set(found);
  }

  /**
   * Returns the events whose source, or experiment run, lets evaluators run on them: of a run, not
   * the sessions that are open.
   */
  async function toCandidates(
    project: ProjectScope,
    events: readonly QueuedEvent[],
  ): Promise<readonly Candidate[]> {
    const online = await matching(project, events, sourceFilters);
    const others = events.filter(({ eventId }) => !online.has(eventId));
    const ofRuns = await matching(project, others, runFilters);
    const ofRunsOnly = others.filter(({ eventId }) => ofRuns.has(eventId));
    const open = await findOpenSessions(options, project, [
      ...(await matching(project, ofRunsOnly, openSessionFilters)),
    ]);
    return events
      .filter(({ eventId }) => online.has(eventId) || (ofRuns.has(eventId) && !open.has(eventId)))
      .map((event) => ({ ...event, isOfRun: ofRuns.has(event.eventId) }));
  }

  /** Returns an evaluator as a taker of candidates. */
  function toEvaluating(
    project: ProjectScope,
    evaluator: RoutedEvaluator,
    candidates: readonly Candidate[],
  ): Taker {
    const { evaluatorId, version, definition } = evaluator;
    return {
      about: { evaluatorId, version },
      async match() {
        const sampled = candidates.filter(
          ({ eventId, isOfRun }) => isOfRun || isSampled(eventId, definition.sampling_percentage),
        );
        if (sampled.length === 0) return [];
        const matched = await matching(project, sampled, onlineFilters(evaluator));
        return sampled.filter(({ eventId }) => matched.has(eventId));
      },
      take: (events) => scores.queueRuns(project, evaluator, events),
    };
  }

  /** Returns an annotation queue as a taker of events, whatever their source. */
  function toQueueing(
    project: ProjectScope,
    { id, filters }: RoutedQueue,
    events: readonly QueuedEvent[],
  ): Taker {
    return {
      about: { queueId: id },
      async match() {
        const matched = await matching(project, events, filters.filterArray);
        return events.filter(({ eventId }) => matched.has(eventId));
      },
      take: (taken) =>
        items.addMatching(
          project,
          id,
          taken.map(({ eventId }) => eventId),
        ),
    };
  }

  /** Applies the filters of all takers, each for a bounded time. */
  async function matchAll(sql: Sql, takers: readonly Taker[]): Promise<readonly Matched[]> {
    const hurryAt = Date.now() + projectFilterMsMax;
    let isHurried = false;
    const all: Matched[] = [];
    for (const taker of takers) {
      try {
        all.push({ taker, events: await taker.match() });
      } catch (error) {
        if (!isAboutFilters(error)) throw error;
        // The others and later events must not wait for this one.
        report(taker, error);
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
      const enabled = await metrics.enabledOf(projectId);
      const routed = await queues.enabledOf(projectId);
      return clusters.database(clusterId).transaction(async (sql) => {
        if (!(await queueStore.lockProject(sql, projectId))) return 0;
        const count = enabled.length + routed.length;
        const eventsMax = Math.min(taken.eventsMax, Math.ceil(pairsMax / count));
        const rows = await queueStore.takeQueueRows(sql, projectId, { ...taken, eventsMax });
        const events = earliest(rows);
        await queueStore.limitStatements(sql, filterMsMax);
        const candidates = enabled.length > 0 ? await toCandidates(project, events) : [];
        const all = await matchAll(sql, [
          ...enabled.map((evaluator) => toEvaluating(project, evaluator, candidates)),
          // Last, because people wait for the locks of these until the transaction ends.
          ...routed.map((queue) => toQueueing(project, queue, events)),
        ]);
        const ids = new Set(all.flatMap((one) => one.events.map(({ eventId }) => eventId)));
        // Held, so that no event is deleted before its runs are stored.
        const held = await tracingOf(project).metrics.hold(projectId, [...ids]);
        for (const { taker, events: matched } of all) {
          const existing = matched.filter(({ eventId }) => held.has(eventId));
          if (existing.length > 0) await taker.take(existing);
          logger.debug(
            { project_id: projectId, ...taker.about, events: existing.length },
            "routed",
          );
        }
        return events.length;
      });
    },
  };
}

/** Keeps each event once, however often it was written, with its first time. */
function earliest(events: readonly QueuedEvent[]): QueuedEvent[] {
  const found = new Map<string, QueuedEvent>();
  for (const event of events) {
    if (!found.has(event.eventId)) found.set(event.eventId, event);
  }
  return [...found.values()];
}

/**
 * Returns true for an invalid filter, for SQLSTATE classes of bad data and exceeded limits, and for
 * a time-out.
 */
function isAboutFilters(error: unknown): boolean {
  if (error instanceof ServiceError) return error.reason === "INVALID_FILTER";
  return /^(22...|54...|57014)$/.test(codeOf(error) ?? "");
}
