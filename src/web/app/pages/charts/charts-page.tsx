// The page of charts: the overview, or a dashboard of stored charts, over one time range.

import { Link, useNavigate } from "@tanstack/react-router";
import { ChartNoAxesCombined, Check, LayoutDashboard, Plus } from "lucide-react";
import { useCallback } from "react";
import type { UseQueryResult } from "@tanstack/react-query";
import { ChartService, type ListChartsResponse } from "../../../../../gen/waggle/v1/chart_pb.js";
import {
  DashboardService,
  type ListDashboardsResponse,
} from "../../../../../gen/waggle/v1/dashboard_pb.js";
import type { ApiError } from "../../api/errors.ts";
import { useCurrentProjectId } from "../../api/project.ts";
import { useRpc } from "../../api/query.ts";
import { Button } from "../../design/button.tsx";
import { EmptyState, ErrorState, Loading } from "../../design/states.tsx";
import { type TimeRange, weekRange } from "../../design/time-range.ts";
import { TimeRangePicker } from "../../design/time-range-picker.tsx";
import { useMay } from "../../session/use-may.ts";
import { useCommands } from "../../shell/commands.ts";
import { Page } from "../../shell/page.tsx";
import { DashboardMenu } from "./dashboard-menu.tsx";
import { DashboardView } from "./dashboard-view.tsx";
import { OverviewView } from "./overview-view.tsx";
import { type ChartEditSearch, chartsRoute, type ChartsSearch } from "./route.tsx";

export function ChartsPage() {
  const search = chartsRoute.useSearch();
  const { range = weekRange } = search;
  const may = useMay();
  const mayArrange = may(DashboardService.method.updateDashboard);
  const arrange = mayArrange && search.arrange === true;
  const navigate = useNavigate();
  const projectId = useCurrentProjectId();
  const setSearch = useCallback(
    (change: Partial<ChartsSearch>) =>
      void navigate({ to: ".", search: (before: ChartsSearch) => ({ ...before, ...change }) }),
    [navigate],
  );
  const dashboards = useRpc(DashboardService.method.listDashboards, {});
  const charts = useRpc(ChartService.method.listCharts, {});
  const list = dashboards.data?.data ?? [];
  const shownId = search.dashboard ?? list[0]?.id ?? "overview";
  const shown = list.find(({ id }) => id === shownId);
  const isGone = dashboards.data !== undefined && !shown && shownId !== "overview";
  // A chart that is made belongs to the dashboard that is shown.
  const mayCreate = may(ChartService.method.createChart) && !isGone;
  const setRange = (next: TimeRange) => setSearch({ range: next });
  const newSearch = { range, ...(shown && { dashboard: shown.id }) };
  const newChart = () =>
    void navigate({
      to: "/app/p/$projectId/charts/edit",
      params: { projectId },
      search: newSearch,
    });
  useCommands([
    mayCreate && { id: "charts.new", title: "New chart", keys: "n", run: newChart },
    shown !== undefined &&
      mayArrange && {
        id: "charts.arrange",
        title: arrange ? "Stop arranging" : "Arrange the dashboard",
        keys: "e",
        run: () => setSearch({ arrange: !arrange }),
      },
  ]);
  return (
    <Page
      title="Charts"
      actions={
        <>
          <TimeRangePicker value={range} onChange={setRange} />
          {mayCreate ? <NewChartLink search={newSearch} /> : null}
        </>
      }
      toolbar={
        <>
          <DashboardMenu
            dashboards={list}
            shown={shown}
            onShow={(id) => setSearch({ dashboard: id, arrange: undefined })}
          />
          {shown && mayArrange ? (
            <Button
              size="small"
              icon={arrange ? <Check /> : <LayoutDashboard />}
              variant={arrange ? "primary" : "secondary"}
              onClick={() => setSearch({ arrange: arrange ? undefined : true })}
            >
              {arrange ? "Done" : "Arrange"}
            </Button>
          ) : null}
        </>
      }
    >
      <div className="dashboard" role="group" aria-label="Charts of the dashboard" tabIndex={0}>
        <Content
          dashboards={dashboards}
          charts={charts}
          shownId={shownId}
          range={range}
          isArranging={arrange}
          onRange={setRange}
          onShow={(id) => setSearch({ dashboard: id })}
        />
      </div>
    </Page>
  );
}

function NewChartLink({ search }: { readonly search: ChartEditSearch }) {
  const projectId = useCurrentProjectId();
  return (
    <Button asChild variant="primary">
      <Link to="/app/p/$projectId/charts/edit" params={{ projectId }} search={search}>
        <Plus aria-hidden /> New chart
      </Link>
    </Button>
  );
}

type ContentProps = {
  readonly dashboards: UseQueryResult<ListDashboardsResponse, ApiError>;
  readonly charts: UseQueryResult<ListChartsResponse, ApiError>;
  readonly shownId: string;
  readonly range: TimeRange;
  readonly isArranging: boolean;
  readonly onRange: (range: TimeRange) => void;
  readonly onShow: (id: string) => void;
};

function Content(props: ContentProps) {
  const { dashboards, charts } = props;
  const error = dashboards.error ?? charts.error;
  const hasBoth = dashboards.data !== undefined && charts.data !== undefined;
  const retry = () => {
    void dashboards.refetch();
    void charts.refetch();
  };
  return (
    <>
      {error ? <ErrorState error={error} isInline={hasBoth} onRetry={retry} /> : null}
      {hasBoth || !error ? <Shown {...props} /> : null}
    </>
  );
}

function Shown({ dashboards, charts, shownId, onShow, ...view }: ContentProps) {
  if (!dashboards.data || !charts.data) return <Loading what="Loading dashboards" />;
  if (shownId === "overview") {
    return <OverviewView range={view.range} onRange={view.onRange} onKept={onShow} />;
  }
  const shown = dashboards.data.data.find(({ id }) => id === shownId);
  if (shown) {
    return <DashboardView key={shown.id} dashboard={shown} charts={charts.data.data} {...view} />;
  }
  return (
    <EmptyState icon={<ChartNoAxesCombined />} title="This dashboard is gone">
      It was deleted, or belongs to another project. Choose another above.
    </EmptyState>
  );
}
