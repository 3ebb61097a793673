// What workflows do, as a person follows it in a real browser, on a real Temporal.

import { beforeAll, describe, expect, test } from "vitest";
import { givenADataplane, givenEvents, type TestDataplane } from "../support/workflows.ts";
import { givenApp } from "./support/given-app.ts";
import { givenWorker } from "./support/given-worker.ts";

const flags = () => ({ "temporal-ui-url": "https://temporal.example.org" });
const app = givenApp({ flags });
givenWorker(app, flags);

/** Archiving waits for half a minute, in which writes from before end. */
const archivingMs = 120_000;

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
        const { page, picture, findings, faults } = await app.open(organization("archivals"), look);
        await page.getByRole("row", { name: new RegExp(workspaceId.slice(0, 8)) }).waitFor();
        // Its projects, which went with it, are no archivals of their own.
        expect(await page.getByRole("row").count()).toBe(2);
        await picture("archivals-done");
        expect(await findings()).toEqual([]);
        expect(faults).toEqual([]);
      }
      await own.picture("archival-done");
      expect([...(await own.findings()), ...(await list.findings())]).toEqual([]);
      expect([...own.faults, ...list.faults]).toEqual([]);
    },
  );
});
