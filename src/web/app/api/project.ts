// The project of the page's address (`/app/p/<project_id>/…`), which all calls of the page are
// about.

import { useParams } from "@tanstack/react-router";

/** Returns the id of the project in the address; undefined on pages outside of any project. */
export function useProjectId(): string | undefined {
  return useParams({ strict: false }).projectId;
}

/** Returns the id of the project in the address. Only for pages below `/app/p/<project_id>`. */
export function useCurrentProjectId(): string {
  const projectId = useProjectId();
  if (projectId === undefined) throw new Error("this page belongs under /app/p/<project_id>");
  return projectId;
}

/**
 * Returns the address of a page of a project by its name. The type says a known address, because
 * the router checks only those that are written out, with params.
 */
export function pageAddress(projectId: string, page: string): "/app" {
  return `/app/p/${projectId}/${page}` as "/app";
}
