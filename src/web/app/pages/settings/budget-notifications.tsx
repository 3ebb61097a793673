// Notifications of a budget: the target that hears of it, and each notification with its attempts.

import { useState } from "react";
import { type Budget, BudgetService } from "../../../../../gen/waggle/v1/budget_pb.js";
import { useRpcMutation, useRpcPages } from "../../api/query.ts";
import { Button } from "../../design/button.tsx";
import { Dialog } from "../../design/overlay.tsx";
import { DeliveryTable } from "../alerts/deliveries.tsx";
import { TargetLine } from "../alerts/target-line.tsx";
import { TestOf, useTestOutcome } from "../alerts/test-button.tsx";
import "../alerts/alert-page.css";

const { method } = BudgetService;

export type BudgetNotificationsProps = {
  readonly projectId: string;
  readonly budget: Budget;
  /** Name of the budget for people. */
  readonly title: string;
};

export function BudgetNotifications({ projectId, budget, title }: BudgetNotificationsProps) {
  const [isOpen, setOpen] = useState(false);
  const target = budget.notificationDetails?.critical;
  if (!target) return <p className="settings-note">No target hears of 80 % and of 100 %.</p>;
  return (
    <div className="settings-note">
      80 % and 100 % are told to <TargetLine target={target} />{" "}
      <Button size="small" aria-label={`Notifications: ${title}`} onClick={() => setOpen(true)}>
        Notifications
      </Button>
      {isOpen ? (
        <Log
          projectId={projectId}
          budgetId={budget.id}
          title={title}
          onClose={() => setOpen(false)}
        />
      ) : null}
    </div>
  );
}

type LogProps = {
  readonly projectId: string;
  readonly budgetId: string;
  readonly title: string;
  readonly onClose: () => void;
};

function Log({ projectId, budgetId, title, onClose }: LogProps) {
  const pages = useRpcPages(
    method.listBudgetNotifications,
    { projectId, budgetId, limit: 100 },
    { refreshMs: 10_000 },
  );
  const outcome = useTestOutcome();
  const test = useRpcMutation(method.testBudget, {
    changes: [method.listBudgetNotifications],
    onDone: outcome.note,
  });
  return (
    <Dialog
      onClose={onClose}
      title={`Notifications: ${title}`}
      width="wide"
      actions={
        <>
          <TestOf
            test={test}
            outcome={outcome}
            onTest={() => test.mutate({ projectId, budgetId })}
          />
          <Button onClick={onClose}>Close</Button>
        </>
      }
    >
      <DeliveryTable pages={pages}>
        Press Test below to see whether the target accepts notifications.
      </DeliveryTable>
    </Dialog>
  );
}
