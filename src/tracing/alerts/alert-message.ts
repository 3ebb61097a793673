// Converts what clients ask of alerts from messages, and alerts and their history to messages.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  AlertEvaluationSchema,
  AlertFields as FieldsMessage,
  AlertResponseSchema,
  AlertSchema,
} from "../../../gen/waggle/v1/alert_pb.js";
import { changedLists } from "../../base/changed-list.ts";
import { toTargetInputs, toTargetsMessage } from "../../notifications/notification-message.ts";
import { toFilterInput, toFilterMessage } from "../export/filter-message.ts";
import type { AlertFields } from "./alert-fields.ts";
import type { Alert, ChangedAlert } from "./alerts.ts";
import type { AlertValue, Evaluation } from "./store.ts";

/** Throws INVALID_ARGUMENT for another name among the emptied lists. */
export function toFields(message: FieldsMessage | undefined): AlertFields {
  if (!message) return {};
  const { name, description, alertType, aggregation, filters, projections } = message;
  const { thresholds, frequency, notificationDetails, minimumSampleSize } = message;
  const { isActive, isMuted, rotateSigningSecret, emptiedLists } = message;
  const listOf = changedLists(["filters", "projections"], emptiedLists);
  return {
    name,
    description,
    kind: alertType,
    aggregation,
    frequency,
    isActive,
    isMuted,
    filters: listOf("filters", filters)?.map(toFilterInput),
    projections: listOf("projections", projections),
    thresholds,
    targets: notificationDetails && toTargetInputs(notificationDetails),
    sampleSizeMin: minimumSampleSize,
    isSecretNew: rotateSigningSecret,
  };
}

/** Returns what people see of an alert's condition and switches together. */
function stateOf({ isActive, isMuted, condition }: Alert): string {
  if (!isActive) return "paused";
  return isMuted ? "muted" : condition;
}

export function toAlertMessage(alert: Alert): MessageInitShape<typeof AlertSchema> {
  const { critical, resolved, lastResult, targets } = alert;
  const filters = alert.filters.map(toFilterMessage);
  const projections = [...alert.projections];
  return {
    id: alert.id,
    name: alert.name,
    alertType: alert.kind,
    aggregation: alert.aggregation,
    ...(alert.description !== null && { description: alert.description }),
    filters,
    eventFilters: filters,
    projections,
    eventMetrics: projections,
    thresholds: { critical, ...(resolved && { resolved }) },
    frequency: alert.frequency,
    notificationDetails: toTargetsMessage(targets),
    minimumSampleSize: alert.sampleSizeMin,
    isActive: alert.isActive,
    isMuted: alert.isMuted,
    state: stateOf(alert),
    ...(lastResult && {
      lastResult: toEvaluationMessage(lastResult),
      lastRunAt: timestampFromDate(lastResult.evaluatedAt),
    }),
    ...(alert.lastTriggeredAt && { lastTrigger: timestampFromDate(alert.lastTriggeredAt) }),
    nextWindowEnd: timestampFromDate(alert.dueAt),
    createdAt: timestampFromDate(alert.createdAt),
    ...(alert.updatedAt && { updatedAt: timestampFromDate(alert.updatedAt) }),
  };
}

export function toChangedMessage({
  alert,
  newSecret,
}: ChangedAlert): MessageInitShape<typeof AlertResponseSchema> {
  return {
    success: true,
    data: toAlertMessage(alert),
    ...(newSecret !== undefined && { signingSecret: newSecret }),
  };
}

export function toEvaluationMessage(
  evaluation: Evaluation,
): MessageInitShape<typeof AlertEvaluationSchema> {
  const { windowStart, windowEnd, evaluatedAt, outcome, sampleSize, values, error } = evaluation;
  return {
    windowStart: timestampFromDate(windowStart),
    windowEnd: timestampFromDate(windowEnd),
    evaluatedAt: timestampFromDate(evaluatedAt),
    outcome,
    sampleSize,
    values: values.map(toValueMessage),
    ...(error !== null && { error }),
    condition: evaluation.condition,
  };
}

function toValueMessage({ projection, value, current, baseline, eventIds }: AlertValue) {
  return {
    projection,
    // A number that is null is absent from a message.
    ...(value !== null && { value }),
    ...(typeof current === "number" && { current }),
    ...(typeof baseline === "number" && { baseline }),
    eventIds: [...(eventIds ?? [])],
  };
}
