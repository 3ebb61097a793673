// Shown after a scope was archived: access has ended, and a workflow does the rest, whose progress
// is followed until it is done. Organizations have none to follow.

import { Archive } from "lucide-react";
import { useState } from "react";
import { ArchivalService } from "../../../../../gen/waggle/v1/archival_pb.js";
import { useRpc } from "../../api/query.ts";
import { EmptyState, ReadState } from "../../design/states.tsx";
import { Identifier, KeyValue, Time } from "../../design/values.tsx";
import {
  ArchivalEvents,
  ArchivalProjects,
  ArchivalState,
  ArchivalWorkflow,
  isRunning,
} from "./archival-parts.tsx";
import { levelNames, type ScopeRef } from "../../api/scope.ts";

export type ArchivedProps = { readonly scope: ScopeRef; readonly workflowId: string };

export function Archived({ scope, workflowId }: ArchivedProps) {
  const title = `This ${levelNames[scope.level]} is archived`;
  return (
    <div className="settings-sections">
      <EmptyState icon={<Archive />} title={title}>
        {scope.level === "org" ? (
          <>
            Access to it and its keys has ended. The workflow <Identifier value={workflowId} /> does
            the rest.
          </>
        ) : (
          <>
            Access to it and its keys has ended. A workflow ends what runs in it and moves its
            events.
          </>
        )}
      </EmptyState>
      {scope.level === "org" ? null : <ArchivalFollowed scope={scope} />}
    </div>
  );
}

/** Time between two looks at an archival that runs. */
const followMs = 2_000;

function ArchivalFollowed({ scope }: Pick<ArchivedProps, "scope">) {
  const [isFollowing, setFollowing] = useState(true);
  const answer = useRpc(
    ArchivalService.method.getArchival,
    { scopeType: scope.level, scopeId: scope.id },
    { refreshMs: isFollowing && followMs },
  );
  const archival = answer.data?.data;
  const isUnfinished = archival === undefined || isRunning(archival);
  if (isFollowing !== isUnfinished) setFollowing(isUnfinished);
  return (
    <section className="archival" aria-label="Progress of the archival">
      <ReadState read={answer} what="Loading the progress" isInline />
      {archival === undefined ? null : (
        <>
          <ArchivalProjects archival={archival} />
          <ArchivalEvents archival={archival} />
          <KeyValue
            items={[
              { label: "State", value: <ArchivalState archival={archival} /> },
              { label: "Name", value: archival.name },
              { label: "Started", value: <Time value={archival.startedAt} /> },
              { label: "By", value: archival.archivedBy },
              { label: "Workflow", value: <ArchivalWorkflow archival={archival} /> },
            ]}
          />
        </>
      )}
    </section>
  );
}
