// Retention of a project: how many days it keeps its sessions, and the reports of its deletions.

import type { UseQueryResult } from "@tanstack/react-query";
import { useState } from "react";
import {
  type PreviewRetentionResponse,
  type RetentionRun,
  RetentionService,
} from "../../../../../gen/waggle/v1/retention_pb.js";
import type { ApiError } from "../../api/errors.ts";
import { useRpc, useRpcMutation, useRpcPages } from "../../api/query.ts";
import { Status } from "../../design/badge.tsx";
import { Button } from "../../design/button.tsx";
import { ConfirmCall } from "../../design/confirm-call.tsx";
import { formatCounted, formatTime } from "../../design/format.ts";
import { TextField } from "../../design/fields.tsx";
import { MoreButton } from "../../design/more-button.tsx";
import { ErrorState, ReadState } from "../../design/states.tsx";
import { Count, Time } from "../../design/values.tsx";
import { toMs } from "../../api/scope.ts";
import { ReadOnlyNote } from "../../session/read-only-note.tsx";
import { useMay } from "../../session/use-may.ts";
import { type SettingsColumn, SettingsTable } from "./settings-table.tsx";

const { method } = RetentionService;
const daysMax = 3_650;

export function RetentionSettings({ projectId }: { readonly projectId: string }) {
  const answer = useRpc(method.getRetention, { projectId });
  const retention = answer.data?.data;
  if (!retention) return <ReadState read={answer} what="Loading the retention" />;
  return (
    <div className="settings-sections">
      <RetentionForm key={retention.days ?? 0} projectId={projectId} days={retention.days} />
      <p className="settings-note">
        {retention.isExported
          ? "Deleted sessions are written to files before, as the operator has set."
          : "Deleted sessions are not written to files first."}
      </p>
      <RetentionRuns projectId={projectId} />
    </div>
  );
}

type RetentionFormProps = { readonly projectId: string; readonly days: number | undefined };

function RetentionForm({ projectId, days }: RetentionFormProps) {
  const [typed, setTyped] = useState(days === undefined ? "" : String(days));
  const scope = { level: "project", id: projectId } as const;
  const may = useMay(scope);
  const [isAsking, setAsking] = useState(false);
  const changes = [method.getRetention];
  const end = useRpcMutation(method.deleteRetention, { changes });
  const wanted = Number(typed);
  const isPossible = Number.isInteger(wanted) && wanted >= 1 && wanted <= daysMax;
  const preview = useRpc(
    method.previewRetention,
    { projectId, days: wanted },
    { isEnabled: isAsking },
  );
  return (
    <div className="settings-form">
      <p>
        {days === undefined
          ? "This project keeps its sessions for ever."
          : `This project keeps its sessions for ${formatCounted(days, "day")}.`}
      </p>
      <TextField
        label="Days"
        hint="1 to 3,650. Older sessions are deleted within a day, for good."
        inputMode="numeric"
        error={
          typed.trim() === "" || isPossible ? undefined : "Must be a whole number, 1 to 3,650."
        }
        readOnly={!may(method.putRetention)}
        value={typed}
        onChange={setTyped}
      />
      <ReadOnlyNote method={method.putRetention} scope={scope} />
      {end.error ? <ErrorState error={end.error} isInline /> : null}
      <div className="settings-acts">
        {may(method.putRetention) ? (
          <Button
            variant="primary"
            disabled={!isPossible || wanted === days}
            onClick={() => setAsking(true)}
          >
            Set retention
          </Button>
        ) : null}
        {days === undefined || !may(method.deleteRetention) ? null : (
          <Button busyLabel={end.isPending && "Ending…"} onClick={() => end.mutate({ projectId })}>
            Keep everything
          </Button>
        )}
      </div>
      <ConfirmCall
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={`Keep sessions for ${formatCounted(wanted, "day")}`}
        description={describePreview(preview)}
        action="Set retention"
        busyLabel="Setting…"
        method={method.putRetention}
        input={{ projectId, days: wanted }}
        changes={changes}
      />
    </div>
  );
}

type PreviewRead = UseQueryResult<PreviewRetentionResponse, ApiError>;

function describePreview({ data, isFetching, error }: PreviewRead): string {
  const found = isFetching ? undefined : data?.data;
  const rest = "are deleted within a day, and cannot be brought back.";
  if (found === undefined) {
    const why = error && !isFetching ? "They could not be counted." : "Counting them…";
    return `Older sessions ${rest} ${why}`;
  }
  if (found.sessions === 0) return `No session is older now. Older ones ${rest}`;
  const { sessions, events, cutoff } = found;
  const counts = `${formatCounted(sessions, "session")}, ${formatCounted(events, "event")}`;
  return `Sessions before ${formatTime(toMs(cutoff) ?? 0)} ${rest} Now: ${counts}.`;
}

const columns: readonly SettingsColumn<RetentionRun>[] = [
  { header: "Started", cell: ({ createdAt }) => <Time value={createdAt} /> },
  {
    header: "State",
    isMajor: true,
    cell: ({ state, error }) => (
      <>
        <Status tone={error ? "bad" : state === "completed" ? "good" : "info"}>{state}</Status>
        {error ? ` ${error}` : null}
      </>
    ),
  },
  { header: "Older than", cell: ({ cutoff }) => formatTime(toMs(cutoff) ?? 0) },
  { header: "Sessions", align: "end", cell: ({ deleted }) => <Count value={deleted?.sessions} /> },
  { header: "Events", align: "end", cell: ({ deleted }) => <Count value={deleted?.events} /> },
  {
    header: "Kept: changed",
    align: "end",
    cell: ({ skippedSessions }) => <Count value={skippedSessions} />,
  },
  {
    header: "Files",
    align: "end",
    titleOf: ({ files }) => files.join("\n"),
    cell: ({ files }) => <Count value={files.length} />,
  },
];

function RetentionRuns({ projectId }: { readonly projectId: string }) {
  const runs = useRpcPages(method.listRetentionRuns, { projectId, limit: 50 });
  const rows = runs.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <section>
      <h2>Deletions</h2>
      <ReadState read={runs} what="Loading the deletions" isInline />
      {runs.data && rows.length === 0 ? <p className="settings-note">None so far.</p> : null}
      {rows.length === 0 ? null : (
        <SettingsTable label="Deletions" columns={columns} rows={rows} idOf={({ id }) => id} />
      )}
      <MoreButton pages={runs} label="Show more deletions" />
    </section>
  );
}
