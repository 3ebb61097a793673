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
import { toStreamMessages } from "./stream-message.ts";

export function exportHandlers(tracingOf: TracingOf): ServiceImpl<typeof ExportService> {
  async function getPage(request: PagingMessage, limitMax: number, context: HandlerContext) {
    const { exports, projectId } = tracingOfCall(tracingOf, context);
    const options = { ...readingOf(context), limitMax };
    const page = await exports.getPage(projectId, toPageRequest(request), options);
    return {
      events: page.events.map((event) => toEventMessage(event, projectId, page.projections)),
      count: page.total,
      ...(page.nextCursor !== undefined && { nextCursor: page.nextCursor }),
      ...(page.isEstimate && { isEstimate: true }),
    };
  }

  return {
    async exportEvents(request, context) {
      checkProject(request.project, projectOf(context), context);
      const page = await getPage(request, exportLimitMax, context);
      return create(ExportEventsResponseSchema, { ...page, totalEvents: page.count });
    },

    async searchEvents(request, context) {
      const page = await getPage(request, searchLimitMax, context);
      return create(SearchEventsResponseSchema, page);
    },

    async getEvents({ eventIds, projections: names }, context) {
      const { exports, projectId } = tracingOfCall(tracingOf, context);
      const request = { eventIds, projections: names };
      const got = await exports.getByIds(projectId, request, readingOf(context));
      return {
        events: got.events.map((event) => toEventMessage(event, projectId, got.projections)),
      };
    },

    async listFieldValues({ field, prefix, limit, filters, dateRange }, context) {
      const { fieldValues, projectId } = tracingOfCall(tracingOf, context);
      const request = { field, prefix, limit, filters: filters.map(toFilterInput) };
      const bounds = toBounds(dateRange);
      const reading = readingOf(context);
      const found = await fieldValues.list(projectId, { ...request, ...bounds }, reading);
      return { ...found, values: [...found.values] };
    },

    async *streamEvents(request, context): AsyncGenerator<StreamEventsResponse, void, undefined> {
      const { exports, projectId } = tracingOfCall(tracingOf, context);
      const selection = toSelection(request);
      const reading = readingOf(context);
      const { groups, projections } = await exports.stream(projectId, selection, reading);
      yield* toStreamMessages(projectId, groups, projections);
    },

    async getEventSchema(_request, context) {
      const { exports, projectId } = tracingOfCall(tracingOf, context);
      const schema = await exports.getSchema(projectId, readingOf(context));
      return create(GetEventSchemaResponseSchema, {
        fields: schema.map((field) => create(EventFieldSchema, field)),
      });
    },
  };
}

/** Returns the project of a call, and the services of the cluster that holds its events. */
export function tracingOfCall(tracingOf: TracingOf, context: HandlerContext) {
  const project = projectOf(context);
  return { ...tracingOf(project), project, projectId: project.projectId };
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
