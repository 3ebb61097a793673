// Typing in a real browser: text that was typed is kept, or closes its dialog by buttons alone.

import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { encryptionKeyFlag } from "../support/alerts.ts";
import { givenApp } from "./support/given-app.ts";

const app = givenApp({ flags: () => ({ "encryption-keys": encryptionKeyFlag }) });

const path = (page: string): string => `/app/p/${app.service.projectId}/${page}`;

const linkOf = (page: Page, name: string) =>
  page.getByRole("navigation").getByRole("link", { name });

describe("text of something new", () => {
  test("is kept while its evaluator is left, and forgotten once it is made", async () => {
    const { page, faults } = await app.open(path("evaluators/new"));
    const name = page.getByLabel("Name", { exact: true });
    const code = page.getByRole("textbox", { name: "Code" });
    await name.fill("half_an_evaluator");
    await code.press("Control+End");
    await page.keyboard.type("# half a thought");

    await linkOf(page, "Traces").click();
    await page.getByRole("heading", { name: "Traces" }).waitFor();
    await page.goBack();

    await code.getByText("# half a thought").waitFor();
    expect(await name.inputValue()).toBe("half_an_evaluator");
    const question = page.waitForEvent("dialog");
    // `page.reload` would wait for a page that never comes.
    await page.evaluate("void setTimeout(() => location.reload())");
    const dialog = await question;
    expect(dialog.type()).toBe("beforeunload");
    await dialog.dismiss();
    await page.getByRole("button", { name: "Create evaluator" }).click();
    await page.getByRole("tab", { name: "Versions" }).waitFor();
    await page.goBack();
    await name.waitFor();
    expect(await name.inputValue()).toBe("");
    expect(faults).toEqual([]);
  });

  test("is kept while its chart is left", async () => {
    const { page, faults } = await app.open(path("charts/edit"));
    const name = page.getByLabel("Name of the chart");
    await name.fill("Half a chart");

    await linkOf(page, "Traces").click();
    await name.waitFor({ state: "detached" });
    await page.goBack();

    await name.waitFor();
    expect(await name.inputValue()).toBe("Half a chart");
    expect(faults).toEqual([]);
  });
});

describe("a dialog", () => {
  test.each([
    { place: "queues", opener: "Create queue", field: "Name" },
    { place: "experiments", opener: "Start run", field: "Name" },
    { place: "prompts", opener: "Create prompt", field: "Model" },
    { place: "settings?tab=providers", opener: "Add provider", field: "API key" },
  ])("keeps what was typed in it on Escape: $opener", async ({ place, opener, field }) => {
    const { page, faults } = await app.open(path(place));
    const dialog = page.getByRole("dialog");
    await page.getByRole("button", { name: opener }).first().click();
    await dialog.getByLabel(field, { exact: true }).fill("typed");

    await page.keyboard.press("Escape");

    expect(await dialog.getByLabel(field, { exact: true }).inputValue()).toBe("typed");
    expect(await dialog.getByRole("button", { name: "Close" }).count()).toBe(0);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(faults).toEqual([]);
  });
});
