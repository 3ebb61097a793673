// Says which roles may change or read a thing, to a person whose role may not.

import type { DescMethod } from "@bufbuild/protobuf";
import { Lock } from "lucide-react";
import { MemberService } from "../../../../gen/waggle/v1/member_pb.js";
import { useProjectId } from "../api/project.ts";
import { useRpc } from "../api/query.ts";
import type { ScopeRef } from "../api/scope.ts";
import { EmptyState } from "../design/states.tsx";
import { mayCall } from "./may.ts";
import { useMay } from "./use-may.ts";
import "../design/layout.css";

export type ReadOnlyNoteProps = {
  /** Rpc that makes the change. */
  readonly method: DescMethod;
  /** Default the project of the address. */
  readonly scope?: ScopeRef;
  /** What the rpc does, such as `review events`, where the page has nothing to read besides. */
  readonly act?: string;
};

export function ReadOnlyNote({ method, scope, act }: ReadOnlyNoteProps) {
  const isAllowed = useMay(scope)(method);
  const who = useWhoMay([method], { scope, isEnabled: !isAllowed });
  if (isAllowed) return null;
  const told = act === undefined ? "You may read this." : `Your role may not ${act}.`;
  return (
    <p className="soft">
      {told} {who} may{act === undefined ? " change it" : null}.
    </p>
  );
}

export type ClosedNoteProps = {
  /** Name of the closed part, as its tab has it. */
  readonly title: string;
  /** Rpcs that read it; one of them is enough. */
  readonly methods: readonly DescMethod[];
  readonly scope: ScopeRef;
};

/** Stands in place of what the person's role may not read. */
export function ClosedNote({ title, methods, scope }: ClosedNoteProps) {
  const who = useWhoMay(methods, { scope, isEnabled: true });
  return (
    <EmptyState icon={<Lock />} title={`${title}: not open to you`}>
      {who} may read this.
    </EmptyState>
  );
}

type WhoMayOptions = { readonly scope: ScopeRef | undefined; readonly isEnabled: boolean };

/** Returns the titles of the roles that may call one of the methods. */
function useWhoMay(methods: readonly DescMethod[], { scope, isEnabled }: WhoMayOptions): string {
  const projectId = useProjectId();
  const { level, id } = scope ?? { level: "project", id: projectId ?? "" };
  const { data } = useRpc(MemberService.method.listRoles, {}, { staleMs: 60_000, isEnabled });
  const titles = (data?.data ?? [])
    .filter(({ levels }) => levels.includes(level))
    .filter(({ permissions }) => {
      const grants = [{ scopeType: level, scopeId: id, permissions }];
      return methods.some((one) => mayCall(grants, one, { level, ids: { [level]: id } }));
    })
    .map(({ title }) => title);
  return titles.length === 0 ? "An administrator" : titles.join(" or ");
}
