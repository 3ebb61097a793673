// AlertService: a message in, a message out, no decisions.

import type { ServiceImpl } from "@connectrpc/connect";
import type { AlertService } from "../../../gen/waggle/v1/alert_pb.js";
import { actorOf, projectOf, whoseOf } from "../../access/call.ts";
import { toPageAnswer } from "../../base/pages.ts";
import { toNotificationsMessage, toTestMessage } from "../../notifications/notification-message.ts";
import {
  toAlertMessage,
  toChangedMessage,
  toEvaluationMessage,
  toFields,
} from "./alert-message.ts";
import type { Alerts } from "./alerts.ts";

export function alertHandlers(alerts: Alerts): ServiceImpl<typeof AlertService> {
  return {
    async createAlert({ alert }, context) {
      const project = projectOf(context);
      return toChangedMessage(await alerts.create(project, toFields(alert), actorOf(context)));
    },

    async listAlerts(_request, context) {
      const found = await alerts.list(projectOf(context));
      return { success: true, data: found.map(toAlertMessage) };
    },

    async getAlert({ alertId }, context) {
      const alert = await alerts.get(projectOf(context), alertId);
      return { success: true, data: toAlertMessage(alert) };
    },

    async updateAlert({ alertId, alert }, context) {
      return toChangedMessage(await alerts.update(whoseOf(alertId, context), toFields(alert)));
    },

    async deleteAlert({ alertId }, context) {
      await alerts.delete(whoseOf(alertId, context));
      return { success: true, message: "The alert is deleted." };
    },

    async testAlert({ alertId, kind }, context) {
      return toTestMessage(await alerts.test(projectOf(context), alertId, kind));
    },

    async listAlertEvaluations({ alertId, limit, cursor }, context) {
      const page = { limit, cursor };
      const found = await alerts.listEvaluations(projectOf(context), alertId, page);
      return toPageAnswer(found, toEvaluationMessage);
    },

    async listAlertNotifications({ alertId, limit, cursor }, context) {
      const page = { limit, cursor };
      const project = projectOf(context);
      return toNotificationsMessage(await alerts.listNotifications(project, alertId, page));
    },
  };
}
