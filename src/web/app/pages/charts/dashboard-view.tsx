// DashboardView: the stored charts of a dashboard in its grid.

import { useNavigate } from "@tanstack/react-router";
import { ChartNoAxesCombined, EllipsisVertical, Plus } from "lucide-react";
import { useState } from "react";
import { type Chart, ChartService } from "../../../../../gen/waggle/v1/chart_pb.js";
import { type Dashboard, DashboardService } from "../../../../../gen/waggle/v1/dashboard_pb.js";
import { useCurrentProjectId } from "../../api/project.ts";
import { Button, IconButton } from "../../design/button.tsx";
import { ConfirmCall } from "../../design/confirm-call.tsx";
import { Menu } from "../../design/menu.tsx";
import { EmptyState, ErrorState } from "../../design/states.tsx";
import type { TimeRange } from "../../design/time-range.ts";
import { useMay } from "../../session/use-may.ts";
import { ChartAnswer } from "./chart-answer.tsx";
import { fromChart } from "./chart-messages.ts";
import { DashboardGrid } from "./dashboard-grid.tsx";
import { addTile, removeTile, type Tile } from "./layout.ts";
import { useLayout } from "./use-layout.ts";

export type DashboardViewProps = {
  readonly dashboard: Dashboard;
  readonly charts: readonly Chart[];
  readonly range: TimeRange;
  readonly isArranging: boolean;
  readonly onRange: (range: TimeRange) => void;
};

export function DashboardView(props: DashboardViewProps) {
  const { dashboard, charts, range, isArranging, onRange } = props;
  const projectId = useCurrentProjectId();
  const navigate = useNavigate();
  const { tiles, setTiles, error, retry } = useLayout(dashboard, isArranging);
  const [deleted, setDeleted] = useState<Chart>();
  const may = useMay();
  const mayArrange = may(DashboardService.method.updateDashboard);
  const mayFill = mayArrange || may(ChartService.method.createChart);
  const chartOf = (id: string) => charts.find((chart) => chart.id === id);
  const edit = (id?: string) =>
    void navigate({
      to: "/app/p/$projectId/charts/edit",
      params: { projectId },
      search: { range, dashboard: dashboard.id, ...(id !== undefined && { chart: id }) },
    });
  const named = tiles.flatMap((tile) => {
    const chart = chartOf(tile.id);
    return chart ? [{ ...tile, name: chart.name }] : [];
  });
  // The list of charts may be older than the layout: a tile whose chart it lacks keeps its place.
  const unnamed = tiles.filter(({ id }) => !chartOf(id));
  if (named.length === 0) {
    return (
      <EmptyState
        icon={<ChartNoAxesCombined />}
        title={`“${dashboard.name}” has no charts yet`}
        action={<AddMenu charts={charts} tiles={tiles} onAdd={setTiles} onNew={() => edit()} />}
      >
        {mayFill ? "Add a chart of the project, or build one." : null}
      </EmptyState>
    );
  }
  return (
    <>
      {error ? (
        <div className="dashboard-note">
          <ErrorState error={error} isInline {...(retry && { onRetry: retry })} />
        </div>
      ) : null}
      <DashboardGrid
        tiles={named}
        isArranging={isArranging}
        onChange={(next) => setTiles([...next, ...unnamed])}
        actionsOf={({ id, name }) => (
          <Menu
            align="end"
            trigger={
              <IconButton size="small" label={`Acts of ${name}`} icon={<EllipsisVertical />} />
            }
            items={[
              may(ChartService.method.updateChart) && {
                label: "Change",
                onSelect: () => edit(id),
              },
              mayArrange && {
                label: "Take off the dashboard",
                onSelect: () => setTiles(removeTile(tiles, id)),
              },
              "line",
              may(ChartService.method.deleteChart) && {
                label: "Delete chart",
                isDanger: true,
                onSelect: () => setDeleted(chartOf(id)),
              },
            ]}
          />
        )}
        render={({ id, name }, heightPx) => {
          const chart = chartOf(id);
          return chart === undefined ? null : (
            <ChartAnswer
              label={name}
              question={fromChart(chart)}
              range={range}
              heightPx={heightPx}
              onRange={onRange}
            />
          );
        }}
      />
      <footer className="dashboard-foot">
        <AddMenu charts={charts} tiles={tiles} onAdd={setTiles} onNew={() => edit()} />
      </footer>
      <ConfirmCall
        isOpen={deleted !== undefined}
        onClose={() => setDeleted(undefined)}
        title={`Delete “${deleted?.name ?? ""}”?`}
        description="It leaves every dashboard. This cannot be undone; the events stay."
        action="Delete chart"
        busyLabel="Deleting…"
        method={ChartService.method.deleteChart}
        input={{ chartId: deleted?.id ?? "" }}
        changes={[ChartService.method.listCharts, DashboardService.method.listDashboards]}
      />
    </>
  );
}

type AddMenuProps = {
  readonly charts: readonly Chart[];
  readonly tiles: readonly Tile[];
  readonly onAdd: (tiles: readonly Tile[]) => void;
  readonly onNew: () => void;
};

function AddMenu({ charts, tiles, onAdd, onNew }: AddMenuProps) {
  const may = useMay();
  const mayArrange = may(DashboardService.method.updateDashboard);
  const others = charts.filter(({ id }) => mayArrange && !tiles.some((tile) => tile.id === id));
  return (
    <Menu
      trigger={
        <Button size="small" icon={<Plus />}>
          Add a chart
        </Button>
      }
      items={[
        may(ChartService.method.createChart) && {
          label: "Build a new one",
          icon: <Plus />,
          onSelect: onNew,
        },
        ...(others.length === 0 ? [] : [{ heading: "Charts of the project" }]),
        ...others.slice(0, 40).map(({ id, name }) => ({
          label: name,
          onSelect: () => onAdd(addTile(tiles, id)),
        })),
      ]}
    />
  );
}
