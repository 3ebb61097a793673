// Manual runs of an evaluator on one event; nothing is stored.
// Source: docs/spec.md, "POST /v1/metrics/run", "Metrics and evaluations" and "Errors";
// docs/decisions.md, 22.2, 23.

import type { ProjectScope } from "../../access/scope.ts";
import { formatVersion, parseVersion } from "../../base/versions.ts";
import { refuse, ServiceError } from "../../base/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue, present } from "../../base/json.ts";
import type { TracingOf } from "../../tracing/tracing.ts";
import type { Threshold } from "../metrics/definition.ts";
import { inspectCriteria, type Inspector } from "../metrics/inspect.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { Limits } from "../metrics/to-definition.ts";
import { hasGroundTruth, toEvaluatedEvent } from "../runner/evaluated-event.ts";
import {
  type EventMemory,
  eventMemoryMax,
  memoryOfEvent,
  tooLarge,
} from "../runner/event-memory.ts";
import type { JudgeCall, RunnableDefinition, Runner, RunResult } from "../runner/runner.ts";
import { passes } from "../runs/passing.ts";
import type { Score } from "../scores/score.ts";
import { type MetricInput, toGivenMetric, toInMetric } from "./given-metric.ts";
import { parseChoice } from "../../base/choices.ts";
import { nestingDepthMax } from "../../base/limits.ts";
import { buckets, eventTypes, unknownName } from "../../tracing/events/event.ts";
import { isSound } from "../../tracing/events/parse-event.ts";

/**
 * One of `metric` and `metricId`, and one of `event` and `eventId`; an empty id counts as absent.
 */
export type PreviewRequest = {
  readonly metric?: MetricInput | undefined;
  readonly metricId?: string | undefined;
  /** Name of a version of the metric `metricId`; default is the deployed one. */
  readonly version?: string | undefined;
  readonly event?: JsonObject | undefined;
  readonly eventId?: string | undefined;
};

export type PreviewResult = {
  /** Name of the version that ran; null for a definition in the request. */
  readonly version: string | null;
  readonly durationMs: number;
  /** Beginning of the text that the code printed. */
  readonly output: string;
} & (
  | {
      readonly kind: "score";
      readonly score: Score;
      readonly explanation: string | null;
      /** Null without a threshold. */
      readonly passed: boolean | null;
      readonly judge: JudgeCall | undefined;
    }
  /** Nothing ran, because the evaluator reads ground truth and the event has none. */
  | { readonly kind: "no ground truth"; readonly reason: string }
);

export type Preview = {
  /**
   * Runs an evaluator on an event. Throws INVALID_ARGUMENT naming the field, NOT_FOUND for an
   * absent metric, version or event, EVALUATOR_FAILED with the reason and the traceback of the
   * evaluator's own code, OVERLOADED, and errors of providers and the sandbox.
   */
  run(project: ProjectScope, request: PreviewRequest, signal: AbortSignal): Promise<PreviewResult>;
};

export type PreviewOptions = {
  readonly findMetric: Metrics["find"];
  readonly tracingOf: TracingOf;
  readonly runner: Runner;
  readonly sandbox: Inspector;
  readonly eventMemory: EventMemory;
  readonly limits: Limits;
};

/** The evaluator to run, from the request or the database. */
type Subject = {
  readonly definition: RunnableDefinition;
  readonly threshold: Threshold | null;
  readonly readsGroundTruth: boolean;
  readonly version: string | null;
};

const outputCharactersMax = 10_000;

export function createPreview(options: PreviewOptions): Preview {
  const { findMetric, tracingOf, runner, sandbox, eventMemory, limits } = options;

  async function subjectOf(project: ProjectScope, request: PreviewRequest): Promise<Subject> {
    const { metric, metricId, version } = request;
    if (metricId) return findSubject(project, metricId, version);
    if (version) refuse("version", "is only for metric_id");
    if (!metric) return refuse("metric", "is required, unless metric_id names a metric");
    const { given, runnable, threshold } = toGivenMetric(metric, limits);
    const readsGroundTruth = await inspectCriteria(sandbox, project, given).catch(
      (error: unknown) => {
        throw toInMetric(error);
      },
    );
    return { definition: runnable, threshold, readsGroundTruth, version: null };
  }

  async function findSubject(
    project: ProjectScope,
    metricId: string,
    version: string | undefined,
  ): Promise<Subject> {
    const number = version ? parseVersion(version) : undefined;
    const isNone = version && number === undefined;
    const found = isNone ? undefined : await findMetric(project.projectId, metricId, number);
    if (!found) throw new ServiceError("NOT_FOUND", "no such metric, or no such version of it");
    const { definition, readsGroundTruth } = found;
    if (definition.type === "HUMAN") {
      refuse("metric_id", "is of type HUMAN, which people judge; name one of type PYTHON or LLM");
    }
    const { threshold } = definition;
    return { definition, threshold, readsGroundTruth, version: formatVersion(found.version) };
  }

  async function eventOf(project: ProjectScope, request: PreviewRequest): Promise<JsonObject> {
    const { event, eventId } = request;
    if (eventId) {
      const stored = await tracingOf(project).events.get(project.projectId, eventId);
      return toEvaluatedEvent(stored, project.projectId);
    }
    if (event) return toGivenEvent(event, project.projectId);
    return refuse("event", "is required, unless event_id names an event");
  }

  async function runOn(
    project: ProjectScope,
    { definition }: Subject,
    event: JsonObject,
    signal: AbortSignal,
  ): Promise<RunResult> {
    const opened = await runner.open(project, { definition }, signal);
    try {
      return await opened.run(event);
    } finally {
      await opened.close();
    }
  }

  async function runSubject(
    project: ProjectScope,
    { request, event }: { readonly request: PreviewRequest; readonly event: JsonObject },
    signal: AbortSignal,
  ): Promise<PreviewResult> {
    const subject = await subjectOf(project, request);
    const { version, threshold } = subject;
    if (subject.readsGroundTruth && !hasGroundTruth(event)) {
      return {
        kind: "no ground truth",
        reason: noGroundTruth,
        version,
        durationMs: 0,
        output: "",
      };
    }
    const startedAt = performance.now();
    const result = await runOn(project, subject, event, signal);
    const durationMs = Math.round((performance.now() - startedAt) * 1_000) / 1_000;
    if (result.kind === "failure") throw toError(result);
    const { score, explanation = null, judge } = result;
    const output = cut(result.output, outputCharactersMax);
    const passed = passes(score, threshold);
    return { kind: "score", score, explanation, passed, judge, version, durationMs, output };
  }

  return {
    async run(project, request, signal) {
      assertOne("metric", request.metric, "metric_id", request.metricId);
      assertOne("event", request.event, "event_id", request.eventId);
      // The event first, because parsing code needs a process and takes longer.
      const event = await eventOf(project, request);
      const bytes = memoryOfEvent(event);
      if (bytes > eventMemoryMax) refuse(request.eventId ? "event_id" : "event", `it ${tooLarge}`);
      const memory = eventMemory.open(project);
      try {
        memory.grow(bytes);
        return await runSubject(project, { request, event }, signal);
      } finally {
        memory.release();
      }
    },
  };
}

const noGroundTruth =
  "the evaluator reads feedback.ground_truth, which the event does not have; nothing was run";

function assertOne(name: string, value: unknown, idName: string, id: string | undefined): void {
  if (value !== undefined && id) refuse(idName, `must not be given beside ${name}; give one`);
}

type Failure = Extract<RunResult, { readonly kind: "failure" }>;

/** RPC protocols send all of a failure in headers, for which many clients accept 8 KiB. */
const messageCharactersMax = 1_000;
const failureOutputCharactersMax = 1_000;

function toError({ reason, message, traceback, output, judge }: Failure): ServiceError {
  const said = cut(`${reason}: ${message}`, messageCharactersMax);
  const details = present({
    failure: reason,
    traceback,
    output: output === "" ? undefined : cut(output, failureOutputCharactersMax),
    judge: judge && toJson(judge),
  });
  return new ServiceError("EVALUATOR_FAILED", said, { details });
}

function toJson(judge: JudgeCall): JsonValue {
  return {
    provider: judge.provider,
    model: judge.model,
    prompt_tokens: judge.promptTokens,
    completion_tokens: judge.completionTokens,
    cost: judge.cost,
    answer: judge.answer,
  };
}

function cut(text: string, charactersMax: number): string {
  return text.length > charactersMax ? `${text.slice(0, charactersMax).toWellFormed()}…` : text;
}

/** Values of fields that the request omits. */
const absent: JsonObject = {
  event_id: null,
  session_id: null,
  parent_id: null,
  children_ids: [],
  event_type: null,
  event_name: unknownName,
  source: unknownName,
  error: null,
  start_time: null,
  end_time: null,
  duration: null,
  ...Object.fromEntries(buckets.map((bucket) => [bucket, {}])),
};

/**
 * Returns the event with every field of a stored one; null counts as omitted, and unknown fields
 * stay. The project is the caller's. Throws INVALID_ARGUMENT naming the field.
 */
function toGivenEvent(given: JsonObject, projectId: string): JsonObject {
  const said = Object.entries(given).filter(([, value]) => value !== null);
  for (const [name, value] of said) assertField(name, value);
  return { ...absent, ...Object.fromEntries(said), project_id: projectId };
}

function assertField(name: string, value: JsonValue): void {
  const field = `event.${name}`;
  if (buckets.some((bucket) => bucket === name) && !isJsonObject(value)) {
    refuse(field, "must be an object");
  }
  if (name === "event_type") parseChoice(field, eventTypes, value);
  if (!isSound(value, nestingDepthMax)) {
    refuse(field, `may nest ${nestingDepthMax} levels, and its numbers must be finite`);
  }
}
