// An archived scope in the answers of every level.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ArchivedScopeSchema } from "../../../gen/waggle/v1/scope_pb.js";
import type { Archived } from "./archive.ts";

export function toArchivedMessage(
  archived: Archived,
): MessageInitShape<typeof ArchivedScopeSchema> {
  return {
    id: archived.id,
    name: archived.name,
    scopeType: archived.level,
    archivedAt: timestampFromDate(archived.archivedAt),
    workflowId: archived.workflowId,
  };
}
