// MemberService: a message in, a message out, no decisions.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { MemberSchema, MemberService } from "../../../gen/waggle/v1/member_pb.js";
import { parsePageOptions, toPageAnswer } from "../../base/pages.ts";
import { principalOf, scopeOf } from "../call.ts";
import type { Manifest } from "../roles/manifest.ts";
import type { Member, Members } from "./members.ts";

export function memberHandlers(
  members: Members,
  manifest: Manifest,
): ServiceImpl<typeof MemberService> {
  return {
    async addMember({ email, role }, context) {
      const caller = { scope: scopeOf(context), principal: principalOf(context) };
      const member = await members.add({ ...caller, email, role });
      return { success: true, data: toMessage(member) };
    },
    async listMembers(request, context) {
      const page = await members.list(scopeOf(context), parsePageOptions("members", request));
      return toPageAnswer(page, toMessage);
    },
    async updateMember({ userId, role }, context) {
      const caller = { scope: scopeOf(context), principal: principalOf(context) };
      const member = await members.update({ ...caller, userId, role });
      return { success: true, data: toMessage(member) };
    },
    async removeMember({ userId }, context) {
      const caller = { scope: scopeOf(context), principal: principalOf(context) };
      const member = await members.remove({ ...caller, userId });
      return { success: true, data: toMessage(member) };
    },
    listRoles() {
      const data = [...manifest.roles.values()].map(({ name, title, levels, permissions }) => ({
        name,
        title,
        levels: [...levels],
        permissions: [...permissions],
      }));
      return { success: true, data };
    },
  };
}

function toMessage(member: Member): MessageInitShape<typeof MemberSchema> {
  return {
    userId: member.userId,
    email: member.email,
    ...(member.name !== null && { name: member.name }),
    role: member.role,
    scopeType: member.level,
    scopeId: member.scopeId,
    createdAt: timestampFromDate(member.createdAt),
    createdBy: member.createdBy,
  };
}
