// ArchivalService: a message in, a message out, no decisions.

import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { ArchivalService } from "../../../gen/waggle/v1/archival_pb.js";
import { principalOf } from "../../access/call.ts";
import { toPageAnswer } from "../../base/pages.ts";
import type { Archival, Archivals } from "./archivals.ts";

export function archivalHandlers(archivals: Archivals): ServiceImpl<typeof ArchivalService> {
  return {
    async getArchival({ scopeType, scopeId }, context) {
      const found = await archivals.get(principalOf(context), scopeType, scopeId);
      return { success: true, data: toMessage(found) };
    },
    async listArchivals({ orgId, limit, cursor }, context) {
      const page = await archivals.list(principalOf(context), orgId, { limit, cursor });
      return toPageAnswer(page, toMessage);
    },
  };
}

function toMessage(archival: Archival) {
  const { level, isDone, events, startedAt, temporalUrl, ...others } = archival;
  return {
    ...others,
    scopeType: level,
    state: isDone ? "done" : "running",
    startedAt: timestampFromDate(startedAt),
    ...(events && { events }),
    ...(temporalUrl !== undefined && { temporalUrl }),
  };
}
