// Alerts of a project: their definitions, and the history of their checks.
// Source: the published clients of this API; docs/alerts.md; docs/decisions.md, 48.1 to 48.4.

import {
  type AuditedChange,
  type ChangeParts,
  changeInside,
  isChange,
  type Whose,
} from "../../access/change.ts";
import type { ProjectScope } from "../../access/scope.ts";
import { type Actor, describeActor } from "../../base/actor.ts";
import { parseChoice } from "../../base/choices.ts";
import { refuse, ServiceError } from "../../base/errors.ts";
import { createUuid, isUuid } from "../../base/ids.ts";
import {
  formatKeyCursor,
  type Page,
  type PageRequest,
  parseKeyCursor,
  parsePageLimit,
  parsePageOptions,
  parseSequence,
  toPageBy,
} from "../../base/pages.ts";
import { alertsOfProjectMax } from "../../base/tenant-limits.ts";
import type { Notifications } from "../../notifications/notifications.ts";
import type { StoredTargets } from "../../notifications/sealed-targets.ts";
import type { NotificationRow } from "../../notifications/store.ts";
import { roles, type TargetInputs, type Targets } from "../../notifications/target.ts";
import type { Sql } from "../../postgres/database.ts";
import type { TracingOf } from "../tracing.ts";
import { type AlertDefinition, type AlertFields, parseAlert } from "./alert-fields.ts";
import { testNotice } from "./notices.ts";
import { nextEnd } from "./periods.ts";
import * as store from "./store.ts";
import type { AlertRow, Evaluation } from "./store.ts";

export type Alert = AlertRow & { readonly targets: Targets };

/** An alert after a change, with the secret that signs webhooks if it is new. */
export type ChangedAlert = { readonly alert: Alert; readonly newSecret: string | undefined };

/** Each change is audited. */
export type Alerts = {
  /** Throws INVALID_ARGUMENT and INVALID_FILTER naming the field, and ENCRYPTION_KEY_ABSENT. */
  create(project: ProjectScope, fields: AlertFields, actor: Actor): Promise<ChangedAlert>;
  /** Returns all alerts of a project, oldest first. */
  list(project: ProjectScope): Promise<readonly Alert[]>;
  /** Throws INVALID_ARGUMENT for an id that is not a UUID, and NOT_FOUND. */
  get(project: ProjectScope, id: string): Promise<Alert>;
  /** Changes the given fields. Throws like `create` and `get`. */
  update(whose: Whose, fields: AlertFields): Promise<ChangedAlert>;
  /** Deletes an alert with its history. Throws like `get`. */
  delete(whose: Whose): Promise<void>;
  /** Sends a test notification. Throws like `get`, and as `Notifications.test`. */
  test(project: ProjectScope, id: string, kind: string | undefined): Promise<NotificationRow>;
  /** Lists the checks of an alert, newest first. Throws like `get`. */
  listEvaluations(project: ProjectScope, id: string, page: PageRequest): Promise<Page<Evaluation>>;
  /** Lists the notifications of an alert, newest first. Throws like `get`. */
  listNotifications(
    project: ProjectScope,
    id: string,
    page: PageRequest,
  ): Promise<Page<NotificationRow>>;
};

export type AlertsOptions = ChangeParts & {
  readonly notifications: Notifications;
  readonly tracingOf: TracingOf;
};

export function createAlerts(options: AlertsOptions): Alerts {
  const { database, notifications, tracingOf } = options;

  /** Checks outside the transaction, since it reads the field catalogue and asks name servers. */
  async function check(project: ProjectScope, fields: AlertFields, before?: AlertDefinition) {
    const recorded = await tracingOf(project).charts.fieldsOf(project.projectId);
    const definition = parseAlert(fields, before, recorded);
    const targets = fields.targets && toInputs(fields.targets);
    const path = "notification_details";
    const checked = targets && (await notifications.check(path, project, targets));
    return { definition, checked };
  }

  async function find(project: ProjectScope, id: string): Promise<Alert> {
    const row = await findRow(database.sql(), project, id);
    return withTargets(notifications, project, row);
  }

  return {
    async create(project, fields, actor) {
      if (!fields.targets) refuse("notification_details", "is required");
      const { definition, checked } = await check(project, fields);
      return changeInside(options, { scope: project, actor }, async (sql) => {
        const { projectId } = project;
        await store.alertRows.lock(sql, projectId);
        if ((await store.alertRows.count(sql, projectId)) >= alertsOfProjectMax) {
          refuse("name", `a project has at most ${alertsOfProjectMax} alerts; delete one first`);
        }
        const id = createUuid();
        await store.putAlert(sql, {
          ...definition,
          projectId,
          id,
          revision: 1,
          condition: "active",
          dueAt: new Date(nextEnd(definition.frequency, Date.now())),
          createdBy: describeActor(actor),
        });
        const { newSecret, targets } = await notifications.put({ project, id }, { checked });
        const after = stateOf(definition, targets);
        const audit = { action: "alert.create", targetId: id, after };
        return { result: { alert: await find(project, id), newSecret }, audit };
      });
    },

    list: async (project) => {
      const rows = await database.readInTurn(project.projectId, (sql) =>
        store.listAlerts(sql, project.projectId, { limit: alertsOfProjectMax }),
      );
      return Promise.all(rows.map((row) => withTargets(notifications, project, row)));
    },

    get: (project, id) => find(project, id),

    async update({ project, id, actor }, fields) {
      const { checked } = await check(project, fields, await find(project, id));
      const recorded = await tracingOf(project).charts.fieldsOf(project.projectId);
      return changeInside(options, { scope: project, actor }, async (sql) => {
        await store.alertRows.lock(sql, project.projectId);
        const before = await find(project, id);
        const after = parseAlert(fields, before, recorded);
        const { isSecretNew } = fields;
        const stored = await notifications.put({ project, id }, { checked, isSecretNew });
        const audit = auditOf(before, after, stored);
        if (isChange(audit)) {
          await store.putAlert(sql, { ...before, ...after, ...progressOf(before, after) });
        }
        return { result: { alert: await find(project, id), newSecret: stored.newSecret }, audit };
      });
    },

    delete: ({ project, id, actor }) =>
      changeInside(options, { scope: project, actor }, async (sql) => {
        const before = await find(project, id);
        await store.alertRows.delete(sql, project.projectId, id);
        await notifications.delete({ project, id });
        const state = stateOf(before, before.targets);
        const audit = { action: "alert.delete", targetId: id, before: state };
        return { result: undefined, audit };
      }),

    async test(project, id, kind = "critical") {
      const role = parseChoice("kind", roles, kind);
      const alert = await find(project, id);
      return notifications.test({ project, id }, testNotice(project, alert, role));
    },

    async listEvaluations(project, id, { limit: given, cursor }) {
      const limit = parsePageLimit(given);
      const parse = (text: string) => parseSequence(text);
      const beforeMs =
        cursor === undefined ? undefined : parseKeyCursor("alert-evaluations", cursor, parse);
      const rows = await database.readInTurn(project.projectId, async (sql) => {
        const { projectId } = await findRow(sql, project, id);
        return store.listEvaluations(sql, { projectId, id }, { limit: limit + 1, beforeMs });
      });
      return toPageBy(rows, limit, ({ windowEnd }) =>
        formatKeyCursor("alert-evaluations", windowEnd.getTime()),
      );
    },

    async listNotifications(project, id, page) {
      const options = parsePageOptions("notifications", page);
      await database.readInTurn(project.projectId, (sql) => findRow(sql, project, id));
      return notifications.list({ project, id }, options);
    },
  };
}

async function findRow(sql: Sql, { projectId }: ProjectScope, id: string): Promise<AlertRow> {
  const [row] = isUuid(id) ? await store.listAlerts(sql, projectId, { id, limit: 1 }) : [];
  if (!row) throw new ServiceError("NOT_FOUND", "no such alert");
  return row;
}

async function withTargets(
  notifications: Notifications,
  project: ProjectScope,
  row: AlertRow,
): Promise<Alert> {
  const targets = await notifications.find({ project, id: row.id });
  if (!targets) throw new Error("an alert without targets");
  return { ...row, targets };
}

function toInputs({ critical, resolved }: Partial<TargetInputs>): TargetInputs {
  return { critical: critical ?? refuse("notification_details.critical", "is required"), resolved };
}

/** Returns where an alert stands after a change: one that measures something else begins anew. */
function progressOf(before: AlertRow, after: AlertDefinition) {
  const isOther = measuredKeys.some(
    (key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]),
  );
  const isResumed = after.isActive && !before.isActive;
  const isMoved = isResumed || after.frequency !== before.frequency;
  return {
    revision: isOther ? before.revision + 1 : before.revision,
    condition: isOther ? ("active" as const) : before.condition,
    // The periods while it was paused are not made up for.
    dueAt: isMoved ? new Date(nextEnd(after.frequency, Date.now())) : before.dueAt,
  };
}

const measuredKeys = [
  "kind",
  "aggregation",
  "filters",
  "projections",
  "critical",
  "resolved",
  "frequency",
  "sampleSizeMin",
] as readonly (keyof AlertDefinition)[];

function auditOf(
  before: Alert,
  after: AlertDefinition,
  { targets, newSecret, hasNewUrl }: StoredTargets,
): AuditedChange {
  const states = { before: stateOf(before, before.targets), after: stateOf(after, targets) };
  const secret = newSecret === undefined ? {} : { signing_secret: "new" };
  return {
    action: "alert.update",
    targetId: before.id,
    before: states.before,
    after: { ...states.after, ...secret },
    hasNewSecret: hasNewUrl,
  };
}

/** Returns an alert's state for the audit log. */
function stateOf(alert: AlertDefinition, targets: Targets): Readonly<Record<string, unknown>> {
  const { name, description, kind, aggregation, filters, projections, critical } = alert;
  const { resolved, frequency, sampleSizeMin, isActive, isMuted } = alert;
  return {
    name,
    description,
    kind,
    aggregation,
    filters,
    projections,
    critical,
    resolved,
    frequency,
    sampleSizeMin,
    isActive,
    isMuted,
    targets,
  };
}
