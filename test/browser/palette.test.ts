// What the palette finds in the project, in a real browser: by the keyboard alone.

import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { givenApp } from "./support/given-app.ts";

const traceId = "5b8efff798038103d269b633813fc60c";
const sessionOfTrace = "5b8efff7-9803-8103-d269-b633813fc60c";

const app = givenApp({
  prepare: async (prepared) => {
    const call = (method: string, path: string, body: unknown): Promise<unknown> =>
      prepared.call(method, path, body);
    const event = { source: "docs", inputs: { question: "Where is it?" } };
    await call("POST", "/session/start", {
      session: { session_id: "Visit-42", session_name: "Plumage visit", source: "docs" },
    });
    await call("POST", "/events/batch", {
      events: [
        { ...event, event_type: "model", event_id: "call-7", session_id: "Visit-42" },
        { ...event, event_type: "tool", event_id: "call-8", session_id: sessionOfTrace },
      ],
    });
    await call("POST", "/v1/datasets", { name: "Plumage questions" });
    await call("POST", "/v1/datasets", { name: "Old plumage" });
    await call("POST", "/v1/configurations", {
      name: "plumage-answer",
      type: "LLM",
      provider: "openai",
      parameters: { call_type: "chat", model: "gpt-4o-mini", template: [] },
    });
    await call("POST", "/v1/metrics", {
      name: "plumage_named",
      type: "PYTHON",
      return_type: "boolean",
      criteria: "def evaluate(event):\n    return True\n",
    });
    await call("POST", "/v1/dashboards", { name: "Plumage costs", charts: [] });
    await call("POST", "/v1/runs", { name: "Plumage by night", event_ids: [] });
  },
});

/** Opens the palette by its key and types words. */
async function find(page: Page, words: string): Promise<void> {
  await page.getByRole("heading", { name: "Datasets", exact: true }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog", { name: "Commands" }).waitFor();
  await page.keyboard.type(words);
}

const datasetsPath = (): string => `/app/p/${app.service.projectId}/datasets`;

describe("the palette", () => {
  test("finds items of the project by a part of their name, in either case", async () => {
    const { page, inspect } = await app.open(datasetsPath());

    // The first item is chosen, whichever list comes last.
    await page.route("**/ListConfigurations*", async (route) => {
      await page.waitForResponse("**/ListDatasets*");
      await route.continue();
    });
    await find(page, "plumage");

    await page.getByRole("option", { name: "plumage-answer", selected: true }).waitFor();
    const names = ["plumage-answer", "plumage_named", "Plumage costs", "Plumage by night"];
    for (const name of names) await page.getByRole("option", { name }).waitFor();
    await page.getByRole("option", { name: /^Plumage visit/ }).waitFor();
    const datasets = page.getByRole("group", { name: "Datasets" }).getByRole("option");
    expect(await datasets.allInnerTexts()).toEqual(["Plumage questions", "Old plumage"]);
    await inspect("palette-items");
  });

  test.each([
    { words: "plumage q", group: "Datasets", address: "**/datasets/*" },
    { words: "plumage-a", group: "Prompts", address: "**/prompts/*" },
    { words: "plumage_n", group: "Evaluators", address: "**/evaluators/*" },
    { words: "plumage c", group: "Dashboards", address: "**/charts?dashboard=*" },
    { words: "plumage b", group: "Experiments", address: "**/experiments/*" },
    { words: "Plumage v", group: "Sessions", address: "**/traces/Visit-42" },
    { words: "Visit-42", group: "Session of this id", address: "**/traces/Visit-42" },
    { words: "call-7", group: "Event of this id", address: "**/traces/Visit-42?event=call-7" },
    { words: traceId, group: "Session of this id", address: `**/traces/${sessionOfTrace}` },
  ])("opens what it finds in $group by Enter: $words", async ({ words, group, address }) => {
    const { page } = await app.open(datasetsPath());
    await find(page, words);
    const option = page.getByRole("group", { name: group, exact: true }).getByRole("option");
    await option.waitFor();
    expect(await option.getAttribute("aria-selected")).toBe("true");

    await page.keyboard.press("Enter");

    await page.waitForURL(address);
    await page.getByRole("dialog").waitFor({ state: "hidden" });
  });

  test("says when nothing has the words", async () => {
    const { page, inspect } = await app.open(datasetsPath());

    await find(page, "zebrafish");

    await page.getByText("No command and nothing in the project has these words.").waitFor();
    await inspect("palette-nothing");
  });

  test("says which items could not be read", async () => {
    const { page } = await app.open(datasetsPath(), { mayFail: true });
    await page.route("**/ListConfigurations*", (route) => route.abort());

    await find(page, "plumage");

    await page.getByText("Could not be read: Prompts. Try again in a moment.").waitFor();
    await page.getByRole("option", { name: "Plumage questions" }).waitFor();
  });
});
