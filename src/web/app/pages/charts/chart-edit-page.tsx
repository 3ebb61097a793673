// Builds a chart: the question at the left, its answer at the right while it is being picked. The
// address keeps the name and the question, so that no reload and no ended sign-in loses them.

import { Link, useNavigate } from "@tanstack/react-router";
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useMemo, useRef, useState } from "react";
import { ChartService } from "../../../../../gen/waggle/v1/chart_pb.js";
import { type Dashboard, DashboardService } from "../../../../../gen/waggle/v1/dashboard_pb.js";
import { useCurrentProjectId } from "../../api/project.ts";
import { renewAnswers, useChange, useRpc } from "../../api/query.ts";
import { callRpc } from "../../api/transport.ts";
import { Button } from "../../design/button.tsx";
import { Input } from "../../design/input.tsx";
import { ErrorState, ReadState } from "../../design/states.tsx";
import { showToast } from "../../design/toast.tsx";
import { weekRange } from "../../design/time-range.ts";
import { TimeRangePicker } from "../../design/time-range-picker.tsx";
import { useSettled } from "../../design/use-settled.ts";
import { ReadOnlyNote } from "../../session/read-only-note.tsx";
import { useMay } from "../../session/use-may.ts";
import { useCommands } from "../../shell/commands.ts";
import { Page } from "../../shell/page.tsx";
import { fromChart, toChartFields } from "./chart-messages.ts";
import { addTile, toLayout, toTiles } from "./layout.ts";
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
  const chart = stored.data?.data;
  if (id !== undefined && !chart) {
    return (
      <Page title="Chart">
        <ReadState read={stored} what="Loading the chart" />
      </Page>
    );
  }
  return (
    <Builder
      key={id ?? "new"}
      nameStored={chart?.name ?? ""}
      questionStored={chart ? fromChart(chart) : questionDefault}
    />
  );
}

const { createChart, updateChart } = ChartService.method;

type BuilderProps = { readonly nameStored: string; readonly questionStored: Question };

function Builder({ nameStored, questionStored }: BuilderProps) {
  const search = chartEditRoute.useSearch();
  const { range = weekRange, question = questionStored, chart: id } = search;
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
  const save = useSave((placed) => {
    const dashboard = placed?.id ?? search.dashboard;
    showToast({ text: placed ? `Saved the chart on “${placed.name}”` : "Saved the chart" });
    void navigate({
      to: "/app/p/$projectId/charts",
      params: { projectId },
      search: { range, ...(dashboard !== undefined && { dashboard }) },
    });
  });
  const method = id === undefined ? createChart : updateChart;
  const maySave = useMay()(method);
  const canSave = name.trim() !== "";
  const submit = () => {
    if (canSave) save.run({ id, name, question, dashboardId: search.dashboard });
  };
  useCommands([
    maySave && { id: "chart.save", title: "Save the chart", keys: "mod+enter", run: submit },
  ]);
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
            readOnly={!maySave}
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
          {maySave ? (
            <Button
              variant="primary"
              disabled={!canSave}
              title={canSave ? undefined : "Name the chart first"}
              busyLabel={save.isBusy && "Saving…"}
              onClick={submit}
            >
              Save
            </Button>
          ) : null}
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
          <ReadOnlyNote method={method} />
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
 * Stores a chart and puts a new one on a dashboard, which `onDone` gets; a changed chart stays
 * where it is. A chart that was created and could not be placed is changed and placed by the next
 * run.
 */
function useSave(onDone: (dashboard?: Dashboard) => void) {
  const projectId = useCurrentProjectId();
  const client = useQueryClient();
  const createdId = useRef<string>(undefined);
  const save = useChange<Dashboard | undefined, SavedChart>({
    mutationFn: async ({ id, name, question, dashboardId }) => {
      const chart = toChartFields(name.trim(), question);
      const chartId = id ?? createdId.current;
      if (chartId === undefined) {
        const { data } = await callRpc(createChart, { chart }, { projectId });
        createdId.current = data?.id;
      } else {
        await callRpc(updateChart, { chartId, chart }, { projectId });
      }
      return id === undefined && createdId.current !== undefined
        ? placeChart(createdId.current, { dashboardId, projectId })
        : undefined;
    },
    onSuccess: async (dashboard) => {
      const { listCharts, getChart } = ChartService.method;
      const { listDashboards } = DashboardService.method;
      await renewAnswers(client, [listCharts, getChart, listDashboards]);
      onDone(dashboard);
    },
  });
  return { run: save.mutate, isBusy: save.isPending, error: save.error };
}

/** Name of the dashboard of charts that were made for none, in a project without dashboards. */
const dashboardName = "Charts";

type Place = { readonly dashboardId: string | undefined; readonly projectId: string };

/**
 * Puts a chart on the dashboard with the id, else on the project's first, which the page of charts
 * shows; a project without one gets one. Only there can a stored chart be found again.
 */
async function placeChart(id: string, { dashboardId, projectId }: Place) {
  const { listDashboards, createDashboard, updateDashboard } = DashboardService.method;
  const { data } = await callRpc(listDashboards, {}, { projectId });
  const target = data.find((one) => one.id === dashboardId) ?? data[0];
  const tiles = toTiles(target?.layout);
  if (tiles.some((tile) => tile.id === id)) return target;
  const layout = toLayout(addTile(tiles, id));
  const answer = target
    ? await callRpc(
        updateDashboard,
        { dashboardId: target.id, dashboard: { layout } },
        { projectId },
      )
    : await callRpc(createDashboard, { dashboard: { name: dashboardName, layout } }, { projectId });
  return answer.data;
}
