// OldMetricService: a message in, a message out, no decisions.

import type { ServiceImpl } from "@connectrpc/connect";
import type { OldMetricService } from "../../../gen/waggle/compat/v0/metric_pb.js";
import { ServiceError } from "../../base/errors.ts";
import { actorOf, projectOf } from "../../access/call.ts";
import { whoseOf } from "./handlers.ts";
import { toOlderFields } from "./metric-input.ts";
import type { Metrics } from "./metrics.ts";
import { toOldMetricMessage } from "./metric-message.ts";

export function oldMetricHandlers(metrics: Metrics): ServiceImpl<typeof OldMetricService> {
  return {
    async listOldMetrics(_request, context) {
      const { projectId, name } = projectOf(context);
      const { items, nextCursor } = await metrics.list(projectId, {});
      if (nextCursor !== undefined) {
        // The older form has no pages.
        const message = "the metrics are too long for one answer; list them by GET /v1/metrics";
        throw new ServiceError("ANSWER_TOO_LARGE", message);
      }
      return { metrics: items.map((item) => toOldMetricMessage(item, name)) };
    },
    async createOldMetric(request, context) {
      const fields = toOlderFields(request);
      const { id } = await metrics.create(projectOf(context), fields, actorOf(context));
      return { inserted: true, metricId: id };
    },
    async updateOldMetric(request, context) {
      await metrics.update(whoseOf(request, context), toOlderFields(request));
      return { updated: true };
    },
  };
}
