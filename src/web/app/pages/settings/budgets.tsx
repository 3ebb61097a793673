// Budgets of a project: how much of each is used, as a bar; create, change, pause and delete.

import { Plus, Wallet } from "lucide-react";
import { useState } from "react";
import {
  type Budget,
  type BudgetResponse,
  BudgetService,
} from "../../../../../gen/waggle/v1/budget_pb.js";
import type { ApiError } from "../../api/errors.ts";
import { useRpc, useRpcMutation } from "../../api/query.ts";
import { Status, type Tone } from "../../design/badge.tsx";
import { Button } from "../../design/button.tsx";
import { ConfirmCall } from "../../design/confirm-call.tsx";
import {
  formatCost,
  formatCounted,
  formatExactCount,
  formatId,
  formatTime,
  toNumber,
} from "../../design/format.ts";
import { SelectField, TextField } from "../../design/fields.tsx";
import { Checkbox, Switch } from "../../design/input.tsx";
import { ItemActs } from "../../design/item-acts.tsx";
import { Dialog } from "../../design/overlay.tsx";
import { EmptyState, ErrorState, formatDone, Progress, ReadState } from "../../design/states.tsx";
import { type TargetDraft, targetOf, toTarget } from "../alerts/draft.ts";
import { SecretDialog } from "../alerts/secret-dialog.tsx";
import { TargetChoice } from "../alerts/target-fields.tsx";
import { faultOf } from "../../api/faults.ts";
import { ReadOnlyNote } from "../../session/read-only-note.tsx";
import { type May, useMay } from "../../session/use-may.ts";
import { BudgetKeyField, useBudgetKeys } from "./budget-key-field.tsx";
import { BudgetNotifications } from "./budget-notifications.tsx";
import { toMs } from "../../api/scope.ts";

const { method } = BudgetService;
const refreshMs = 10_000;
const tones: Readonly<Record<string, Tone>> = { ok: "good", warning: "warn", exhausted: "bad" };

export function Budgets({ projectId }: { readonly projectId: string }) {
  const [open, setOpen] = useState<Budget | "new">();
  const [leaving, setLeaving] = useState<Budget>();
  const scope = { level: "project", id: projectId } as const;
  const may = useMay(scope);
  const list = useRpc(method.listBudgets, { projectId }, { refreshMs });
  const titleOf = useTitles(projectId);
  const state = <ReadState read={list} what="Loading budgets" />;
  if (!list.data) return state;
  return (
    <div className="settings-sections">
      {state}
      <div className="settings-acts">
        {may(method.createBudget) ? (
          <Button variant="primary" icon={<Plus />} onClick={() => setOpen("new")}>
            Add budget
          </Button>
        ) : null}
      </div>
      <ReadOnlyNote method={method.updateBudget} scope={scope} />
      {list.data.data.length === 0 ? (
        <EmptyState icon={<Wallet />} title="No budget">
          A budget refuses model calls once a day or a month has cost an amount.
          {may(method.createBudget) ? " Add one before a loop spends more than you meant." : null}
        </EmptyState>
      ) : null}
      <ul className="budget-list" aria-label="Budgets">
        {list.data.data.map((budget) => (
          <BudgetLine
            key={budget.id}
            projectId={projectId}
            budget={budget}
            title={titleOf(budget)}
            may={may}
            onEdit={() => setOpen(budget)}
            onRemove={() => setLeaving(budget)}
          />
        ))}
      </ul>
      {open === undefined ? null : (
        <BudgetForm
          projectId={projectId}
          before={open === "new" ? undefined : open}
          title={open === "new" ? "Add a budget" : `Change budget: ${titleOf(open)}`}
          onClose={() => setOpen(undefined)}
        />
      )}
      {leaving ? (
        <ConfirmCall
          onClose={() => setLeaving(undefined)}
          title={`Delete budget: ${titleOf(leaving)}`}
          description="Calls are no longer refused for it."
          action="Delete budget"
          busyLabel="Deleting…"
          method={method.deleteBudget}
          input={{ projectId, budgetId: leaving.id }}
          changes={[method.listBudgets]}
        />
      ) : null}
    </div>
  );
}

/** Returns how budgets are called: by the names of their keys, where the person may read them. */
function useTitles(projectId: string): (budget: Budget) => string {
  const { keys } = useBudgetKeys(projectId);
  return ({ period, keyId }) => {
    const what = period === "DAY" ? "Each day" : "Each month";
    const key = keys.find((one) => one.keyId === keyId)?.name;
    return keyId === undefined
      ? what
      : `${what}, key ${key === undefined ? formatId(keyId) : `“${key}”`}`;
  };
}

type BudgetLineProps = {
  readonly projectId: string;
  readonly budget: Budget;
  readonly title: string;
  readonly may: May;
  readonly onEdit: () => void;
  readonly onRemove: () => void;
};

function BudgetLine({ projectId, budget, title, may, onEdit, onRemove }: BudgetLineProps) {
  const update = useRpcMutation(method.updateBudget, { changes: [method.listBudgets] });
  const { id, amount, spent, calls, unpricedCalls, state, isActive, renewsAt } = budget;
  const renewMs = toMs(renewsAt);
  return (
    <li>
      <div className="budget-head">
        <strong title={budget.keyId}>{title}</strong>
        <Status tone={isActive ? (tones[state] ?? "neutral") : "neutral"}>
          {isActive ? state : "paused"}
        </Status>
        <Switch
          label={isActive ? "On" : "Off"}
          aria-label={`Count and refuse: ${title}`}
          checked={isActive}
          disabled={!may(method.updateBudget)}
          aria-disabled={update.isPending}
          onChange={(next) => {
            const budget = { isActive: next };
            if (!update.isPending) update.mutate({ projectId, budgetId: id, budget });
          }}
        />
        <ItemActs
          item={`budget: ${title}`}
          onChange={may(method.updateBudget) && onEdit}
          onDelete={may(method.deleteBudget) && onRemove}
        />
      </div>
      <Progress
        label={`${formatCost(spent)} of ${formatCost(amount)}`}
        value={Math.min(1, spent / amount)}
        detail={formatDone(spent / amount)}
      />
      <p className="settings-note">
        {formatCounted(calls, "call")}
        {unpricedCalls === 0 ? "" : `, ${formatExactCount(unpricedCalls)} without a known price`}
        {renewMs === undefined ? "" : `; renews ${formatTime(renewMs)}`}
      </p>
      <BudgetNotifications projectId={projectId} budget={budget} title={title} />
      {update.error ? <ErrorState error={update.error} isInline /> : null}
    </li>
  );
}

type BudgetFormProps = {
  readonly projectId: string;
  readonly before: Budget | undefined;
  readonly title: string;
  readonly onClose: () => void;
};

function BudgetForm({ projectId, before, title, onClose }: BudgetFormProps) {
  const [amount, setAmount] = useState(String(before?.amount ?? ""));
  const [period, setPeriod] = useState(before?.period ?? "MONTH");
  const [keyId, setKeyId] = useState<string | undefined>("");
  const [target, setTarget] = useState<TargetDraft>();
  const [secret, setSecret] = useState<string>();
  const options = {
    changes: [method.listBudgets],
    onDone: ({ signingSecret }: BudgetResponse) =>
      signingSecret === undefined ? onClose() : setSecret(signingSecret),
  };
  const create = useRpcMutation(method.createBudget, options);
  const update = useRpcMutation(method.updateBudget, options);
  const change = before ? update : create;
  const { error } = change;
  const submit = () => {
    const fields = {
      amount: Number(amount),
      ...(target && { notificationDetails: { critical: toTarget(target) } }),
    };
    const key = keyId ? { keyId } : {};
    if (before) update.mutate({ projectId, budgetId: before.id, budget: fields });
    else create.mutate({ projectId, budget: { ...fields, period, ...key } });
  };
  if (secret !== undefined) return <SecretDialog secret={secret} onClose={onClose} />;
  return (
    <Dialog
      onClose={onClose}
      title={title}
      width="narrow"
      act={{
        label: before ? "Save budget" : "Add budget",
        disabled: !isAmount(amount) || keyId === undefined,
        busyLabel: "Saving…",
        run: submit,
        change,
        fields: ["amount", "key_id", ...(target ? ["notification_details"] : [])],
      }}
    >
      <TextField
        label="Amount"
        hint="US dollars."
        error={amountFault(amount) ?? faultOf(error, "amount")}
        inputMode="decimal"
        value={amount}
        onChange={setAmount}
      />
      {before ? null : (
        <NewBudgetFields {...{ projectId, error, period, setPeriod, keyId, setKeyId }} />
      )}
      <Checkbox
        label={
          before?.notificationDetails ? "Send elsewhere than so far" : "Tell of 80 % and 100 %"
        }
        checked={target !== undefined}
        onChange={(isOn) =>
          setTarget(isOn ? targetOf(before?.notificationDetails?.critical) : undefined)
        }
      />
      {target ? (
        <TargetChoice
          target={target}
          error={error}
          set={(change) => setTarget({ ...target, ...change })}
        />
      ) : null}
    </Dialog>
  );
}

function isAmount(typed: string): boolean {
  return (toNumber(typed) ?? 0) > 0;
}

function amountFault(typed: string): string | undefined {
  const isGood = typed.trim() === "" || isAmount(typed);
  return isGood ? undefined : "Must be a number above 0 with a decimal point, such as 10.50.";
}

type NewBudgetFieldsProps = {
  readonly projectId: string;
  readonly error: ApiError | null;
  readonly period: string;
  readonly setPeriod: (period: string) => void;
  readonly keyId: string | undefined;
  readonly setKeyId: (keyId: string | undefined) => void;
};

function NewBudgetFields(props: NewBudgetFieldsProps) {
  const { projectId, error, period, setPeriod, keyId, setKeyId } = props;
  return (
    <>
      <SelectField
        label="For each"
        value={period}
        options={[
          { value: "MONTH", label: "month" },
          { value: "DAY", label: "day" },
        ]}
        onChange={setPeriod}
      />
      <BudgetKeyField
        projectId={projectId}
        keyId={keyId}
        error={faultOf(error, "key_id")}
        onChange={setKeyId}
      />
    </>
  );
}
