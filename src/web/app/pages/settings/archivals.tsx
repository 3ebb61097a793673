// Every archival of an organization with its progress, wherever it was started. The list looks
// again often while one runs, and now and then for new ones.

import { Archive } from "lucide-react";
import { useState } from "react";
import { type Archival, ArchivalService } from "../../../../../gen/waggle/v1/archival_pb.js";
import { useRpcPages } from "../../api/query.ts";
import { MoreButton } from "../../design/more-button.tsx";
import { EmptyState, ReadState } from "../../design/states.tsx";
import { Time } from "../../design/values.tsx";
import { ArchivalProjects, ArchivalState, ArchivalWorkflow, isRunning } from "./archival-parts.tsx";
import { isLevel, levelNames } from "../../api/scope.ts";
import { type SettingsColumn, SettingsTable } from "./settings-table.tsx";

/** Time between two looks while an archival runs, and while none does. */
const followMs = 3_000;
const idleMs = 15_000;

export function Archivals({ orgId }: { readonly orgId: string }) {
  const [isFollowing, setFollowing] = useState(false);
  const pages = useRpcPages(
    ArchivalService.method.listArchivals,
    { orgId },
    {
      refreshMs: isFollowing ? followMs : idleMs,
      staleMs: 0,
    },
  );
  const archivals = pages.data?.pages.flatMap(({ data }) => data) ?? [];
  const isAnyRunning = archivals.some(isRunning);
  if (isFollowing !== isAnyRunning) setFollowing(isAnyRunning);
  const state = <ReadState read={pages} what="Loading the archivals" />;
  if (!pages.data || (pages.error && archivals.length === 0)) return state;
  if (archivals.length === 0) return <NoArchivals />;
  return (
    <div className="settings-sections">
      {state}
      <SettingsTable
        label="Archivals"
        columns={columns}
        rows={archivals}
        idOf={({ scopeId }) => scopeId}
      />
      <MoreButton pages={pages} label="Show more archivals" />
    </div>
  );
}

function NoArchivals() {
  return (
    <EmptyState icon={<Archive />} title="Nothing was archived">
      Archive a data plane, workspace or project under “General”; its progress stands here.
    </EmptyState>
  );
}

const columns: readonly SettingsColumn<Archival>[] = [
  {
    header: "Scope",
    titleOf: ({ name, scopeId }) => `${name}: ${scopeId}`,
    cell: ({ name, scopeType }) => (
      <>
        <span className="truncate">{name}</span>
        <small>{isLevel(scopeType) ? levelNames[scopeType] : scopeType}</small>
      </>
    ),
  },
  { header: "State", isMajor: true, cell: (archival) => <ArchivalState archival={archival} /> },
  {
    header: "Progress",
    className: "archival-progress",
    cell: (archival) => <ArchivalProjects archival={archival} />,
  },
  {
    header: "Started",
    titleOf: ({ archivedBy }) => `by ${archivedBy}`,
    cell: ({ startedAt, archivedBy }) => (
      <>
        <Time value={startedAt} />
        <small className="truncate">{archivedBy}</small>
      </>
    ),
  },
  { header: "Workflow", cell: (archival) => <ArchivalWorkflow archival={archival} /> },
];
