// One datapoint of an execution: calls the model until it answers or has failed several times, and
// stores a session with the model event in one commit. The ids are derived from the datapoint, so a
// repeated call has the same idempotency key, and its events are those that are stored already.
// Source: docs/experiments.md, "Execution"; docs/decisions.md, 39.6.

import { setTimeout as delay } from "node:timers/promises";
import type { ProjectScope } from "../../access/scope.ts";
import { outcomes, ServiceError } from "../../base/errors.ts";
import { deriveUuid } from "../../base/ids.ts";
import { type JsonObject, present } from "../../base/json.ts";
import { datapointTriesMax } from "../../base/tenant-limits.ts";
import type {
  ConfiguredCalls,
  ConfiguredEnd,
  ConfiguredModel,
} from "../../generation/configured/configured-calls.ts";
import { withoutFault } from "../../generation/calls/store-generation.ts";
import type { EventWrite } from "../../tracing/events/event.ts";
import { retriedBy } from "../../tracing/run-events/run-events.ts";
import type { TracingOf } from "../../tracing/tracing.ts";
import type { DatapointContent } from "../datasets/datapoint.ts";

/** Services that run a datapoint. */
export type DatapointParts = {
  readonly calls: Pick<ConfiguredCalls, "call">;
  readonly tracingOf: TracingOf;
};

export type DatapointRun = {
  readonly project: ProjectScope;
  readonly runId: string;
  readonly datasetId: string;
  readonly datapointId: string;
  readonly attempt: number;
  readonly model: ConfiguredModel;
  readonly content: Pick<DatapointContent, "inputs" | "history" | "groundTruth">;
};

export type DatapointOutcome = { readonly cost: number | null; readonly error: string | null };

/** Pause after the first failure; doubles with each failure. */
const pauseMs = 1_000;
/** Maximum waits for a place in one step. */
const waitsMax = 5;

/** Ids of the events of a datapoint; each attempt has a session of its own. */
export function idsOf({ project, runId, datapointId, attempt }: Identity) {
  const text = `${project.projectId} ${runId} ${datapointId}`;
  const sessionId = deriveUuid(`session ${text}${attempt === 1 ? "" : ` ${attempt}`}`);
  return { sessionId, generationId: deriveUuid(`${text} ${attempt}`), parentId: sessionId };
}

type Identity = Pick<DatapointRun, "project" | "runId" | "datapointId" | "attempt">;

/** Throws the reason of the signal; a failure of the provider is an outcome. */
export async function runDatapoint(
  parts: DatapointParts,
  run: DatapointRun,
  signal: AbortSignal,
): Promise<DatapointOutcome> {
  const startedAtMs = Date.now();
  const end = await callUntilEnded(parts, run, signal);
  if (run.attempt > 1) await takeOut(parts, run);
  await store(parts, run, end, startedAtMs);
  return { cost: end.cost, error: end.error ?? null };
}

async function callUntilEnded(
  { calls }: DatapointParts,
  run: DatapointRun,
  signal: AbortSignal,
): Promise<ConfiguredEnd> {
  const { project, model, content } = run;
  const asked = {
    inputs: content.inputs,
    messages: content.history,
    ids: idsOf(run),
    metadata: metadataOf(run),
  };
  let waits = 0;
  // Unusable answers are billed too.
  let spent: number | null = null;
  for (let tries = 1; ;) {
    let end: ConfiguredEnd;
    try {
      end = await calls.call(project, model, asked, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ServiceError)) throw error;
      if (outcomes[error.reason].status < 500) return { ...refused(run, error), cost: spent };
      // Other calls of the project have all places, so this call has not failed. The step ends
      // after some time, so that a cancellation is noticed.
      waits += 1;
      if (waits > waitsMax) throw error;
      await delay(pauseMs, undefined, { signal });
      continue;
    }
    if (end.cost !== null) spent = (spent ?? 0) + end.cost;
    if (end.error === undefined || tries >= datapointTriesMax || !mayHelp(end.error)) {
      return { ...end, cost: spent };
    }
    await delay(pauseMs * 2 ** (tries - 1), undefined, { signal });
    tries += 1;
  }
}

/** Returns whether a failed call may succeed when it is repeated. */
function mayHelp(error: string): boolean {
  return /^(PROVIDER_FAILED|PROVIDER_LIMITED|PROVIDER_TIMEOUT)\b/.test(error);
}

/** Returns the end of a call that was never sent. */
function refused(run: DatapointRun, { reason, message }: ServiceError): ConfiguredEnd {
  const { configuration, environment, model } = run.model;
  const { sessionId, generationId } = idsOf(run);
  const { id, name, version, provider, parameters } = configuration;
  const error = `${reason}: ${message}`;
  const atMs = Date.now();
  const write: EventWrite = {
    event_id: generationId,
    session_id: sessionId,
    parent_id: sessionId,
    event_type: "model",
    event_name: "chat",
    source: "evaluation",
    error,
    start_time: atMs,
    end_time: atMs,
    duration: 0,
    config: present({
      configuration: present({ id, name, version: `v${version}`, environment }),
      model: model ?? parameters["model"],
      provider,
    }),
    inputs: run.content.inputs,
    metadata: metadataOf(run),
  };
  return { write, cost: null, error };
}

function metadataOf({ runId, datasetId, datapointId }: DatapointRun): JsonObject {
  return { run_id: runId, dataset_id: datasetId, datapoint_id: datapointId };
}

/** Takes the events of the failed attempt before out of the run, with their scores. */
async function takeOut({ tracingOf }: DatapointParts, run: DatapointRun): Promise<void> {
  const { projectId, orgId: organization } = run.project;
  const { events } = tracingOf(run.project);
  const before = idsOf({ ...run, attempt: run.attempt - 1 });
  const update = { metadata: { [retriedBy]: idsOf(run).sessionId } };
  for (const id of [before.sessionId, before.generationId]) {
    await events.enrich(projectId, id, update, { organization });
  }
}

/** Stores the session and the model event; a part that no event can hold is left out. */
async function store(
  { tracingOf }: DatapointParts,
  run: DatapointRun,
  { write, error = "" }: ConfiguredEnd,
  startedAtMs: number,
): Promise<void> {
  const { project, content, model } = run;
  const { groundTruth } = content;
  const feedback = groundTruth === null ? {} : { feedback: { ground_truth: groundTruth } };
  const endedAtMs = Date.now();
  const { sessionId } = idsOf(run);
  const session: EventWrite = {
    event_id: sessionId,
    session_id: sessionId,
    event_type: "session",
    event_name: model.configuration.name,
    source: "evaluation",
    start_time: startedAtMs,
    end_time: endedAtMs,
    duration: endedAtMs - startedAtMs,
    error,
    inputs: content.inputs,
    outputs: write.outputs ?? {},
    metadata: metadataOf(run),
    ...feedback,
  };
  let kept = [session, { ...write, ...feedback }];
  for (let tries = 1; ; tries += 1) {
    const items = kept.map((input, index) => ({ index, input }));
    const { events } = tracingOf(project);
    const { errors } = await events
      .createBatch(project.projectId, items, { organization: project.orgId })
      .catch(refusedBatch);
    if (errors.length === 0) return;
    if (tries > 1) throw new Error(`events of a run cannot be stored: ${errors.join("; ")}`);
    kept = kept.map((one) => withoutFault(one, errors.join("; ")));
  }
}

/** Returns the faults of a batch that was refused as a whole. */
function refusedBatch(error: unknown): { readonly errors: readonly string[] } {
  const { details = {} } = error as ServiceError;
  const { errors } = details as { readonly errors?: readonly string[] };
  if (!(error instanceof ServiceError && error.reason === "BATCH_REJECTED" && errors)) throw error;
  return { errors };
}
