// Backfills: runs an evaluator on events of the past, with progress, to pause, resume and cancel.

import { useState } from "react";
import { type Backfill, BackfillService } from "../../../../../gen/waggle/v1/backfill_pb.js";
import type { Metric } from "../../../../../gen/waggle/v1/metric_pb.js";
import { serviceNow } from "../../api/clock.ts";
import { useRpc, useRpcMutation } from "../../api/query.ts";
import { Status, type Tone } from "../../design/badge.tsx";
import { Button } from "../../design/button.tsx";
import { formatCounted, formatExactCount } from "../../design/format.ts";
import { Checkbox } from "../../design/input.tsx";
import { EmptyState, ErrorState, Progress, ReadState } from "../../design/states.tsx";
import { boundsOf, type TimeRange, weekRange } from "../../design/time-range.ts";
import { TimeRangePicker } from "../../design/time-range-picker.tsx";
import { Identifier, Time } from "../../design/values.tsx";
import { useMay } from "../../session/use-may.ts";

const tones: Readonly<Record<string, Tone>> = {
  running: "info",
  pausing: "warn",
  paused: "warn",
  completed: "good",
  cancelling: "warn",
  cancelled: "neutral",
  failed: "bad",
};
const { listBackfills, createBackfill, pauseBackfill, resumeBackfill, cancelBackfill } =
  BackfillService.method;
const changes = [listBackfills];
const refreshMs = 1_500;

export function Backfills({ metric }: { readonly metric: Metric }) {
  const mayStart = useMay()(createBackfill);
  const list = useRpc(listBackfills, { id: metric.id, limit: 100 }, { refreshMs });
  const { data } = list;
  return (
    <div className="backfills">
      {mayStart ? <NewBackfill metric={metric} /> : null}
      <ReadState read={list} what="Loading backfills" />
      {data?.data.length === 0 ? (
        <EmptyState title="No backfill yet">
          A backfill scores events that were logged before the evaluator ran on them.
        </EmptyState>
      ) : null}
      <ul aria-label="Backfills">
        {data?.data.map((backfill) => (
          <BackfillRow key={backfill.id} metric={metric} backfill={backfill} />
        ))}
      </ul>
    </div>
  );
}

function NewBackfill({ metric }: { readonly metric: Metric }) {
  const [range, setRange] = useState<TimeRange>(weekRange);
  const [includeFailed, setIncludeFailed] = useState(false);
  const create = useRpcMutation(createBackfill, { changes });
  const start = (): void => {
    const { from, to } = boundsOf(range, serviceNow());
    create.mutate({
      id: metric.id,
      dateRange: { gte: from, ...(to !== undefined && { lte: to }) },
      includeFailed,
    });
  };
  return (
    <section className="backfill-new" aria-label="New backfill">
      <TimeRangePicker value={range} onChange={setRange} />
      <Checkbox
        label="Run again where it failed"
        checked={includeFailed}
        onChange={setIncludeFailed}
      />
      <Button variant="primary" busyLabel={create.isPending && "Starting…"} onClick={start}>
        Start backfill
      </Button>
      {create.error ? <ErrorState error={create.error} isInline /> : null}
    </section>
  );
}

type BackfillRowProps = { readonly metric: Metric; readonly backfill: Backfill };

function BackfillRow({ metric, backfill }: BackfillRowProps) {
  const { state, progress, version, createdAt, error, workflowId } = backfill;
  const may = useMay();
  const { matched = 0, done = 0, scored = 0, failed = 0, skipped = 0 } = progress ?? {};
  const input = { id: metric.id, backfillId: backfill.id };
  const pause = useRpcMutation(pauseBackfill, { changes });
  const resume = useRpcMutation(resumeBackfill, { changes });
  const cancel = useRpcMutation(cancelBackfill, { changes });
  const isOpen = ["running", "pausing", "paused"].includes(state);
  // An act that came too late is over with the backfill, whose state says so.
  const failure = isOpen ? (pause.error ?? resume.error ?? cancel.error) : null;
  const counts = [
    `${formatExactCount(scored)} scored`,
    `${formatExactCount(failed)} failed`,
    `${formatExactCount(skipped)} skipped`,
  ].join(", ");
  const of = `${formatExactCount(done)} of ${formatCounted(Math.max(matched, done), "event")}`;
  return (
    <li className="backfill">
      <div className="backfill-head">
        <Status tone={tones[state] ?? "neutral"}>{state}</Status>
        <span>{version}</span>
        <Time value={createdAt} />
        <Identifier value={workflowId} />
        {isOpen ? (
          <span className="backfill-acts">
            {state === "paused" && may(resumeBackfill) ? (
              <Button size="small" onClick={() => resume.mutate(input)}>
                Resume
              </Button>
            ) : null}
            {state !== "paused" && may(pauseBackfill) ? (
              <Button
                size="small"
                disabled={state === "pausing"}
                onClick={() => pause.mutate(input)}
              >
                Pause
              </Button>
            ) : null}
            {may(cancelBackfill) ? (
              <Button size="small" variant="danger" onClick={() => cancel.mutate(input)}>
                Cancel
              </Button>
            ) : null}
          </span>
        ) : null}
      </div>
      <Progress
        label={counts}
        value={matched === 0 ? (isOpen ? 0 : 1) : Math.min(1, done / matched)}
        detail={of}
      />
      {error === undefined ? null : <p className="evaluator-failure">{error}</p>}
      {failure ? <ErrorState error={failure} isInline /> : null}
    </li>
  );
}
