// FeedbackService: a message in, a message out, no decisions.

import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { FeedbackService } from "../../../gen/waggle/v1/feedback_pb.js";
import { toPageAnswer } from "../../base/pages.ts";
import { toStruct } from "../../base/struct.ts";
import { readingOf, tracingOfCall } from "../export/handlers.ts";
import type { TracingOf } from "../tracing.ts";
import type { FeedbackRecord } from "./feedback.ts";

export function feedbackHandlers(tracingOf: TracingOf): ServiceImpl<typeof FeedbackService> {
  return {
    async createFeedback({ feedbackJson = {}, generationId, groundTruth, task }, context) {
      const { feedback, projectId } = tracingOfCall(tracingOf, context);
      const input = { generationId, task, items: feedbackJson, groundTruth };
      return toMessage(await feedback.create(projectId, input));
    },
    async listFeedback({ generationId, ...page }, context) {
      const { feedback, projectId } = tracingOfCall(tracingOf, context);
      const records = await feedback.list(projectId, generationId, page, readingOf(context));
      return toPageAnswer(records, toMessage);
    },
  };
}

function toMessage({ createdAtUs, items, generationId, groundTruth, task }: FeedbackRecord) {
  return {
    createdAt: timestampFromMs(Math.floor(createdAtUs / 1000)),
    feedback: toStruct(items),
    generationId,
    ...(groundTruth !== undefined && { groundTruth }),
    task,
  };
}
