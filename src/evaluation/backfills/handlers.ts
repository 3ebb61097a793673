// BackfillService: a message in, a message out, no decisions.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { BackfillSchema, BackfillService } from "../../../gen/waggle/v1/backfill_pb.js";
import { formatVersion } from "../../base/versions.ts";
import { toPageAnswer } from "../../base/pages.ts";
import { toBounds } from "../../tracing/export/date-range.ts";
import { toFilterInput, toFilterMessage } from "../../tracing/export/filter-message.ts";
import { actorOf, projectOf } from "../../access/call.ts";
import type { Backfill, Backfills } from "./backfills.ts";
import type { BackfillAction } from "./state.ts";

type Message = MessageInitShape<typeof BackfillSchema>;
type PathRequest = { readonly id: string; readonly backfillId: string };

export function backfillHandlers(backfills: Backfills): ServiceImpl<typeof BackfillService> {
  const change = async (
    { id, backfillId }: PathRequest,
    action: BackfillAction,
    context: HandlerContext,
  ) => {
    const path = { evaluatorId: id, backfillId };
    const data = await backfills.change(projectOf(context), path, action, actorOf(context));
    return { success: true, data: toMessage(data) };
  };
  return {
    async createBackfill({ id, filters, dateRange, includeFailed }, context) {
      const request = {
        filters: filters.map(toFilterInput),
        ...toBounds(dateRange),
        includeFailed,
      };
      const { signal } = context;
      const caller = { project: projectOf(context), actor: actorOf(context), signal };
      return { success: true, data: toMessage(await backfills.create(id, request, caller)) };
    },
    async listBackfills({ id, ...page }, context) {
      return toPageAnswer(await backfills.list(projectOf(context), id, page), toMessage);
    },
    async getBackfill({ id, backfillId }, context) {
      const path = { evaluatorId: id, backfillId };
      return { success: true, data: toMessage(await backfills.get(projectOf(context), path)) };
    },
    pauseBackfill: (request, context) => change(request, "pause", context),
    resumeBackfill: (request, context) => change(request, "resume", context),
    cancelBackfill: (request, context) => change(request, "cancel", context),
  };
}

function toMessage(backfill: Backfill): Message {
  const { fromUs, toUs } = backfill;
  return {
    id: backfill.id,
    metricId: backfill.evaluatorId,
    version: formatVersion(backfill.version),
    state: backfill.state,
    filters: backfill.filters.map(toFilterMessage),
    ...((fromUs !== null || toUs !== null) && { dateRange: toDateRange(fromUs, toUs) }),
    includeFailed: backfill.includeFailed,
    progress: backfill.progress,
    ...(backfill.error !== null && { error: backfill.error }),
    createdAt: timestampFromMs(Math.floor(backfill.createdAtUs / 1000)),
    createdBy: backfill.createdBy,
    ...(backfill.endedAt && { endedAt: timestampFromDate(backfill.endedAt) }),
    workflowId: backfill.workflowId,
  };
}

/** Converts bounds. An inclusive bound of a whole millisecond covers all of that millisecond. */
function toDateRange(fromUs: number | null, toUs: number | null) {
  const isWhole = toUs !== null && toUs % 1000 === 0;
  return {
    ...(fromUs !== null && { gte: fromUs / 1000 }),
    ...(toUs !== null && { lte: (toUs - (isWhole ? 1000 : 1)) / 1000 }),
  };
}
