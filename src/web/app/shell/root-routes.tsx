// The routes that all others are under: the app, and a project in it.

import { createRootRoute, createRoute, Outlet } from "@tanstack/react-router";
import { useEffect } from "react";
import { useCurrentProjectId } from "../api/project.ts";
import { PageNotFound, ProjectNotFound } from "./page-error.tsx";
import { rememberProject, useProjects } from "./projects.ts";
import { Root } from "./shell.tsx";

export const rootRoute = createRootRoute({ component: Root, notFoundComponent: PageNotFound });

/** Parent of every page about a project. */
export const projectRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/app/p/$projectId",
  component: ProjectPages,
});

function ProjectPages() {
  const projectId = useCurrentProjectId();
  const { data: projects } = useProjects();
  const isUnknown = projects?.every(({ id }) => id !== projectId) === true;
  useEffect(() => {
    if (!isUnknown) rememberProject(projectId);
  }, [projectId, isUnknown]);
  return isUnknown ? <ProjectNotFound /> : <Outlet />;
}
