// Names of what a project holds, over the whole service. Source: docs/decisions.md, 28.

import { expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import { encryptionKeyFlag } from "../support/alerts.ts";
import { givenAMetricProject } from "../support/metrics.ts";
import { startService } from "../support/service.ts";

const service = givenStarted(() => startService({ "encryption-keys": encryptionKeyFlag }));

const parameters = { call_type: "chat", model: "gpt-4o", hyperparameters: {}, template: [] };

test.each([
  { path: "/v1/datasets", body: {} },
  { path: "/v1/queues", body: {} },
  { path: "/v1/runs", body: {} },
  { path: "/v1/views", body: { page: "sessions" } },
  { path: "/v1/dashboards", body: {} },
  { path: "/v1/charts", body: { metric: "event_count" } },
  {
    path: "/v1/alerts",
    body: {
      aggregation: "COUNT",
      projections: ["duration"],
      frequency: "HOURLY",
      thresholds: { critical: { operator: "greater_than", value: 50 } },
      notification_details: {
        critical: { channel: "WEBHOOK", metadata: { url: "https://93.184.216.34/" } },
      },
    },
  },
  { path: "/v1/configurations", body: { provider: "openai", parameters } },
  { path: "/tools", body: { parameters: {} } },
])("a name at $path is printable and not blank", async ({ path, body }) => {
  const project = await givenAMetricProject(service);
  const post = (name: string) => project.call(`POST ${path}`, { ...body, name });

  const [blank, invisible, lines, words] = [
    await post(" "),
    await post("\u200b \u2060\ufeff\u00ad\u3164"),
    await post("two\nlines"),
    await post("two words"),
  ];

  expect(blank.status).toBe(400);
  expect(blank.text).toContain("name: must not be blank");
  expect(invisible.status).toBe(400);
  expect(invisible.text).toContain("name: must not be blank");
  expect(lines.status).toBe(400);
  expect(lines.text).toContain("name: must not hold control characters");
  expect([200, 201], words.text).toContain(words.status);
});
