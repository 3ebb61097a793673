// Periods of alerts, and what follows from a check.

import { expect, test } from "vitest";
import { judge, nextCondition } from "../../../src/tracing/alerts/evaluate.ts";
import {
  frequencies,
  type Frequency,
  nextEnd,
  periodTo,
} from "../../../src/tracing/alerts/periods.ts";
import type { AlertRow, Outcome } from "../../../src/tracing/alerts/store.ts";

test.each<{ frequency: Frequency; at: string; end: string; start: string }>([
  {
    frequency: "HOURLY",
    at: "2026-03-05T10:59:59.999Z",
    end: "2026-03-05T11",
    start: "2026-03-05T10",
  },
  { frequency: "HOURLY", at: "2026-03-05T11:00:00Z", end: "2026-03-05T12", start: "2026-03-05T11" },
  { frequency: "DAILY", at: "2026-02-28T23:00:00Z", end: "2026-03-01T00", start: "2026-02-28T00" },
  // 2026-03-02 is a Monday.
  { frequency: "WEEKLY", at: "2026-03-01T23:59:00Z", end: "2026-03-02T00", start: "2026-02-23T00" },
  { frequency: "WEEKLY", at: "2026-03-02T00:00:00Z", end: "2026-03-09T00", start: "2026-03-02T00" },
  {
    frequency: "MONTHLY",
    at: "2026-01-31T12:00:00Z",
    end: "2026-02-01T00",
    start: "2026-01-01T00",
  },
  {
    frequency: "MONTHLY",
    at: "2026-12-31T12:00:00Z",
    end: "2027-01-01T00",
    start: "2026-12-01T00",
  },
])("$frequency after $at ends at $end", ({ frequency, at, end, start }) => {
  const endMs = nextEnd(frequency, Date.parse(at));

  expect(endMs).toBe(Date.parse(`${end}:00:00Z`));
  expect(periodTo(frequency, endMs)).toEqual({ startMs: Date.parse(`${start}:00:00Z`), endMs });
});

test.each(frequencies)("periods of %s follow each other without a gap", (frequency) => {
  let endMs = nextEnd(frequency, Date.parse("2024-02-27T05:06:07Z"));
  for (let periods = 0; periods < 50; periods += 1) {
    const following = nextEnd(frequency, endMs);

    expect(periodTo(frequency, following).startMs).toBe(endMs);
    endMs = following;
  }
});

function anAlert(fields: Partial<AlertRow>): AlertRow {
  const critical = { operator: "greater_than", value: 10 } as const;
  const rules = { kind: "AGGREGATE", aggregation: "AVERAGE", critical, resolved: null } as const;
  return { ...rules, sampleSizeMin: 0, ...fields } as AlertRow;
}

const below5 = { operator: "less_than_or_equal", value: 5 } as const;

test.each<{
  name: string;
  alert?: Partial<AlertRow>;
  values: (number | null)[];
  size?: number;
  outcome: Outcome;
}>([
  { name: "above critical", values: [11], outcome: "critical" },
  { name: "at critical, which is exclusive", values: [10], outcome: "resolved" },
  { name: "one of several above", values: [1, 11], outcome: "critical" },
  { name: "one above and one without a number", values: [11, null], outcome: "critical" },
  { name: "between the thresholds", alert: { resolved: below5 }, values: [7], outcome: "between" },
  { name: "one not resolved yet", alert: { resolved: below5 }, values: [1, 7], outcome: "between" },
  {
    name: "at resolved, which is inclusive",
    alert: { resolved: below5 },
    values: [5],
    outcome: "resolved",
  },
  {
    name: "too few events",
    alert: { sampleSizeMin: 3 },
    values: [11],
    size: 2,
    outcome: "insufficient",
  },
  {
    name: "just enough events",
    alert: { sampleSizeMin: 3 },
    values: [11],
    size: 3,
    outcome: "critical",
  },
  { name: "no number", values: [null], outcome: "insufficient" },
  {
    name: "an event that meets it",
    alert: { kind: "PER_EVENT" },
    values: [1],
    outcome: "critical",
  },
  {
    name: "no event that meets it",
    alert: { kind: "PER_EVENT" },
    values: [0],
    outcome: "resolved",
  },
])("a check says $outcome: $name", ({ alert = {}, values, size = 100, outcome }) => {
  const measured = values.map((value, at) => ({ projection: `p${at}`, value }));

  const got = judge(anAlert(alert), { sampleSize: size, values: measured });

  expect(got.outcome).toBe(outcome);
  expect(got.error === null).toBe(outcome !== "insufficient");
});

test("a check without a number says of which measure, and why", () => {
  const values = [
    { projection: "event_count", value: null, current: 5, baseline: 0 },
    { projection: "cost", value: null, current: null, baseline: 0 },
  ];

  const got = judge(anAlert({ kind: "DRIFT" }), { sampleSize: 1, values });

  expect(got.error).toBe("a change of event_count from 0 has no percentage; no AVERAGE of cost");
});

test("an alert triggers once and is resolved once, whatever lies between", () => {
  const outcomes: Outcome[] = [
    ...(["resolved", "critical", "critical", "between", "failed", "critical"] as const),
    ...(["insufficient", "between", "resolved", "resolved", "between", "critical"] as const),
  ];
  const seen = outcomes.reduce<("active" | "triggered" | "resolved")[]>(
    (all, outcome) => [...all, nextCondition(all.at(-1) ?? "active", outcome)],
    [],
  );

  expect(seen).toEqual([
    "active",
    ...Array.from({ length: 7 }, () => "triggered"),
    "resolved",
    "resolved",
    "resolved",
    "triggered",
  ]);
});
