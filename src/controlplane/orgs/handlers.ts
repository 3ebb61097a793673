// OrganizationService: a message in, a message out, no decisions.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type {
  OrganizationSchema,
  OrganizationService,
} from "../../../gen/waggle/v1/organization_pb.js";
import { parsePageOptions, toPageAnswer } from "../../base/pages.ts";
import { actorOf, principalOf, scopeOf } from "../../access/call.ts";
import type { Archives } from "../scopes/archive.ts";
import { toArchivedMessage } from "../scopes/archived-message.ts";
import type { Org, Orgs } from "./orgs.ts";

export function orgHandlers(
  orgs: Orgs,
  archives: Pick<Archives, "archive">,
): ServiceImpl<typeof OrganizationService> {
  return {
    async createOrganization({ name, orgCreator: creator }, context) {
      const created = await orgs.create({ name, creator }, principalOf(context));
      return { success: true, data: toMessage(created) };
    },
    async getOrganization(_request, context) {
      return { success: true, data: toMessage(await orgs.get(scopeOf(context).id)) };
    },
    async listOrganizations(request, context) {
      const page = await orgs.list(principalOf(context), parsePageOptions(request));
      return toPageAnswer(page, toMessage);
    },
    async updateOrganization({ name }, context) {
      const updated = await orgs.rename(scopeOf(context).id, name, actorOf(context));
      return { success: true, data: toMessage(updated) };
    },
    async archiveOrganization({ dangerouslyDeleteChildScopes: withChildren }, context) {
      const options = { withChildren, actor: actorOf(context) };
      const archived = await archives.archive(scopeOf(context), options);
      return { success: true, data: toArchivedMessage(archived) };
    },
  };
}

function toMessage(org: Org): MessageInitShape<typeof OrganizationSchema> {
  return {
    id: org.id,
    name: org.name,
    createdAt: timestampFromDate(org.createdAt),
    updatedAt: timestampFromDate(org.updatedAt),
  };
}
