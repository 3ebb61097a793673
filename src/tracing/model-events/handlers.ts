// TracingService of waggle.compat.v0: logging calls of older clients. A message in, a message out.

import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type {
  ModelEvent,
  TraceLog,
  TracingService,
} from "../../../gen/waggle/compat/v0/tracing_pb.js";
import { refuse, ServiceError } from "../../base/errors.ts";
import { runPaced } from "../../base/paced.ts";
import { createPacer } from "../../base/pacer.ts";
import { itemFaultsOf, memoryOf } from "../../access/call.ts";
import { faultBytes } from "../../base/decode/tally.ts";
import { fromEvent, fromSessionStart } from "../events/event-input.ts";
import { type BatchItem, joinFault } from "../events/batch.ts";
import { originOf, reserveBatch, toBatchAnswer, toBatchItems } from "../events/handlers.ts";
import { tracingOfCall } from "../export/handlers.ts";
import type { TracingOf } from "../tracing.ts";
import { toModelEvent } from "./model-event.ts";
import { readLogs } from "./trace-log-input.ts";

export function tracingHandlers(tracingOf: TracingOf): ServiceImpl<typeof TracingService> {
  return {
    async addTraces({ sessionId, logs, events: list }, context) {
      if (logs.length > 0 === list.length > 0) {
        throw new ServiceError("INVALID_ARGUMENT", "give either `logs` or `events`, and not empty");
      }
      const field = logs.length > 0 ? "logs" : "events";
      const items =
        field === "logs"
          ? await toLogItems(context, logs)
          : toBatchItems(context, field, list.map(fromEvent));
      const { events, projectId } = tracingOfCall(tracingOf, context);
      const options = { ...originOf(context), field, sessionId };
      const result = await events.createBatch(projectId, items, options);
      const { success, errors } = toBatchAnswer(context, result);
      return { success, errors };
    },
    async createModelEvent({ modelEvent }, context) {
      const call = modelEvent ?? refuse("model_event", "is required");
      const field = "model_event";
      const input = toModelEvent(call, `${field}.`);
      const { events, projectId } = tracingOfCall(tracingOf, context);
      const eventId = await events.create(projectId, input, { ...originOf(context), field });
      return { eventId, success: true };
    },
    async createModelEventBatch(request, context) {
      const { events, projectId } = tracingOfCall(tracingOf, context);
      const { sessionProperties } = request;
      const items = await toModelItems(context, request.modelEvents);
      const result = await events.createBatch(projectId, items, {
        ...originOf(context),
        field: "model_events",
        isSingleSession: request.singleSession ?? request.isSingleSession ?? false,
        sessionProperties: sessionProperties && fromSessionStart(sessionProperties),
      });
      return toBatchAnswer(context, result);
    },
  };
}

// Every step of the logs' trees is an event of the batch.
async function toLogItems(
  context: HandlerContext,
  logs: readonly TraceLog[],
): Promise<readonly BatchItem[]> {
  reserveBatch(context, logs.length);
  const steps = readLogs(logs, itemFaultsOf(context, "logs"), (children) => {
    reserveBatch(context, children);
  });
  return runPaced(steps, createPacer(memoryOf(context).holder));
}

// A call that lacks a field is one fault of its batch and does not end the batch.
async function toModelItems(
  context: HandlerContext,
  calls: readonly ModelEvent[],
): Promise<BatchItem[]> {
  reserveBatch(context, calls.length);
  const faults = itemFaultsOf(context, "model_events");
  const memory = memoryOf(context);
  const pacer = createPacer(memory.holder);
  const items: BatchItem[] = [];
  for (const [index, call] of calls.entries()) {
    if (pacer.due()) await pacer.rest();
    const fault = faults.get(index);
    if (fault !== undefined) {
      items.push({ index, fault: joinFault(`model_events[${index}]`, fault) });
      continue;
    }
    const item = toModelItem(call, index);
    if ("fault" in item) memory.grow(faultBytes);
    items.push(item);
  }
  return items;
}

function toModelItem(call: ModelEvent, index: number): BatchItem {
  try {
    return { index, input: toModelEvent(call, `model_events[${index}].`) };
  } catch (error) {
    if (error instanceof ServiceError) return { index, fault: error.message };
    throw error;
  }
}
