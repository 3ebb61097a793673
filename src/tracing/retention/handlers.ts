// RetentionService: a message in, a message out, no decisions.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type {
  RetentionRunSchema,
  RetentionSchema,
  RetentionService,
} from "../../../gen/waggle/v1/retention_pb.js";
import { actorOf, projectOf } from "../../access/call.ts";
import { toPageAnswer } from "../../base/pages.ts";
import type { Retention, RetentionRow, RunRow } from "./retention.ts";

/** `isExported` tells whether the operator has set where files go. */
export function retentionHandlers(
  retention: Retention,
  isExported: boolean,
): ServiceImpl<typeof RetentionService> {
  const toAnswer = (row: RetentionRow | undefined) => ({
    success: true,
    data: toMessage(row, isExported),
  });
  return {
    async getRetention(_request, context) {
      return toAnswer(await retention.get(projectOf(context)));
    },

    async putRetention({ days }, context) {
      return toAnswer(await retention.put(projectOf(context), days, actorOf(context)));
    },

    async deleteRetention(_request, context) {
      await retention.delete(projectOf(context), actorOf(context));
      return toAnswer(undefined);
    },

    async previewRetention({ days }, context) {
      const asked = { days, signal: context.signal };
      const { cutoff, ...numbers } = await retention.preview(projectOf(context), asked);
      return { success: true, data: { ...numbers, cutoff: timestampFromDate(cutoff) } };
    },

    async listRetentionRuns({ limit, cursor }, context) {
      const found = await retention.listRuns(projectOf(context), { limit, cursor });
      return toPageAnswer(found, toRunMessage);
    },
  };
}

function toMessage(
  row: RetentionRow | undefined,
  isExported: boolean,
): MessageInitShape<typeof RetentionSchema> {
  if (!row) return { isExported };
  return { days: row.days, isExported, updatedAt: timestampFromDate(row.updatedAt) };
}

function toRunMessage(run: RunRow): MessageInitShape<typeof RetentionRunSchema> {
  const { sessions, events, scores, annotationItems, annotationScores, feedback, updates } = run;
  return {
    id: run.id,
    state: run.state,
    cutoff: timestampFromDate(run.cutoff),
    deleted: { sessions, events, scores, annotationItems, annotationScores, feedback, updates },
    skippedSessions: run.skippedSessions,
    files: [...run.files],
    ...(run.error !== null && { error: run.error }),
    createdAt: timestampFromDate(run.createdAt),
    ...(run.endedAt && { endedAt: timestampFromDate(run.endedAt) }),
  };
}
