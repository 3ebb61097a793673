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

async function makeDataset(): Promise<string> {
  const made = (await app.call("POST", "/v1/datasets", { name: "By keys" })) as {
    result: { insertedId: string };
  };
  return made.result.insertedId;
}

describe("text of something new", () => {
  test("is kept while its evaluator is left, and forgotten once it is made", async () => {
    const { page } = await app.open(path("evaluators/new"));
    const name = page.getByLabel("Name", { exact: true });
    const code = page.getByRole("textbox", { name: "Code" });
    await name.fill("half_an_evaluator");
    await code.press("Control+End");
    await page.keyboard.type("# half a thought");

    await linkOf(page, "Traces").click();
    await page.getByRole("heading", { name: "Traces", exact: true }).waitFor();
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
  });

  test("is kept while its chart is left", async () => {
    const { page } = await app.open(path("charts/edit"));
    const name = page.getByLabel("Name of the chart");
    await name.fill("Half a chart");

    await linkOf(page, "Traces").click();
    await name.waitFor({ state: "detached" });
    await page.goBack();

    await name.waitFor();
    expect(await name.inputValue()).toBe("Half a chart");
  });
});

describe("the name of a project", () => {
  test("is kept while its form is left, and the browser asks before it is lost", async () => {
    const { page } = await app.open(path("settings?tab=general"));
    const description = page.getByLabel("Description", { exact: true });
    await description.fill("Half a description");

    await page.getByRole("tab", { name: "Keys" }).click();
    await linkOf(page, "Queues").click();
    await page.getByRole("heading", { name: "Queues", exact: true }).waitFor();
    await page.goBack();
    await page.getByRole("tab", { name: "General" }).click();

    await expect.poll(() => description.inputValue(), patience).toBe("Half a description");
    const question = page.waitForEvent("dialog");
    await page.evaluate("void setTimeout(() => location.reload())");
    const dialog = await question;
    expect(dialog.type()).toBe("beforeunload");
    await dialog.dismiss();
  });

  test("stays as another tab has made it while this one changes the description", async () => {
    const address = path("settings?tab=general");
    const [here, there] = [await app.open(address), await app.open(address)];
    const save = async (page: Page, field: string, text: string): Promise<void> => {
      await page.getByLabel(field, { exact: true }).fill(text);
      await page.getByRole("button", { name: "Save changes" }).click();
      await page.getByText("Saved.").waitFor();
    };
    await here.page.getByLabel("Name", { exact: true }).waitFor();

    await save(there.page, "Name", "renamed there");
    await save(here.page, "Description", "described here");

    const name = here.page.getByLabel("Name", { exact: true });
    await expect.poll(() => name.inputValue(), patience).toBe("renamed there");
    await here.page.reload();
    await expect.poll(() => name.inputValue(), patience).toBe("renamed there");
    const description = here.page.getByLabel("Description", { exact: true });
    expect(await description.inputValue()).toBe("described here");
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
    const { page } = await app.open(path(place));
    const dialog = page.getByRole("dialog");
    await page.getByRole("button", { name: opener }).first().click();
    await dialog.getByLabel(field, { exact: true }).fill("typed");

    await page.keyboard.press("Escape");

    expect(await dialog.getByLabel(field, { exact: true }).inputValue()).toBe("typed");
    expect(await dialog.getByRole("button", { name: "Close" }).count()).toBe(0);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "detached" });
  });
});

describe("the code editor", () => {
  test("is a tab stop of a dialog, both ways, after something was typed in it", async () => {
    const { page, findings } = await app.open(path(`datasets/${await makeDataset()}`));
    await page.getByRole("button", { name: "Add datapoint" }).first().press("Enter");
    const dialog = page.getByRole("dialog");
    const stopOf = (name: string) =>
      dialog.getByRole("textbox", { name }).or(dialog.getByRole("button", { name }));
    const inputs = stopOf("Inputs");
    const walk = async (key: string, stops: readonly string[]): Promise<void> => {
      for (const stop of stops) {
        await page.keyboard.press(key);
        expect(await isFocused(stopOf(stop)), `${key} to ${stop}`).toBe(true);
      }
    };
    await expect.poll(() => isFocused(inputs), patience).toBe(true);
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type('{"a": 1');
    await dialog.getByRole("button", { name: "Close" }).waitFor({ state: "detached" });
    const text = await inputs.innerText();

    const editors = ["Ground truth", "Metadata", "History"];
    await walk("Tab", [...editors, "Cancel", "Add datapoint", "Inputs"]);
    await walk("Shift+Tab", ["Add datapoint", "Cancel", ...editors.toReversed(), "Inputs"]);
    expect(await inputs.innerText()).toBe(text);
    expect(await findings()).toEqual([]);
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type("[]");
    await expect.poll(() => stopOf("Add datapoint").isDisabled(), patience).toBe(true);

    await walk("Tab", [...editors, "Cancel", "Inputs"]);
    await walk("Shift+Tab", ["Cancel", ...editors.toReversed(), "Inputs"]);
  });

  test("indents Python by Tab, and is left by Escape and Tab, as it says", async () => {
    const { page, findings } = await app.open(path("evaluators/new"));
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
  });
});

describe("a dialog that opens", () => {
  test.each([
    { place: "prompts", opener: "Create prompt", field: "Name" },
    { place: "experiments", opener: "Start run", field: "Prompt" },
    { place: "settings?tab=members", opener: "Add member", field: "E-mail" },
  ])("has the focus in its first field: $opener", async ({ place, opener, field }) => {
    const { page } = await app.open(path(place));
    const dialog = page.getByRole("dialog");
    await page.getByRole("button", { name: opener }).first().click();
    await dialog.waitFor();

    await expect.poll(() => isFocused(dialog.getByLabel(field)), patience).toBe(true);
    expect(await page.getByRole("tooltip").count()).toBe(0);
    await page.keyboard.press("Escape");

    await dialog.waitFor({ state: "detached" });
  });

  test("without a field has the focus itself, and no tooltip over its text", async () => {
    const { page } = await app.open(path("traces"));
    await page.getByRole("heading", { name: "Send your first trace" }).waitFor();

    await page.keyboard.press("?");

    const dialog = page.getByRole("dialog", { name: "Keys" });
    await expect.poll(() => isFocused(dialog), patience).toBe(true);
    expect(await page.getByRole("tooltip").count()).toBe(0);
    await page.keyboard.press("Tab");
    await page.getByRole("tooltip", { name: "Close" }).waitFor();
  });
});

describe("the focus", () => {
  test("returns to the button of a dialog", async () => {
    const { page } = await app.open(path("queues"));
    const opener = page.getByRole("button", { name: "Create queue" }).first();
    await opener.press("Enter");
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name", { exact: true }).fill("typed");

    await dialog.getByRole("button", { name: "Cancel" }).press("Enter");

    await dialog.waitFor({ state: "detached" });
    await expect.poll(() => isFocused(opener), patience).toBe(true);
  });

  test("returns to the table of a drawer", async () => {
    const id = await makeDataset();
    await app.call("POST", `/v1/datasets/${id}/datapoints`, {
      data: [{ question: "Where is my order 4711?" }],
      mapping: { inputs: ["question"] },
    });
    const { page } = await app.open(path(`datasets/${id}`));
    const table = page.getByRole("grid");
    const drawer = page.getByRole("dialog");
    await table.getByRole("row").filter({ hasText: "4711" }).waitFor();
    await table.press("j");
    await page.keyboard.press("Enter");
    await drawer.getByRole("textbox", { name: "Inputs" }).waitFor();
    const remove = drawer.getByRole("button", { name: "Remove datapoint" });
    await remove.press("Enter");
    await page.getByRole("dialog", { name: "Remove this datapoint?" }).waitFor();

    await page.keyboard.press("Escape");
    await expect.poll(() => isFocused(remove), patience).toBe(true);
    await page.keyboard.press("Escape");

    await drawer.waitFor({ state: "detached" });
    await expect.poll(() => isFocused(table), patience).toBe(true);
  });

  test("returns to where it was when a key or a command opened the dialog", async () => {
    const { page } = await app.open(path("queues"));
    const opener = page.getByRole("button", { name: "Create queue" }).first();
    const keys = page.getByRole("dialog", { name: "Keys" });
    await opener.focus();

    await page.keyboard.press("?");
    await keys.waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => isFocused(opener), patience).toBe(true);
    await page.keyboard.press("ControlOrMeta+k");
    await page.getByPlaceholder("Search pages, commands and the project…").fill("Show the keys");
    await page.keyboard.press("Enter");
    await keys.waitFor();
    await page.keyboard.press("Escape");

    await keys.waitFor({ state: "detached" });
    await expect.poll(() => isFocused(opener), patience).toBe(true);
  });

  test("returns to the button of the menu whose item opened the dialog", async () => {
    const { page } = await app.open(path(`datasets/${await makeDataset()}`));
    const opener = page.getByRole("button", { name: "More", exact: true });
    const dialog = page.getByRole("dialog");
    await opener.press("Enter");
    await page.getByRole("menuitem", { name: "Delete dataset" }).press("Enter");
    await dialog.getByRole("button", { name: "Cancel" }).press("Enter");

    await dialog.waitFor({ state: "detached" });
    await expect.poll(() => isFocused(opener), patience).toBe(true);
  });
});
