// AuditService: a message in, a message out, no decisions.

import { fromJson } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { AuditService } from "../../../gen/waggle/v1/audit_pb.js";
import { toPageAnswer } from "../../base/pages.ts";
import { toStruct } from "../../base/struct.ts";
import { scopeOf } from "../call.ts";
import type { Audit, AuditEntry } from "./audit.ts";

export function auditHandlers(audit: Pick<Audit, "list">): ServiceImpl<typeof AuditService> {
  return {
    async listAuditLog({ limit, cursor, startTime, endTime, ...filter }, context) {
      const page = await audit.list(
        scopeOf(context).id,
        { limit, cursor },
        { ...filter, fromMs: startTime, toMs: endTime },
      );
      return toPageAnswer(page, toMessage);
    },
  };
}

function toMessage({ at, before, after, hash, previousHash, ...entry }: AuditEntry) {
  return {
    sequence: entry.sequence,
    // A Date would lose the microseconds, which are part of the hash.
    ...(at !== undefined && { at: fromJson(TimestampSchema, at) }),
    actorType: entry.actorType,
    actorId: entry.actorId,
    actorName: entry.actorName,
    action: entry.action,
    scopeType: entry.scopeLevel,
    scopeId: entry.scopeId,
    targetType: entry.targetType,
    targetId: entry.targetId,
    ...(before && { before: toStruct(before) }),
    ...(after && { after: toStruct(after) }),
    hash: hash.toString("hex"),
    previousHash: previousHash.toString("hex"),
  };
}
