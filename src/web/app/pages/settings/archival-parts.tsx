// The parts of an archival's progress: its state, its counts, and the link to its workflow.

import { ExternalLink } from "lucide-react";
import type { Archival } from "../../../../../gen/waggle/v1/archival_pb.js";
import { Status } from "../../design/badge.tsx";
import { formatExactCount } from "../../design/format.ts";
import { Progress } from "../../design/states.tsx";
import { Identifier } from "../../design/values.tsx";

type Of = { readonly archival: Archival };

export const isRunning = ({ state }: Archival): boolean => state !== "done";

export function ArchivalState({ archival }: Of) {
  return isRunning(archival) ? (
    <Status tone="info">running</Status>
  ) : (
    <Status tone="good">done</Status>
  );
}

/** Projects that are done, of those in the scope. A scope without projects has nothing to move. */
export function ArchivalProjects({ archival }: Of) {
  const { done = 0, total = 0, isExact = true } = archival.projects ?? {};
  const of = `${formatExactCount(total)}${isExact ? "" : "+"}`;
  return (
    <Progress
      label={total === 1 ? "Project" : "Projects"}
      value={total === 0 ? 1 : done / total}
      detail={`${formatExactCount(done)} of ${of} done`}
    />
  );
}

/** Events that are moved, of those that the scope holds; nothing where they are not counted. */
export function ArchivalEvents({ archival: { events } }: Of) {
  if (!events) return null;
  const { moved, left, isExact } = events;
  const total = moved + left;
  return (
    <Progress
      label="Events"
      value={total === 0 ? 1 : moved / total}
      detail={
        `${formatExactCount(moved)} of ${formatExactCount(total)}${isExact ? "" : "+"} moved to ` +
        "the archive"
      }
    />
  );
}

/** A link to the workflow in Temporal's page, or its id where the deployment knows no such page. */
export function ArchivalWorkflow({ archival: { temporalUrl, workflowId } }: Of) {
  if (temporalUrl === undefined) return <Identifier value={workflowId} />;
  return (
    <a className="archival-workflow" href={temporalUrl} target="_blank" rel="noreferrer">
      Open in Temporal <ExternalLink aria-hidden />
    </a>
  );
}
