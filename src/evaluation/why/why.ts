// Explains why an evaluator scored an event or did not, and shows an evaluator's status.
// Source: docs/decisions.md, 25.1, 26; docs/evaluators.md, "Why".

import type { ProjectScope } from "../../access/scope.ts";
import { formatVersion } from "../../base/versions.ts";
import { ServiceError } from "../../base/errors.ts";
import { isRecordId } from "../../base/ids.ts";
import type { TracingOf } from "../../tracing/tracing.ts";
import type { Backfills } from "../backfills/backfills.ts";
import { isEnded } from "../end-state.ts";
import type { Evaluator, Metrics } from "../metrics/metrics.ts";
import {
  excludedSources,
  hasGroundTruthFilter,
  openSessionFilters,
  runFilters,
  sourceFilters,
} from "../online/conditions.ts";
import { findOpenSessions } from "../online/open-sessions.ts";
import type { EvaluationQueue } from "../online/queue.ts";
import { samplingNumber } from "../online/sampling.ts";
import type { Runs } from "../runs/runs.ts";
import type { MetricCounts, RunRecord, Scores } from "../scores/scores.ts";
import type { FilterInput } from "../../tracing/export/filter.ts";

export type Outcome =
  | RunRecord["state"]
  | "disabled"
  | "not_run_by_service"
  | "source_excluded"
  | "filtered_out"
  | "not_sampled"
  | "ground_truth_absent"
  | "session_open"
  | "not_queued";

export type WhyAnswer = {
  readonly outcome: Outcome;
  /** Human-readable text, with the way out. */
  readonly message: string;
  /** Version that ran or would run. */
  readonly version: number;
  /** Run of the `outcome`; absent if there was none. */
  readonly run?: RunRecord;
  /** Filter that does not match. */
  readonly filter?: string;
  /** Time when the event was queued for routing, if it has no run. */
  readonly queuedAt?: Date;
  /** Runs on the event, newest version first, at most a hundred. */
  readonly runs: readonly RunRecord[];
};

export type MetricStatus = MetricCounts & {
  readonly isEnabled: boolean;
  readonly disabledReason: string | null;
  readonly version: number;
  readonly failuresInRowMax: number;
};

/**
 * Both methods throw NOT_FOUND if the project has no such evaluator; `explain` also for an event.
 */
export type Why = {
  /** Explains an evaluator's result on an event, or the first reason why there is none. */
  explain(project: ProjectScope, evaluatorId: string, eventId: string): Promise<WhyAnswer>;
  /** Returns the status of an evaluator; ended runs are counted over the last 7 days. */
  getStatus(project: ProjectScope, evaluatorId: string): Promise<MetricStatus>;
};

export type WhyOptions = {
  readonly queue: Pick<EvaluationQueue, "waitsSince">;
  readonly backfills: Pick<Backfills, "list">;
  readonly metrics: Pick<Metrics, "get">;
  readonly tracingOf: TracingOf;
  readonly runs: Pick<Runs, "findEnded">;
  readonly scores: Pick<Scores, "runsOf" | "countMetric">;
  /** Failures in a row that disable an evaluator. */
  readonly failuresMax: number;
};

const statusMs = 7 * 86_400_000;

export function createWhy(options: WhyOptions): Why {
  const { metrics, tracingOf, scores, failuresMax } = options;
  return {
    async explain(project, evaluatorId, eventId) {
      const evaluator = await metrics.get(project.projectId, evaluatorId);
      const { selection } = tracingOf(project);
      const excluded = isRecordId(eventId)
        ? await selection.explain(project.projectId, eventId, sourceFilters)
        : undefined;
      if (excluded === undefined) throw new ServiceError("NOT_FOUND", "no such event");
      const { id, version: deployed } = evaluator;
      const runs = await scores.runsOf(project, { evaluatorId: id, version: deployed }, eventId);
      const run = runs.find(({ version }) => version === deployed) ?? runs[0];
      if (run) return { ...explainRun(evaluator, run), run, runs };
      const isOfRun =
        excluded >= 0 && (await selection.explain(project.projectId, eventId, runFilters)) === -1;
      const source = isOfRun ? undefined : excludedSources[excluded];
      const facts = { evaluator, eventId, project, source, isOfRun };
      return { ...(await explainNoRun(options, facts)), version: evaluator.version, runs };
    },

    async getStatus(project, evaluatorId) {
      const { id, ...evaluator } = await metrics.get(project.projectId, evaluatorId);
      const { enablement, version, disabledReason, definition } = evaluator;
      const since = new Date(Date.now() - statusMs);
      const counts = await scores.countMetric(project, { evaluatorId: id, enablement }, since);
      const isEnabled = definition.enabled_in_prod;
      return { ...counts, isEnabled, disabledReason, version, failuresInRowMax: failuresMax };
    },
  };
}

function explainRun(evaluator: Evaluator, run: RunRecord) {
  const { version, state } = run;
  const isOlder = version !== evaluator.version;
  const hint = isOlder
    ? ` ${formatVersion(evaluator.version)}, which is deployed now, has not run on it: an event ` +
      "is scored by itself once, and a backfill runs a new version on stored events."
    : "";
  return { outcome: state, message: describeRun(run) + hint, version };
}

type Facts = {
  readonly project: ProjectScope;
  readonly evaluator: Evaluator;
  readonly eventId: string;
  /** Source of the event, if events of it are not scored online. */
  readonly source: string | undefined;
  /** Whether the event belongs to an experiment run, which is scored without sampling. */
  readonly isOfRun: boolean;
};

type Reason = Pick<WhyAnswer, "outcome" | "message" | "filter" | "queuedAt">;

/** Checks the conditions of the router, in the order in which users should look at them. */
async function explainNoRun(options: WhyOptions, facts: Facts): Promise<Reason> {
  return (
    explainEvaluator(facts.evaluator) ??
    explainSource(facts.source) ??
    (await explainFilters(options, facts)) ??
    explainSampling(facts) ??
    (await explainGroundTruth(options, facts)) ??
    (await explainOpenSession(options, facts)) ??
    (await explainWaiting(options, facts))
  );
}

function explainEvaluator({ definition, disabledReason }: Evaluator): Reason | undefined {
  if (definition.type === "HUMAN") {
    const message = "People judge by this metric; the service does not run it.";
    return { outcome: "not_run_by_service", message };
  }
  if (definition.enabled_in_prod) return undefined;
  const outcome = "disabled";
  if (disabledReason === null) {
    const message =
      "The metric does not run by itself: enabled_in_prod is false. Set it to true for events to " +
      "come; for this one, run a backfill.";
    return { outcome, message };
  }
  const message =
    `The service disabled the metric: ${disabledReason}. Mend what fails, set enabled_in_prod to ` +
    "true, and run a backfill for the events since.";
  return { outcome, message };
}

function explainSource(source: string | undefined): Reason | undefined {
  if (source === undefined) return undefined;
  const exception =
    source === "evaluation" ? ", unless they belong to an experiment run (metadata.run_id)" : "";
  const message =
    `Events of source ${source} are not scored by themselves${exception}; a backfill or ` +
    "POST /v1/metrics/run runs the metric on them.";
  return { outcome: "source_excluded", message };
}

async function explainFilters(
  { tracingOf }: WhyOptions,
  { project, evaluator, eventId }: Facts,
): Promise<Reason | undefined> {
  const filters = evaluator.definition.filters.filterArray;
  if (filters.length === 0) return undefined;
  const at = await tracingOf(project).selection.explain(project.projectId, eventId, filters);
  const failing = at === undefined ? undefined : filters[at];
  if (!failing) return undefined;
  const filter = describeFilter(failing);
  const message =
    `The event does not meet the filter \`${filter}\` of the metric. It is looked at again when ` +
    "it is written again.";
  return { outcome: "filtered_out", message, filter };
}

function explainSampling({ evaluator, eventId, isOfRun }: Facts): Reason | undefined {
  if (isOfRun) return undefined;
  const { sampling_percentage: percentage } = evaluator.definition;
  const number = samplingNumber(eventId);
  if (number < percentage) return undefined;
  // Truncated, not rounded: a shown number never looks as if it were sampled.
  const shown = (Math.floor(number * 100) / 100).toFixed(2);
  const message =
    `The metric runs on ${percentage} % of the events that match, those whose number is below ` +
    `${percentage}; this event's is ${shown}. A greater sampling_percentage covers more events ` +
    "to come; a backfill runs on all that match.";
  return { outcome: "not_sampled", message };
}

async function explainGroundTruth(
  { tracingOf }: WhyOptions,
  { project: { projectId, ...place }, evaluator, eventId }: Facts,
): Promise<Reason | undefined> {
  if (!evaluator.readsGroundTruth) return undefined;
  const { selection } = tracingOf(place);
  const at = await selection.explain(projectId, eventId, [hasGroundTruthFilter]);
  if (at !== 0) return undefined;
  const message =
    "The metric reads feedback.ground_truth, which the event does not have. It runs when ground " +
    "truth arrives, by feedback or by an update of the event.";
  return { outcome: "ground_truth_absent", message };
}

async function explainOpenSession(
  options: WhyOptions,
  { project, eventId, isOfRun }: Facts,
): Promise<Reason | undefined> {
  if (!isOfRun) return undefined;
  const { selection } = options.tracingOf(project);
  const unmet = await selection.explain(project.projectId, eventId, openSessionFilters);
  if (unmet !== -1 || (await findOpenSessions(options, project, [eventId])).size === 0) {
    return undefined;
  }
  const message =
    "The session belongs to an experiment run and has neither outputs nor an error yet. The " +
    "metric runs on it when one of them is written, or when the run is completed; a backfill " +
    "runs on it as it is.";
  return { outcome: "session_open", message };
}

async function explainWaiting(
  { queue, backfills }: WhyOptions,
  { project, evaluator, eventId }: Facts,
): Promise<Reason> {
  const queuedAt = await queue.waitsSince(project, eventId);
  if (queuedAt) {
    const message = "The event was written a moment ago and waits to be looked at.";
    return { outcome: "queued", message, queuedAt };
  }
  const { items } = await backfills.list(project, evaluator.id, { limit: 1 });
  // Only the newest backfill of a metric can be open.
  const open = items.find(({ state }) => !isEnded(state));
  const way = open
    ? `Its backfill is ${open.state}, and reaches the event if it is one that the backfill matches.`
    : "Run a backfill, or write the event again.";
  const message =
    "The metric would run on the event, but the event was last written before the metric was as " +
    `it is now. ${way}`;
  return { outcome: "not_queued", message };
}

const valueCharactersMax = 200;

/** Returns a human-readable filter: `metadata.env is prod`. */
export function describeFilter({ field, operator, value }: FilterInput): string {
  if (value === undefined || operator === "exists" || operator === "not exists") {
    return `${field} ${operator}`;
  }
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const isLong = text.length > valueCharactersMax;
  return `${field} ${operator} ${isLong ? `${cutText(text)}…` : text}`;
}

/** The cut may leave a lone surrogate, which is not valid text. */
function cutText(text: string): string {
  return text.slice(0, valueCharactersMax).toWellFormed();
}

/** Describes the result of a run, or its state. */
export function describeRun({ version, state, failure, endedAt, queuedAt }: RunRecord): string {
  const name = formatVersion(version);
  switch (state) {
    case "scored":
      return `Scored by ${name}${endedAt ? ` at ${endedAt.toISOString()}` : ""}.`;
    case "failed":
      return (
        `${name} failed on the event: ${failure ?? "for no reason that is known"}. ` +
        "A backfill with include_failed runs it again."
      );
    case "queued":
      return `Waits for ${name} since ${queuedAt.toISOString()}.`;
    case "running":
      return `${name} runs on it now.`;
  }
}
