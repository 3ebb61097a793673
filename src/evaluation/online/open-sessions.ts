// Sessions of experiment runs that are not scored yet: without outputs or an error, while the run
// goes on. Source: docs/evaluators.md; docs/decisions.md, 25.2.

import type { ProjectScope } from "../../access/scope.ts";
import type { TracingOf } from "../../tracing/tracing.ts";
import type { Runs } from "../runs/runs.ts";

export type OpenSessionsOptions = {
  readonly runs: Pick<Runs, "findEnded">;
  readonly tracingOf: TracingOf;
};

/** Takes sessions without a result; returns those whose run has not ended. */
export async function findOpenSessions(
  { runs, tracingOf }: OpenSessionsOptions,
  project: ProjectScope,
  sessionIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (sessionIds.length === 0) return new Set();
  const named = await tracingOf(project).runEvents.runsOf(project.projectId, sessionIds);
  const runIds = [...new Set(named.map(({ runId }) => runId))];
  const ended = new Set(await runs.findEnded(project, runIds));
  const settled = new Set(
    named.filter(({ runId }) => ended.has(runId)).map(({ eventId }) => eventId),
  );
  return new Set(sessionIds.filter((id) => !settled.has(id)));
}
