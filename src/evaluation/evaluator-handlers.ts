// EvaluatorService: a message in, a message out, no decisions.

import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { formatVersion } from "../base/versions.ts";
import type {
  EvaluatorService,
  RunMetricRequest,
  RunnableMetric,
} from "../../gen/waggle/v1/evaluator_pb.js";
import { projectOf } from "../access/call.ts";
import type { MetricStatus, WhyAnswer, Why } from "./why/why.ts";
import type { JudgeCall } from "./runner/runner.ts";
import type { Reliability } from "./reliability/reliability.ts";
import { toReliabilityMessage } from "./reliability/reliability-message.ts";
import { readingOf } from "../tracing/export/handlers.ts";
import type { RunRecord } from "./scores/scores.ts";
import type { MetricInput } from "./preview/given-metric.ts";
import type { PreviewResult, PreviewRequest, Preview } from "./preview/preview.ts";
import { toValueMessage } from "../base/value-message.ts";

export type EvaluatorServices = {
  readonly preview: Preview;
  readonly why: Why;
  readonly reliability: Reliability;
};

export function evaluatorHandlers({
  preview,
  why,
  reliability,
}: EvaluatorServices): ServiceImpl<typeof EvaluatorService> {
  return {
    async runMetric(request, context) {
      const project = projectOf(context);
      return toRunResponse(await preview.run(project, fromRunRequest(request), context.signal));
    },
    async explainMetric({ id, eventId }, context) {
      const explanation = await why.explain(projectOf(context), id, eventId);
      return { success: true, data: toWhyMessage(explanation) };
    },
    async getMetricStatus({ id }, context) {
      const status = await why.getStatus(projectOf(context), id);
      return { success: true, data: toStatusMessage(status) };
    },
    async getMetricReliability(request, context) {
      const reading = readingOf(context);
      const report = await reliability.report(projectOf(context), request, reading);
      return { success: true, data: toReliabilityMessage(report) };
    },
  };
}

function fromRunRequest({ metric, ...rest }: RunMetricRequest): PreviewRequest {
  const { metricId, version, event, eventId } = rest;
  return { metric: metric && fromMetric(metric), metricId, version, event, eventId };
}

/** Converts a metric. RPC clients send an empty text for none. */
function fromMetric(metric: RunnableMetric): MetricInput {
  return {
    type: metric.type || undefined,
    definition: metric.definition,
    criteria: metric.criteria,
    code_snippet: metric.codeSnippet,
    prompt: metric.prompt,
    return_type: metric.returnType || undefined,
    model_provider: metric.modelProvider,
    model_name: metric.modelName,
    scale: metric.scale,
    threshold: metric.threshold,
    categories: metric.categories,
  };
}

function toRunResponse(result: PreviewResult) {
  const { version, durationMs: duration, output } = result;
  const own = { loading: false, duration, output, ...(version !== null && { version }) };
  if (result.kind === "no ground truth") return { ...own, success: false, reason: result.reason };
  const { score, explanation, passed, judge } = result;
  return {
    ...own,
    success: true,
    result: toValueMessage(score),
    ...(explanation !== null && { explanation }),
    ...(passed !== null && { passed }),
    ...(judge && { judge: toJudgeMessage(judge) }),
  };
}

/** Returns the message of a judge's call; unknown amounts are absent. */
function toJudgeMessage({ promptTokens, completionTokens, cost, ...call }: JudgeCall) {
  return {
    ...call,
    ...(promptTokens !== null && { promptTokens }),
    ...(completionTokens !== null && { completionTokens }),
    ...(cost !== null && { cost }),
  };
}

function toWhyMessage({ run, runs, ...explanation }: WhyAnswer) {
  const { outcome, message, version, filter } = explanation;
  const queuedAt = run?.queuedAt ?? explanation.queuedAt;
  return {
    outcome,
    message,
    version: formatVersion(version),
    ...(run && toOutcome(run)),
    ...(run?.explanation !== undefined && { explanation: run.explanation }),
    ...(filter !== undefined && { filter }),
    ...(run?.judge && { judge: toJudgeMessage(run.judge) }),
    ...(queuedAt && { queuedAt: timestampFromDate(queuedAt) }),
    ...(run?.workflowId !== undefined && { workflowId: run.workflowId }),
    runs: runs.map((one) => ({
      version: formatVersion(one.version),
      outcome: one.state,
      ...toOutcome(one),
    })),
  };
}

function toOutcome({ score, failure, endedAt }: RunRecord) {
  return {
    ...(score !== undefined && { result: toValueMessage(score) }),
    ...(failure !== undefined && { failure }),
    ...(endedAt && { endedAt: timestampFromDate(endedAt) }),
  };
}

function toStatusMessage({ isEnabled, disabledReason, version, ...status }: MetricStatus) {
  const { queued, running, oldestQueuedAt, scored, failed } = status;
  const { failuresInRow, failuresInRowMax, lastFailure } = status;
  const { judgePromptTokens, judgeCompletionTokens, judgeCost, judgeUnpriced } = status;
  return {
    enabled: isEnabled,
    ...(disabledReason !== null && { disabledReason }),
    version: formatVersion(version),
    queued,
    running,
    scored,
    failed,
    ...(oldestQueuedAt && { oldestQueuedAt: timestampFromDate(oldestQueuedAt) }),
    failuresInRow,
    failuresInRowMax,
    ...(lastFailure !== undefined && { lastFailure }),
    judgePromptTokens,
    judgeCompletionTokens,
    judgeCost,
    judgeUnpriced,
  };
}
