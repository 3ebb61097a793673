// Checks of alerts: finds the periods that have ended, measures one, and changes the condition.
// Source: docs/alerts.md; docs/decisions.md, 48.1, 48.2, 48.4.

import type { ProjectScope } from "../../access/scope.ts";
import { outcomes, ServiceError } from "../../base/errors.ts";
import { differenceOf } from "../../base/rounding.ts";
import { alertEvaluationsKept, alertEventsNamedMax } from "../../base/tenant-limits.ts";
import type { Notifications } from "../../notifications/notifications.ts";
import { evaluateAlertEntry, type EvaluateAlertInput } from "../../outbox/entry.ts";
import type { Outbox } from "../../outbox/outbox.ts";
import type { Database, Sql } from "../../postgres/database.ts";
import { withoutSessions } from "../charts/chart-query.ts";
import type { Charts } from "../charts/charts.ts";
import { meets } from "../charts/threshold.ts";
import type { TracingOf } from "../tracing.ts";
import { aggregations } from "./alert-fields.ts";
import { changeNotice } from "./notices.ts";
import { isEnd, nextEnd, type Period, periodTo } from "./periods.ts";
import * as store from "./store.ts";
import type { AlertRow, AlertValue, Condition, DueAlert, NewEvaluation, Outcome } from "./store.ts";

export type AlertChecks = {
  /** Asks for the checks of all periods that have ended. Returns the number of alerts. */
  startDue(): Promise<number>;
  /**
   * Checks an alert for the period up to `endMs`, once: the result, the alert's new condition and
   * the notification commit together. Fails with DEADLINE_EXCEEDED if the charts take too long;
   * on the last try that is the outcome.
   */
  evaluate(input: EvaluateAlertInput, endMs: number, trying: Trying): Promise<PeriodCheck>;
};

export type Trying = { readonly signal: AbortSignal; readonly isLastTry: boolean };

export type PeriodCheck = {
  /**
   * Null if there is nothing to check any more: the alert is gone or paused, or has other periods.
   */
  readonly outcome: Outcome | null;
  /** End of the next period. */
  readonly nextEndMs: number;
};

export type AlertChecksOptions = {
  /** The control database. */
  readonly database: Database;
  readonly outbox: Outbox;
  readonly notifications: Pick<Notifications, "append">;
  readonly tracingOf: TracingOf;
  /** Returns an active project. */
  readonly findProject: (projectId: string) => Promise<ProjectScope | undefined>;
};

/** Time for events of a period that arrive after its end. */
const lateMs = 60_000;
const dueBatch = 200;
/** Periods that are made up for after an outage of the workers; older ones are left out. */
const periodsMadeUpMax = 31;
const revisionTriesMax = 3;

export function createAlertChecks(options: AlertChecksOptions): AlertChecks {
  const { database, outbox, tracingOf, findProject } = options;

  async function start(sql: Sql, due: DueAlert, nowMs: number): Promise<boolean> {
    const { projectId, id, frequency } = due;
    const nextMs = nextEnd(frequency, nowMs);
    await store.setDue(sql, due, new Date(nextMs));
    const project = await findProject(projectId);
    if (!project) return false;
    const lastEndMs = periodTo(frequency, nextMs).startMs;
    const firstEndMs = skipOld(frequency, due.dueAt.getTime(), lastEndMs);
    await outbox.append(
      evaluateAlertEntry({
        projectId,
        orgId: project.orgId,
        alertId: id,
        alertName: due.name,
        firstEndMs,
        lastEndMs,
        actor: due.createdBy,
      }),
    );
    return true;
  }

  function startBatch(): Promise<{ readonly found: number; readonly started: number }> {
    return database.transaction(async (sql) => {
      const nowMs = Date.now() - lateMs;
      const due = await store.lockDue(sql, { before: new Date(nowMs), limit: dueBatch });
      let started = 0;
      for (const one of due) if (await start(sql, one, nowMs)) started += 1;
      return { found: due.length, started };
    });
  }

  return {
    async startDue() {
      let checks = 0;
      for (;;) {
        const { found, started } = await startBatch();
        checks += started;
        if (found === 0) return checks;
      }
    },

    async evaluate({ projectId, alertId: id }, endMs, trying) {
      const project = await findProject(projectId);
      for (let attempt = 1; attempt <= revisionTriesMax; attempt += 1) {
        const [alert] = await store.listAlerts(database.sql(), projectId, { id, limit: 1 });
        if (!project || !alert?.isActive) return { outcome: null, nextEndMs: endMs };
        // Another frequency may have been set since the check was asked for.
        if (!isEnd(alert.frequency, endMs)) return { outcome: null, nextEndMs: endMs };
        const period = periodTo(alert.frequency, endMs);
        const nextEndMs = nextEnd(alert.frequency, endMs);
        const { charts } = tracingOf(project);
        const evaluation = await measureOrFail(charts, { project, alert, period, ...trying });
        const { outcome } = evaluation;
        if (await commit(options, { project, alert, period, evaluation })) {
          return { outcome, nextEndMs };
        }
      }
      throw new Error("the alert was changed during each of its checks");
    },
  };
}

/** Returns the end of the oldest period that is made up for. */
function skipOld(frequency: AlertRow["frequency"], dueMs: number, lastEndMs: number): number {
  let oldestMs = lastEndMs;
  for (let periods = 1; periods < periodsMadeUpMax && oldestMs > dueMs; periods += 1) {
    oldestMs = periodTo(frequency, oldestMs).startMs;
  }
  return Math.max(dueMs, oldestMs);
}

type Check = {
  readonly project: ProjectScope;
  readonly alert: AlertRow;
  readonly period: Period;
};

/** Stores a check; returns false if the alert measures something else by now. */
function commit(
  { database, notifications }: AlertChecksOptions,
  { project, alert, period, evaluation }: Check & { readonly evaluation: NewEvaluation },
): Promise<boolean> {
  const { projectId, id } = alert;
  return database.transaction(async (sql) => {
    await store.alertRows.lock(sql, projectId);
    const [now] = await store.listAlerts(sql, projectId, { id, limit: 1 });
    // A deleted or paused alert has nothing more to say.
    if (!now?.isActive) return true;
    if (now.revision !== alert.revision) return false;
    const windowEnd = new Date(period.endMs);
    const isNewest = now.lastWindowEnd === null || now.lastWindowEnd < windowEnd;
    // A check may come late, after that of the next period; the newest one decides.
    const condition = isNewest ? nextCondition(now.condition, evaluation.outcome) : now.condition;
    const stored = { ...evaluation, period, condition };
    if (!(await store.insertEvaluation(sql, now, stored))) return true;
    await store.deleteOldEvaluations(sql, now, alertEvaluationsKept);
    if (!isNewest) return true;
    const hasTriggered = condition === "triggered" && now.condition !== "triggered";
    const hasResolved = condition === "resolved" && now.condition === "triggered";
    await store.setCondition(sql, now, { condition, windowEnd, hasTriggered });
    if ((!hasTriggered && !hasResolved) || now.isMuted) return true;
    const role = hasTriggered ? "critical" : "resolved";
    const notice = changeNotice(project, now, { role, period, evaluation });
    await notifications.append({ project, id }, { ...notice, actor: now.createdBy });
    return true;
  });
}

/** Returns the condition of an alert after a check. */
export function nextCondition(before: Condition, outcome: Outcome): Condition {
  if (outcome === "critical") return "triggered";
  return outcome === "resolved" && before === "triggered" ? "resolved" : before;
}

type Measuring = Check & Trying;

/** Measures like `measure`. A refusal of the question is an outcome; other errors are retried. */
async function measureOrFail(charts: Charts, measuring: Measuring): Promise<NewEvaluation> {
  try {
    return await measure(charts, measuring);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const isGivenUp = error.reason === "DEADLINE_EXCEEDED" && measuring.isLastTry;
    if (outcomes[error.reason].status >= 500 && !isGivenUp) throw error;
    return { outcome: "failed", sampleSize: 0, values: [], error: error.message };
  }
}

type Measured = { readonly sampleSize: number; readonly values: readonly AlertValue[] };

async function measure(charts: Charts, measuring: Measuring): Promise<NewEvaluation> {
  const { alert } = measuring;
  const measured = await measurements[alert.kind](charts, measuring);
  return { ...measured, ...judge(alert, measured) };
}

const measurements = {
  AGGREGATE: measureAggregate,
  PER_EVENT: measureEvents,
  DRIFT: measureDrift,
} as const;

async function measureAggregate(
  charts: Charts,
  { project, alert, period, signal }: Measuring,
): Promise<Measured> {
  const { projectId, orgId: organization } = project;
  const request = {
    kind: "scalar",
    startTimeMs: period.startMs,
    // The end of a chart's range is included, that of a period is not.
    endTimeMs: period.endMs - 1,
    filters: withoutSessions(alert.filters),
    measures: alert.projections.map((metric) => ({
      metric,
      aggregation: aggregations[alert.aggregation],
    })),
  };
  const { series, matched } = await charts.query(projectId, request, { organization, signal });
  return {
    sampleSize: matched,
    values: alert.projections.map((projection, at) => ({
      projection,
      value: series[at]?.values[0] ?? null,
    })),
  };
}

async function measureEvents(
  charts: Charts,
  { project, alert, period, signal }: Measuring,
): Promise<Measured> {
  const { projectId, orgId: organization } = project;
  const values: AlertValue[] = [];
  let sampleSize = 0;
  for (const metric of alert.projections) {
    const request = {
      filters: withoutSessions(alert.filters),
      metric,
      threshold: alert.critical,
      range: { fromMs: period.startMs, toMs: period.endMs },
      named: alertEventsNamedMax,
    };
    const counts = await charts.countMeeting(projectId, request, { organization, signal });
    values.push({ projection: metric, value: counts.meeting, eventIds: counts.eventIds });
    sampleSize = counts.matched;
  }
  return { sampleSize, values };
}

const percent = 100;

async function measureDrift(charts: Charts, measuring: Measuring): Promise<Measured> {
  const { alert, period } = measuring;
  const before = periodTo(alert.frequency, period.startMs);
  const now = await measureAggregate(charts, measuring);
  const then = await measureAggregate(charts, { ...measuring, period: before });
  return {
    // Both periods must have enough events.
    sampleSize: Math.min(now.sampleSize, then.sampleSize),
    values: now.values.map(({ projection, value: current }, at) => {
      const baseline = then.values[at]?.value ?? null;
      return { projection, value: driftOf(current, baseline), current, baseline };
    }),
  };
}

/** Returns the change in percent; null without a number, and from 0 to anything else. */
function driftOf(current: number | null, baseline: number | null): number | null {
  if (current === null || baseline === null) return null;
  const change = differenceOf(current, baseline);
  if (change === 0) return 0;
  return baseline === 0 ? null : (change / Math.abs(baseline)) * percent;
}

/** Compares measured values with the thresholds of an alert. */
export function judge(
  { kind, critical, resolved, sampleSizeMin, aggregation }: AlertRow,
  { sampleSize, values }: Measured,
): Pick<NewEvaluation, "outcome" | "error"> {
  if (sampleSize < sampleSizeMin) {
    const error = `${sampleSize} events, and at least ${sampleSizeMin} are needed`;
    return { outcome: "insufficient", error };
  }
  const numbers = values.flatMap(({ value }) => (value === null ? [] : [value]));
  if (kind === "PER_EVENT") {
    const isAny = numbers.some((count) => count > 0);
    return { outcome: isAny ? "critical" : "resolved", error: null };
  }
  if (numbers.some((value) => meets(critical, value))) return { outcome: "critical", error: null };
  if (numbers.length < values.length) {
    const missing = values.filter(({ value }) => value === null);
    const faults = missing.map(({ projection, current, baseline }) =>
      baseline === 0 && typeof current === "number"
        ? `a change of ${projection} from 0 has no percentage`
        : `no ${aggregation} of ${projection}`,
    );
    return { outcome: "insufficient", error: faults.join("; ") };
  }
  const isResolved = resolved === null || numbers.every((value) => meets(resolved, value));
  return { outcome: isResolved ? "resolved" : "between", error: null };
}
