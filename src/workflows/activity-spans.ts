// OpenTelemetry spans about activities, one for each attempt. Off unless the service's own traces
// are on.

import { type Span, SpanStatusCode, trace } from "@opentelemetry/api";
import { CompleteAsyncError, type Info } from "@temporalio/activity";
import { ApplicationFailure, CancelledFailure } from "@temporalio/common";
import type { ActivityInterceptors } from "@temporalio/worker";

/** Returns the interceptor of an activity that makes its span. */
export function withSpan({ info }: { readonly info: Info }): ActivityInterceptors {
  const tracer = trace.getTracer("waggle");
  return {
    inbound: {
      async execute(input, next) {
        const span = tracer.startSpan(info.activityType, { attributes: attributesOf(info) });
        try {
          return await next(input);
        } catch (error) {
          noteFailure(span, error);
          throw error;
        } finally {
          span.end();
        }
      },
    },
  };
}

function attributesOf({ workflowType, workflowExecution, attempt }: Info) {
  return {
    ...(workflowType !== undefined && { "temporal.workflow.type": workflowType }),
    ...(workflowExecution && { "temporal.workflow.id": workflowExecution.workflowId }),
    "temporal.activity.attempt": attempt,
  };
}

/** Tells whether an activity ended for others to go on with it, as those of a worker that stops. */
export function isHandedOver(error: unknown): boolean {
  return error instanceof CancelledFailure || error instanceof CompleteAsyncError;
}

/** Notes the failure's kind, not its message, which may quote a tenant's data. */
function noteFailure(span: Span, error: unknown): void {
  if (isHandedOver(error)) return;
  const { name } = error as Error;
  const kind = error instanceof ApplicationFailure ? (error.type ?? name) : name;
  span.setAttribute("error.type", kind);
  span.setStatus({ code: SpanStatusCode.ERROR, message: kind });
}
