// MetricService and OldMetricService: a message in, a message out, no decisions.

import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { MetricService } from "../../../gen/waggle/v1/metric_pb.js";
import { ServiceError } from "../../base/errors.ts";
import { actorOf, projectOf } from "../../access/call.ts";
import type { Metrics } from "./metrics.ts";
import { toChangedFields, toDefinitionFields, toOlderFields } from "./metric-input.ts";
import { toMetricMessage, toOldMetricMessage } from "./metric-message.ts";
import type { OldMetricService } from "../../../gen/waggle/compat/v0/metric_pb.js";

export function metricHandlers(metrics: Metrics): ServiceImpl<typeof MetricService> {
  return {
    async createMetric(request, context) {
      const fields = toDefinitionFields(request);
      const { id } = await metrics.create(projectOf(context), fields, actorOf(context));
      return { inserted: true, metricId: id };
    },
    async listMetrics({ type, id, limit, cursor }, context) {
      const options = { type, id, limit, cursor };
      const page = await metrics.list(projectOf(context).projectId, options);
      return {
        metrics: page.items.map(toMetricMessage),
        ...(page.nextCursor !== undefined && { nextCursor: page.nextCursor }),
      };
    },
    async getMetric({ id }, context) {
      return toMetricMessage(await metrics.get(projectOf(context).projectId, id));
    },
    async updateMetric(request, context) {
      await metrics.update(whoseOf(request, context), toChangedFields(request));
      return { updated: true };
    },
    async deleteMetric(request, context) {
      await metrics.delete(whoseOf(request, context));
      return { deleted: true };
    },
  };
}

/**
 * Returns the metric that a request names, in the current field or the older one, with its project
 * and actor.
 */
export function whoseOf(
  { id, metricId }: { readonly id: string; readonly metricId: string },
  context: HandlerContext,
) {
  if (id === "" && metricId === "") {
    throw new ServiceError("INVALID_ARGUMENT", "id: is required, here or as metric_id");
  }
  if (id !== "" && metricId !== "" && id !== metricId) {
    throw new ServiceError("INVALID_ARGUMENT", "metric_id: is another one than id; give one");
  }
  return { project: projectOf(context), id: id || metricId, actor: actorOf(context) };
}

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
