// The audit log of an organization: each change with its actor, narrowed by words; one entry opens
// with the state before and after.

import { ScrollText } from "lucide-react";
import { useCallback, useMemo, useState } from "react";
import { type AuditEntry, AuditService } from "../../../../../gen/waggle/v1/audit_pb.js";
import { useRpcPages } from "../../api/query.ts";
import { formatExactCount } from "../../design/format.ts";
import { Input, Select } from "../../design/input.tsx";
import { EmptyState, ErrorState, Loading } from "../../design/states.tsx";
import { type Column, Table } from "../../design/table.tsx";
import { Count, Time } from "../../design/values.tsx";
import { AuditEntryDrawer } from "./audit-entry.tsx";
import { toMs } from "./scope.ts";

const columns: readonly Column<AuditEntry>[] = [
  { id: "at", header: "When", width: 96, cell: ({ at }) => <Time value={toMs(at)} /> },
  {
    id: "actor",
    header: "Who",
    width: 200,
    grow: 1,
    cell: ({ actorName, actorType }) => (
      <span className="truncate" title={`${actorType} ${actorName}`}>
        {actorName}
      </span>
    ),
  },
  {
    id: "action",
    header: "What",
    width: 220,
    cell: ({ action }) => <code className="truncate">{action}</code>,
  },
  {
    id: "target",
    header: "Changed",
    width: 220,
    cell: ({ targetType, targetId }) => (
      <span className="truncate" title={targetId}>
        {targetType} {targetId.slice(0, 8)}
      </span>
    ),
  },
  {
    id: "sequence",
    header: "No.",
    width: 72,
    align: "end",
    cell: ({ sequence }) => <Count value={sequence} />,
  },
];

const pageSize = 500;

export function AuditLog({ orgId }: { readonly orgId: string }) {
  const [words, setWords] = useState("");
  const [action, setAction] = useState("");
  const [open, setOpen] = useState<AuditEntry>();
  const log = useRpcPages(
    AuditService.method.listAuditLog,
    { orgId, limit: pageSize },
    { cursorOf: (page) => page.nextCursor },
  );
  const entries = useMemo(() => log.data?.pages.flatMap(({ data }) => data) ?? [], [log.data]);
  const rows = useMemo(() => narrow(entries, words, action), [entries, words, action]);
  const { fetchNextPage, hasNextPage, isFetchingNextPage } = log;
  const readMore = useCallback(() => void fetchNextPage(), [fetchNextPage]);
  if (log.error && entries.length === 0) {
    return <ErrorState error={log.error} onRetry={() => void log.refetch()} />;
  }
  if (log.isPending) return <Loading what="Loading the audit log" />;
  const actions = [...new Set(entries.map((entry) => entry.action))].toSorted();
  return (
    <div className="audit">
      <div className="settings-acts">
        <Input
          aria-label="Words in the log"
          placeholder="Person, key, action or id…"
          value={words}
          onChange={(event) => setWords(event.target.value)}
        />
        <Select
          aria-label="Action"
          value={action}
          options={[
            { value: "", label: "Every action" },
            ...actions.map((value) => ({ value, label: value })),
          ]}
          onChange={setAction}
        />
        <span className="settings-note" role="status">
          {formatExactCount(rows.length)} of {hasNextPage ? "the newest " : ""}
          {formatExactCount(entries.length)} entries
        </span>
      </div>
      <Table
        label="Audit log"
        isMain
        columns={columns}
        rows={rows}
        idOf={({ sequence }) => String(sequence)}
        onOpen={setOpen}
        openId={open && String(open.sequence)}
        onMore={hasNextPage ? readMore : undefined}
        isLoadingMore={isFetchingNextPage}
        empty={
          <EmptyState icon={<ScrollText />} title="No entry has these words">
            {hasNextPage
              ? "Only the newest entries were searched; use fewer words to read on."
              : "Use other words."}
          </EmptyState>
        }
      />
      {open ? <AuditEntryDrawer entry={open} onClose={() => setOpen(undefined)} /> : null}
    </div>
  );
}

function narrow(entries: readonly AuditEntry[], words: string, action: string) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return entries.filter((entry) => {
    if (action !== "" && entry.action !== action) return false;
    const { actorName, actorId, targetType, targetId, scopeType, scopeId } = entry;
    const parts = [actorName, actorId, entry.action, targetType, targetId, scopeType, scopeId];
    const text = parts.join(" ").toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}
