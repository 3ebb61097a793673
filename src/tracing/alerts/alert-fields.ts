// An alert's definition: parses and checks what a request asks for.
// Source: the published clients of this API; docs/decisions.md, 27, 48.1, 48.2.

import { assertName, assertText } from "../../base/assert-text.ts";
import { parseChoice } from "../../base/choices.ts";
import { refuse } from "../../base/errors.ts";
import {
  alertDescriptionLengthMax,
  alertFieldLengthMax,
  alertNameLengthMax,
} from "../../base/field-limits.ts";
import { alertMeasuresMax } from "../../base/tenant-limits.ts";
import type { TargetInputs } from "../../notifications/target.ts";
import type { Aggregation } from "../charts/chart-query.ts";
import { numberSource } from "../charts/fields.ts";
import {
  describeThreshold,
  isWithin,
  parseThreshold,
  type Threshold,
  type ThresholdInput,
} from "../charts/threshold.ts";
import { type FilterInput, parseFilters } from "../export/filter.ts";
import { parseStoredFilters } from "../export/stored-filters.ts";
import type { ProjectFields } from "../fields/fields.ts";
import { frequencies, type Frequency } from "./periods.ts";

const alertKinds = ["AGGREGATE", "PER_EVENT", "DRIFT"] as const;
export type AlertKind = (typeof alertKinds)[number];

/** Aggregations, with those of charts. */
export const aggregations = {
  AVERAGE: "avg",
  COUNT: "count",
  SUM: "sum",
  MIN: "min",
  MAX: "max",
  P90: "p90",
  P95: "p95",
  P99: "p99",
  MEDIAN: "median",
} as const satisfies Record<string, Aggregation>;
export type AlertAggregation = keyof typeof aggregations;

/** Definition of an alert: its name, measures, thresholds and frequency. */
export type AlertDefinition = {
  readonly name: string;
  readonly description: string | null;
  readonly kind: AlertKind;
  readonly aggregation: AlertAggregation;
  readonly filters: readonly FilterInput[];
  /** Measures of charts. */
  readonly projections: readonly string[];
  readonly critical: Threshold;
  readonly resolved: Threshold | null;
  readonly frequency: Frequency;
  readonly sampleSizeMin: number;
  readonly isActive: boolean;
  readonly isMuted: boolean;
};

/** Fields of a request; undefined means omitted. */
export type AlertFields = {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly kind?: string | undefined;
  readonly aggregation?: string | undefined;
  readonly filters?: readonly FilterInput[] | undefined;
  readonly projections?: readonly string[] | undefined;
  readonly thresholds?:
    | {
        readonly critical?: ThresholdInput | undefined;
        readonly resolved?: ThresholdInput | undefined;
      }
    | undefined;
  readonly frequency?: string | undefined;
  readonly targets?: Partial<TargetInputs> | undefined;
  readonly sampleSizeMin?: number | undefined;
  readonly isActive?: boolean | undefined;
  readonly isMuted?: boolean | undefined;
  readonly isSecretNew?: boolean | undefined;
};

/**
 * Returns the definition that a request asks for, on top of the one before. Throws INVALID_ARGUMENT
 * and INVALID_FILTER naming the field; a field that no event has carried is refused where the
 * request names it.
 */
export function parseAlert(
  fields: AlertFields,
  before: AlertDefinition | undefined,
  recorded: ProjectFields,
): AlertDefinition {
  const name = fields.name ?? before?.name ?? "";
  if (name !== before?.name) assertName("name", name, alertNameLengthMax);
  const description = fields.description ?? before?.description ?? "";
  assertText("description", description, alertDescriptionLengthMax);
  const { thresholds } = fields;
  const definition: AlertDefinition = {
    name,
    description: description === "" ? null : description,
    kind: pick("alert_type", alertKinds, fields.kind, before?.kind ?? "AGGREGATE"),
    aggregation: pick(
      "aggregation",
      Object.keys(aggregations) as readonly AlertAggregation[],
      fields.aggregation,
      before?.aggregation ?? "AVERAGE",
    ),
    filters: fields.filters ? parseOwnFilters(fields.filters, recorded) : (before?.filters ?? []),
    projections: fields.projections
      ? parseProjections(fields.projections, recorded)
      : (before?.projections ?? refuse("projections", "must name a measure")),
    critical: thresholds
      ? parseThreshold("thresholds.critical", thresholds.critical)
      : (before?.critical ?? refuse("thresholds", "is required")),
    resolved: thresholds
      ? thresholds.resolved
        ? parseThreshold("thresholds.resolved", thresholds.resolved)
        : null
      : (before?.resolved ?? null),
    frequency: pick("frequency", frequencies, fields.frequency, before?.frequency),
    sampleSizeMin: parseSampleSize(fields.sampleSizeMin ?? before?.sampleSizeMin ?? 0),
    isActive: fields.isActive ?? before?.isActive ?? true,
    isMuted: fields.isMuted ?? before?.isMuted ?? false,
  };
  assertMeasurable(definition);
  if (thresholds) assertResolvable(definition);
  return definition;
}

function assertMeasurable({ kind, aggregation, projections, resolved }: AlertDefinition): void {
  if (kind === "PER_EVENT" && resolved !== null) {
    const why = "a period without an event that meets `critical` resolves it";
    refuse("thresholds.resolved", `is not for PER_EVENT: ${why}`);
  }
  // Each event has one value of `event_count`, so that only their number says anything.
  if (!projections.includes("event_count")) return;
  if (kind === "PER_EVENT") refuse("projections", "event_count is not for PER_EVENT");
  if (aggregation !== "COUNT") refuse("aggregation", "must be COUNT for event_count");
}

function assertResolvable({ critical, resolved }: AlertDefinition): void {
  if (resolved === null || !isWithin(resolved, critical)) return;
  const why = `every value that is ${describeThreshold(resolved)} is critical`;
  refuse("thresholds.resolved", `would never resolve the alert: ${why}`);
}

function pick<T extends string>(
  field: string,
  values: readonly T[],
  given: string | undefined,
  fallback: T | undefined,
): T {
  return parseChoice(field, values, given ?? fallback);
}

function parseOwnFilters(
  given: readonly FilterInput[],
  recorded: ProjectFields,
): readonly FilterInput[] {
  parseFilters(given, recorded);
  return parseStoredFilters("filters", given);
}

function parseProjections(names: readonly string[], recorded: ProjectFields): readonly string[] {
  if (names.length === 0) refuse("projections", "must name a measure");
  if (names.length > alertMeasuresMax) {
    refuse("projections", `must be at most ${alertMeasuresMax}`);
  }
  if (new Set(names).size < names.length) refuse("projections", "names a measure twice");
  names.forEach((name, at) => {
    const field = `projections[${at}]`;
    assertText(field, name, alertFieldLengthMax);
    numberSource(field, name, recorded);
  });
  return names;
}

const sampleSizeMaximum = 1_000_000_000;

function parseSampleSize(size: number): number {
  if (size >= 0 && size <= sampleSizeMaximum) return size;
  return refuse("minimum_sample_size", `must be from 0 to ${sampleSizeMaximum}`);
}
