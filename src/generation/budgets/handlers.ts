// BudgetService: a message in, a message out, no decisions.

import type { ServiceImpl } from "@connectrpc/connect";
import type { BudgetService } from "../../../gen/waggle/v1/budget_pb.js";
import { actorOf, projectOf, whoseOf } from "../../access/call.ts";
import { toNotificationsMessage, toTestMessage } from "../../notifications/notification-message.ts";
import { toBudgetMessage, toChangedMessage, toFields } from "./budget-message.ts";
import type { Budgets } from "./budgets.ts";

export function budgetHandlers(budgets: Budgets): ServiceImpl<typeof BudgetService> {
  return {
    async createBudget({ budget }, context) {
      const project = projectOf(context);
      return toChangedMessage(await budgets.create(project, toFields(budget), actorOf(context)));
    },

    async listBudgets(_request, context) {
      const found = await budgets.list(projectOf(context));
      return { success: true, data: found.map(toBudgetMessage) };
    },

    async getBudget({ budgetId }, context) {
      const budget = await budgets.get(projectOf(context), budgetId);
      return { success: true, data: toBudgetMessage(budget) };
    },

    async updateBudget({ budgetId, budget }, context) {
      const whose = whoseOf(budgetId, context);
      return toChangedMessage(await budgets.update(whose, toFields(budget)));
    },

    async deleteBudget({ budgetId }, context) {
      await budgets.delete(whoseOf(budgetId, context));
      return { success: true, message: "The budget is deleted." };
    },

    async testBudget({ budgetId }, context) {
      return toTestMessage(await budgets.test(projectOf(context), budgetId));
    },

    async listBudgetNotifications({ budgetId, limit, cursor }, context) {
      const project = projectOf(context);
      const page = { limit, cursor };
      return toNotificationsMessage(await budgets.listNotifications(project, budgetId, page));
    },
  };
}
