// What workflows do, as a person follows it in a real browser, on a real Temporal.

import { beforeAll, describe, expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import { anAlert, encryptionKeyFlag, startReceiver } from "../support/alerts.ts";
import { providersOf } from "../support/chats.ts";
import { givenWorker } from "../support/given-worker.ts";
import { startOpenAiStandIn } from "../support/openai-stand-in.ts";
import { givenADataplane, givenEvents, type TestDataplane } from "../support/workflows.ts";
import { givenApp } from "./support/given-app.ts";

const standIn = givenStarted(startOpenAiStandIn);
const receiver = givenStarted(startReceiver);

const flags = () => ({
  "temporal-ui-url": "https://temporal.example.org",
  providers: providersOf(standIn),
  "encryption-keys": encryptionKeyFlag,
  "webhook-private-hosts": receiver.host,
});
const app = givenApp({ flags });
givenWorker("workflows in the web app", () => app.service.database, flags);

/** Archiving waits for half a minute, in which writes from before end. */
const archivingMs = 300_000;

describe("archivals", () => {
  let dataplane: TestDataplane;

  beforeAll(async () => {
    const { database, project } = app.service;
    const size = { workspaces: 1, projectsEach: 2 };
    dataplane = await givenADataplane(database, project.orgId, size);
    await givenEvents(database, dataplane.projects[0]?.projectId ?? "", 1_200);
  });

  const organization = (tab: string): string =>
    `/app/settings?level=org&id=${app.service.project.orgId}&tab=${tab}`;

  test(
    "are followed until they are done, those started elsewhere too",
    { timeout: archivingMs },
    async () => {
      const [workspaceId = ""] = dataplane.workspaceIds;
      const list = await app.open(organization("archivals"));
      await list.page.getByRole("heading", { name: "Nothing was archived" }).waitFor();
      const own = await app.open(`/app/settings?level=workspace&id=${workspaceId}`);

      await own.page.getByRole("button", { name: "Archive workspace" }).click();
      const dialog = own.page.getByRole("dialog");
      await dialog.getByRole("checkbox", { name: /every project in it/ }).check();
      await dialog.getByRole("textbox", { name: /to confirm/ }).fill(workspaceId);
      await dialog.getByRole("button", { name: "Archive workspace" }).click();

      const progress = own.page.getByRole("region", { name: "Progress of the archival" });
      await progress.getByText("running").waitFor();
      await own.picture("archival-running");
      const row = list.page.getByRole("row", { name: new RegExp(workspaceId.slice(0, 8)) });
      await row.getByText("running").waitFor();
      await list.picture("archivals-running");
      const link = await row.getByRole("link", { name: "Open in Temporal" }).getAttribute("href");
      expect(link).toBe(
        "https://temporal.example.org/namespaces/default/workflows/" +
          `archive-workspace-${workspaceId}`,
      );
      await progress.getByText("done", { exact: true }).waitFor({ timeout: archivingMs });
      await progress.getByText("2 of 2 done").waitFor();
      await progress.getByText("1,200 of 1,200 moved to the archive").waitFor();
      await row.getByText("done", { exact: true }).waitFor({ timeout: archivingMs });
      await row.getByText("2 of 2 done").waitFor();
      for (const look of [
        { theme: "light", size: "narrow" },
        { theme: "dark", size: "wide" },
      ] as const) {
        const { page, inspect } = await app.open(organization("archivals"), look);
        await page.getByRole("row", { name: new RegExp(workspaceId.slice(0, 8)) }).waitFor();
        // Its projects, which went with it, are no archivals of their own.
        expect(await page.getByRole("row").count()).toBe(2);
        await inspect("archivals-done");
      }
      await own.picture("archival-done");
      expect([...(await own.findings()), ...(await list.findings())]).toEqual([]);
    },
  );
});

const path = (page: string): string => `/app/p/${app.service.projectId}/${page}`;

const hourMs = 3_600_000;
/** End of an hour that may be checked; tests that begin before the next hour keep to it. */
const hourEnd = Math.floor((Date.now() - 60_000) / hourMs) * hourMs;

/** Sends model calls of two seconds each, that many in the hour. */
async function giveCalls(count: number): Promise<void> {
  const events = Array.from({ length: count }, (_, index) => ({
    event_id: `call-${index}`,
    session_id: "calls",
    event_type: "model",
    event_name: "answer",
    source: "production",
    inputs: { question: `Order ${index}?` },
    outputs: { content: "On its way." },
    start_time: hourEnd - hourMs + index * 1_000,
    duration: 2_000,
  }));
  await app.call("POST", "/events/batch", { events });
}

/** What a workflow does waits for the schedule of a minute, on a busy machine. */
const workflowMs = 180_000;

describe("what is done in the background", () => {
  beforeAll(() => giveCalls(40));

  test("a backfill scores the past, with its progress", { timeout: workflowMs }, async () => {
    const { metric_id: id } = (await app.call("POST", "/v1/metrics", {
      name: "quick",
      type: "PYTHON",
      return_type: "boolean",
      criteria: "def evaluate(event):\n    return True\n",
      filters: { filterArray: [{ field: "event_type", operator: "is", value: "model" }] },
    })) as { metric_id: string };
    const { page, inspect } = await app.open(path(`evaluators/${id}?tab=backfills`));

    await page.getByRole("button", { name: "Start backfill" }).click();

    const row = page.getByRole("list", { name: "Backfills" }).getByRole("listitem");
    await row.getByText("completed").waitFor({ timeout: workflowMs });
    await row.getByText("40 scored, 0 failed, 0 skipped").waitFor();
    await row.getByText("40 of 40 events").waitFor();
    await inspect("evaluator-backfill");
  });

  test("an alert has its checks, and what it sent", { timeout: workflowMs }, async () => {
    const made = await app.call("POST", "/v1/alerts", anAlert(receiver.url));
    const { id } = (made as { data: { id: string } }).data;
    // Due now, so that the schedule checks the hour that has ended.
    await app.service.database.sql()`
      update alerts set due_at = ${new Date(hourEnd)} where alert_id = ${id}`;
    const { page, inspect } = await app.open(path(`alerts/${id}`));

    const checks = page.getByRole("grid", { name: "Checks" });
    await checks.getByText("critical", { exact: true }).waitFor({ timeout: workflowMs });
    await checks.getByText("40", { exact: true }).waitFor();
    await inspect("alert-checks");
    await page.getByRole("tab", { name: "Deliveries" }).click();
    const deliveries = page.getByRole("grid", { name: "Deliveries" });
    await deliveries.getByText("delivered", { exact: true }).waitFor({ timeout: workflowMs });
    await checks.or(deliveries).getByText("triggered").first().waitFor();
    expect(receiver.received.at(-1)?.body).toContain("slow models");
  });

  test("a run is started, followed and cancelled", { timeout: workflowMs }, async () => {
    const datapoints = 24;
    const dataset = (await app.call("POST", "/v1/datasets", { name: "Orders" })) as {
      result: { insertedId: string };
    };
    await app.call("POST", `/v1/datasets/${dataset.result.insertedId}/datapoints`, {
      data: Array.from({ length: datapoints }, (_, index) => ({ question: `Order ${index}?` })),
      mapping: { inputs: ["question"] },
    });
    await app.call("POST", "/v1/configurations", {
      name: "asker",
      provider: "openai",
      parameters: {
        call_type: "chat",
        model: "gpt-4o-slow-8000",
        template: [{ role: "user", content: "{{ question }}" }],
      },
    });
    const { page, inspect } = await app.open(path("experiments"));
    const start = async (name: string, model: string): Promise<void> => {
      await page.getByRole("button", { name: "Start run" }).first().click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Name").fill(name);
      await dialog.getByLabel("Model").fill(model);
      await dialog.getByRole("button", { name: "Start run" }).click();
    };
    const progress = page.getByRole("region", { name: "Progress" });

    await start("too slow", "");
    await progress.getByText(/\d+ done, 0 failed, \d+ left/).waitFor();
    await inspect("experiment-running");
    await progress.getByRole("button", { name: "Cancel run" }).click();
    await progress.getByText("cancelled", { exact: true }).waitFor({ timeout: workflowMs });
    await progress.getByRole("button", { name: "Resume run" }).waitFor();

    await page.goBack();
    await start("quick", "openai/gpt-4o-echo");
    await progress
      .getByText(`${datapoints} done, 0 failed, 0 left`)
      .waitFor({ timeout: workflowMs });
    await progress.getByText("completed", { exact: true }).waitFor({ timeout: workflowMs });
  });
});
