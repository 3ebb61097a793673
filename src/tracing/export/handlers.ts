// Handlers of ExportService: messages in, messages out.

import { create } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import {
  EventFieldSchema,
  ExportEventsResponseSchema,
  type ExportService,
  GetEventSchemaResponseSchema,
  SearchEventsResponseSchema,
  type StreamEventsResponse,
  StreamEventsResponseSchema,
} from "../../../gen/waggle/v1/export_pb.js";
import type { DateRange, Filter } from "../../../gen/waggle/v1/filter_pb.js";
import type { ProjectScope } from "../../access/scope.ts";
import { ServiceError } from "../../base/errors.ts";
import { exportLimitMax, searchLimitMax } from "../../base/limits.ts";
import { memoryOf, projectOf } from "../../access/call.ts";
import { toEventMessage } from "../events/event-message.ts";
import type { Reading } from "../events/sized-read.ts";
import type { TracingOf } from "../tracing.ts";
import type { EventSelection, PageRequest } from "./export.ts";
import { toBounds } from "./date-range.ts";
import { toFilterInput } from "./filter-message.ts";

export function exportHandlers(tracingOf: TracingOf): ServiceImpl<typeof ExportService> {
  return {
    async exportEvents(request, context) {
      const project = projectOf(context);
      checkProject(request.project, project, context);
      const page = await tracingOf(project).exports.getPage(
        project.projectId,
        toPageRequest(request),
        { ...readingOf(context), limitMax: exportLimitMax },
      );
      return create(ExportEventsResponseSchema, {
        events: page.events.map((event) =>
          toEventMessage(event, project.projectId, page.projections),
        ),
        totalEvents: page.total,
        count: page.total,
        ...(page.nextCursor === undefined ? {} : { nextCursor: page.nextCursor }),
        ...(page.isEstimate ? { isEstimate: true } : {}),
      });
    },

    async searchEvents(request, context) {
      const project = projectOf(context);
      const { projectId } = project;
      const page = await tracingOf(project).exports.getPage(projectId, toPageRequest(request), {
        ...readingOf(context),
        limitMax: searchLimitMax,
      });
      return create(SearchEventsResponseSchema, {
        events: page.events.map((event) => toEventMessage(event, projectId, page.projections)),
        count: page.total,
        ...(page.nextCursor === undefined ? {} : { nextCursor: page.nextCursor }),
        ...(page.isEstimate ? { isEstimate: true } : {}),
      });
    },

    async getEvents({ eventIds, projections: names }, context) {
      const project = projectOf(context);
      const { projectId } = project;
      const request = { eventIds, projections: names };
      const { exports } = tracingOf(project);
      const got = await exports.getByIds(projectId, request, readingOf(context));
      return {
        events: got.events.map((event) => toEventMessage(event, projectId, got.projections)),
      };
    },

    async listFieldValues({ field, prefix, limit, filters, dateRange }, context) {
      const project = projectOf(context);
      const { fieldValues } = tracingOf(project);
      const request = { field, prefix, limit, filters: filters.map(toFilterInput) };
      const bounds = toBounds(dateRange);
      const { projectId } = project;
      const reading = readingOf(context);
      const found = await fieldValues.list(projectId, { ...request, ...bounds }, reading);
      return { ...found, values: [...found.values] };
    },

    async *streamEvents(request, context): AsyncGenerator<StreamEventsResponse, void, undefined> {
      const project = projectOf(context);
      const { projectId } = project;
      const { exports } = tracingOf(project);
      const selection = toSelection(request);
      const reading = readingOf(context);
      const { groups, projections } = await exports.stream(projectId, selection, reading);
      let count = 0;
      for await (const group of groups) {
        for (const event of group) {
          const value = toEventMessage(event, projectId, projections);
          yield create(StreamEventsResponseSchema, { item: { case: "event", value } });
        }
        count += group.length;
      }
      const value = { done: true, count } as const;
      yield create(StreamEventsResponseSchema, { item: { case: "end", value } });
    },

    async getEventSchema(_request, context) {
      const project = projectOf(context);
      const { exports } = tracingOf(project);
      const schema = await exports.getSchema(project.projectId, readingOf(context));
      return create(GetEventSchemaResponseSchema, {
        fields: schema.map((field) => create(EventFieldSchema, field)),
      });
    },
  };
}

/**
 * Returns the read options of a call: its end cancels statements, and its memory holds the rows.
 */
export function readingOf(context: HandlerContext): Required<Reading> {
  const { orgId } = projectOf(context);
  return { organization: orgId, signal: context.signal, memory: memoryOf(context) };
}

/** Paths that accept and ignore a project. Elsewhere the project must be the key's. */
const ignoringPaths: ReadonlySet<string> = new Set(["/v1/events/export", "/events"]);

function checkProject(
  project: string | undefined,
  scope: ProjectScope,
  context: HandlerContext,
): void {
  if (project === undefined || ignoringPaths.has(new URL(context.url, "http://localhost").pathname))
    return;
  if (project === scope.projectId || project === scope.name) return;
  throw new ServiceError("NOT_FOUND", "no such project");
}

type SelectingMessage = {
  readonly filters: readonly Filter[];
  readonly dateRange?: DateRange | undefined;
  readonly projections: readonly string[];
  readonly evaluationId?: string | undefined;
};
type PagingMessage = SelectingMessage &
  Pick<PageRequest, "limit" | "page" | "cursor"> & { readonly total?: string | undefined };

function toSelection(message: SelectingMessage): EventSelection {
  const { filters, dateRange, projections, evaluationId } = message;
  return {
    filters: filters.map(toFilterInput),
    ...toBounds(dateRange),
    evaluationId,
    projections,
  };
}

function toPageRequest(message: PagingMessage): PageRequest {
  const { limit, page, cursor, total } = message;
  return { ...toSelection(message), limit, page, cursor, estimates: total === "estimate" };
}
