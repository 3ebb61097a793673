// Builds a chart: the question at the left, its answer at the right while it is being picked. Name
// and question are kept in the address, so leaving, a reload or an ended sign-in loses nothing.

import { Link, useNavigate } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";
import { ChartService } from "../../../../../gen/waggle/v1/chart_pb.js";
import { DashboardService } from "../../../../../gen/waggle/v1/dashboard_pb.js";
import { useCurrentProjectId } from "../../api/project.ts";
import { useRpc, useRpcMutation } from "../../api/query.ts";
import { Button } from "../../design/button.tsx";
import { Input } from "../../design/input.tsx";
import { ErrorState, Loading } from "../../design/states.tsx";
import { showToast } from "../../design/toast.tsx";
import { TimeRangePicker } from "../../design/time-range-picker.tsx";
import { useSettled } from "../../design/use-settled.ts";
import { useCommands } from "../../shell/commands.ts";
import { Page } from "../../shell/page.tsx";
import { fromChart, toChartFields } from "./chart-messages.ts";
import { chartsRangeDefault } from "./range-default.ts";
import { addTile, type Tile } from "./layout.ts";
import { type Question, questionDefault } from "./question.ts";
import { QuestionAnswer } from "./question-answer.tsx";
import { QuestionForm } from "./question-form.tsx";
import { chartEditRoute, type ChartEditSearch } from "./route.tsx";
import "./chart-edit-page.css";

export function ChartEditPage() {
  const { chart: id } = chartEditRoute.useSearch();
  const stored = useRpc(
    ChartService.method.getChart,
    { chartId: id ?? "" },
    { isEnabled: id !== undefined },
  );
  if (stored.error) {
    return (
      <Page title="Chart">
        <ErrorState error={stored.error} onRetry={() => void stored.refetch()} />
      </Page>
    );
  }
  if (id !== undefined && !stored.data?.data) return <Loading what="Loading the chart" />;
  const chart = stored.data?.data;
  return (
    <Builder
      key={id ?? "new"}
      nameStored={chart?.name ?? ""}
      questionStored={chart ? fromChart(chart) : questionDefault}
    />
  );
}

type BuilderProps = { readonly nameStored: string; readonly questionStored: Question };

function Builder({ nameStored, questionStored }: BuilderProps) {
  const search = chartEditRoute.useSearch();
  const { range = chartsRangeDefault, question = questionStored, chart: id } = search;
  const projectId = useCurrentProjectId();
  const navigate = useNavigate();
  const [name, setName] = useState(search.name ?? nameStored);
  const settled = useSettledQuestion(question);
  const setSearch = useCallback(
    (change: Partial<ChartEditSearch>) =>
      void navigate({
        to: ".",
        replace: true,
        search: (before: ChartEditSearch) => ({ ...before, ...change }),
      }),
    [navigate],
  );
  const leave = (dashboard = search.dashboard) =>
    void navigate({
      to: "/app/p/$projectId/charts",
      params: { projectId },
      search: { range, ...(dashboard !== undefined && { dashboard }) },
    });
  const save = useSave(() => {
    showToast({ text: "Saved the chart" });
    leave();
  });
  const canSave = name.trim() !== "";
  const submit = () => {
    if (canSave) save.run({ id, name, question, dashboardId: search.dashboard });
  };
  useCommands([{ id: "chart.save", title: "Save the chart", keys: "mod+Enter", run: submit }]);
  return (
    <Page
      title={id === undefined ? "New chart" : "Change chart"}
      breadcrumb={
        <>
          <Link to="/app/p/$projectId/charts" params={{ projectId }} search={{ range }}>
            Charts
          </Link>
          <span aria-hidden>/</span>
          <Input
            className="chart-edit-name"
            aria-label="Name of the chart"
            placeholder="Name the chart"
            maxLength={256}
            value={name}
            onChange={({ target }) => {
              setName(target.value);
              setSearch({ name: target.value });
            }}
          />
        </>
      }
      actions={
        <>
          <TimeRangePicker value={range} onChange={(next) => setSearch({ range: next })} />
          <Button
            variant="primary"
            disabled={!canSave}
            title={canSave ? undefined : "Name the chart first"}
            busyLabel={save.isBusy && "Saving…"}
            onClick={submit}
          >
            Save
          </Button>
        </>
      }
    >
      <div className="chart-edit">
        <QuestionForm
          question={question}
          asked={settled}
          range={range}
          onChange={(next) => setSearch({ question: next })}
        />
        <div className="chart-edit-answer">
          {save.error ? <ErrorState error={save.error} isInline /> : null}
          <QuestionAnswer
            label={name || "New chart"}
            question={settled}
            range={range}
            onRange={(next) => setSearch({ range: next })}
          />
        </div>
      </div>
    </Page>
  );
}

/** Time without a change after which a question is asked. */
const settleMs = 300;

function useSettledQuestion(question: Question): Question {
  const text = useSettled(JSON.stringify(question), settleMs);
  return useMemo(() => JSON.parse(text) as Question, [text]);
}

type SavedChart = {
  readonly id: string | undefined;
  readonly name: string;
  readonly question: Question;
  readonly dashboardId: string | undefined;
};

/**
 * Stores a chart, and puts a new one on the dashboard that it was made for. A chart that was
 * created and could not be placed is changed and placed by the next run.
 */
function useSave(onDone: () => void) {
  const [dashboardId, setDashboardId] = useState<string>();
  const [createdId, setCreatedId] = useState<string>();
  const dashboards = useRpc(DashboardService.method.listDashboards, {});
  const changes = [ChartService.method.listCharts, ChartService.method.getChart];
  const place = useRpcMutation(DashboardService.method.updateDashboard, {
    changes: [DashboardService.method.listDashboards],
    onDone,
  });
  const placeNew = (chartId: string): void => {
    const dashboard = dashboards.data?.data.find((one) => one.id === dashboardId);
    const tiles = (dashboard?.layout?.tiles ?? []).map((tile): Tile => ({
      ...{ id: tile.chartId, x: tile.x, y: tile.y, w: tile.w, h: tile.h },
    }));
    if (!dashboard || tiles.some(({ id }) => id === chartId)) {
      onDone();
      return;
    }
    const placed = addTile(tiles, chartId).map(({ id, x, y, w, h }) => ({
      ...{ chartId: id, x, y, w, h },
    }));
    place.mutate({ dashboardId: dashboard.id, dashboard: { layout: { tiles: placed } } });
  };
  const create = useRpcMutation(ChartService.method.createChart, {
    changes,
    onDone: ({ data }) => {
      if (!data) {
        onDone();
        return;
      }
      setCreatedId(data.id);
      placeNew(data.id);
    },
  });
  const update = useRpcMutation(ChartService.method.updateChart, {
    changes,
    onDone: () => (createdId === undefined ? onDone() : placeNew(createdId)),
  });
  return {
    run: ({ id = createdId, name, question, dashboardId: target }: SavedChart) => {
      setDashboardId(target);
      const chart = toChartFields(name.trim(), question);
      if (id === undefined) create.mutate({ chart });
      else update.mutate({ chartId: id, chart });
    },
    isBusy: create.isPending || update.isPending || place.isPending,
    error: create.error ?? update.error ?? place.error,
  };
}
