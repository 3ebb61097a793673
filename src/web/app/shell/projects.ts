// The projects of the person who is signed in, and the one that the navigation leads to.

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

/**
 * Returns the id of the project that sidebar, bar and keys lead to: the project in the address. An
 * address without a project, such as the settings of an organization, has the last opened project.
 */
export function useNavigationProjectId(): string | undefined {
  const projectId = useProjectId();
  const { data: projects = [] } = useProjects();
  return projectId ?? projectToOpen(projects)?.id;
}

/** Returns that project, once its name is known. */
export function useNavigationProject(): Scope | undefined {
  const projectId = useNavigationProjectId();
  return useProjects().data?.find(({ id }) => id === projectId);
}

/** Returns the project that was open last, or else the first one. */
export function projectToOpen(projects: readonly Scope[]): Scope | undefined {
  return projects.find(({ id }) => id === lastProject()) ?? projects[0];
}

/** Keeps which project was open last, so that the next visit begins there. */
export function rememberProject(projectId: string): void {
  localStorage.setItem(lastProjectKey, projectId);
}

function lastProject(): string | undefined {
  return localStorage.getItem(lastProjectKey) ?? undefined;
}
