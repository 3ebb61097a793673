// Permissions of the person in the scope of the page. They decide about controls, never about data.

import type { DescMethod } from "@bufbuild/protobuf";
import { useProjectId } from "../api/project.ts";
import { type ScopeRef, useScope } from "../api/scope.ts";
import { mayCall } from "./may.ts";
import { useSignIn } from "./sign-in-state.ts";

/** Returns whether an rpc would be permitted; true while that is not known. */
export type May = (method: DescMethod) => boolean;

/** Returns what the person may call in a scope; default the project of the address. */
export function useMay(scope?: ScopeRef): May {
  const projectId = useProjectId();
  const { level, id } = scope ?? { level: "project", id: projectId };
  const signIn = useSignIn();
  const grants = "me" in signIn && signIn.me.type === "user" ? signIn.me.grants : undefined;
  // With a single grant the person is here by that one. The answer may be missing: then it is true.
  const isMixed =
    grants?.some(({ scopeType }) => scopeType !== level && scopeType !== "system") === true &&
    grants.length > 1;
  const { scope: found } = useScope({ level, id: id ?? "" }, isMixed && id !== undefined);
  // A project's own answer does not name its data plane.
  const workspaceId = level === "project" ? found?.workspaceId : undefined;
  const hasDataplane = grants?.some(({ scopeType }) => scopeType === "dataplane") === true;
  const { scope: workspace } = useScope(
    { level: "workspace", id: workspaceId ?? "" },
    hasDataplane && workspaceId !== undefined,
  );
  if (!grants || id === undefined) return () => true;
  const ids = {
    org: found?.orgId,
    dataplane: found?.virtualDataplaneId ?? workspace?.virtualDataplaneId,
    workspace: found?.workspaceId,
    [level]: id,
  };
  return (method) => mayCall(grants, method, { level, ids }) ?? true;
}
