// ModelAliasService: a message in, a message out, no decisions.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type {
  ModelAliasSchema,
  ModelAliasService,
} from "../../../../gen/waggle/v1/model_alias_pb.js";
import { toPageAnswer } from "../../../base/pages.ts";
import { actorOf, scopeOf } from "../../../access/call.ts";
import type { Alias, Aliases } from "./aliases.ts";

export function modelAliasHandlers(aliases: Aliases): ServiceImpl<typeof ModelAliasService> {
  return {
    async putModelAlias({ name, targets }, context) {
      const caller = { scope: scopeOf(context), actor: actorOf(context) };
      const alias = await aliases.put({ ...caller, name, targets });
      return { success: true, data: toMessage(alias) };
    },
    async listModelAliases(request, context) {
      const page = await aliases.list(scopeOf(context), request);
      return toPageAnswer(page, toMessage);
    },
    async getModelAlias({ name }, context) {
      const alias = await aliases.get(scopeOf(context), name);
      return { success: true, data: toMessage(alias) };
    },
    async deleteModelAlias({ name }, context) {
      const alias = await aliases.delete(scopeOf(context), name, actorOf(context));
      return { success: true, data: toMessage(alias) };
    },
  };
}

function toMessage(alias: Alias): MessageInitShape<typeof ModelAliasSchema> {
  return {
    name: alias.name,
    targets: [...alias.targets],
    scopeType: alias.level,
    scopeId: alias.scopeId,
    updatedAt: timestampFromDate(alias.updatedAt),
    updatedBy: alias.updatedBy,
  };
}
