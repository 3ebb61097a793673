// EventService: a message in, a message out, no decisions.

import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { EventService } from "../../../gen/waggle/v1/event_pb.js";
import { itemFaultsOf, memoryOf, noteIngested, projectOf } from "../../access/call.ts";
import { reserveDecoded } from "../../base/decode/tally.ts";
import { fromEvent, fromSessionStart } from "./event-input.ts";
import { toEventMessage } from "./event-message.ts";
import { type BatchItem, type BatchResult, joinFault } from "./batch.ts";
import { readingOf, tracingOfCall } from "../export/handlers.ts";
import type { TracingOf } from "../tracing.ts";
import type { EventInput } from "./parse-event.ts";
import type { Origin } from "./record.ts";

export function eventHandlers(tracingOf: TracingOf): ServiceImpl<typeof EventService> {
  return {
    async createEvent({ event }, context) {
      const { events, projectId } = tracingOfCall(tracingOf, context);
      const eventId = await events.create(projectId, fromEvent(event ?? {}), originOf(context));
      return { eventId, success: true };
    },
    async createEventBatch(request, context) {
      const { events, projectId } = tracingOfCall(tracingOf, context);
      const session = request.sessionProperties ?? request.session;
      const items = toBatchItems(context, "events", request.events.map(fromEvent));
      const result = await events.createBatch(projectId, items, {
        ...originOf(context),
        isSingleSession: request.singleSession ?? request.isSingleSession ?? false,
        sessionProperties: session && fromSessionStart(session),
        requiresSource: true,
      });
      return toBatchAnswer(context, result);
    },
    async enrichEvent(request, context) {
      const { events, projectId } = tracingOfCall(tracingOf, context);
      await events.enrich(projectId, request.eventId, fromEvent(request), originOf(context));
      return { eventId: request.eventId, success: true };
    },
    async updateEvent(request, context) {
      const { events, projectId } = tracingOfCall(tracingOf, context);
      await events.update(projectId, request.eventId, fromEvent(request), originOf(context));
      return { eventId: request.eventId, success: true };
    },
    async getEvent({ eventId }, context) {
      const { events, projectId } = tracingOfCall(tracingOf, context);
      const event = await events.get(projectId, eventId, readingOf(context));
      return { event: toEventMessage(event, projectId) };
    },
    async deleteEvent({ eventId }, context) {
      const { events, projectId } = tracingOfCall(tracingOf, context);
      await events.delete(projectId, eventId);
      return { success: true, deleted: eventId };
    },
  };
}

/** Returns the answer of a batch, and notes in the call what was stored and rejected. */
export function toBatchAnswer(context: HandlerContext, result: BatchResult) {
  const { eventIds, sessionId, errors } = result;
  noteIngested(context, { stored: eventIds.length, reasons: errors });
  return {
    eventIds,
    ...(sessionId !== undefined && { sessionId }),
    errors,
    success: errors.length === 0,
  };
}

/** Returns the origin of a call's writes for the recorder. */
export function originOf(context: HandlerContext): Required<Omit<Origin, "receivedAtMs">> {
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
