// Says which roles may change what the page shows, to a person whose role may not.

import type { DescMethod } from "@bufbuild/protobuf";
import { MemberService } from "../../../../gen/waggle/v1/member_pb.js";
import { useProjectId } from "../api/project.ts";
import { useRpc } from "../api/query.ts";
import type { ScopeRef } from "../api/scope.ts";
import { mayCall } from "./may.ts";
import { useMay } from "./use-may.ts";
import "../design/layout.css";

export type ReadOnlyNoteProps = {
  /** Rpc that makes the change. */
  readonly method: DescMethod;
  /** Default the project of the address. */
  readonly scope?: ScopeRef;
};

export function ReadOnlyNote({ method, scope }: ReadOnlyNoteProps) {
  const projectId = useProjectId();
  const { level, id } = scope ?? { level: "project", id: projectId ?? "" };
  const isAllowed = useMay(scope)(method);
  const { data } = useRpc(
    MemberService.method.listRoles,
    {},
    { staleMs: 60_000, isEnabled: !isAllowed },
  );
  if (isAllowed) return null;
  const titles = (data?.data ?? [])
    .filter(({ levels }) => levels.includes(level))
    .filter(({ permissions }) => {
      const grants = [{ scopeType: level, scopeId: id, permissions }];
      return mayCall(grants, method, { level, ids: { [level]: id } });
    })
    .map(({ title }) => title);
  const who = titles.length === 0 ? "An administrator" : titles.join(" or ");
  return <p className="soft">You may read this. {who} may change it.</p>;
}
