// ChartService: a message in, a message out, no decisions.

import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { ChartService } from "../../../gen/waggle/v1/chart_pb.js";
import { actorOf, projectOf, whoseOf } from "../../access/call.ts";
import { readingOf, tracingOfCall } from "../export/handlers.ts";
import type { TracingOf } from "../tracing.ts";
import {
  toChartMessage,
  toFields,
  toPoints,
  toPointsRequest,
  toRequest,
  toResultMessage,
} from "./chart-message.ts";
import type { ChartRequest } from "./chart-query.ts";
import type { ChartResult } from "./charts.ts";
import { questionOf, type StoredCharts } from "./stored-charts.ts";

export function chartHandlers(
  stored: StoredCharts,
  tracingOf: TracingOf,
): ServiceImpl<typeof ChartService> {
  function query(context: HandlerContext, request: ChartRequest): Promise<ChartResult> {
    const { charts, projectId } = tracingOfCall(tracingOf, context);
    return charts.query(projectId, request, readingOf(context));
  }

  return {
    async createChart({ chart }, context) {
      sayDeprecated(context);
      const made = await stored.create(projectOf(context), toFields(chart), actorOf(context));
      return { success: true, data: toChartMessage(made) };
    },

    async listCharts(_request, context) {
      sayDeprecated(context);
      const charts = await stored.list(projectOf(context));
      return { success: true, data: charts.map(toChartMessage) };
    },

    async getChart({ chartId }, context) {
      sayDeprecated(context, chartId);
      return { success: true, data: toChartMessage(await stored.get(whoseOf(chartId, context))) };
    },

    async updateChart({ chartId, chart }, context) {
      sayDeprecated(context, chartId);
      const changed = await stored.update(whoseOf(chartId, context), toFields(chart));
      return { success: true, data: toChartMessage(changed) };
    },

    async deleteChart({ chartId }, context) {
      sayDeprecated(context, chartId);
      await stored.delete(whoseOf(chartId, context));
      return { success: true, message: "The chart is deleted." };
    },

    async getChartData({ chartId, timezone }, context) {
      const chart = await stored.get(whoseOf(chartId, context));
      const result = await query(context, questionOf(chart, timezone));
      return { success: true, data: toResultMessage(result) };
    },

    async queryChart(request, context) {
      return { success: true, data: toResultMessage(await query(context, toRequest(request))) };
    },

    async getEventChart(request, context) {
      const result = await query(context, toPointsRequest(request));
      return { events: toPoints(result), totalEvents: result.matched, exact: true };
    },
  };
}

const deprecatedPath = "/v1/charts";
/** Time of the deprecation, in Unix seconds: 2026-01-01. Source: RFC 9745, docs/spec.md. */
const deprecatedAt = "@1767225600";

/** Names the current path in the answer to a call by the deprecated one. */
function sayDeprecated(context: HandlerContext, chartId?: string): void {
  if (!new URL(context.url, "http://localhost").pathname.startsWith(deprecatedPath)) return;
  const { projectId } = projectOf(context);
  const path = `/v1/projects/${projectId}/charts`;
  const current = chartId === undefined ? path : `${path}/${encodeURIComponent(chartId)}`;
  context.responseHeader.set("deprecation", deprecatedAt);
  context.responseHeader.set("link", `<${current}>; rel="successor-version"`);
}
