// `/app`: leads on to the project that was open last, or else the first one.

import { Navigate } from "@tanstack/react-router";
import { FolderOpen } from "lucide-react";
import { EmptyState, ReadState } from "../design/states.tsx";
import { Page } from "./page.tsx";
import { projectToOpen, useProjects } from "./projects.ts";

export function Home() {
  const answer = useProjects();
  const { data: projects } = answer;
  if (projects) {
    const project = projectToOpen(projects);
    if (project)
      return <Navigate to="/app/p/$projectId/traces" params={{ projectId: project.id }} replace />;
    return (
      <Page title="Waggle">
        <EmptyState icon={<FolderOpen />} title="No project is open to you">
          An administrator gives you a role in a project, under Settings, Members. Then load this
          page again.
        </EmptyState>
      </Page>
    );
  }
  return <ReadState read={answer} what="Looking for your projects" />;
}
