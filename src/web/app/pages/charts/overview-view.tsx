// OverviewView: the built-in dashboard. Kept as one's own, it becomes stored charts that can be
// changed and arranged.

import { Link, useNavigate } from "@tanstack/react-router";
import { Pencil } from "lucide-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { ChartService } from "../../../../../gen/waggle/v1/chart_pb.js";
import { DashboardService } from "../../../../../gen/waggle/v1/dashboard_pb.js";
import { SessionService } from "../../../../../gen/waggle/v1/session_pb.js";
import { toApiError } from "../../api/errors.ts";
import { useCurrentProjectId } from "../../api/project.ts";
import { useRpc } from "../../api/query.ts";
import { callRpc } from "../../api/transport.ts";
import { Button, IconButton } from "../../design/button.tsx";
import { ErrorState } from "../../design/states.tsx";
import type { TimeRange } from "../../design/time-range.ts";
import { showToast } from "../../design/toast.tsx";
import { useMay } from "../../session/use-may.ts";
import { useEventFields } from "../traces/event-fields.ts";
import { ChartAnswer } from "./chart-answer.tsx";
import { toChartFields } from "./chart-messages.ts";
import { DashboardGrid } from "./dashboard-grid.tsx";
import { averagedScores, overviewOf, scoresShown, type OverviewTile } from "./overview.ts";

export type OverviewViewProps = {
  readonly range: TimeRange;
  readonly onRange: (range: TimeRange) => void;
  /** Called with the id of the dashboard that was made of it. */
  readonly onKept: (id: string) => void;
};

export function OverviewView({ range, onRange, onKept }: OverviewViewProps) {
  const projectId = useCurrentProjectId();
  const navigate = useNavigate();
  const may = useMay();
  const mayBuild = may(ChartService.method.createChart);
  const mayKeep = mayBuild && may(DashboardService.method.createDashboard);
  const fields = useEventFields();
  const scores = useMemo(() => averagedScores(fields), [fields]);
  const tiles = useMemo(() => overviewOf(scores), [scores]);
  const keep = useKeep(projectId, tiles, onKept);
  const newest = useRpc(SessionService.method.listSessions, { limit: 1 });
  const edit = (id: string): void => {
    const tile = tiles.find((one) => one.id === id);
    if (!tile) return;
    void navigate({
      to: "/app/p/$projectId/charts/edit",
      params: { projectId },
      search: { range, name: tile.name, question: tile.question },
    });
  };
  return (
    <>
      {newest.data?.sessions.length === 0 ? (
        <p className="dashboard-note" role="status">
          This project has no traces yet.{" "}
          <Link to="/app/p/$projectId/traces" params={{ projectId }}>
            Send your first trace
          </Link>
        </p>
      ) : null}
      <DashboardGrid
        tiles={tiles}
        isArranging={false}
        onChange={() => undefined}
        actionsOf={({ id, name }) =>
          mayBuild && (
            <IconButton
              size="small"
              label={`Change ${name}`}
              icon={<Pencil />}
              onClick={() => edit(id)}
            />
          )
        }
        render={({ id, name }, heightPx) => {
          const tile = tiles.find((one) => one.id === id);
          return tile === undefined ? null : (
            <ChartAnswer
              label={name}
              question={tile.question}
              range={range}
              heightPx={heightPx}
              onRange={onRange}
            />
          );
        }}
      />
      <footer className="dashboard-foot">
        {keep.error ? <ErrorState error={toApiError(keep.error)} isInline /> : null}
        <p>
          Every project has this overview, with the averages of its own scores.
          {scores.length > scoresShown
            ? ` Of ${scores.length} scores it has the first ${scoresShown} by name.`
            : null}
        </p>
        {mayKeep ? (
          <Button
            size="small"
            busyLabel={keep.isPending && "Keeping…"}
            onClick={() => keep.mutate()}
          >
            Keep it as a dashboard of your own
          </Button>
        ) : null}
      </footer>
    </>
  );
}

/** Stores the charts of the overview, and a dashboard with them. */
function useKeep(
  projectId: string,
  overview: readonly OverviewTile[],
  onKept: (id: string) => void,
) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async () => {
      const tiles = [];
      for (const { name, question, x, y, w, h } of overview) {
        const input = { chart: toChartFields(name, question) };
        const made = await callRpc(ChartService.method.createChart, input, { projectId });
        tiles.push({ chartId: made.data?.id ?? "", x, y, w, h });
      }
      const dashboard = { name: "Overview", layout: { tiles } };
      const input = { dashboard };
      return callRpc(DashboardService.method.createDashboard, input, { projectId });
    },
    onSuccess: async ({ data }) => {
      await client.invalidateQueries({ queryKey: [ChartService.typeName] });
      await client.invalidateQueries({ queryKey: [DashboardService.typeName] });
      showToast({ text: "The overview is yours to change" });
      onKept(data?.id ?? "overview");
    },
  });
}
