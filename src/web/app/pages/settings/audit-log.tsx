// The audit log of an organization: each change with its actor, narrowed by filters of the address;
// one entry opens with the state before and after.

import { useNavigate } from "@tanstack/react-router";
import { ScrollText } from "lucide-react";
import { useCallback, useEffect, useMemo, useState } from "react";
import { type AuditEntry, AuditService } from "../../../../../gen/waggle/v1/audit_pb.js";
import { serviceNow } from "../../api/clock.ts";
import { useMore, useRpcPages } from "../../api/query.ts";
import { countColumn } from "../../design/columns.tsx";
import { formatExactCount, formatId } from "../../design/format.ts";
import { EmptyState, ErrorState, Loading } from "../../design/states.tsx";
import { type Column, Table } from "../../design/table.tsx";
import { timeWidth } from "../../design/table-model.ts";
import { Time } from "../../design/values.tsx";
import { AuditEntryDrawer } from "./audit-entry.tsx";
import {
  AuditFilters,
  type AuditSearch,
  parseAuditSearch,
  toAuditInput,
} from "./audit-filters.tsx";
import { settingsRoute } from "./route.tsx";

const columns: readonly Column<AuditEntry>[] = [
  { id: "at", header: "When", width: timeWidth, cell: ({ at }) => <Time value={at} /> },
  {
    id: "actor",
    header: "Who",
    width: 180,
    grow: 1,
    cell: ({ actorName, actorType }) => (
      <span className="truncate" title={`${actorType} ${actorName}`}>
        {actorName}
      </span>
    ),
  },
  {
    id: "action",
    isMajor: true,
    header: "What",
    width: 190,
    cell: ({ action }) => <code className="truncate">{action}</code>,
  },
  {
    id: "target",
    header: "Changed",
    width: 180,
    cell: ({ targetType, targetId }) => (
      <span className="truncate" title={targetId}>
        {targetType} {formatId(targetId)}
      </span>
    ),
  },
  countColumn({ id: "sequence", header: "No.", width: 72, count: ({ sequence }) => sequence }),
];

const pageSize = 200;

/**
 * Returns the filters as the log is asked with them. A moving range begins where it began when it
 * was chosen: with a later begin the list would start anew while one reads further down.
 */
function useAuditInput(search: AuditSearch) {
  const key = JSON.stringify(search);
  // oxlint-disable-next-line react/exhaustive-deps -- the key has all of the search
  return useMemo(() => toAuditInput(search, serviceNow()), [key]);
}

export function AuditLog({ orgId }: { readonly orgId: string }) {
  const search = parseAuditSearch(settingsRoute.useSearch().log);
  const input = useAuditInput(search);
  const navigate = useNavigate();
  const [open, setOpen] = useState<AuditEntry>();
  const log = useRpcPages(
    AuditService.method.listAuditLog,
    { orgId, limit: pageSize, ...input },
    { keepsPrevious: true },
  );
  const entries = useMemo(() => log.data?.pages.flatMap(({ data }) => data) ?? [], [log.data]);
  const { fetchNextPage, hasNextPage, isFetching } = log;
  const more = useMore(log);
  const setSearch = useCallback(
    (next: AuditSearch) => {
      const isNarrowed = Object.keys(next).length > 0;
      void navigate({
        to: "/app/settings",
        search: (before) => {
          const { log: _, ...others } = before;
          return { ...others, ...(isNarrowed && { log: next }) };
        },
        replace: true,
      });
    },
    [navigate],
  );
  // A page has no entry where none of its many rows matches.
  const isSearching = entries.length === 0 && hasNextPage && !log.error;
  useEffect(() => {
    if (isSearching && !isFetching) void fetchNextPage();
  }, [isSearching, isFetching, fetchNextPage]);
  const retry = () => void (entries.length === 0 ? log.refetch() : fetchNextPage());
  return (
    <div className="audit">
      <div className="settings-acts">
        <AuditFilters value={search} onChange={setSearch} />
        <span className="settings-note" role="status">
          {log.isPending
            ? ""
            : `${formatExactCount(entries.length)}${hasNextPage ? "+" : ""} ` +
              (entries.length === 1 ? "entry" : "entries")}
        </span>
      </div>
      {log.error ? <ErrorState error={log.error} isInline onRetry={retry} /> : null}
      {log.isPending || isSearching ? (
        <Loading what="Reading the audit log" />
      ) : (
        <Table
          label="Audit log"
          isMain
          columns={columns}
          rows={entries}
          idOf={({ sequence }) => String(sequence)}
          onOpen={setOpen}
          openId={open && String(open.sequence)}
          {...more}
          empty={
            <EmptyState icon={<ScrollText />} title="No change matches these filters">
              Take one of them away, or choose a longer time.
            </EmptyState>
          }
        />
      )}
      {open ? <AuditEntryDrawer entry={open} onClose={() => setOpen(undefined)} /> : null}
    </div>
  );
}
