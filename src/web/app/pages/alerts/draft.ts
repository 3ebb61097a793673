// An alert as its form holds it, and as the API takes it.

import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import type {
  Alert,
  AlertFieldsSchema,
  NotificationTarget,
} from "../../../../../gen/waggle/v1/alert_pb.js";
import { type FilterRow, toMessage } from "../../design/filters.ts";
import { toNumber } from "../../design/format.ts";
import { fromFilter, withEventType } from "../charts/chart-messages.ts";
import { eventFilterField } from "../charts/drill-down.ts";

export type TargetDraft = {
  readonly channel: "WEBHOOK" | "SLACK" | "EMAIL";
  readonly url: string;
  /** Addresses, apart by commas. */
  readonly emails: string;
};

export type Draft = {
  readonly name: string;
  readonly description: string;
  readonly alertType: string;
  readonly aggregation: string;
  readonly filters: readonly FilterRow[];
  readonly projection: string;
  /** More measures that an alert of other clients has. */
  readonly others: readonly string[];
  readonly operator: string;
  readonly value: string;
  /** Empty where the alert is resolved when it no longer triggers. */
  readonly resolvedValue: string;
  /** That of a stored alert, which the form does not show; empty for the default. */
  readonly resolvedOperator: string;
  readonly frequency: string;
  readonly samples: string;
  readonly target: TargetDraft;
  readonly tellsResolved: boolean;
  /** False while a stored alert keeps the targets that it has. */
  readonly isTargetChanged: boolean;
};

export const draftDefault: Draft = {
  name: "",
  description: "",
  alertType: "AGGREGATE",
  aggregation: "P95",
  filters: [{ field: "event_type", operator: "is", value: "model", type: "string" }],
  projection: "duration",
  others: [],
  operator: "greater_than",
  value: "",
  resolvedValue: "",
  resolvedOperator: "",
  frequency: "HOURLY",
  samples: "0",
  target: { channel: "WEBHOOK", url: "", emails: "" },
  tellsResolved: true,
  isTargetChanged: true,
};

/** Returns the draft of a stored alert; addresses are secrets, so the form has none of them. */
export function fromAlert(alert: Alert): Draft {
  const { thresholds, notificationDetails } = alert;
  const [projection = "duration", ...others] = alert.projections;
  return {
    name: alert.name,
    description: alert.description ?? "",
    alertType: alert.alertType,
    aggregation: alert.aggregation,
    filters: alert.filters.map(fromFilter),
    projection,
    others,
    operator: thresholds?.critical?.operator ?? "greater_than",
    value: String(thresholds?.critical?.value ?? ""),
    resolvedValue: String(thresholds?.resolved?.value ?? ""),
    resolvedOperator: thresholds?.resolved?.operator ?? "",
    frequency: alert.frequency,
    samples: String(alert.minimumSampleSize),
    target: targetOf(notificationDetails?.critical),
    tellsResolved: notificationDetails?.resolved !== undefined,
    isTargetChanged: false,
  };
}

export function targetOf(target: NotificationTarget | undefined): TargetDraft {
  const emails = target?.metadata?.["emails"];
  return {
    channel: (target?.channel as TargetDraft["channel"] | undefined) ?? "WEBHOOK",
    url: "",
    emails: Array.isArray(emails)
      ? emails.filter((email) => typeof email === "string").join(", ")
      : "",
  };
}

const opposites: Readonly<Record<string, string>> = {
  greater_than: "less_than",
  greater_than_or_equal: "less_than",
  less_than: "greater_than",
  less_than_or_equal: "greater_than",
};

/** Returns the operator that resolves: the stored one while it has the opposite direction. */
function resolvingOf({ operator, resolvedOperator }: Draft): string {
  const opposite = opposites[operator] ?? "less_than";
  return resolvedOperator.startsWith(opposite) ? resolvedOperator : opposite;
}

/** Returns the thresholds of a draft; undefined while there is no number. */
export function thresholdsOf(draft: Draft) {
  const { operator, value, resolvedValue, alertType } = draft;
  const number = toNumber(value);
  const resolved = alertType === "PER_EVENT" ? undefined : toNumber(resolvedValue);
  return {
    ...(number !== undefined && { critical: { operator, value: number } }),
    ...(resolved !== undefined && {
      resolved: { operator: resolvingOf(draft), value: resolved },
    }),
  };
}

/** Returns whether a value meets a threshold. */
export function isMet(operator: string, value: number, threshold: number): boolean {
  switch (operator) {
    case "greater_than":
      return value > threshold;
    case "greater_than_or_equal":
      return value >= threshold;
    case "less_than":
      return value < threshold;
    default:
      return value <= threshold;
  }
}

/** Returns filters for the events whose own value meets the threshold of PER_EVENT. */
export function meetingFilters(draft: Draft): readonly FilterRow[] {
  const { alertType, projection, operator: sign } = draft;
  const value = toNumber(draft.value);
  if (alertType !== "PER_EVENT" || value === undefined) return [];
  // The rate of an event is 1 with an error and 0 without; filters know the error alone.
  if (projection === "error_rate") {
    return [
      ...(isMet(sign, 0, value) ? [] : [{ field: "error", operator: "exists" } as const]),
      ...(isMet(sign, 1, value) ? [] : [{ field: "error", operator: "not exists" } as const]),
    ];
  }
  const field = eventFilterField(projection);
  const isAbove = sign.startsWith("greater");
  const operator = isAbove ? "greater than" : "less than";
  // Filters leave the bound itself out: the least step takes it in.
  const step = sign.endsWith("equal") ? Math.max(Math.abs(value) * 1e-12, 1e-12) : 0;
  return [{ field, operator, value: isAbove ? value - step : value + step, type: "number" }];
}

/** Returns the aggregation that a draft can have: events are counted. */
export function aggregationOf({ projection, aggregation }: Draft): string {
  return projection === "event_count" ? "COUNT" : aggregation;
}

/**
 * Returns the fields of a draft that a measure sets. A rate is an average: the percentile that the
 * form begins with would be 0 or 1.
 */
export function withMeasure(projection: string): Partial<Draft> {
  return { projection, ...(projection === "error_rate" && { aggregation: "AVERAGE" }) };
}

export function toAlertFields(draft: Draft): MessageInitShape<typeof AlertFieldsSchema> {
  const { critical, resolved } = thresholdsOf(draft);
  const target = toTarget(draft.target);
  return {
    name: draft.name.trim(),
    description: draft.description,
    alertType: draft.alertType,
    aggregation: aggregationOf(draft),
    filters: withEventType(draft.filters).map(toMessage),
    projections: [draft.projection, ...draft.others],
    thresholds: { ...(critical && { critical }), ...(resolved && { resolved }) },
    frequency: draft.frequency,
    minimumSampleSize: Math.max(0, Math.trunc(toNumber(draft.samples) ?? 0)),
    ...(draft.isTargetChanged && {
      notificationDetails: {
        critical: target,
        ...(draft.tellsResolved && { resolved: target }),
      },
    }),
  };
}

export function toTarget({ channel, url, emails }: TargetDraft): {
  readonly channel: string;
  readonly metadata: JsonObject;
} {
  if (channel !== "EMAIL") return { channel, metadata: { url: url.trim() } };
  const list = emails.split(/[,;\s]+/).filter((email) => email !== "");
  return { channel, metadata: { emails: list } };
}
