// RunProgressView: how far a run is, the model calls and the scores; cancels and resumes.

import {
  type ExecutionProgress,
  ExecutionService,
} from "../../../../../gen/waggle/v1/execution_pb.js";
import { type RunProgress, RunService } from "../../../../../gen/waggle/v1/run_pb.js";
import { useRpc, useRpcMutation } from "../../api/query.ts";
import { Status } from "../../design/badge.tsx";
import { Button } from "../../design/button.tsx";
import { ErrorState, Progress } from "../../design/states.tsx";
import { CostSum, KeyValue } from "../../design/values.tsx";
import { useMay } from "../../session/use-may.ts";
import { statusTones } from "./status-tones.ts";

const refreshMs = 2_000;
const { getExecution, cancelExecution, resumeExecution } = ExecutionService.method;

export type RunProgressViewProps = {
  readonly runId: string;
  readonly progress: RunProgress | undefined;
};

export function RunProgressView({ runId, progress }: RunProgressViewProps) {
  const isScoring = progress?.complete === false;
  // A run of a client has no execution; its scores have progress all the same.
  const { data } = useRpc(getExecution, { runId }, { refreshMs });
  const execution = data?.data;
  const changes = [getExecution, RunService.method.listRuns, RunService.method.getRunResult];
  const cancel = useRpcMutation(cancelExecution, { changes });
  const resume = useRpcMutation(resumeExecution, { changes });
  const may = useMay();
  const isRunning = execution?.state === "running" || execution?.state === "scoring";
  const isOver = execution?.state === "cancelled" || execution?.state === "failed";
  // An act that came too late is over with the state that it would have changed.
  const error = (isRunning ? cancel.error : null) ?? (isOver ? resume.error : null);
  return (
    <section className="section" aria-label="Progress">
      {execution?.progress ? (
        <>
          <Progress
            label="Model calls"
            value={
              (execution.progress.done + execution.progress.failed) /
              Math.max(1, execution.progress.datapoints)
            }
            detail={detailOf(execution.progress)}
          />
          <KeyValue
            isRow
            items={[
              {
                label: "Execution",
                value: (
                  <Status tone={statusTones[execution.state] ?? "neutral"}>
                    {execution.state}
                  </Status>
                ),
              },
              { label: "Prompt", value: execution.configuration?.name ?? "–" },
              { label: "Cost of calls", value: <CostSum value={execution.cost} /> },
              { label: "Cost of judges", value: <CostSum value={progress?.total?.cost} /> },
            ]}
          />
          {execution.error === undefined ? null : <p role="alert">{execution.error}</p>}
        </>
      ) : null}
      {isScoring ? <ScoreProgress progress={progress} /> : null}
      {error ? <ErrorState error={error} isInline /> : null}
      <div className="form-row">
        {isRunning && may(cancelExecution) ? (
          <Button
            busyLabel={cancel.isPending && "Cancelling"}
            onClick={() => cancel.mutate({ runId })}
          >
            Cancel run
          </Button>
        ) : null}
        {isOver && may(resumeExecution) ? (
          <Button
            busyLabel={resume.isPending && "Resuming"}
            onClick={() => resume.mutate({ runId })}
          >
            Resume run
          </Button>
        ) : null}
      </div>
    </section>
  );
}

function ScoreProgress({ progress }: { readonly progress: RunProgress }) {
  const { queued = 0, running = 0, scored = 0, failed = 0 } = progress.total ?? {};
  const all = Math.max(1, queued + running + scored + failed);
  return (
    <Progress
      label="Scores"
      value={(scored + failed) / all}
      detail={`${scored} made, ${failed} failed, ${queued + running} left`}
    />
  );
}

function detailOf({ done, failed, left }: ExecutionProgress): string {
  return `${done} done, ${failed} failed, ${left} left`;
}
