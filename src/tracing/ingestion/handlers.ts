// IngestionService: a message in, a message out, no decisions.

import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { IngestionService } from "../../../gen/waggle/v1/ingestion_pb.js";
import { projectOf } from "../../access/call.ts";
import type { Ingestion } from "./ingestion.ts";

export function ingestionHandlers(
  ingestion: Pick<Ingestion, "report">,
): ServiceImpl<typeof IngestionService> {
  return {
    async getIngestion({ hours }, context) {
      const report = await ingestion.report(projectOf(context).projectId, hours);
      const data = {
        from: timestampFromDate(report.from),
        hours: report.hours.map(({ at, ...counts }) => ({ at: timestampFromDate(at), ...counts })),
        groups: report.groups.map(({ lastAt, message, ...group }) => ({
          ...group,
          lastAt: timestampFromDate(lastAt),
          ...(message !== null && { message }),
        })),
        groupsTotal: report.groupsTotal,
      };
      return { success: true, data };
    },
  };
}
