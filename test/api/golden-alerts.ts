// The cases of golden.test.ts on alerts.
// Source: the published clients of this API; docs/alerts.md; docs/decisions.md, 48.1 to 48.3.

import type { JsonObject } from "@bufbuild/protobuf";
import { AlertService } from "../../gen/waggle/v1/alert_pb.js";
import { type Case, golden, type Request } from "./golden-case.ts";
import { nowhere } from "./access-rows.ts";

const alert = AlertService.method;

const webhook = { channel: "WEBHOOK", metadata: { url: nowhere } };
const fields: JsonObject = {
  name: "Slow models",
  description: "Of the gateway",
  alert_type: "DRIFT",
  aggregation: "P95",
  projections: ["duration", "cost"],
  frequency: "HOURLY",
  filters: [{ field: "event_type", operator: "is", value: "model" }],
  thresholds: {
    critical: { operator: "greater_than", value: 50 },
    resolved: { operator: "less_than_or_equal", value: 10 },
  },
  minimum_sample_size: 20,
  notification_details: { critical: webhook, resolved: webhook },
};
const unlimited: JsonObject = {
  ...fields,
  thresholds: { critical: { operator: "near", value: 1 } },
};
const anAlert: Request = { route: "POST /v1/alerts", body: fields };
const one = "/v1/alerts/{alert_id}";
const ofOne: JsonObject = { alert_id: "{alert_id}" };
const given = [anAlert];
const pause: JsonObject = { is_active: false, description: "" };

export const alertCases: readonly Case[] = [
  golden("post-v1-alerts/created", "POST /v1/alerts", alert.createAlert, {
    body: fields,
    message: { alert: fields },
  }),
  golden("post-v1-alerts/unknown-operator", "POST /v1/alerts", alert.createAlert, {
    body: unlimited,
    message: { alert: unlimited },
  }),
  golden("get-v1-alerts/listed", "GET /v1/alerts", alert.listAlerts, { given }),
  golden("get-v1-alert/one", `GET ${one}`, alert.getAlert, { given, message: ofOne }),
  golden("get-v1-alert/no-uuid", "GET /v1/alerts/x", alert.getAlert, {
    message: { alert_id: "x" },
  }),
  golden("put-v1-alert/paused", `PUT ${one}`, alert.updateAlert, {
    given,
    body: pause,
    message: { ...ofOne, alert: pause },
  }),
  golden("delete-v1-alert/deleted", `DELETE ${one}`, alert.deleteAlert, { given, message: ofOne }),
  golden("post-v1-alert-test/refused", `POST ${one}/test`, alert.testAlert, {
    given,
    body: { kind: "resolved" },
    message: { ...ofOne, kind: "resolved" },
  }),
  golden("get-v1-alert-evaluations/none", `GET ${one}/evaluations`, alert.listAlertEvaluations, {
    given,
    message: ofOne,
  }),
  golden(
    "get-v1-alert-notifications/listed",
    `GET ${one}/notifications`,
    alert.listAlertNotifications,
    {
      given: [anAlert, { route: `POST ${one}/test`, body: {} }],
      message: ofOne,
    },
  ),
];
