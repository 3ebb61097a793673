// Results and comparisons of runs, computed from the stored scores at each request.
// Source: docs/experiments.md.

import { assertCount } from "../../base/assert-count.ts";
import type { ProjectScope } from "../../access/scope.ts";
import { refuseChoice } from "../../base/choices.ts";
import { refuse } from "../../base/errors.ts";
import { createPacer } from "../../base/pacer.ts";
import { runPaced } from "../../base/paced.ts";
import type { SelectedEvent } from "../../tracing/events/event-row.ts";
import type { Reading } from "../../tracing/events/sized-read.ts";
import type { FilterInput } from "../../tracing/export/filter.ts";
import type { RunEvent, RunUsage } from "../../tracing/run-events/run-events.ts";
import type { TracingOf } from "../../tracing/tracing.ts";
import { allMetrics } from "../metrics/all-metrics.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { type AggregateName, aggregateNames } from "./aggregate.ts";
import { type Comparison, compare } from "./comparison.ts";
import type { KnownMetric } from "./passing.ts";
import { type Result, resultOf } from "./result.ts";
import { sessionsOf, type Run, type Runs } from "./runs.ts";
import type { Judging } from "./scoring.ts";

/** How a result is computed. */
export type ResultRequest = {
  /** Empty for the average. */
  readonly aggregateFunction: string;
  readonly filters: readonly FilterInput[];
};

export type RunPair = { readonly older: string; readonly newer: string };

/** Events of two runs on one datapoint. */
export type EventPair = {
  readonly datapointId: string;
  readonly first: SelectedEvent;
  readonly second: SelectedEvent;
};

export type PairsRequest = {
  /** Empty for every name. */
  readonly eventName: string;
  /** Empty for sessions. */
  readonly eventType: string;
  readonly filters: readonly FilterInput[];
  readonly limit?: number | undefined;
  readonly page?: number | undefined;
};

/** Every method acts on the caller's project only. A run that is named and absent is NOT_FOUND. */
export type RunResults = {
  result(
    project: ProjectScope,
    run: Run,
    request: ResultRequest,
    reading?: Reading,
  ): Promise<{ readonly result: Result; readonly aggregate: AggregateName }>;
  compare(
    project: ProjectScope,
    runs: RunPair,
    request: ResultRequest,
    reading?: Reading,
  ): Promise<{ readonly older: Run; readonly newer: Run; readonly comparison: Comparison }>;
  /** Returns pairs of events, by datapoint, and the number of all pairs. */
  pairs(
    project: ProjectScope,
    runIds: readonly [first: string, second: string],
    request: PairsRequest,
    reading?: Reading,
  ): Promise<{ readonly pairs: readonly EventPair[]; readonly total: number }>;
  /** Returns the sessions of a run and its events with scores. */
  events(
    project: ProjectScope,
    run: Run,
    filters: readonly FilterInput[],
    reading?: Reading,
  ): Promise<readonly RunEvent[]>;
  /** Returns what the sessions of a run took. */
  usage(project: ProjectScope, run: Run): Promise<RunUsage>;
  /** Returns the names of the project's metrics. */
  metricNames(project: ProjectScope): Promise<readonly string[]>;
};

export type RunResultsOptions = {
  readonly runs: Pick<Runs, "get">;
  readonly metrics: Pick<Metrics, "list">;
  readonly tracingOf: TracingOf;
};

const pairsLimitDefault = 100;
const pairsLimitMax = 1_000;

export function createRunResults(options: RunResultsOptions): RunResults {
  const { runs, tracingOf } = options;

  async function readEvents(
    project: ProjectScope,
    run: Run,
    filters: readonly FilterInput[],
    reading?: Reading,
  ): Promise<readonly RunEvent[]> {
    const { runEvents, exports } = tracingOf(project);
    if (filters.length > 0) await exports.checkFilters(project.projectId, filters);
    return runEvents.list(project.projectId, sessionsOf(run), filters, reading);
  }

  return {
    async result(project, run, { aggregateFunction, filters }, reading) {
      const aggregate = parseAggregate(aggregateFunction);
      const events = await readEvents(project, run, filters, reading);
      const judging = await judgingOf(options, project, run);
      const pacer = createPacer(reading?.memory?.holder);
      return { aggregate, result: await runPaced(resultOf(events, judging, aggregate), pacer) };
    },

    async compare(project, ids, { aggregateFunction, filters }, reading) {
      const aggregate = parseAggregate(aggregateFunction);
      const older = await runs.get(project, ids.older);
      const newer = await runs.get(project, ids.newer);
      const [before, after] = await Promise.all([
        readEvents(project, older, filters, reading),
        readEvents(project, newer, filters, reading),
      ]);
      const judging = await judgingOf(options, project, newer);
      const { passingRanges } = older;
      const steps = compare(
        { events: before, judging: { ...judging, passingRanges } },
        { events: after, judging },
        aggregate,
      );
      const comparison = await runPaced(steps, createPacer(reading?.memory?.holder));
      return { older, newer, comparison };
    },

    async pairs(project, [firstId, secondId], request, reading) {
      const { limit = pairsLimitDefault, page = 1, filters } = request;
      assertCount("limit", limit, pairsLimitMax);
      if (!Number.isInteger(page) || page < 1) refuse("page", "must be at least 1");
      const pickOf = async (id: string) =>
        pick(await readEvents(project, await runs.get(project, id), filters, reading), request);
      const first = await pickOf(firstId);
      const second = await pickOf(secondId);
      const common = [...first.keys()].filter((id) => second.has(id)).toSorted();
      const shown = common.slice((page - 1) * limit, page * limit);
      const wanted = shown.flatMap((id) => [first.get(id) ?? "", second.get(id) ?? ""]);
      const { runEvents } = tracingOf(project);
      const found = await runEvents.read(project.projectId, wanted, reading);
      const events = new Map(found.map((event) => [event.event_id, event]));
      const pairs = shown.flatMap((datapointId): EventPair[] => {
        const one = events.get(first.get(datapointId) ?? "");
        const two = events.get(second.get(datapointId) ?? "");
        return one && two ? [{ datapointId, first: one, second: two }] : [];
      });
      return { pairs, total: common.length };
    },

    events: readEvents,

    usage: (project, run) => tracingOf(project).runEvents.usage(project.projectId, sessionsOf(run)),

    metricNames: async (project) =>
      (await listMetrics(options.metrics, project)).map(({ name }) => name),
  };
}

async function judgingOf(
  options: RunResultsOptions,
  project: ProjectScope,
  { passingRanges }: Run,
): Promise<Judging> {
  const known = await listMetrics(options.metrics, project);
  return { passingRanges, metrics: new Map(known.map((metric) => [metric.name, metric])) };
}

type ListedMetric = KnownMetric & { readonly id: string };

/** Returns all metrics of a project. */
export async function listMetrics(
  metrics: Pick<Metrics, "list">,
  { projectId }: ProjectScope,
): Promise<readonly ListedMetric[]> {
  const known: ListedMetric[] = [];
  for await (const { id, definition } of allMetrics(metrics, projectId)) {
    const { name, type, threshold } = definition;
    known.push({ id, name, type, threshold });
  }
  return known;
}

function parseAggregate(text: string): AggregateName {
  const name = text === "" ? "average" : text.toLowerCase();
  return (
    aggregateNames.find((known) => known === name) ??
    refuseChoice("aggregate_function", aggregateNames, text)
  );
}

/** Returns the first event of each datapoint that has the asked name and type. */
function pick(
  events: readonly RunEvent[],
  { eventName, eventType }: PairsRequest,
): ReadonlyMap<string, string> {
  const type = eventType || "session";
  const picked = new Map<string, string>();
  for (const event of events) {
    const { datapointId } = event;
    // An event of type session inside a session is none itself (docs/decisions.md, 38).
    const isOfType =
      event.eventType === type && (type !== "session" || event.eventId === event.sessionId);
    const isAsked = isOfType && (!eventName || event.eventName === eventName);
    if (isAsked && datapointId !== null && !picked.has(datapointId)) {
      picked.set(datapointId, event.eventId);
    }
  }
  return picked;
}
