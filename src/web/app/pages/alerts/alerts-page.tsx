// The list of alerts: those that need a look first.

import { Link, useNavigate } from "@tanstack/react-router";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { Bell, Plus } from "lucide-react";
import { useCallback } from "react";
import { type Alert, AlertService } from "../../../../../gen/waggle/v1/alert_pb.js";
import { useCurrentProjectId } from "../../api/project.ts";
import { useRpc } from "../../api/query.ts";
import { Status } from "../../design/badge.tsx";
import { Button } from "../../design/button.tsx";
import { EmptyState, ReadState } from "../../design/states.tsx";
import { type Column, Table } from "../../design/table.tsx";
import { timeWidth } from "../../design/table-model.ts";
import { Segments } from "../../design/tabs.tsx";
import { Time } from "../../design/values.tsx";
import { useMay } from "../../session/use-may.ts";
import { useCommands } from "../../shell/commands.ts";
import { Page } from "../../shell/page.tsx";
import { useRowPages } from "../../shell/row-pages.ts";
import { formatOfAlert } from "./alert-values.ts";
import { describeCondition, stateTones } from "./alert-words.ts";
import { alertsRoute } from "./route.tsx";

const refreshMs = 30_000;
const order = ["triggered", "active", "resolved", "muted", "paused"];

const columns: readonly Column<Alert>[] = [
  {
    id: "state",
    header: "State",
    width: 108,
    cell: ({ state }) => <Status tone={stateTones[state] ?? "neutral"}>{state}</Status>,
    sortValue: ({ state }) => order.indexOf(state),
  },
  {
    id: "name",
    isMajor: true,
    header: "Alert",
    width: 200,
    grow: 1,
    cell: ({ name }) => (
      <span className="truncate" title={name}>
        {name}
      </span>
    ),
    sortValue: ({ name }) => name,
  },
  {
    id: "condition",
    header: "Triggers when",
    width: 260,
    grow: 1,
    cell: (alert) => {
      const text = describeCondition(alert, alert.thresholds?.critical);
      return (
        <span className="truncate" title={text}>
          {text}
        </span>
      );
    },
  },
  {
    id: "value",
    header: "Last value",
    width: 100,
    align: "end",
    cell: (alert) => <LastValue alert={alert} />,
  },
  {
    id: "checked",
    header: "Checked",
    width: timeWidth,
    cell: ({ lastRunAt }) => <Time value={lastRunAt && timestampMs(lastRunAt)} />,
  },
  {
    id: "next",
    header: "Next check",
    width: timeWidth,
    cell: ({ nextWindowEnd, isActive }) => (
      <Time value={isActive && nextWindowEnd ? timestampMs(nextWindowEnd) : undefined} />
    ),
  },
];

function LastValue({ alert }: { readonly alert: Alert }) {
  const value = alert.lastResult?.values[0]?.value;
  if (value === undefined) return <span aria-label="none">–</span>;
  return (
    <span className="numeric" title={String(value)}>
      {formatOfAlert(alert)(value)}
    </span>
  );
}

export function AlertsPage() {
  const projectId = useCurrentProjectId();
  const navigate = useNavigate();
  const mayCreate = useMay()(AlertService.method.createAlert);
  const { state = "" } = alertsRoute.useSearch();
  const list = useRpc(AlertService.method.listAlerts, {}, { refreshMs });
  const { data } = list;
  const params = { projectId };
  const rowPages = useRowPages(
    useCallback(
      ({ id: alertId }: Alert) => ({
        to: "/app/p/$projectId/alerts/$alertId",
        params: { projectId, alertId },
      }),
      [projectId],
    ),
  );
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
      <ReadState read={list} what="Loading alerts" />
      {data ? (
        <Table
          label="Alerts"
          isMain
          widthsKey="alerts"
          columns={columns}
          rows={rows}
          idOf={({ id }) => id}
          toneOf={(alert) => (alert.state === "triggered" ? "bad" : undefined)}
          {...rowPages}
          empty={
            <EmptyState icon={<Bell />} title="No alerts yet" action={newAlert}>
              An alert checks a measure each hour, day, week or month, and tells a webhook, Slack or
              people by e-mail when it passes a threshold.
            </EmptyState>
          }
        />
      ) : null}
    </Page>
  );
}

function countOf(alerts: readonly Alert[], state: string): number {
  return alerts.filter((alert) => alert.state === state).length;
}
