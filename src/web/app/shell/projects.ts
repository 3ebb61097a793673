// The projects of the person who is signed in, and the one in the address.

import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import type { ApiError } from "../api/errors.ts";
import { useProjectId } from "../api/project.ts";
import { useSignIn } from "../session/sign-in-state.ts";
import { listProjects, type Scope } from "./scope-tree.ts";

const staleMs = 60_000;
const lastProjectKey = "waggle.project";

/** Reads every project that the person may see. */
export function useProjects(): UseQueryResult<readonly Scope[], ApiError> {
  const signIn = useSignIn();
  const me = "me" in signIn ? signIn.me : undefined;
  return useQuery<readonly Scope[], ApiError>({
    queryKey: ["projects", me?.id],
    queryFn: () => (me ? listProjects(me) : []),
    enabled: me !== undefined,
    staleTime: staleMs,
  });
}

/** Returns the project in the address, once its name is known. */
export function useCurrentProject(): Scope | undefined {
  const projectId = useProjectId();
  return useProjects().data?.find(({ id }) => id === projectId);
}

/** Keeps which project was open last, so that the next visit begins there. */
export function rememberProject(projectId: string): void {
  localStorage.setItem(lastProjectKey, projectId);
}

export function lastProject(): string | undefined {
  return localStorage.getItem(lastProjectKey) ?? undefined;
}
