// FeedbackService: a message in, a message out, no decisions.

import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { FeedbackService } from "../../../gen/waggle/v1/feedback_pb.js";
import { toPageAnswer } from "../../base/pages.ts";
import { toStruct } from "../../base/struct.ts";
import { projectOf } from "../../access/call.ts";
import { readingOf } from "../export/handlers.ts";
import type { TracingOf } from "../tracing.ts";
import type { FeedbackRecord } from "./feedback.ts";

export function feedbackHandlers(tracingOf: TracingOf): ServiceImpl<typeof FeedbackService> {
  return {
    async createFeedback({ feedbackJson = {}, generationId, groundTruth, task }, context) {
      const project = projectOf(context);
      const input = { generationId, task, items: feedbackJson, groundTruth };
      return toMessage(await tracingOf(project).feedback.create(project.projectId, input));
    },
    async listFeedback({ generationId, ...page }, context) {
      const project = projectOf(context);
      const { feedback } = tracingOf(project);
      const reading = readingOf(context);
      const records = await feedback.list(project.projectId, generationId, page, reading);
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
