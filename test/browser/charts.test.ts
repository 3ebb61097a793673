// Charts, alerts and evaluators in a real browser.

import { describe, expect, test } from "vitest";
import { givenApp } from "./support/given-app.ts";
import { seedSessions } from "./support/seed.ts";

const app = givenApp({
  prepare: ({ service }) =>
    seedSessions({ url: service.url, key: service.projectKey, sessions: 40 }),
});

const path = (page: string): string => `/app/p/${app.service.projectId}/${page}`;

const looks = [
  { theme: "light", size: "wide" },
  { theme: "dark", size: "narrow" },
] as const;

describe("the charts", () => {
  test.each(looks)("have an overview without any set-up, $theme and $size", async (look) => {
    const { page, faults, findings, picture } = await app.open(path("charts"), look);

    const tile = (name: string) => page.getByRole("region", { name, exact: true });
    await tile("Calls of models").getByText("100", { exact: true }).waitFor();
    await tile("Calls by model").getByText("gpt-5-mini", { exact: true }).waitFor();
    await tile("Calls by model").locator("canvas").waitFor();

    await picture("charts-overview");
    expect(await findings()).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    expect(faults).toEqual([]);
  });

  test("are drawn in a browser whose language is no locale, counts with whole ticks", async () => {
    const { page, faults, picture } = await app.open("/app");
    await page.addInitScript(
      'Object.defineProperty(Navigator.prototype, "language", { get: () => "en-US@posix" })',
    );

    await page.goto(app.service.url + path("charts"));

    const errors = page.getByRole("region", { name: "Errors over time", exact: true });
    await errors.locator("canvas").waitFor();
    await picture("charts-errors");
    expect(faults).toEqual([]);
  });

  test("are built by picking, saved, arranged by keys, and lead to their events", async () => {
    const { page, faults, findings, picture } = await app.open(path("charts"));
    await page.getByRole("button", { name: "Overview" }).click();
    await page.getByRole("menuitem", { name: "New dashboard" }).click();
    await page.getByLabel("Name").fill("Shop");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "“Shop” has no charts yet" }).waitFor();

    await page.getByRole("link", { name: "New chart" }).click();
    await page.getByLabel("Name of the chart").fill("Tools");
    await page.getByText("Bars", { exact: true }).click();
    await page.getByText("Pick the field to split by").waitFor();
    await page.getByRole("button", { name: "Split by: Nothing" }).click();
    await page.getByPlaceholder("Find a field…").fill("event_name");
    await page.getByRole("option").first().click();
    const bars = page.getByRole("list", { name: "Tools" });
    await bars.getByRole("button", { name: /search_orders/ }).waitFor();
    await page.getByText(/events matched, every value is exact/).waitFor();
    await picture("charts-builder");
    expect(await findings()).toEqual([]);
    await page.getByRole("button", { name: "Save" }).click();

    await page.getByRole("region", { name: "Tools" }).waitFor();
    await page.getByRole("button", { name: "Arrange" }).click();
    await page.getByRole("button", { name: /^Move Tools/ }).focus();
    await page.keyboard.press("ArrowRight");
    await page.getByText("Tools: column 2, row 1, 6 wide, 5 high").waitFor({ state: "attached" });
    await page.getByRole("button", { name: "Done" }).click();
    await bars.getByRole("button", { name: /search_orders/ }).click();

    await page.waitForURL("**/traces?**");
    expect(decodeURIComponent(page.url())).toContain('"value":"search_orders"');
    expect(faults).toEqual([]);
  });
});

describe("the alerts", () => {
  test.each(looks)("show what they would have done, $theme and $size", async (look) => {
    const { page, faults, findings, picture } = await app.open(path("alerts/edit"), look);
    await page.getByLabel("Name", { exact: true }).fill(`Slow answers ${look.size}`);
    await page.getByLabel("Threshold").fill("1");
    await page.getByText(/It would have been met in [1-9]\d* of the last/).waitFor();
    await page.getByLabel("Address").fill("http://127.0.0.1:1/hook");
    await picture("alert-edit");
    expect(await findings()).toEqual([]);

    await page.getByRole("button", { name: "Save alert" }).click();

    await page
      .getByText(/public/)
      .first()
      .waitFor();
    expect(await page.getByLabel("Threshold").inputValue()).toBe("1");
    expect(faults).toEqual([]);
  });
});

describe("the evaluators", () => {
  test.each(looks)("are tried before they are saved, $theme and $size", async (look) => {
    const { page, faults, findings, picture } = await app.open(path("evaluators/new"), look);
    await page.getByLabel("Name", { exact: true }).fill(`short_${look.theme}`);
    await page.getByRole("button", { name: /^Run on [1-9]/ }).click();
    await page.getByText("passed", { exact: true }).first().waitFor();
    await picture("evaluator-new");
    expect(await findings()).toEqual([]);

    await page.getByRole("button", { name: "Create evaluator" }).click();

    await page.getByRole("tab", { name: "Versions" }).click();
    await page.getByRole("heading", { name: "v1, the first version" }).waitFor();
    await page.getByRole("tab", { name: "Backfills" }).click();
    await page.getByRole("heading", { name: "No backfill yet" }).waitFor();
    await page.getByRole("tab", { name: "Why" }).click();
    await page.getByRole("list", { name: "Newest events" }).getByRole("button").first().click();
    await page.getByRole("region", { name: "Explanation" }).waitFor();
    await picture("evaluator-why");
    expect(await findings()).toEqual([]);
    expect(faults).toEqual([]);
  });
});
