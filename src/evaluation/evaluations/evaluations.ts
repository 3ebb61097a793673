// Evaluations: reports of experiment runs, from the runs' events or as a client gave them, with
// what reviewers say. Source: docs/spec.md, "Evaluation"; docs/decisions.md, 27, 39.5.

import { refuse } from "../../base/errors.ts";
import { type Actor, describeActor } from "../../base/actor.ts";
import { reviewCommentLengthMax } from "../../base/field-limits.ts";
import { reviewCommentsMax } from "../../base/tenant-limits.ts";
import type { ProjectScope } from "../../access/scope.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import type { SelectedEvent } from "../../tracing/events/event-row.ts";
import { assertSound } from "../../tracing/events/parse-event.ts";
import type { Reading } from "../../tracing/events/sized-read.ts";
import type { TracingOf } from "../../tracing/tracing.ts";
import type { MetricDetail } from "../runs/result.ts";
import type { RunResults } from "../runs/results.ts";
import type { SessionScores } from "../runs/scoring.ts";
import type { Run, RunChange, Runs } from "../runs/runs.ts";
import type { StoredReport } from "../runs/store.ts";

/** Parts of a report that come from the run's events, unless a client gave them. */
export type ReportParts = {
  readonly dataset: readonly JsonObject[];
  readonly prompts: readonly JsonObject[];
  readonly generations: readonly JsonObject[];
  readonly metrics: readonly (readonly JsonValue[])[];
  readonly results: readonly JsonObject[];
  readonly summary: readonly JsonObject[];
};

export type Evaluation = ReportParts & {
  readonly run: Run;
  /** Name of the project. */
  readonly task: string;
  readonly datasetName: string;
  readonly accepted: readonly boolean[];
  readonly comments: readonly JsonObject[];
};

export type GivenReport = Partial<ReportParts> & {
  readonly datasetName?: string | undefined;
  readonly metricsToCompute: readonly string[];
  readonly accepted: readonly boolean[];
  readonly comments: readonly JsonObject[];
};

export type Review = {
  /** Whether each result is accepted, in their order; empty: unchanged. */
  readonly accepted: readonly boolean[];
  /** Comments to add; `result` is the index of the result that one is about. */
  readonly comments: readonly { readonly text: string; readonly result?: number | undefined }[];
  readonly actor: Actor;
};

/** Every method acts on the caller's project only. */
export type Evaluations = {
  /** Throws NOT_FOUND. */
  get(project: ProjectScope, runId: string, reading?: Reading): Promise<Evaluation>;
  /** Creates a completed run with a given report; returns its id. Throws INVALID_ARGUMENT. */
  create(
    project: ProjectScope,
    change: RunChange,
    report: GivenReport,
    actor: Actor,
  ): Promise<string>;
  /** Throws NOT_FOUND, and INVALID_ARGUMENT naming the field. */
  review(
    project: ProjectScope,
    runId: string,
    review: Review,
    reading?: Reading,
  ): Promise<Evaluation>;
};

export type EvaluationsOptions = {
  readonly runs: Pick<Runs, "get" | "create" | "updateReport">;
  readonly results: Pick<RunResults, "result">;
  readonly tracingOf: TracingOf;
};

export function createEvaluations(options: EvaluationsOptions): Evaluations {
  const { runs } = options;

  async function get(project: ProjectScope, runId: string, reading?: Reading) {
    const run = await runs.get(project, runId);
    const { given } = run.report;
    const parts = given ? readGiven(given) : await computeParts(options, project, run, reading);
    return {
      ...parts,
      run,
      task: project.name,
      datasetName: textOf(given?.["datasetName"]) ?? run.datasetName ?? "",
      ...reviewOf(run.report, parts.results),
    };
  }

  return {
    get,

    async create(project, change, { accepted, comments, datasetName, ...parts }, actor) {
      const { metricsToCompute, ...arrays } = parts;
      const given = {
        ...arrays,
        ...(datasetName !== undefined && { datasetName }),
        ...(metricsToCompute.length > 0 && { metrics_to_compute: metricsToCompute }),
      } as JsonObject;
      assertSound({ given, comments }, "evaluation");
      const results = arrays.results ?? [];
      assertAccepted(accepted, results.length);
      const report = { given, accepted: toAccepted(accepted, results), comments };
      const run = await runs.create(project, {
        runId: "",
        change: { status: "completed", ...change },
        actor,
        report,
      });
      return run.runId;
    },

    async review(project, runId, { accepted, comments, actor }, reading) {
      const evaluation = await get(project, runId, reading);
      const { results } = evaluation;
      if (accepted.length > 0) assertAccepted(accepted, results.length);
      const added = comments.map(({ text, result }, index) => {
        assertComment(text, `comments[${index}].text`);
        if (result !== undefined && (result < 0 || result >= results.length)) {
          refuse(
            `comments[${index}].result`,
            `must be the index of one of ${results.length} results`,
          );
        }
        const author = describeActor(actor);
        const created = new Date().toISOString();
        return { text, author, created_at: created, ...(result !== undefined && { result }) };
      });
      const report = await runs.updateReport(project, runId, (before) => {
        const all = [...(before.comments ?? []), ...added];
        if (all.length > reviewCommentsMax) {
          refuse("comments", `a run has at most ${reviewCommentsMax} comments`);
        }
        const changed = { ...before.accepted, ...toAccepted(accepted, results) };
        return { ...before, accepted: changed, comments: all };
      });
      return { ...evaluation, ...reviewOf(report, results) };
    },
  };
}

/** Returns what reviewers say of results. */
function reviewOf(
  { accepted = {}, comments = [] }: StoredReport,
  results: readonly JsonObject[],
): Pick<Evaluation, "accepted" | "comments"> {
  return {
    accepted: results.map((result, index) => accepted[keyOf(result, index)] ?? false),
    comments,
  };
}

function assertAccepted(accepted: readonly boolean[], count: number): void {
  if (accepted.length === 0 || accepted.length === count) return;
  refuse("accepted", `must have one value for each of the ${count} results`);
}

function assertComment(text: string, field: string): void {
  if (text.trim() !== "" && text.length <= reviewCommentLengthMax) return;
  refuse(field, `must be 1 to ${reviewCommentLengthMax} characters`);
}

/** Returns the acceptance of each result under its key; later results leave it as it is. */
function toAccepted(
  accepted: readonly boolean[],
  results: readonly JsonObject[],
): Readonly<Record<string, boolean>> {
  return Object.fromEntries(
    accepted.map((value, index) => [keyOf(results[index] ?? {}, index), value]),
  );
}

/** Returns the key of a result: its session, or its index where it names none. */
function keyOf(result: JsonObject, index: number): string {
  return textOf(result["session_id"]) ?? `#${index}`;
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function readGiven(given: JsonObject): ReportParts {
  const objects = (name: string): readonly JsonObject[] => {
    const list = given[name];
    return isJsonArray(list) ? list.filter(isJsonObject) : [];
  };
  const metrics = given["metrics"];
  return {
    dataset: objects("dataset"),
    prompts: objects("prompts"),
    generations: objects("generations"),
    metrics: isJsonArray(metrics) ? metrics.filter(isJsonArray) : [],
    results: objects("results"),
    summary: objects("summary"),
  };
}

/** Computes the parts of a report from the events of the run. */
async function computeParts(
  { results, tracingOf }: EvaluationsOptions,
  project: ProjectScope,
  run: Run,
  reading: Reading | undefined,
): Promise<ReportParts> {
  const { configuration } = run;
  const request = { aggregateFunction: "", filters: [] };
  const { result } = await results.result(project, run, request, reading);
  const { datapoints, details } = result;
  const ids = datapoints.map(({ sessionId }) => sessionId);
  const { runEvents } = tracingOf(project);
  const found = await runEvents.read(project.projectId, ids, reading);
  const sessions = new Map(found.map((event) => [event.event_id, event]));
  return {
    dataset: datapoints.map((one) => datapointOf(one, sessions.get(one.sessionId))),
    prompts: Object.keys(configuration).length > 0 ? [configuration] : [],
    generations: datapoints.map(({ sessionId, datapointId }) => ({
      session_id: sessionId,
      datapoint_id: datapointId,
      outputs: sessions.get(sessionId)?.outputs ?? {},
    })),
    metrics: datapoints.map(({ scores }) =>
      scores.map(({ place, value, passed }) => ({ name: place.metricName, value, passed })),
    ),
    results: datapoints.map(resultObject),
    summary: details.map(summaryObject),
  };
}

function datapointOf(
  { datapointId, sessionId }: SessionScores,
  session: SelectedEvent | undefined,
): JsonObject {
  return {
    datapoint_id: datapointId,
    session_id: sessionId,
    inputs: session?.inputs ?? {},
    ground_truth: session?.feedback?.["ground_truth"] ?? null,
  };
}

function resultObject({ datapointId, sessionId, passed, scores }: SessionScores): JsonObject {
  const named = scores.map(({ place, value }) => [place.metricName, value] as const);
  return {
    datapoint_id: datapointId,
    session_id: sessionId,
    passed,
    metrics: Object.fromEntries(named),
  };
}

function summaryObject(detail: MetricDetail): JsonObject {
  return {
    metric_name: detail.metricName,
    metric_type: detail.metricType,
    event_name: detail.eventName,
    event_type: detail.eventType,
    average: detail.aggregate,
    count: detail.values.length,
    passed: detail.passed.length,
    failed: detail.failed.length,
  };
}
