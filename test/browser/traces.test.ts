// The list of sessions in a real browser.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { givenAProject } from "../support/project.ts";
import { startApp, type TestApp } from "./support/app.ts";
import { seedSessions } from "./support/seed.ts";

let maybeApp: TestApp | undefined;
let app: TestApp;

beforeAll(async () => {
  maybeApp = await startApp();
  if (!maybeApp) return;
  app = maybeApp;
  await seedSessions({ url: app.service.url, key: app.service.projectKey, sessions: 260 });
});

afterAll(async () => {
  await maybeApp?.stop();
});

beforeEach(({ skip }) => {
  if (!maybeApp) skip("there is no browser on this machine");
});

const tracesPath = (): string => `/app/p/${app.service.projectId}/traces`;

describe("the traces", () => {
  test.each([
    { theme: "light", size: "wide" },
    { theme: "dark", size: "wide" },
    { theme: "light", size: "narrow" },
    { theme: "dark", size: "narrow" },
  ] as const)("list sessions, $theme and $size", async (look) => {
    const { page, faults, findings, picture } = await app.open(tracesPath(), look);

    await page.getByRole("row").filter({ hasText: "support-agent" }).first().waitFor();

    await picture("traces");
    expect(await findings()).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    expect(faults).toEqual([]);
  });

  test("read on when the end of the list comes near", async () => {
    const { page, faults } = await app.open(tracesPath());
    await page.getByRole("grid", { name: "Sessions" }).focus();

    await page.keyboard.press("End");

    await page.getByText("260", { exact: true }).waitFor();
    await page.keyboard.press("End");
    await page.locator('[aria-rowindex="261"][data-active="true"]').waitFor();
    expect(faults).toEqual([]);
  });

  test("are narrowed by a filter from the catalogue, which stays in the address", async () => {
    const { page, faults, findings, picture } = await app.open(tracesPath());
    await page.getByRole("button", { name: "Filter", exact: true }).click();
    await page.getByPlaceholder("Filter by field…").fill("event_name");
    await page.getByRole("option").first().click();
    await page.getByRole("textbox", { name: "Value" }).fill("triage");
    await picture("traces-filter");
    expect(await findings()).toEqual([]);

    await page.getByRole("button", { name: "Apply" }).click();

    await page.getByText("52", { exact: true }).waitFor();
    expect(await page.getByRole("row").filter({ hasText: "support-agent" }).count()).toBe(0);
    await page.reload();
    await page.getByText("52", { exact: true }).waitFor();
    expect(faults).toEqual([]);
  });

  test("show new sessions while they are followed", async () => {
    const { page, faults } = await app.open(tracesPath());
    await page.getByRole("row").filter({ hasText: "support-agent" }).first().waitFor();
    await page.keyboard.press("l");

    await fetch(`${app.service.url}/session/start`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${app.service.projectKey}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({ session: { session_name: "just-now", source: "test" } }),
    });

    await page.getByRole("row").filter({ hasText: "just-now" }).waitFor();
    expect(faults).toEqual([]);
  });

  test("show hostile names as the text they are", async () => {
    const names = [
      '<img src="https://attacker.example/x" onerror="globalThis.isHurt = true">',
      "<script>globalThis.isHurt = true</script>",
      "[click](javascript:globalThis.isHurt=true)",
      "\u202egnp.exe \u0645\u0631\u062d\u0628\u0627 🐝",
      "long ".repeat(100),
    ];
    for (const session_name of names) {
      const response = await fetch(`${app.service.url}/session/start`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${app.service.otherProject.projectKey}`,
          "content-type": "application/json",
        },
        body: JSON.stringify({ session: { session_name, source: "<b>bold</b>" } }),
      });
      expect(response.status).toBe(200);
    }

    const { page, faults, picture } = await app.open(
      `/app/p/${app.service.otherProject.projectId}/traces`,
    );

    await page.getByRole("row").nth(names.length).waitFor();
    await picture("traces-hostile");
    await page.getByText("<script>globalThis.isHurt = true</script>").waitFor();
    expect(await page.evaluate("globalThis.isHurt")).toBeUndefined();
    expect(await page.locator(".table img, .table b, .table a, .table script").count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test("say the next step where there are none", async () => {
    const empty = await givenAProject(app.service.database, "empty");

    const { page, faults, findings, picture } = await app.open(`/app/p/${empty.projectId}/traces`);

    await page.getByRole("heading", { name: "No sessions here" }).waitFor();

    await picture("traces-empty");
    expect(await findings()).toEqual([]);
    expect(faults).toEqual([]);
  });
});
