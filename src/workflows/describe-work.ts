// Describes a workflow for Temporal's user interface: a summary, details, and names for the ids.
// Without side effects, because workflows import this file.

import type {
  ApplyRetentionInput,
  ArchiveInput,
  BackfillInput,
  DeliverNotificationInput,
  EvaluateAlertInput,
  EvaluateChunkInput,
  ExecuteRunInput,
  RevokeKeyInput,
  WorkflowType,
} from "../outbox/entry.ts";

export type Description = {
  readonly staticSummary: string;
  readonly staticDetails: string;
  readonly memo: Readonly<Record<string, string>>;
};

const levelNames = {
  org: "organization",
  dataplane: "data plane",
  workspace: "workspace",
  project: "project",
} as const;

export function describeWork(type: WorkflowType, input: unknown): Description {
  // outbox/entry.ts ties each type to its input.
  return descriptions[type](input as never);
}

export function describeArchive({ level, id, name, orgId, actor }: ArchiveInput): Description {
  const what = levelNames[level];
  return {
    staticSummary: `archive ${what} ${name}`.slice(0, summaryCharactersMax),
    staticDetails: [
      `Archives what is inside ${what} ${id}, which ${actor.type} ${actor.id} has archived.`,
      "Access ended with the request. Safe to terminate and to start again at any time.",
    ].join("\n"),
    memo: { level, name, organization: orgId, actor: `${actor.type} ${actor.name}` },
  };
}

/** Maximum characters of a summary; Temporal accepts four times as many bytes of UTF-8. */
const summaryCharactersMax = 100;

function describeRevocation({ keyId, orgId, scopeId, actor }: RevokeKeyInput): Description {
  return {
    staticSummary: `follow the revocation of key ${keyId}`,
    staticDetails: [
      `Key ${keyId} is revoked. Waits until every server has said that it has forgotten the key,`,
      "and writes down when the last one did.",
    ].join("\n"),
    memo: { key: keyId, organization: orgId, scope: scopeId, actor },
  };
}

export function describeChunk(input: EvaluateChunkInput): Description {
  const { evaluatorName, version, events, chunkId, backfillId } = input;
  return {
    staticSummary: summarize(`evaluate ${evaluatorName}`, `v${version} on ${events} events`),
    staticDetails: [
      `Runs version ${version} of evaluator ${input.evaluatorId} on the events of chunk`,
      `${chunkId}, each once. Safe to terminate: what has not run is given out again.`,
    ].join("\n"),
    memo: { ...memoOf(input), ...(backfillId !== undefined && { backfill: backfillId }) },
  };
}

function describeBackfill(input: BackfillInput): Description {
  const { evaluatorName, version, evaluatorId, backfillId } = input;
  return {
    staticSummary: summarize(`backfill ${evaluatorName}`, `v${version}`),
    staticDetails: [
      `Runs version ${version} of evaluator ${evaluatorId} on events that were stored before, in`,
      "chunks with a workflow each. To end it: cancel it here or through the API.",
    ].join("\n"),
    memo: { ...memoOf(input), backfill: backfillId, run: String(input.run) },
  };
}

function describeExecution(input: ExecuteRunInput): Description {
  const { runId, runName, turn, datapoints, orgId, projectId, actor } = input;
  return {
    staticSummary: summarize(`execute ${runName}`, `on ${datapoints} datapoints`),
    staticDetails: [
      `Calls a model for each datapoint of experiment run ${runId}, then waits until the events of`,
      "the run are scored. To end it: cancel it here or through the API.",
    ].join("\n"),
    memo: {
      name: runName,
      run: runId,
      turn: String(turn),
      organization: orgId,
      project: projectId,
      actor,
    },
  };
}

function describeAlert(input: EvaluateAlertInput): Description {
  const { alertId, alertName, firstEndMs, lastEndMs, orgId, projectId, actor } = input;
  const [first, last] = [firstEndMs, lastEndMs].map((ms) => new Date(ms).toISOString());
  return {
    staticSummary: summarize(`check alert ${alertName}`, `to ${last}`),
    staticDetails: [
      `Checks alert ${alertId} for the periods that end from ${first} to ${last}.`,
      "Safe to terminate: only these periods go without a check.",
    ].join("\n"),
    memo: { name: alertName, alert: alertId, organization: orgId, project: projectId, actor },
  };
}

function describeDelivery(input: DeliverNotificationInput): Description {
  const { notificationId, title, orgId, projectId, actor } = input;
  return {
    staticSummary: summarize("notify:", title.slice(0, summaryCharactersMax - "notify: ".length)),
    staticDetails: [
      `Delivers notification ${notificationId}, again and again until its target accepts it.`,
      "Safe to terminate: then it is not delivered.",
    ].join("\n"),
    memo: { title, notification: notificationId, organization: orgId, project: projectId, actor },
  };
}

function describeRetention(input: ApplyRetentionInput): Description {
  const { projectName, days, cutoffMs, runId, orgId, projectId, actor } = input;
  return {
    staticSummary: summarize(`retention of ${projectName}`, `${days} days`),
    staticDetails: [
      `Deletes the sessions of project ${projectId} whose newest event ended before`,
      `${new Date(cutoffMs).toISOString()}, in batches. Safe to terminate: the next run goes on.`,
    ].join("\n"),
    memo: { name: projectName, run: runId, organization: orgId, project: projectId, actor },
  };
}

function memoOf(input: EvaluateChunkInput | BackfillInput): Record<string, string> {
  const { evaluatorName, version, evaluatorId, orgId, projectId, actor } = input;
  return {
    name: evaluatorName,
    version: String(version),
    evaluator: evaluatorId,
    organization: orgId,
    project: projectId,
    actor,
  };
}

/** Shortens the start only: the end distinguishes summaries. */
function summarize(start: string, end: string): string {
  return `${start.slice(0, summaryCharactersMax - end.length - 1)} ${end}`;
}

const descriptions: Readonly<Record<WorkflowType, (input: never) => Description>> = {
  archiveOrganization: describeArchive,
  archiveDataplane: describeArchive,
  archiveWorkspace: describeArchive,
  archiveProject: describeArchive,
  revokeKey: describeRevocation,
  evaluateChunk: describeChunk,
  backfill: describeBackfill,
  executeRun: describeExecution,
  evaluateAlert: describeAlert,
  deliverNotification: describeDelivery,
  applyRetention: describeRetention,
};
