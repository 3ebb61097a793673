// The list of alerts: those that need a look first.

import { Link, useNavigate } from "@tanstack/react-router";
import { Bell, Plus } from "lucide-react";
import { type Alert, AlertService } from "../../../../../gen/waggle/v1/alert_pb.js";
import { useCurrentProjectId } from "../../api/project.ts";
import { sharedRefreshMs, useRpc } from "../../api/query.ts";
import { Status } from "../../design/badge.tsx";
import { Button } from "../../design/button.tsx";
import { textColumn, timeColumn } from "../../design/columns.tsx";
import { EmptyState } from "../../design/states.tsx";
import type { Column } from "../../design/table.tsx";
import { Segments } from "../../design/tabs.tsx";
import { useMay } from "../../session/use-may.ts";
import { useCommands } from "../../shell/commands.ts";
import { ItemTable } from "../../shell/item-table.tsx";
import { Page } from "../../shell/page.tsx";
import { describeValue } from "./alert-values.ts";
import { stateTones } from "./alert-tones.ts";
import { describeCondition } from "./alert-words.ts";
import { alertsRoute } from "./route.tsx";

const order = ["triggered", "active", "resolved", "muted", "paused"];

const columns: readonly Column<Alert>[] = [
  {
    id: "state",
    header: "State",
    width: 108,
    cell: ({ state }) => <Status tone={stateTones[state] ?? "neutral"}>{state}</Status>,
    sortValue: ({ state }) => order.indexOf(state),
  },
  textColumn({
    id: "name",
    isMajor: true,
    header: "Alert",
    width: 200,
    grow: 1,
    sortValue: ({ name }) => name,
    text: ({ name }) => name,
  }),
  textColumn({
    id: "condition",
    header: "Triggers when",
    width: 260,
    grow: 1,
    text: (alert) => describeCondition(alert, alert.thresholds?.critical),
  }),
  {
    id: "value",
    header: "Last value",
    width: 100,
    align: "end",
    cell: (alert) => <LastValue alert={alert} />,
  },
  timeColumn({ id: "checked", header: "Checked", at: ({ lastRunAt }) => lastRunAt }),
  timeColumn({
    id: "next",
    header: "Next check",
    at: ({ nextWindowEnd, isActive }) => (isActive ? nextWindowEnd : undefined),
  }),
];

function LastValue({ alert }: { readonly alert: Alert }) {
  const value = alert.lastResult?.values[0]?.value;
  if (value === undefined) return <span aria-label="none">–</span>;
  return (
    <span className="numeric" title={String(value)}>
      {describeValue(alert, value)}
    </span>
  );
}

export function AlertsPage() {
  const projectId = useCurrentProjectId();
  const navigate = useNavigate();
  const mayCreate = useMay()(AlertService.method.createAlert);
  const { state = "" } = alertsRoute.useSearch();
  const list = useRpc(AlertService.method.listAlerts, {}, { refreshMs: sharedRefreshMs });
  const { data } = list;
  const params = { projectId };
  useCommands([
    mayCreate && {
      id: "alerts.new",
      title: "New alert",
      keys: "n",
      run: () => void navigate({ to: "/app/p/$projectId/alerts/edit", params }),
    },
  ]);
  const all = (data?.data ?? []).toSorted(
    (left, right) => order.indexOf(left.state) - order.indexOf(right.state),
  );
  const rows = state === "" ? all : all.filter((alert) => alert.state === state);
  const newAlert = mayCreate && (
    <Button asChild variant="primary">
      <Link to="/app/p/$projectId/alerts/edit" params={params}>
        <Plus aria-hidden /> New alert
      </Link>
    </Button>
  );
  const states = order.filter((one) => one === state || all.some((alert) => alert.state === one));
  return (
    <Page
      title="Alerts"
      actions={newAlert}
      {...(all.length > 0 && {
        toolbar: (
          <Segments
            label="State"
            value={state}
            options={["", ...states].map((value) => ({
              value,
              label: value === "" ? `all ${all.length}` : `${value} ${countOf(all, value)}`,
            }))}
            onChange={(next) =>
              void navigate({ to: ".", search: next === "" ? {} : { state: next } })
            }
          />
        ),
      })}
    >
      <ItemTable
        path="alerts"
        label="Alerts"
        read={list}
        columns={columns}
        rows={data && rows}
        toneOf={(alert) => (alert.state === "triggered" ? "bad" : undefined)}
        empty={
          <EmptyState icon={<Bell />} title="No alerts yet" action={newAlert}>
            An alert checks a measure each hour, day, week or month, and tells a webhook, Slack or
            people by e-mail when it passes a threshold.
          </EmptyState>
        }
      />
    </Page>
  );
}

function countOf(alerts: readonly Alert[], state: string): number {
  return alerts.filter((alert) => alert.state === state).length;
}
