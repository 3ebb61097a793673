// Deliveries: the notifications of an alert, or of a budget, with each attempt.

import type { InfiniteData, UseInfiniteQueryResult } from "@tanstack/react-query";
import { type ReactNode, useMemo } from "react";
import { AlertService, type Notification } from "../../../../../gen/waggle/v1/alert_pb.js";
import type { ApiError } from "../../api/errors.ts";
import { useMore, useRpcPages } from "../../api/query.ts";
import { Badge, Status } from "../../design/badge.tsx";
import { countColumn, timeColumn } from "../../design/columns.tsx";
import { EmptyState, ReadState } from "../../design/states.tsx";
import { type Column, Table } from "../../design/table.tsx";
import { Identifier } from "../../design/values.tsx";
import { useMay } from "../../session/use-may.ts";

const tones = { delivered: "good", failed: "bad", pending: "warn" } as const;

const columns: readonly Column<Notification>[] = [
  {
    id: "state",
    header: "State",
    width: 110,
    cell: ({ state }) => (
      <Status tone={tones[state as keyof typeof tones] ?? "neutral"}>{state}</Status>
    ),
  },
  {
    id: "type",
    isMajor: true,
    header: "About",
    width: 140,
    cell: ({ type }) => <Badge>{type.replace(/^\w+\./, "")}</Badge>,
  },
  {
    id: "channel",
    header: "Channel",
    width: 100,
    cell: ({ channel }) => channel.toLowerCase(),
  },
  timeColumn({ id: "asked", isMajor: true, header: "Asked", at: ({ createdAt }) => createdAt }),
  timeColumn({ id: "delivered", header: "Delivered", at: ({ deliveredAt }) => deliveredAt }),
  countColumn({
    id: "attempts",
    header: "Attempts",
    width: 84,
    count: ({ attempts }) => attempts.length,
  }),
  {
    id: "fault",
    header: "Last fault",
    width: 220,
    grow: 1,
    cell: ({ attempts }) => {
      const text = attempts.findLast(({ error }) => error !== undefined)?.error;
      return (
        <span className="truncate" title={text}>
          {text ?? ""}
        </span>
      );
    },
  },
  { id: "id", header: "Id", width: 168, cell: ({ id }) => <Identifier value={id} /> },
];

export function Deliveries({ alertId }: { readonly alertId: string }) {
  const mayTest = useMay()(AlertService.method.testAlert);
  const pages = useRpcPages(
    AlertService.method.listAlertNotifications,
    { alertId, limit: 100 },
    { refreshMs: 10_000 },
  );
  return (
    <DeliveryTable pages={pages}>
      {mayTest ? "Press Test above to see whether the target accepts notifications." : null}
    </DeliveryTable>
  );
}

type NotificationPage = { readonly data: Notification[] };

type DeliveryTableProps = {
  readonly pages: UseInfiniteQueryResult<InfiniteData<NotificationPage>, ApiError>;
  /** Advice that is shown while nothing has been sent. */
  readonly children: ReactNode;
};

export function DeliveryTable({ pages, children }: DeliveryTableProps) {
  const more = useMore(pages);
  const rows = useMemo(() => pages.data?.pages.flatMap(({ data }) => data) ?? [], [pages.data]);
  const state = <ReadState read={pages} what="Loading deliveries" />;
  if (!pages.data) return state;
  return (
    <div className="alert-history">
      {state}
      <Table
        label="Deliveries"
        columns={columns}
        rows={rows}
        idOf={({ id }) => id}
        toneOf={({ state }) => (state === "failed" ? "bad" : undefined)}
        {...more}
        empty={<EmptyState title="Nothing was sent yet">{children}</EmptyState>}
      />
    </div>
  );
}
