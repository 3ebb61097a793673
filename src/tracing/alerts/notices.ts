// Content of the notifications of alerts: lines for people, and the same for programs.
// Source: docs/alerts.md, "Webhooks".

import type { ProjectScope } from "../../access/scope.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Notice } from "../../notifications/store.ts";
import type { Role } from "../../notifications/target.ts";
import { describeThreshold } from "../charts/threshold.ts";
import type { Period } from "./periods.ts";
import type { AlertRow, AlertValue, NewEvaluation } from "./store.ts";

/** Returns the notice that an alert triggered or is resolved. */
export function changeNotice(
  project: ProjectScope,
  alert: AlertRow,
  {
    role,
    period,
    evaluation,
  }: { readonly role: Role; readonly period: Period; readonly evaluation: NewEvaluation },
): Notice {
  const verb = role === "critical" ? "triggered" : "resolved";
  const { values, sampleSize } = evaluation;
  const window = {
    window_start: new Date(period.startMs).toISOString(),
    window_end: new Date(period.endMs).toISOString(),
  };
  return {
    type: `alert.${verb}`,
    role,
    title: `${alert.name} ${verb} (${project.name})`,
    body: [
      ...values.map((value) => lineOf(alert, value)),
      `from ${window.window_start} to ${window.window_end}, over ${sampleSize} events`,
      ...(alert.description === null ? [] : [alert.description]),
    ].join("\n"),
    data: {
      ...dataOf(project, alert),
      ...window,
      sample_size: sampleSize,
      values: values.map(({ eventIds, ...value }) => ({
        ...value,
        ...(eventIds && { event_ids: eventIds }),
      })),
    },
  };
}

/** Returns the notice of a test call. */
export function testNotice(project: ProjectScope, alert: AlertRow, role: Role): Notice {
  const body = `A test of the alert ${alert.name} of project ${project.name}. All is well.`;
  return {
    type: "alert.test",
    role,
    title: `Test: ${alert.name} (${project.name})`,
    body,
    data: dataOf(project, alert),
  };
}

function dataOf({ id, name }: ProjectScope, alert: AlertRow): JsonObject {
  const { kind, aggregation, critical, resolved, frequency } = alert;
  return {
    alert: {
      id: alert.id,
      name: alert.name,
      description: alert.description,
      alert_type: kind,
      aggregation,
      frequency,
      thresholds: { critical, resolved },
    },
    project: { id, name },
  };
}

function lineOf(alert: AlertRow, { projection, value, baseline, current }: AlertValue): string {
  const { kind, aggregation } = alert;
  const shown = value === null ? "no number" : String(value);
  const rule = `(critical: ${describeThreshold(alert.critical)})`;
  switch (kind) {
    case "PER_EVENT":
      return `${shown} events with ${projection} ${describeThreshold(alert.critical)}`;
    case "DRIFT":
      return (
        `${aggregation} of ${projection} changed by ${shown} %, ` +
        `from ${baseline ?? "none"} to ${current ?? "none"} ${rule}`
      );
    case "AGGREGATE":
      return `${aggregation} of ${projection}: ${shown} ${rule}`;
  }
}
