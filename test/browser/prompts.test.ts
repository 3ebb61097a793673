// Prompts in a real browser: made, edited into a version, compared, deployed, and used.

import { execFile } from "node:child_process";
import { env } from "node:process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import { providersOf } from "../support/chats.ts";
import { startOpenAiStandIn } from "../support/openai-stand-in.ts";
import type { TestApp } from "./support/app.ts";
import { givenApp, looks } from "./support/given-app.ts";

const run = promisify(execFile);

const standIn = givenStarted(startOpenAiStandIn);

async function prepare(app: TestApp): Promise<void> {
  await app.call("POST", "/v1/configurations", {
    name: "greeting",
    provider: "openai",
    parameters: {
      call_type: "chat",
      model: "gpt-4o-mini",
      hyperparameters: { temperature: 0.2 },
      template: [{ role: "system", content: "Greet {{ name }}\nin one sentence." }],
    },
    env: ["dev"],
  });
}

const app = givenApp({ prepare, flags: () => ({ providers: providersOf(standIn) }) });

const path = (): string => `/app/p/${app.service.projectId}/prompts`;

describe("prompts", () => {
  test.each(looks)("are listed and opened, $theme and $size", async (look) => {
    const { page, inspect } = await app.open(path(), look);
    await page.getByRole("row").filter({ hasText: "greeting" }).waitFor();
    await inspect("prompts");

    await page.getByRole("row").filter({ hasText: "greeting" }).click();
    await page.getByRole("button", { name: /^Save after/ }).waitFor();
    await page.getByRole("region", { name: "Variables" }).getByText("name").first().waitFor();
    await page.getByRole("textbox", { name: "Text of message 1" }).waitFor();
    const toPlayground = page.getByRole("link", { name: "Open in playground", exact: true });
    expect(await toPlayground.locator("svg").count()).toBe(1);

    await inspect("prompt");
  });

  test("are called by the commands that are there to copy, as they stand", async () => {
    const { page } = await app.open(path());
    await page.getByRole("row").filter({ hasText: "greeting" }).click();
    await page.getByRole("tab", { name: "Use" }).click();

    for (const name of ["Waggle's own call", "As the API of OpenAI"]) {
      const command = await page.getByLabel(name, { exact: true }).textContent();
      const { stdout } = await run("sh", ["-c", command ?? ""], {
        env: { ...env, WAGGLE_API_KEY: app.service.projectKey },
      });
      expect(JSON.parse(stdout)).toMatchObject({ choices: [{ message: { role: "assistant" } }] });
    }
  });

  test("keep what was typed while another tab is open", async () => {
    const { page } = await app.open(path());
    await page.getByRole("row").filter({ hasText: "greeting" }).click();
    const text = page.getByRole("textbox", { name: "Text of message 1" });
    await text.fill("Greet nobody.");
    await page.getByLabel("Why this change").fill("half a thought");

    await page.getByRole("tab", { name: "Use" }).click();
    await text.waitFor({ state: "detached" });
    await page.getByRole("tab", { name: "Editor" }).click();

    await text.getByText("Greet nobody.").waitFor();
    expect(await page.getByLabel("Why this change").inputValue()).toBe("half a thought");
  });

  test("say that another version was saved meanwhile, before they are saved over it", async () => {
    const { page } = await app.open(path());
    const made = await app.call("POST", "/v1/configurations", {
      name: "shared",
      provider: "openai",
      parameters: { call_type: "chat", model: "first", template: [] },
    });
    const { insertedId: id } = made as { insertedId: string };
    const saveThere = (model: string): Promise<unknown> =>
      app.call("PUT", `/v1/configurations/${id}`, { parameters: { call_type: "chat", model } });
    const modelNow = async (): Promise<unknown> => {
      const stored = await app.call("GET", `/v1/configurations/${id}`);
      return (stored as { parameters: { model: string } }).parameters.model;
    };
    await page.goto(`${app.service.url}${path()}/${id}`);
    const model = page.getByRole("textbox", { name: "Model", exact: true });
    await model.fill("mine");
    await saveThere("theirs");

    await page.getByRole("button", { name: "Save after v1" }).click();

    await page.getByText("v2 was saved meanwhile.").waitFor();
    expect(await model.inputValue()).toBe("mine");
    expect(await modelNow()).toBe("theirs");
    await page.getByRole("button", { name: "Save after v2" }).click();
    await page.getByText("Saved as a version.").waitFor();
    expect(await modelNow()).toBe("mine");
    await page.getByText("was saved meanwhile").waitFor({ state: "detached" });
    expect(await page.getByRole("button", { name: "Save after v3" }).isDisabled()).toBe(true);
  });

  test("are saved as a version, compared, deployed and shown as a call", async () => {
    const { page, inspect } = await app.open(path());
    await page.getByRole("row").filter({ hasText: "greeting" }).click();
    await page.getByRole("textbox", { name: "Model", exact: true }).fill("gpt-4o");
    await page.getByLabel("Why this change").fill("a larger model");
    await page.getByRole("button", { name: "Save after v1" }).click();
    await page.getByText("Saved as a version.").waitFor();

    await page.getByRole("tab", { name: "Versions" }).click();
    await page.getByRole("region", { name: "Differences of parameters.model" }).waitFor();
    await page.getByRole("button", { name: "Deploy v2" }).click();
    await page.getByRole("menuitem", { name: "prod" }).click();
    await page.getByText("v2 was deployed.").waitFor();
    await inspect("prompt-versions");

    await page.getByRole("tab", { name: "Use" }).click();
    await page.getByText('"environment": "prod"').first().waitFor();
    await inspect("prompt-use");
  });

  test("show the calls of each version, which lead to their events", async () => {
    const { insertedId: id } = (await app.call("POST", "/v1/configurations", {
      name: "counted",
      provider: "openai",
      parameters: { call_type: "chat", model: "first", template: [] },
    })) as { insertedId: string };
    await app.call("PUT", `/v1/configurations/${id}`, {
      parameters: { call_type: "chat", model: "second" },
    });
    const call = (version: string, more: object) => ({
      event_type: "model",
      event_name: `call of ${version}`,
      inputs: {},
      source: "test",
      config: { configuration: { id, name: "counted", version }, version },
      duration: 100,
      ...more,
    });
    await app.call("POST", "/events/batch", {
      events: [
        call("v1", { metadata: { cost: 0.5 } }),
        call("v1", { duration: 300, error: "no" }),
        call("v2", {}),
      ],
    });
    const { page, inspect } = await app.open(`${path()}/${id}?tab=versions`);
    const table = page.getByRole("region", { name: "Calls by version" }).getByRole("table");

    const row = table.getByRole("row").filter({ hasText: "v1" });
    await row.waitFor();

    const head = await table.getByRole("columnheader").allTextContents();
    const measures = ["events", "cost", "avg duration", "error rate"];
    expect(head).toEqual(["prompt version", ...measures]);
    const cells = await row.getByRole("cell").allTextContents();
    expect(cells).toEqual(["2", "$0.500", "200 ms", "50 %"]);
    expect(await table.getByRole("row").filter({ hasText: "v2" }).count()).toBe(1);
    await inspect("prompt-calls");
    await page.getByRole("button", { name: "Last 30 days" }).click();
    await page.getByRole("button", { name: "Last 7 days" }).click();
    await page.getByRole("link", { name: "Calls of v2" }).click();
    await page.getByText("call of v2").first().waitFor();
    expect(await page.getByText("call of v1").count()).toBe(0);
    await page.goBack();
    await page.getByRole("button", { name: "Last 7 days" }).waitFor();
  });

  test("lead back to their list when they are gone", async () => {
    const { page } = await app.open(`${new URL(app.projectUrl).pathname}/prompts/gone`);
    await page.getByRole("alert").getByText("Not found").waitFor();

    await page.getByRole("main").getByRole("link", { name: "Prompts" }).click();

    await page.getByRole("button", { name: "Create prompt" }).first().waitFor();
  });

  test("are only read by a viewer", async () => {
    const userId = await app.addMember("project_viewer");
    const { page, inspect } = await app.open(path(), { userId });
    await page.getByRole("row").filter({ hasText: "greeting" }).click();
    await page.getByText("You may read this. Project Admin or Project Member").waitFor();
    const text = page.getByRole("textbox", { name: "Text of message 1" });
    await text.getByText("Greet").waitFor();
    const writes = page.getByRole("button", { name: /^(Save|Add|Remove|Delete|Deploy)/ });
    expect(await writes.count()).toBe(0);
    expect(await page.getByRole("link", { name: "Open in playground" }).count()).toBe(0);
    expect(await page.getByLabel("Provider").getAttribute("readonly")).not.toBe(null);
    expect(await text.getAttribute("aria-readonly")).toBe("true");
    await inspect("prompt-viewer");

    await page.getByRole("tab", { name: "Versions" }).click();
    await page.getByRole("listitem").filter({ hasText: "v1" }).waitFor();

    expect(await writes.count()).toBe(0);
    expect(await page.getByRole("alert").filter({ hasText: /\S/ }).count()).toBe(0);
  });
});
