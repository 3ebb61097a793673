// A project without events in a real browser: each page says what comes first, and leads there.

import { describe, expect, test } from "vitest";
import { givenApp } from "./support/given-app.ts";

const app = givenApp();

const path = (page: string): string => `/app/p/${app.service.projectId}/${page}`;

describe("an empty project", () => {
  test("has an overview of charts without errors, which leads to the first trace", async () => {
    const { page, findings } = await app.open(path("charts"));
    const tile = page.getByRole("region", { name: "Most expensive users" });
    await tile.getByText("No event has the field user_properties.user_id yet.").waitFor();
    const others = page.getByText("No event of this time matches.");
    await others.first().waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    expect(await findings()).toEqual([]);

    await page.getByRole("link", { name: "Send your first trace" }).click();

    await page.getByRole("heading", { name: "Send your first trace" }).waitFor();
  });

  test.each([
    ["split", { kind: "table", splitBy: "metadata.team" }, []],
    ["measure", { measures: [{ metric: "metadata.team" }] }, []],
    ["filter", {}, [{ field: "metadata.team", operator: "is", value: "shop" }]],
  ])("says of a chart that no event has the field of its %s", async (_, question, filters) => {
    const asked = JSON.stringify({
      kind: "scalar",
      measures: [{ metric: "event_count" }],
      filters,
      ...question,
    });
    const { page } = await app.open(path(`charts/edit?question=${encodeURIComponent(asked)}`));

    await page.getByText("No event has the field metadata.team yet.").waitFor();

    const note = "getComputedStyle(document.querySelector('.chart-none'))";
    expect(await page.evaluate(`${note}.textAlign`)).toBe("center");
    expect(await page.getByRole("button", { name: "Try again" }).count()).toBe(0);
  });

  test("advises a viewer of nothing that the role may not do", async () => {
    const userId = await app.addMember("project_viewer");
    const { page } = await app.open(path("settings?tab=budgets"), { userId });
    await page.getByText("A budget refuses model calls").waitFor();
    expect(await page.getByText("Add one").count()).toBe(0);

    await page.getByRole("link", { name: "Playground" }).click();

    await page.getByRole("heading", { name: "No answer yet" }).waitFor();
    expect(await page.getByText("run the messages.").count()).toBe(0);
  });

  test("sends a member, who may set up no provider, to an administrator", async () => {
    const userId = await app.addMember("project_member");

    const { page } = await app.open(path("playground"), { userId });

    await page.getByText("An administrator of the project can set one up.").waitFor();
    expect(await page.getByRole("link", { name: "Set up a provider" }).count()).toBe(0);
  });

  test("has a way from a run to the prompt that it lacks", async () => {
    const { page } = await app.open(path("experiments"));
    await page.getByRole("button", { name: "Start run" }).first().click();

    await page.getByRole("dialog").getByRole("link", { name: "Save a prompt first" }).click();

    await page.getByRole("heading", { name: "Prompts", exact: true }).waitFor();
  });

  test("gets a dashboard with its first chart, and shows it", async () => {
    const { page } = await app.open(path("charts/edit"));
    await page.getByLabel("Name of the chart").fill("Kept in sight");

    await page.getByRole("button", { name: "Save" }).click();

    await page.getByText("Saved the chart on “Charts”").waitFor();
    await page.getByRole("region", { name: "Kept in sight" }).waitFor();
  });
});
