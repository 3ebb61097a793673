// Budgets of a project: how much it, or one of its keys, may spend on models in a day or a month.
// Source: docs/budgets.md; docs/decisions.md, 49.1.

import { type ChangeParts, changeInside, isChange, type Whose } from "../../access/change.ts";
import { createEnabledMemory, type EnabledMemory, subjectOf } from "../../access/enabled-memory.ts";
import type { AccessChanges } from "../../access/changes/changes.ts";
import type { Keys } from "../../access/keys/keys.ts";
import { isWithin, type ProjectScope } from "../../access/scope.ts";
import { type Actor, describeActor } from "../../base/actor.ts";
import { parseChoice } from "../../base/choices.ts";
import { refuse, ServiceError } from "../../base/errors.ts";
import { createUuid, isUuid } from "../../base/ids.ts";
import { type Page, type PageRequest, parsePageOptions } from "../../base/pages.ts";
import { budgetsOfProjectMax } from "../../base/tenant-limits.ts";
import { findProject, type Scopes } from "../../controlplane/scopes/scopes.ts";
import type { Notifications } from "../../notifications/notifications.ts";
import type { NotificationRow } from "../../notifications/store.ts";
import type { CheckedTargets, TargetInputs, Targets } from "../../notifications/target.ts";
import type { Clusters } from "../../postgres/clusters.ts";
import type { Sql } from "../../postgres/database.ts";
import { testNotice } from "./notices.ts";
import { type Span, spanOf } from "./periods.ts";
import * as store from "./store.ts";
import { type BudgetPeriod, budgetPeriods, type BudgetRow } from "./store.ts";

export type Budget = BudgetRow & {
  readonly span: Span;
  /** US dollars. */
  readonly spent: number;
  readonly calls: number;
  readonly unpriced: number;
  readonly targets: Targets | undefined;
};

export type ChangedBudget = { readonly budget: Budget; readonly newSecret: string | undefined };

/** Fields of a request; undefined means omitted. */
export type BudgetFields = {
  readonly amount?: number | undefined;
  readonly period?: string | undefined;
  readonly keyId?: string | undefined;
  readonly isActive?: boolean | undefined;
  /** Without `critical`: no notifications. */
  readonly targets?: Partial<TargetInputs> | undefined;
  readonly isSecretNew?: boolean | undefined;
};

/** Each change is audited. */
export type Budgets = {
  /** Throws INVALID_ARGUMENT naming the field, and BUDGET_EXISTS. */
  create(project: ProjectScope, fields: BudgetFields, actor: Actor): Promise<ChangedBudget>;
  /** Returns all budgets of a project, oldest first. */
  list(project: ProjectScope): Promise<readonly Budget[]>;
  /** Throws INVALID_ARGUMENT for an id that is not a UUID, and NOT_FOUND. */
  get(project: ProjectScope, id: string): Promise<Budget>;
  /** Throws like `create` and `get`. */
  update(whose: Whose, fields: BudgetFields): Promise<ChangedBudget>;
  /** Throws like `get`. */
  delete(whose: Whose): Promise<void>;
  /** Sends a test notification. Throws like `get`, and as `Notifications.test`. */
  test(project: ProjectScope, id: string): Promise<NotificationRow>;
  /** Lists the notifications of a budget, newest first. Throws like `get`. */
  listNotifications(
    project: ProjectScope,
    id: string,
    page: PageRequest,
  ): Promise<Page<NotificationRow>>;
  /** Active budgets of projects. */
  readonly memory: EnabledMemory<BudgetRow>;
};

export type BudgetsOptions = Omit<ChangeParts, "scopes" | "changes"> & {
  readonly scopes: Pick<Scopes, "find" | "hold">;
  readonly changes: Pick<AccessChanges, "append" | "onForget">;
  readonly clusters: Pick<Clusters, "database">;
  readonly notifications: Notifications;
  readonly keys: Pick<Keys, "get">;
};

/** The largest amount that is a budget and no mistake. */
const amountMax = 1e9;

export function createBudgets(options: BudgetsOptions): Budgets {
  const { database, clusters, notifications, changes, scopes } = options;
  const memory = createEnabledMemory<BudgetRow>({
    kind: "budgets",
    async list(projectId) {
      const project = await findProject(scopes, projectId);
      const all = await store.listBudgets(database.sql(), projectId);
      return { orgId: project?.orgId ?? projectId, enabled: all.filter((one) => one.isActive) };
    },
  });
  changes.onForget((subject) => memory.forget(subject));

  async function complete(
    project: ProjectScope,
    rows: readonly BudgetRow[],
  ): Promise<readonly Budget[]> {
    const nowMs = Date.now();
    const { projectId } = project;
    const placed = rows.map((row) => ({ ...row, span: spanOf(row.period, nowMs) }));
    const keys = placed.map(({ id, span }) => ({ budgetId: id, periodStart: span.start }));
    const events = clusters.database(project.clusterId).on("commits");
    const spent = await events.inTurn((sql) => store.listSpend(sql, projectId, keys), {
      owner: projectId,
    });
    return Promise.all(
      placed.map(async (row) => {
        const spend = spent.find(({ budgetId }) => budgetId === row.id);
        const { cost = 0, calls = 0, unpriced = 0 } = spend ?? {};
        const targets = await notifications.find({ project, id: row.id });
        return { ...row, spent: cost, calls, unpriced, targets };
      }),
    );
  }

  async function get(project: ProjectScope, id: string): Promise<Budget> {
    const row = await findRow(database.sql(), project, id);
    const [budget] = await complete(project, [row]);
    if (!budget) throw new Error("one budget in, none out");
    return budget;
  }

  return {
    memory,
    get,

    async create(project, fields, actor) {
      const checked = await check(options, project, fields);
      const asked = await parseNew(options, project, fields);
      const { projectId } = project;
      const id = createUuid();
      const newSecret = await changeInside(options, { scope: project, actor }, async (sql) => {
        await store.budgetRows.lock(sql, projectId);
        const others = await store.listBudgets(sql, projectId);
        assertRoom(others, asked);
        const createdBy = describeActor(actor);
        await store.insertBudget(sql, { ...asked, id, projectId, createdBy });
        const stored = checked && (await notifications.put({ project, id }, { checked }));
        const after = stateOf(asked, stored?.targets);
        const audit = { action: "budget.create", targetId: id, after };
        return { result: stored?.newSecret, audit, forget: subjectOf("budgets", projectId) };
      });
      return { budget: await get(project, id), newSecret };
    },

    list: async (project) =>
      complete(project, await store.listBudgets(database.sql(), project.projectId)),

    async update({ project, id, actor }, fields) {
      const checked = await check(options, project, fields);
      const newSecret = await changeInside(options, { scope: project, actor }, async (sql) => {
        const { projectId } = project;
        await store.budgetRows.lock(sql, projectId);
        const before = await findRow(sql, project, id);
        const targets = await notifications.find({ project, id });
        const after = toChanged(before, fields);
        const stored = await putTargets(options, { project, id }, { fields, checked });
        const newSecret = stored?.newSecret;
        const kept = await notifications.find({ project, id });
        const audit = {
          action: "budget.update",
          targetId: id,
          before: stateOf(before, targets),
          after: {
            ...stateOf(after, kept),
            ...(newSecret !== undefined && { signing_secret: "new" }),
          },
          hasNewSecret: stored?.hasNewUrl === true,
        };
        if (isChange(audit)) await store.updateBudget(sql, after);
        return { result: newSecret, audit, forget: subjectOf("budgets", projectId) };
      });
      return { budget: await get(project, id), newSecret };
    },

    async delete({ project, id, actor }) {
      const { projectId, clusterId } = project;
      await changeInside(options, { scope: project, actor }, async (sql) => {
        await store.budgetRows.lock(sql, projectId);
        const row = await findRow(sql, project, id);
        const before = stateOf(row, await notifications.find({ project, id }));
        await store.budgetRows.delete(sql, projectId, id);
        await notifications.delete({ project, id });
        const audit = { action: "budget.delete", targetId: id, before };
        return { result: undefined, audit, forget: subjectOf("budgets", projectId) };
      });
      // Nothing reads it any more, so a failure here leaves only a row behind.
      await store.deleteSpend(clusters.database(clusterId).on("commits").sql(), projectId, id);
    },

    async test(project, id) {
      const budget = await findRow(database.sql(), project, id);
      return notifications.test({ project, id }, testNotice(project, budget, Date.now()));
    },

    async listNotifications(project, id, page) {
      const options = parsePageOptions("notifications", page);
      await findRow(database.sql(), project, id);
      return notifications.list({ project, id }, options);
    },
  };
}

async function findRow(sql: Sql, { projectId }: ProjectScope, id: string): Promise<BudgetRow> {
  const [row] = isUuid(id) ? await store.listBudgets(sql, projectId, id) : [];
  if (!row) throw new ServiceError("NOT_FOUND", "no such budget");
  return row;
}

/** Checks targets outside the transaction, since it asks name servers. */
async function check(
  { notifications }: BudgetsOptions,
  project: ProjectScope,
  { targets }: BudgetFields,
): Promise<CheckedTargets | undefined> {
  if (targets?.resolved) {
    refuse("notification_details.resolved", "is not for budgets, which renew by the clock");
  }
  const { critical } = targets ?? {};
  return critical && notifications.check("notification_details", project, { critical });
}

async function parseNew(
  { keys }: BudgetsOptions,
  project: ProjectScope,
  fields: BudgetFields,
): Promise<Pick<BudgetRow, "amount" | "period" | "keyId" | "isActive">> {
  const { amount, keyId = null, isActive = true } = fields;
  const period = parseChoice("period", budgetPeriods, fields.period);
  if (keyId !== null) await assertKeyOf(keys, project, keyId);
  return { amount: parseAmount(amount), period, keyId, isActive };
}

function parseAmount(amount: number | undefined): number {
  if (amount !== undefined && amount > 0 && amount <= amountMax) return amount;
  return refuse("amount", `must be above 0 and at most ${amountMax} US dollars`);
}

/** Throws INVALID_ARGUMENT unless a key may call models of the project. */
async function assertKeyOf(
  keys: Pick<Keys, "get">,
  project: ProjectScope,
  keyId: string,
): Promise<void> {
  const key = isUuid(keyId) ? await keys.get(keyId, {}).catch(ignoreAbsent) : undefined;
  if (key?.orgId === project.orgId && isWithin(project, key.rootLevel, key.rootId)) return;
  refuse("key_id", "must be the id of a key of the project, its workspace or its organization");
}

function ignoreAbsent(error: unknown): undefined {
  if (error instanceof ServiceError && error.reason === "NOT_FOUND") return undefined;
  throw error;
}

function assertRoom(
  others: readonly BudgetRow[],
  { period, keyId }: { readonly period: BudgetPeriod; readonly keyId: string | null },
): void {
  if (others.length >= budgetsOfProjectMax) {
    refuse("amount", `a project has at most ${budgetsOfProjectMax} budgets; delete one first`);
  }
  const taken = others.find((one) => one.period === period && one.keyId === keyId);
  if (!taken) return;
  const whose = keyId === null ? "the project" : "the key";
  const message = `${whose} has a budget a ${period.toLowerCase()}: ${taken.id}; change that one`;
  throw new ServiceError("BUDGET_EXISTS", message);
}

function toChanged(before: BudgetRow, fields: BudgetFields): BudgetRow {
  const { amount = before.amount, isActive = before.isActive } = fields;
  if (fields.period !== undefined && fields.period !== before.period) {
    refuse("period", "is fixed; make another budget");
  }
  if (fields.keyId !== undefined && fields.keyId !== before.keyId) {
    refuse("key_id", "is fixed; make another budget");
  }
  return { ...before, amount: parseAmount(amount), isActive };
}

/** Returns a budget's state for the audit log. */
function stateOf(
  { amount, period, keyId, isActive }: Pick<BudgetRow, "amount" | "period" | "keyId" | "isActive">,
  targets: Targets | undefined,
): Readonly<Record<string, unknown>> {
  return { amount, period, keyId, isActive, targets: targets ?? null };
}

type Asked = {
  readonly fields: BudgetFields;
  readonly checked: CheckedTargets | undefined;
};

/** Stores the targets that an update asks for; an empty object deletes those before. */
async function putTargets(
  { notifications }: BudgetsOptions,
  owner: { readonly project: ProjectScope; readonly id: string },
  { fields, checked }: Asked,
) {
  if (fields.targets && !checked) {
    await notifications.clear(owner);
    return undefined;
  }
  const { isSecretNew } = fields;
  if (!checked && isSecretNew !== true) return undefined;
  return notifications.put(owner, { checked, isSecretNew });
}
