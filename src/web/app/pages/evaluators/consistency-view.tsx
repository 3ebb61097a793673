// ConsistencyView: a judge scores the newest events twice, to see how far it agrees with itself.

import { Link } from "@tanstack/react-router";
import { Play, Square } from "lucide-react";
import { useMemo, useState } from "react";
import { ExportService } from "../../../../../gen/waggle/v1/export_pb.js";
import { EvaluatorService } from "../../../../../gen/waggle/v1/evaluator_pb.js";
import type { Metric } from "../../../../../gen/waggle/v1/metric_pb.js";
import { useCurrentProjectId } from "../../api/project.ts";
import { useRpc } from "../../api/query.ts";
import { Button } from "../../design/button.tsx";
import { toMessage } from "../../design/filters.ts";
import { formatCost, formatCounted, formatScore as formatNumber } from "../../design/format.ts";
import { Select } from "../../design/input.tsx";
import { EmptyState, ErrorState, ReadState } from "../../design/states.tsx";
import { Time } from "../../design/values.tsx";
import { ReadOnlyNote } from "../../session/read-only-note.tsx";
import { useMay } from "../../session/use-may.ts";
import { type Consistency, consistencyOf, differs, type Pair } from "./consistency.ts";
import { fromMetric } from "./draft.ts";
import { type PreviewedEvent, usePreviews } from "./event-preview.ts";
import { BigNumber, ScoreTable } from "./reliability.tsx";
import { formatScore } from "./trial-result.tsx";
import { type Run, useTrial } from "./use-trial.ts";

const sizes = [10, 20, 50] as const;

export function ConsistencyView({ metric }: { readonly metric: Metric }) {
  const draft = useMemo(() => fromMetric(metric), [metric]);
  const [size, setSize] = useState<number>(sizes[1]);
  const answer = useRpc(ExportService.method.searchEvents, {
    filters: draft.filters.map(toMessage),
    projections: ["event_name", "event_type", "session_id", "start_time", "end_time"],
    limit: sizes[2],
  });
  const previewed = usePreviews(answer.data?.events).slice(0, size);
  const trials = [useTrial(draft), useTrial(draft)] as const;
  const mayRun = useMay()(EvaluatorService.method.runMetric);
  if (!answer.data) return <ReadState read={answer} what="Loading events" />;
  if (previewed.length === 0) {
    return (
      <EmptyState title="No event matches">Change the filters, or log some events.</EmptyState>
    );
  }
  const ids = previewed.map(({ event: { eventId = "" } }) => eventId);
  const rows = previewed.map((one): Row => {
    const { eventId = "" } = one.event;
    return { ...one, pair: [trials[0].runs.get(eventId), trials[1].runs.get(eventId)] };
  });
  const isRunning = trials.some((trial) => trial.isRunning);
  const error = trials.map((trial) => trial.error).find((one) => one !== null);
  return (
    <div className="reliability">
      <ReadOnlyNote method={EvaluatorService.method.runMetric} />
      <p className="soft">
        A judge that scores the same event differently each time says little. Nothing is stored;
        each score is a call of the model, at its price.
      </p>
      <div className="reliability-against">
        Judge the newest{" "}
        <Select
          aria-label="Number of events"
          value={String(size)}
          disabled={isRunning}
          options={sizes.map((one) => ({ value: String(one), label: formatCounted(one, "event") }))}
          onChange={(next) => setSize(Number(next))}
        />{" "}
        twice
        {isRunning ? (
          <Button
            size="small"
            icon={<Square />}
            onClick={() => trials.forEach(({ stop }) => stop())}
          >
            Stop
          </Button>
        ) : (
          <Button
            size="small"
            icon={<Play />}
            disabled={!mayRun}
            onClick={() => trials.forEach(({ start }) => void start(ids))}
          >
            Make {ids.length * 2} calls
          </Button>
        )}
      </div>
      {error ? <ErrorState error={error} isInline /> : null}
      <Outcome rows={rows} isRunning={isRunning} />
    </div>
  );
}

type Row = PreviewedEvent & { readonly pair: Pair<Run> };

type OutcomeProps = { readonly rows: readonly Row[]; readonly isRunning: boolean };

function Outcome({ rows, isRunning }: OutcomeProps) {
  const found = consistencyOf(rows.map(({ pair }) => pair));
  const begun = rows.filter(({ pair }) => pair.some((run) => run !== undefined));
  if (begun.length === 0) return null;
  const ended = found.compared + found.unscored;
  return (
    <>
      <p role="status">
        {isRunning ? `${ended} of ${formatCounted(rows.length, "event")}…` : wordsOf(found)}
      </p>
      <ul className="reliability-numbers" aria-label="Agreement with itself">
        <BigNumber
          name="same score twice"
          value={found.compared === 0 ? "–" : `${found.same} of ${found.compared}`}
        />
        {found.flips === undefined ? null : (
          <BigNumber name="passed only once" value={String(found.flips)} />
        )}
        {found.difference === undefined ? null : (
          <BigNumber name="mean difference" value={formatNumber(found.difference)} />
        )}
        {found.cost === 0 ? null : <BigNumber name="cost" value={formatCost(found.cost)} />}
      </ul>
      <ScoreTable caption="Scores of each event" columns={["Event", "Time", "First", "Second"]}>
        {begun.map((row) => (
          <EventRow key={row.event.eventId} {...row} />
        ))}
      </ScoreTable>
    </>
  );
}

function wordsOf({ compared, unscored }: Consistency): string {
  const without = unscored === 0 ? "" : `; ${formatCounted(unscored, "event")} without a score`;
  return `${formatCounted(compared, "event")} scored twice${without}.`;
}

function EventRow({ event, name, pair }: Row) {
  const projectId = useCurrentProjectId();
  const { eventId = "", sessionId = "" } = event;
  const [first, second] = pair;
  return (
    <tr data-differs={differs(pair)}>
      <th scope="row">
        <Link
          to="/app/p/$projectId/traces/$sessionId"
          params={{ projectId, sessionId }}
          search={{ event: eventId }}
        >
          {name || eventId}
        </Link>
      </th>
      <td>
        <Time value={event.startTime} />
      </td>
      <td>{scoreOf(first)}</td>
      <td>{scoreOf(second)}</td>
    </tr>
  );
}

function scoreOf(run: Run | undefined): string {
  if (run?.isRunning === true) return "…";
  if (run?.error) return "failed";
  if (run?.answer?.success === false) return "no ground truth";
  return formatScore(run?.answer?.result);
}
