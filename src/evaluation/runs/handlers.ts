// RunService and OldRunService: a message in, a message out, no decisions.

import type { Value } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { OldRunService } from "../../../gen/waggle/compat/v0/run_pb.js";
import type { DateRange } from "../../../gen/waggle/v1/filter_pb.js";
import type { PassingRange as RangeMessage, RunService } from "../../../gen/waggle/v1/run_pb.js";
import { actorOf, projectOf } from "../../access/call.ts";
import { changedLists } from "../../base/changed-list.ts";
import type { JsonObject } from "../../base/json.ts";
import { createPacer } from "../../base/pacer.ts";
import { runPaced } from "../../base/paced.ts";
import { toStruct } from "../../base/struct.ts";
import { fromValueMessages } from "../../base/value-message.ts";
import { toEventMessage } from "../../tracing/events/event-message.ts";
import { toBounds } from "../../tracing/export/date-range.ts";
import { readingOf } from "../../tracing/export/handlers.ts";
import type { FilterInput } from "../../tracing/export/filter.ts";
import { toFilterInput } from "../../tracing/export/filter-message.ts";
import type { RunEvent } from "../../tracing/run-events/run-events.ts";
import type { PassingRange } from "./passing.ts";
import type { RunProgressReader } from "./progress.ts";
import { withoutDatapoints } from "./result.ts";
import type { RunResults } from "./results.ts";
import {
  toComparisonMessage,
  toProgressMessage,
  toResultMessage,
  toRunMessage,
  toUsageMessage,
} from "./run-message.ts";
import type { Run, RunChange, Runs } from "./runs.ts";
import { schemaOf } from "./schema.ts";

export type RunServices = {
  readonly runs: Runs;
  readonly runResults: RunResults;
  readonly runProgress: RunProgressReader;
};

export function runHandlers({
  runs,
  runResults: results,
  runProgress,
}: RunServices): ServiceImpl<typeof RunService> {
  const toAnswer = (run: Run, projectId: string) => ({
    evaluation: toRunMessage(run, projectId),
    runId: run.runId,
  });
  return {
    async createRun({ runId, ...request }, context) {
      const project = projectOf(context);
      const run = await runs.create(project, {
        runId,
        change: toChange(request),
        actor: actorOf(context),
      });
      return toAnswer(run, project.projectId);
    },
    async listRuns({ dateRange, ...request }, context) {
      const project = projectOf(context);
      const { projectId } = project;
      const {
        page,
        limit,
        found,
        all,
        nextCursor,
        runs: listed,
      } = await runs.list(project, {
        ...request,
        ...toBounds(dateRange),
      });
      const totalPages = Math.ceil(found / limit);
      return {
        evaluations: listed.map((run) => toRunMessage(run, projectId)),
        pagination: {
          page,
          limit,
          total: found,
          totalUnfiltered: all,
          totalPages,
          hasNext: nextCursor !== undefined,
          hasPrev: page > 1,
        },
        metrics: [...(await results.metricNames(project))],
        ...(nextCursor !== undefined && { nextCursor }),
      };
    },
    async getRun({ runId }, context) {
      const project = projectOf(context);
      return toAnswer(await runs.get(project, runId), project.projectId);
    },
    async updateRun({ runId, emptiedLists, ...request }, context) {
      const project = projectOf(context);
      const run = await runs.update(project, runId, toChange(request, emptiedLists));
      return toAnswer(run, project.projectId);
    },
    async deleteRun({ runId }, context) {
      await runs.delete(projectOf(context), runId);
      return { id: runId, deleted: true };
    },
    async getRunUsage({ runId }, context) {
      const project = projectOf(context);
      const run = await runs.get(project, runId);
      return toUsageMessage(await results.usage(project, run));
    },
    async getRunProgress({ runId }, context) {
      const project = projectOf(context);
      const run = await runs.get(project, runId);
      return toProgressMessage(await runProgress.read(project, run));
    },
    async getRunResult({ runId, aggregateFunction, filters, ...asked }, context) {
      const project = projectOf(context);
      const request = { aggregateFunction, filters: filters.map(toFilterInput) };
      const reading = readingOf(context);
      const run = await runs.get(project, runId);
      const { result, aggregate } = await results.result(project, run, request, reading);
      const shown = asked.withoutDatapoints ? withoutDatapoints(result) : result;
      const message = toResultMessage(run, shown, aggregate, project.projectId);
      return runPaced(message, createPacer(reading.memory?.holder));
    },
    async compareRuns({ newRunId, oldRunId, aggregateFunction, filters }, context) {
      const project = projectOf(context);
      const request = { aggregateFunction, filters: filters.map(toFilterInput) };
      const ids = { older: oldRunId, newer: newRunId };
      const found = await results.compare(project, ids, request, readingOf(context));
      const { older, newer, comparison } = found;
      return toComparisonMessage(older, newer, comparison, project.projectId);
    },
    async compareRunEvents({ runId1, runId2, filter, ...request }, context) {
      const project = projectOf(context);
      const { projectId } = project;
      const asked = { ...request, filters: filter.map(toFilterInput) };
      const ids = [runId1, runId2] as const;
      const { pairs, total } = await results.pairs(project, ids, asked, readingOf(context));
      return {
        events: pairs.map(({ datapointId, first, second }) => ({
          datapointId,
          event1: toEventMessage(first, projectId),
          event2: toEventMessage(second, projectId),
        })),
        totalEvents: total,
      };
    },
    async listRunMetrics({ runId, filters, dateRange }, context) {
      const asked = [...filters.map(toFilterInput), ...toTimeFilters(dateRange)];
      const project = projectOf(context);
      const run = await runs.get(project, runId);
      const found = await results.events(project, run, asked, readingOf(context));
      const scored = found.filter(({ metrics }) =>
        Object.values(metrics).some((score) => score !== null),
      );
      return { events: scored.map(toScoredEvent), totalEvents: scored.length };
    },
    async getRunSchema({ runId, dateRange }, context) {
      const project = projectOf(context);
      const asked = { runId, filters: toTimeFilters(dateRange) };
      const schema = await schemaOf({ runs, results }, project, asked, readingOf(context));
      return { ...schema, mappings: toStruct(schema.mappings) };
    },
  };
}

export function oldRunHandlers(runs: Runs): ServiceImpl<typeof OldRunService> {
  return {
    async listOldRuns(_request, context) {
      const project = projectOf(context);
      const listed = await runs.listAll(project);
      return { evaluations: listed.map((run) => toRunMessage(run, project.projectId)) };
    },
  };
}

/** A microsecond, the unit of stored times; filters exclude the bounds that ranges include. */
const unitMs = 0.001;

/** Returns the filters that the start of an event in a date range meets. */
function toTimeFilters(dateRange: DateRange | undefined): FilterInput[] {
  const { fromMs, toMs } = toBounds(dateRange);
  const boundOf = (operator: string, timeMs: number | undefined): FilterInput[] =>
    timeMs === undefined
      ? []
      : [{ field: "start_time", operator, value: timeMs, type: "datetime" }];
  return [
    ...fromMs.flatMap((from) => boundOf("after", from === undefined ? from : from - unitMs)),
    ...toMs.flatMap((to) => boundOf("before", to === undefined ? to : to + unitMs)),
  ];
}

type Fields = {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly status?: string | undefined;
  readonly metadata?: JsonObject | undefined;
  readonly results?: JsonObject | undefined;
  readonly configuration?: JsonObject | undefined;
  readonly datasetId?: string | undefined;
  readonly eventIds: readonly string[];
  readonly sessionIds: readonly string[];
  readonly datapointIds: readonly string[];
  readonly evaluators: readonly Value[];
  readonly passingRanges: Readonly<Record<string, RangeMessage>>;
};

const listNames = ["event_ids", "session_ids", "datapoint_ids", "evaluators", "passing_ranges"];

/**
 * Returns the fields that a request gives. An empty list or map gives nothing, unless it is one of
 * `emptied`. Throws INVALID_ARGUMENT for another name among them.
 */
function toChange(request: Fields, emptied: readonly string[] = []): RunChange {
  const { name, description, status, metadata, results, configuration, datasetId } = request;
  const listOf = changedLists(listNames, emptied);
  const eventIds = listOf("event_ids", request.eventIds);
  const sessionIds = listOf("session_ids", request.sessionIds);
  const datapointIds = listOf("datapoint_ids", request.datapointIds);
  const evaluators = listOf("evaluators", request.evaluators);
  const ranges = listOf("passing_ranges", Object.entries(request.passingRanges));
  return {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(status !== undefined && { status }),
    ...(metadata && { metadata }),
    ...(results && { results }),
    ...(configuration && { configuration }),
    ...(datasetId !== undefined && { datasetId: datasetId || null }),
    ...(eventIds && { eventIds }),
    ...(sessionIds && { sessionIds }),
    ...(datapointIds && { datapointIds }),
    ...(evaluators && { evaluators: fromValueMessages("evaluators", evaluators) }),
    ...(ranges && { passingRanges: toRanges(ranges) }),
  };
}

function toRanges(
  messages: readonly (readonly [name: string, RangeMessage])[],
): Record<string, PassingRange> {
  return Object.fromEntries(
    messages.map(([name, { min, max }]) => [
      name,
      { ...(min !== undefined && { min }), ...(max !== undefined && { max }) },
    ]),
  );
}

function toScoredEvent({ datapointId, metrics, ...event }: RunEvent) {
  return {
    ...event,
    metadata: toStruct(datapointId === null ? {} : { datapoint_id: datapointId }),
    metrics: toStruct(metrics),
  };
}
