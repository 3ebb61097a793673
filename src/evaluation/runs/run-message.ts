// Converts runs, results and comparisons to messages.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type RunComparisonSchema,
  type RunDatapoint,
  RunDatapointSchema,
  type RunMetricComparisonSchema,
  type RunMetricDetailSchema,
  type RunProgressSchema,
  type RunResultSchema,
  type RunSchema,
  type RunUsageSchema,
} from "../../../gen/waggle/v1/run_pb.js";
import type { Steps } from "../../base/paced.ts";
import { toStruct } from "../../base/struct.ts";
import { toValueMessage } from "../../base/value-message.ts";
import type { RunUsage } from "../../tracing/run-events/run-events.ts";
import { toTotalsMessage } from "../../tracing/sessions/session-message.ts";
import type { AggregateName } from "./aggregate.ts";
import type { Comparison, MetricComparison } from "./comparison.ts";
import type { RunProgress } from "./progress.ts";
import { confidenceLevel } from "./paired-test.ts";
import type { MetricDetail, Result } from "./result.ts";
import type { Run } from "./runs.ts";
import { itemsOfStep, type Score, type SessionScores } from "./scoring.ts";

export function toRunMessage(run: Run, projectId: string): MessageInitShape<typeof RunSchema> {
  const { runId, name, description, datasetId, datasetName, datasetVersion, updatedAt } = run;
  return {
    id: runId,
    runId,
    project: projectId,
    ...(name !== null && { name }),
    ...(description !== null && { description }),
    status: run.status,
    metadata: toStruct(run.metadata),
    results: toStruct(run.results),
    eventIds: [...run.eventIds],
    sessionIds: [...run.sessionIds],
    datapointIds: [...run.datapointIds],
    configuration: toStruct(run.configuration),
    evaluators: run.evaluators.map(toValueMessage),
    passingRanges: { ...run.passingRanges },
    isActive: true,
    ...(datasetId !== null && { datasetId }),
    ...(datasetName !== null && { datasetName }),
    ...(datasetVersion !== null && { datasetVersion }),
    scopeType: "project",
    scopeId: projectId,
    createdAt: timestampFromDate(run.createdAt),
    ...(updatedAt && { updatedAt: timestampFromDate(updatedAt) }),
  };
}

export function toUsageMessage({
  sessions,
  totals,
  estimatedCost,
  durationP50,
  durationP95,
}: RunUsage): MessageInitShape<typeof RunUsageSchema> {
  return {
    sessions,
    totals: toTotalsMessage(totals),
    ...(estimatedCost !== null && { estimatedCost }),
    ...(durationP50 !== null && { durationP50 }),
    ...(durationP95 !== null && { durationP95 }),
  };
}

export function toProgressMessage({
  isComplete,
  metrics,
  ...progress
}: RunProgress): MessageInitShape<typeof RunProgressSchema> {
  return {
    ...progress,
    complete: isComplete,
    metrics: metrics.map(({ metricId, name, ...scores }) => ({ metricId, name, scores })),
  };
}

/** Returns the message of a result, in steps: it has an object for each score. */
export function* toResultMessage(
  run: Run,
  { success, passed, failed, details, datapoints, eventKinds }: Result,
  aggregate: AggregateName,
  projectId: string,
): Steps<MessageInitShape<typeof RunResultSchema>> {
  return {
    status: run.status,
    success,
    passed: [...passed],
    failed: [...failed],
    metrics: { aggregationFunction: aggregate, details: details.map(toDetailMessage) },
    datapoints: yield* toDatapointMessages(datapoints),
    eventDetails: eventKinds.map((kind) => ({ ...kind })),
    runObject: toRunMessage(run, projectId),
  };
}

function* toDatapointMessages(sessions: readonly SessionScores[]): Steps<RunDatapoint[]> {
  const messages: RunDatapoint[] = [];
  for (let at = 0; at < sessions.length; at += 1) {
    if (at % itemsOfStep === 0) yield;
    const session = sessions[at];
    // Created here, so that Connect does not create them all at once.
    if (session) messages.push(create(RunDatapointSchema, toDatapointMessage(session)));
  }
  return messages;
}

function toDetailMessage(detail: MetricDetail): MessageInitShape<typeof RunMetricDetailSchema> {
  const { metricName, metricType, eventName, eventType, aggregate, passingRange } = detail;
  return {
    metricName,
    metricType,
    eventName,
    eventType,
    ...(aggregate !== null && { aggregate }),
    values: [...detail.values],
    texts: { ...detail.texts },
    ...(passingRange && { passingRange }),
    datapoints: { passed: [...detail.passed], failed: [...detail.failed] },
  };
}

function toDatapointMessage(one: SessionScores): MessageInitShape<typeof RunDatapointSchema> {
  const { datapointId, sessionId, passed, scores } = one;
  return {
    ...(datapointId !== null && { datapointId }),
    sessionId,
    passed,
    metrics: scores.map(toScoreMessage),
  };
}

function toScoreMessage({ place, value, failure, passed }: Score) {
  const { metricName: name, eventName, eventType } = place;
  return failure === undefined
    ? { name, eventName, eventType, value: toValueMessage(value), passed }
    : { name, eventName, eventType, failure, passed };
}

export function toComparisonMessage(
  older: Run,
  newer: Run,
  { metrics, commonDatapoints, eventKinds }: Comparison,
  projectId: string,
): MessageInitShape<typeof RunComparisonSchema> {
  return {
    metrics: metrics.map(toMetricComparisonMessage),
    commonDatapoints: [...commonDatapoints],
    eventDetails: eventKinds.map((kind) => ({ ...kind })),
    oldRun: toRunMessage(older, projectId),
    newRun: toRunMessage(newer, projectId),
  };
}

function toMetricComparisonMessage(
  one: MetricComparison,
): MessageInitShape<typeof RunMetricComparisonSchema> {
  const { improved, degraded, same, changed, oldAggregate, newAggregate, pairedTest } = one;
  const { difference, percentageChange } = one;
  return {
    metricName: one.metricName,
    metricType: one.metricType,
    eventName: one.eventName,
    eventType: one.eventType,
    ...(oldAggregate !== null && { oldAggregate }),
    ...(newAggregate !== null && { newAggregate }),
    foundCount: new Set([...improved, ...degraded, ...same, ...changed]).size,
    improvedCount: improved.length,
    degradedCount: degraded.length,
    sameCount: same.length,
    improved: [...improved],
    degraded: [...degraded],
    same: [...same],
    changed: [...changed],
    oldTexts: { ...one.oldTexts },
    newTexts: { ...one.newTexts },
    oldValues: [...one.oldValues],
    newValues: [...one.newValues],
    ...(difference !== null && { difference }),
    ...(percentageChange !== null && { percentageChange }),
    better: one.isSmallerBetter ? "smaller" : "greater",
    ...(pairedTest && { pairedTest: toTestMessage(pairedTest) }),
  };
}

function toTestMessage(test: NonNullable<MetricComparison["pairedTest"]>) {
  const { statistic, ...rest } = test;
  return {
    test: "paired t-test",
    ...rest,
    ...(statistic !== null && { statistic }),
    confidenceLevel,
  };
}
