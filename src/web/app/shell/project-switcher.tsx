// The project that is open, and the way to another one: projects by organization and workspace.

import { useNavigate, useRouterState } from "@tanstack/react-router";
import { ChevronsUpDown } from "lucide-react";
import { pageAddress } from "../api/project.ts";
import { Combobox } from "../design/combobox.tsx";
import { rememberProject, useNavigationProject, useProjects } from "./projects.ts";

export type ProjectSwitcherProps = {
  readonly isOpen: boolean;
  readonly onOpenChange: (isOpen: boolean) => void;
};

export function ProjectSwitcher({ isOpen, onOpenChange }: ProjectSwitcherProps) {
  const current = useNavigationProject();
  const { data: projects = [], isPending } = useProjects();
  const unnamed = isPending ? "Loading…" : "Choose a project";
  const navigate = useNavigate();
  const pageName = useRouterState({
    select: ({ location }) => location.pathname.split("/")[4] ?? "traces",
  });
  return (
    <Combobox
      label="Projects"
      placeholder="Find a project…"
      emptyText="No project has these words."
      isOpen={isOpen}
      onOpenChange={onOpenChange}
      value={current?.id}
      options={projects.map(({ id, name, above }) => ({
        value: id,
        label: name,
        group: above.length === 0 ? "Projects" : above.join(" / "),
      }))}
      onChange={(projectId) => {
        rememberProject(projectId);
        void navigate({ to: pageAddress(projectId, pageName) });
      }}
      trigger={
        <button type="button" className="project-switcher">
          <span className="visually-hidden">Switch project:</span>
          <span className="project-switcher-mark" aria-hidden>
            {(current?.name ?? "·").slice(0, 1).toUpperCase()}
          </span>
          <span className="project-switcher-names">
            <span className="truncate">{current?.name ?? unnamed}</span>
            <span className="truncate">{current?.above.at(-1) ?? "Waggle"}</span>
          </span>
          <ChevronsUpDown aria-hidden />
        </button>
      }
    />
  );
}
