// Converts what clients ask of budgets from messages, and budgets to messages.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  BudgetFields as FieldsMessage,
  BudgetResponseSchema,
  BudgetSchema,
} from "../../../gen/waggle/v1/budget_pb.js";
import { toTargetInputs, toTargetsMessage } from "../../notifications/notification-message.ts";
import type { Budget, BudgetFields, ChangedBudget } from "./budgets.ts";
import { reachedShare } from "./notices.ts";

export function toFields(message: FieldsMessage | undefined): BudgetFields {
  if (!message) return {};
  const { amount, period, keyId, isActive, notificationDetails, rotateSigningSecret } = message;
  return {
    amount,
    period,
    // As stored, since budgets are compared by it.
    keyId: keyId?.toLowerCase(),
    isActive,
    isSecretNew: rotateSigningSecret,
    targets: notificationDetails && toTargetInputs(notificationDetails),
  };
}

/** Returns a state that agrees with the notifications. */
function stateOf(budget: Budget): string {
  if (budget.spent >= budget.amount) return "exhausted";
  return reachedShare(budget, budget.spent) ? "warning" : "ok";
}

export function toBudgetMessage(budget: Budget): MessageInitShape<typeof BudgetSchema> {
  const { id, amount, period, keyId, isActive, spent, calls, unpriced, span, targets } = budget;
  return {
    id,
    amount,
    period,
    isActive,
    spent,
    calls,
    unpricedCalls: unpriced,
    ...(keyId !== null && { keyId }),
    state: stateOf(budget),
    periodStart: timestampFromDate(span.start),
    renewsAt: timestampFromDate(span.end),
    ...(targets && { notificationDetails: toTargetsMessage(targets) }),
    createdAt: timestampFromDate(budget.createdAt),
    ...(budget.updatedAt && { updatedAt: timestampFromDate(budget.updatedAt) }),
  };
}

export function toChangedMessage({
  budget,
  newSecret,
}: ChangedBudget): MessageInitShape<typeof BudgetResponseSchema> {
  return {
    success: true,
    data: toBudgetMessage(budget),
    ...(newSecret !== undefined && { signingSecret: newSecret }),
  };
}
