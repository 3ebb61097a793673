// DataPlaneService: a message in, a message out, no decisions.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { DataPlaneSchema, DataPlaneService } from "../../../gen/waggle/v1/dataplane_pb.js";
import { parsePageOptions, toPageAnswer } from "../../base/pages.ts";
import { actorOf, principalOf, scopeOf } from "../../access/call.ts";
import { toArchivedMessage } from "../scopes/archived-message.ts";
import type { Dataplane, Dataplanes } from "./dataplanes.ts";

export function dataplaneHandlers(dataplanes: Dataplanes): ServiceImpl<typeof DataPlaneService> {
  return {
    async createDataPlane({ name, clusterId, dataplaneCreator: creator }, context) {
      const options = { name, clusterId, creator };
      const created = await dataplanes.create(scopeOf(context), options, principalOf(context));
      return { success: true, data: toMessage(created) };
    },
    async getDataPlane(_request, context) {
      return { success: true, data: toMessage(await dataplanes.get(scopeOf(context).id)) };
    },
    async listDataPlanes(request, context) {
      const page = await dataplanes.list(scopeOf(context).id, parsePageOptions(request));
      return toPageAnswer(page, toMessage);
    },
    async updateDataPlane({ name }, context) {
      const updated = await dataplanes.rename(scopeOf(context).id, name, actorOf(context));
      return { success: true, data: toMessage(updated) };
    },
    async archiveDataPlane({ dangerouslyDeleteChildScopes: withChildren }, context) {
      const options = { withChildren, actor: actorOf(context) };
      const archived = await dataplanes.archive(scopeOf(context), options);
      return { success: true, data: toArchivedMessage(archived) };
    },
  };
}

function toMessage(dataplane: Dataplane): MessageInitShape<typeof DataPlaneSchema> {
  return {
    id: dataplane.id,
    name: dataplane.name,
    clusterId: dataplane.clusterId,
    createdAt: timestampFromDate(dataplane.createdAt),
    updatedAt: timestampFromDate(dataplane.updatedAt),
    orgId: dataplane.orgId,
  };
}
