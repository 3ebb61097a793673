// Typing in a real browser: text that was typed is kept, or closes its dialog by buttons alone.

import type { Locator, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { encryptionKeyFlag } from "../support/alerts.ts";
import { patience } from "../support/patience.ts";
import { givenApp } from "./support/given-app.ts";

const app = givenApp({ flags: () => ({ "encryption-keys": encryptionKeyFlag }) });

const path = (page: string): string => `/app/p/${app.service.projectId}/${page}`;

const linkOf = (page: Page, name: string) =>
  page.getByRole("navigation").getByRole("link", { name });

async function isFocused(element: Locator): Promise<boolean> {
  return (await element.and(element.page().locator(":focus")).count()) === 1;
}

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
    { place: "settings?tab=members", opener: "Add member", field: "E-mail" },
    { place: "datasets", opener: "Create dataset", field: "Description" },
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

describe("the code editor", () => {
  test("is left by Tab in a dialog, and changes nothing", async () => {
    const made = (await app.call("POST", "/v1/datasets", { name: "By keys" })) as {
      result: { insertedId: string };
    };
    const { page, faults } = await app.open(path(`datasets/${made.result.insertedId}`));
    await page.getByRole("button", { name: "Add datapoint" }).first().click();
    const dialog = page.getByRole("dialog");
    const editor = (name: string) => dialog.getByRole("textbox", { name });
    await editor("Inputs").press("ControlOrMeta+a");
    await page.keyboard.type("[]");
    const text = await editor("Inputs").innerText();

    await page.keyboard.press("Tab");
    expect(await isFocused(editor("Ground truth"))).toBe(true);
    await page.keyboard.press("Shift+Tab");
    expect(await isFocused(editor("Inputs"))).toBe(true);
    for (const _ of ["Ground truth", "Metadata", "History", "Cancel"]) {
      await page.keyboard.press("Tab");
    }

    const cancel = dialog.getByRole("button", { name: "Cancel" });
    expect(await isFocused(cancel)).toBe(true);
    expect(await editor("Inputs").innerText()).toBe(text);
    expect(faults).toEqual([]);
  });

  test("indents Python by Tab, and is left by Escape and Tab, as it says", async () => {
    const { page, faults, findings } = await app.open(path("evaluators/new"));
    const code = page.getByRole("textbox", { name: "Code" });
    const hint = page.getByText("Tab indents. Escape, then Tab leaves the editor.");
    await code.waitFor();
    expect(await hint.isVisible()).toBe(false);
    await code.press("Control+End");
    await page.keyboard.type("x");
    const before = await code.innerText();

    await page.keyboard.press("Tab");
    const indented = await code.innerText();
    expect(indented).not.toBe(before);
    expect(await hint.isVisible()).toBe(true);
    expect(await findings()).toEqual([]);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Tab");

    expect(await isFocused(code)).toBe(false);
    expect(await code.innerText()).toBe(indented);
    expect(await hint.isVisible()).toBe(false);
    expect(faults).toEqual([]);
  });
});

describe("a dialog that opens", () => {
  test.each([
    { place: "prompts", opener: "Create prompt", field: "Name" },
    { place: "experiments", opener: "Start run", field: "Prompt" },
    { place: "settings?tab=members", opener: "Add member", field: "E-mail" },
  ])("has the focus in its first field: $opener", async ({ place, opener, field }) => {
    const { page, faults } = await app.open(path(place));
    const dialog = page.getByRole("dialog");
    await page.getByRole("button", { name: opener }).first().click();
    await dialog.waitFor();

    await expect.poll(() => isFocused(dialog.getByLabel(field)), patience).toBe(true);
    expect(await page.getByRole("tooltip").count()).toBe(0);
    await page.keyboard.press("Escape");

    await dialog.waitFor({ state: "detached" });
    expect(faults).toEqual([]);
  });

  test("without a field has the focus itself, and no tooltip over its text", async () => {
    const { page, faults } = await app.open(path("traces"));
    await page.getByRole("heading", { name: "Send your first trace" }).waitFor();

    await page.keyboard.press("?");

    const dialog = page.getByRole("dialog", { name: "Keys" });
    await expect.poll(() => isFocused(dialog), patience).toBe(true);
    expect(await page.getByRole("tooltip").count()).toBe(0);
    await page.keyboard.press("Tab");
    await page.getByRole("tooltip", { name: "Close" }).waitFor();
    expect(faults).toEqual([]);
  });
});
