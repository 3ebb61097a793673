// Crumbs: in place of a page's title, the way back to its list before the name of what it shows.

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { pageAddress, useCurrentProjectId } from "../api/project.ts";
import { destinations } from "./navigation.ts";

export type CrumbsProps = {
  /** Path of the list among the destinations, such as `queues`. */
  readonly list: string;
  readonly name: string;
  /** More beside the name, such as a state. */
  readonly children?: ReactNode;
};

export function Crumbs({ list, name, children }: CrumbsProps) {
  const projectId = useCurrentProjectId();
  return (
    <>
      <Link to={pageAddress(projectId, list)}>
        {destinations.find(({ path }) => path === list)?.title}
      </Link>
      <span aria-hidden>/</span>
      <span className="truncate">{name}</span>
      {children}
    </>
  );
}
