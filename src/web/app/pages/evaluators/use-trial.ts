// Runs of a draft on chosen events, one by one; nothing is stored.

import { useEffect, useRef, useState } from "react";
import {
  EvaluatorService,
  type RunMetricResponse,
} from "../../../../../gen/waggle/v1/evaluator_pb.js";
import { type ApiError, isCancelled, toApiError } from "../../api/errors.ts";
import { useCurrentProjectId } from "../../api/project.ts";
import { callRpc } from "../../api/transport.ts";
import { type Draft, toRunnable } from "./draft.ts";

export type Run = {
  readonly answer?: RunMetricResponse;
  readonly error?: ApiError;
  readonly isRunning?: boolean;
};

export type TrialRuns = {
  /** By the ids of their events. */
  readonly runs: ReadonlyMap<string, Run>;
  /** The first failure of the runs. */
  readonly error: ApiError | null;
  readonly isRunning: boolean;
  readonly start: (eventIds: readonly string[]) => Promise<void>;
  readonly stop: () => void;
};

/** Runs the draft on events one after another, and keeps what each run answered. */
export function useTrial(draft: Draft): TrialRuns {
  const projectId = useCurrentProjectId();
  const [runs, setRuns] = useState<ReadonlyMap<string, Run>>(new Map());
  const [isRunning, setRunning] = useState(false);
  const aborter = useRef<AbortController>(undefined);
  useEffect(() => () => aborter.current?.abort(), []);
  const put = (id: string, run: Run) => setRuns((before) => new Map(before).set(id, run));
  const start = async (ids: readonly string[]): Promise<void> => {
    aborter.current?.abort();
    const controller = new AbortController();
    aborter.current = controller;
    setRuns(new Map());
    setRunning(true);
    for (const eventId of ids) {
      if (controller.signal.aborted) break;
      put(eventId, { isRunning: true });
      const input = { metric: toRunnable(draft), eventId };
      const options = { projectId, signal: controller.signal };
      try {
        put(eventId, { answer: await callRpc(EvaluatorService.method.runMetric, input, options) });
      } catch (thrown) {
        const error = toApiError(thrown);
        put(eventId, isCancelled(error) ? {} : { error });
      }
    }
    if (aborter.current === controller) setRunning(false);
  };
  const error = [...runs.values()].find((run) => run.error)?.error ?? null;
  return { runs, error, isRunning, start, stop: () => aborter.current?.abort() };
}
