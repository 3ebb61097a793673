// EventService: a message in, a message out, no decisions.

import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { EventService } from "../../../gen/waggle/v1/event_pb.js";
import { itemFaultsOf, memoryOf, projectOf } from "../../access/call.ts";
import { reserveDecoded } from "../../base/decode/tally.ts";
import { fromEvent, fromSessionStart } from "./event-input.ts";
import { toEventMessage } from "./event-message.ts";
import { type BatchItem, joinFault } from "./batch.ts";
import { readingOf } from "../export/handlers.ts";
import type { TracingOf } from "../tracing.ts";
import type { EventInput } from "./parse-event.ts";
import type { Origin } from "./record.ts";

export function eventHandlers(tracingOf: TracingOf): ServiceImpl<typeof EventService> {
  return {
    async createEvent({ event }, context) {
      const project = projectOf(context);
      const { events } = tracingOf(project);
      const eventId = await events.create(
        project.projectId,
        fromEvent(event ?? {}),
        originOf(context),
      );
      return { eventId, success: true };
    },
    async createEventBatch(request, context) {
      const project = projectOf(context);
      const session = request.sessionProperties ?? request.session;
      const result = await tracingOf(project).events.createBatch(
        project.projectId,
        toBatchItems(context, "events", request.events.map(fromEvent)),
        {
          ...originOf(context),
          isSingleSession: request.singleSession ?? request.isSingleSession ?? false,
          sessionProperties: session && fromSessionStart(session),
          requiresSource: true,
        },
      );
      return {
        eventIds: result.eventIds,
        ...(result.sessionId !== undefined && { sessionId: result.sessionId }),
        errors: result.errors,
        success: result.errors.length === 0,
      };
    },
    async enrichEvent(request, context) {
      const project = projectOf(context);
      const { events } = tracingOf(project);
      await events.enrich(
        project.projectId,
        request.eventId,
        fromEvent(request),
        originOf(context),
      );
      return { eventId: request.eventId, success: true };
    },
    async updateEvent(request, context) {
      const project = projectOf(context);
      const { events } = tracingOf(project);
      await events.update(
        project.projectId,
        request.eventId,
        fromEvent(request),
        originOf(context),
      );
      return { eventId: request.eventId, success: true };
    },
    async getEvent({ eventId }, context) {
      const project = projectOf(context);
      const { events } = tracingOf(project);
      const event = await events.get(project.projectId, eventId, readingOf(context));
      return { event: toEventMessage(event, project.projectId) };
    },
    async deleteEvent({ eventId }, context) {
      const project = projectOf(context);
      await tracingOf(project).events.delete(project.projectId, eventId);
      return { success: true, deleted: eventId };
    },
  };
}

/** Returns the origin of a call's writes for the recorder. */
export function originOf(context: HandlerContext): Required<Origin> {
  return { bytes: memoryOf(context).bytes(), organization: projectOf(context).orgId };
}

/** Bytes of an event of a batch in addition to its message: its write and its outcome. */
const batchItemBytes = 400;

/** Reserves the memory of a batch's events. Throws BODY_TOO_LARGE if the batch can never fit. */
export function reserveBatch(context: HandlerContext, count: number): void {
  reserveDecoded(count * batchItemBytes, memoryOf(context));
}

/** Combines the items that the transport could read with the faults that it found. */
export function toBatchItems(
  context: HandlerContext,
  field: string,
  inputs: readonly EventInput[],
): BatchItem[] {
  reserveBatch(context, inputs.length);
  const faults = itemFaultsOf(context, field);
  return inputs.map((input, index) => {
    const fault = faults.get(index);
    return fault === undefined
      ? { index, input }
      : { index, fault: joinFault(`${field}[${index}]`, fault) };
  });
}
