// The playground in a real browser, with a stand-in provider behind the real service.

import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import { providersOf } from "../support/chats.ts";
import { patience } from "../support/patience.ts";
import { startOpenAiStandIn } from "../support/openai-stand-in.ts";
import { allLooks, givenApp } from "./support/given-app.ts";

const standIn = givenStarted(startOpenAiStandIn);

const app = givenApp({ flags: () => ({ providers: providersOf(standIn) }) });

const path = (search = ""): string => `/app/p/${app.service.projectId}/playground${search}`;

/** An element in the page. */
type Cut = { readonly scrollWidth: number; readonly clientWidth: number };

async function pickModel(page: Page, label: string, model: string): Promise<void> {
  await page.getByRole("button", { name: `${label}: choose a model` }).click();
  await page.getByPlaceholder("Find or type a model…").fill(model);
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: `${label}: ${model}` }).waitFor();
  // The list stays for a frame, and would take the next key.
  await page.getByPlaceholder("Find or type a model…").waitFor({ state: "detached" });
}

describe("the playground", () => {
  test.each(allLooks)("answers messages with variables, $theme and $size", async (look) => {
    const { page, inspect } = await app.open(path(), look);
    await page.getByLabel("Text of message 1").fill("You help {{ who }}.");
    await page.getByLabel("Text of message 2").fill("Hello from {{ who }}");
    await page.getByRole("textbox", { name: "who" }).fill("Ada");
    await pickModel(page, "Model", "openai/gpt-4o-echo");

    await page.keyboard.press("Control+Enter");

    await page.getByRole("listitem").getByText("Hello from Ada").waitFor();
    await page.getByRole("status").getByText("done").waitFor();
    await page.getByRole("link", { name: "Open the trace" }).waitFor();
    await inspect("playground");
  });

  test("shows tokens, cost and latency as they are recorded", async () => {
    const { page } = await app.open(path());
    await page.getByLabel("Text of message 2").fill("What does it cost?");
    await pickModel(page, "Model", "openai/gpt-4o-mini");

    await page.getByRole("button", { name: "Run", exact: true }).click();

    const answer = page.getByRole("region", { name: "Model", exact: true });
    await answer.getByText("done").waitFor();
    const trace = answer.getByRole("link", { name: "Open the trace" });
    const sessionId = (await trace.getAttribute("href"))?.split("/").at(-1);
    const filters = [
      { field: "session_id", operator: "is", value: sessionId, type: "id" },
      { field: "event_type", operator: "is", value: "model", type: "string" },
    ];
    const { events } = (await app.call("POST", "/v1/events/search", { filters })) as {
      events: [{ duration: number; metadata: Readonly<Record<string, number>> }];
    };
    const [{ duration, metadata }] = events;
    const shown = (label: string) =>
      answer.locator(`dt:text-is("${label}") + dd .numeric`).getAttribute("title");
    expect(await shown("Tokens")).toContain(`${metadata["total_tokens"]} tokens`);
    expect(await shown("Cost")).toBe(`$${metadata["cost"]}`);
    expect(await shown("Latency in the service")).toBe(`${duration} ms`);
    const firstWord = Number.parseFloat((await shown("First word in this browser")) ?? "");
    const whole = Number.parseFloat((await shown("Whole answer in this browser")) ?? "");
    expect(firstWord).toBeLessThanOrEqual(whole);
  });

  test("names the session of a run, with its question and answer", async () => {
    const { page } = await app.open(path());
    await page.getByLabel("Text of message 2").fill("Hello {{ who }}");
    await page.getByRole("textbox", { name: "who" }).fill("hive");
    await pickModel(page, "Model", "openai/gpt-4o-echo");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    const trace = page.getByRole("link", { name: "Open the trace" });
    const sessionId = (await trace.getAttribute("href"))?.split("/").at(-1);

    const read = () => app.call("GET", `/session/${sessionId}`);

    await expect.poll(read, patience).toMatchObject({
      event_name: "playground",
      inputs: { question: "Hello hive" },
      outputs: { role: "assistant" },
    });
  });

  test("asks two models side by side, and stops one that trickles", async () => {
    const { page, inspect } = await app.open(path());
    await page.getByLabel("Text of message 2").fill("Compare");
    await pickModel(page, "Model", "openai/gpt-4o-echo");
    await page.getByRole("button", { name: "Add a model" }).click();
    await pickModel(page, "Model 2", "openai/gpt-4o-trickle-3000");

    await page.getByRole("button", { name: "Run", exact: true }).click();

    const first = page.getByRole("region", { name: "Model 1" });
    const second = page.getByRole("region", { name: "Model 2" });
    await first.getByText("done").waitFor();
    await second.getByText("running").waitFor();
    await second.getByRole("button", { name: "Stop model 2" }).click();
    await second.getByText("stopped").waitFor();
    await inspect("playground-two");

    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Runs of this visit" }).click();
    await page.getByRole("dialog").getByText("openai/gpt-4o-trickle-3000").waitFor();
    await inspect("playground-history");
  });

  test("says what a provider refused, and keeps what was typed over a reload", async () => {
    const { page, inspect } = await app.open(path());
    await page.getByLabel("Text of message 2").fill("Keep these words");
    await pickModel(page, "Model", "openai/gpt-4o-fail-401");
    await page.getByRole("button", { name: "Run", exact: true }).click();

    await page.getByRole("alert").waitFor();

    await page.getByRole("link", { name: "Open the providers" }).waitFor();
    await inspect("playground-error");
    // The answer of the service does not say what the provider said; its trace does.
    await page.getByRole("link", { name: "Open the trace" }).click();
    await page.getByText("1 error", { exact: true }).waitFor();
    await page.keyboard.press("e");
    await page
      .getByText(/stand-in says 401/)
      .first()
      .waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: "Playground" }).waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Model: openai/gpt-4o-fail-401" }).waitFor();
    expect(await page.getByLabel("Text of message 2").inputValue()).toBe("Keep these words");
  });

  test("advises on the failure that it was", async () => {
    const { page } = await app.open(path());
    await page.getByLabel("Text of message 2").fill("Too many");
    await pickModel(page, "Model", "openai/gpt-4o-fail-429");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText("The provider takes no more calls for now.").waitFor();
    expect(await page.getByRole("link", { name: "Open the providers" }).count()).toBe(0);

    await page.getByRole("button", { name: "Model: openai/gpt-4o-fail-429" }).click();
    await page.getByPlaceholder("Find or type a model…").fill("openai/gpt-4o-fail-400");
    await page.keyboard.press("Enter");
    await page.getByPlaceholder("Find or type a model…").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText("provider openai answered 400: stand-in says 400").waitFor();

    expect(await page.getByText(/key or address of the provider/).count()).toBe(0);
  });

  test("names the message whose content is no JSON", async () => {
    const { page } = await app.open(path());
    const [message] = [{ id: "one", role: "user", text: "[{", isJson: true }];
    await page.evaluate(
      ([key, draft]) => localStorage.setItem(key ?? "", draft ?? ""),
      [
        `waggle.playground.${app.service.projectId}`,
        JSON.stringify({
          messages: [message],
          variables: {},
          tools: "",
          columns: [{ id: "two", model: "openai/gpt-4o-echo", parameters: {} }],
        }),
      ],
    );
    await page.reload();
    await page.getByRole("button", { name: "Run", exact: true }).click();

    await page.getByText("The content of message 1 is no JSON.").waitFor();

    await page.getByText("Change what the message names, and send it again.").waitFor();
  });

  test("asks for each variable that the service fills in", async () => {
    const { page } = await app.open(path());
    await page.getByLabel("Text of message 2").fill("{{ größe }} and {{ first name }}");
    const empty = page.getByText("Empty: the messages are sent without it.");
    await expect.poll(() => empty.count(), patience).toBe(2);
    await page.getByRole("textbox", { name: "größe" }).fill("180 cm");
    await expect.poll(() => empty.count(), patience).toBe(1);
    await page.getByRole("textbox", { name: "first name" }).fill("Ada");
    await pickModel(page, "Model", "openai/gpt-4o-echo");
    await page.getByRole("button", { name: "Run", exact: true }).click();

    await page.getByRole("listitem").getByText("180 cm and Ada").waitFor();
  });

  test("offers a viewer no run and no save, and asks for nothing that is refused", async () => {
    const userId = await app.addMember("project_viewer");
    const { page, findings } = await app.open(path(), { userId });
    await page
      .getByText("Your role may not run models. Project Admin or Project Member may.")
      .waitFor();
    const acts = page.getByRole("button", { name: /^(Run( model)?|Save)$/ });
    expect(await acts.count()).toBe(0);
    await page.keyboard.press("Control+s");
    expect(await page.getByRole("dialog").count()).toBe(0);
    expect(await page.getByRole("alert").count()).toBe(0);
    expect(await findings()).toEqual([]);
  });

  test("says why it cannot list the models, and what to do", async () => {
    const { page } = await app.open(path());
    await page.route("**/ListModels**", (route) =>
      route.fulfill({
        status: 503,
        contentType: "application/json",
        body: JSON.stringify({ code: "unavailable", message: "The providers do not answer." }),
      }),
    );

    await page.reload();

    await page.getByRole("alert").getByText("The providers do not answer.").waitFor();
    await page.getByText("The models cannot be listed.").waitFor();
  });

  test("saves a prompt, a version of it, and opens it again", async () => {
    const { page, inspect } = await app.open(path());
    await page.getByLabel("Text of message 1").fill("Greet {{ name }}.");
    await pickModel(page, "Model", "openai/gpt-4o-mini");
    await page.getByRole("button", { name: "Parameters of model, 0 set" }).click();
    await page.getByLabel("temperature").fill("0.3");
    await inspect("playground-parameters");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("greeting");
    await inspect("playground-save");
    await page.getByRole("button", { name: "Save prompt" }).click();
    await page.getByText("Saved the prompt “greeting”.").waitFor();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("greeting");
    await page.getByRole("button", { name: "Save new version" }).waitFor();
    await page.keyboard.press("Escape");
    const answer = await fetch(`${app.service.url}/v1/configurations?name=greeting`, {
      headers: { authorization: `Bearer ${app.service.projectKey}` },
    });
    const { configurations } = (await answer.json()) as { configurations: [{ id: string }] };
    const { id } = configurations[0];
    const read = async () =>
      (await app.call("GET", `/v1/configurations/${id}`)) as { parameters: object };
    const responseFormat = { type: "json_object" };
    const { parameters } = await read();
    await app.call("PUT", `/v1/configurations/${id}`, {
      parameters: { ...parameters, responseFormat },
    });

    const again = await app.open(path(`?prompt=${id}`));

    await again.page.getByRole("button", { name: "Model: openai/gpt-4o-mini" }).waitFor();
    await again.page.getByRole("button", { name: "Parameters of model, 1 set" }).waitFor();
    const text = again.page.getByLabel("Text of message 1");
    expect(await text.inputValue()).toBe("Greet {{ name }}.");
    await text.fill("Greet {{ name }} warmly.");
    // The prompt is not opened anew by a reload, which keeps what was typed.
    await again.page.waitForURL((url) => !url.search.includes("prompt"));
    await again.page.reload();
    await again.page.getByRole("button", { name: "Model: openai/gpt-4o-mini" }).waitFor();
    expect(await text.inputValue()).toBe("Greet {{ name }} warmly.");
    await again.page.getByRole("button", { name: "Save", exact: true }).click();
    const name = again.page.getByRole("textbox", { name: "Name" });
    expect(await name.inputValue()).toBe("greeting");
    await again.page.getByRole("button", { name: "Save new version" }).click();
    await again.page.getByText("Saved the prompt “greeting”.").waitFor();
    expect((await read()).parameters).toMatchObject({
      responseFormat,
      template: [{ content: "Greet {{ name }} warmly." }, {}],
    });
    await again.page.getByText("Kept with the prompt").click();
    await again.page.getByText('"json_object"').waitFor();
    await again.inspect("playground-kept");
  });

  test("opens a model event from its trace", async () => {
    const session = crypto.randomUUID();
    await app.call("POST", "/events/batch", {
      events: [
        {
          session_id: session,
          event_id: session,
          event_type: "session",
          event_name: "asked",
          source: "production",
          inputs: {},
        },
        {
          session_id: session,
          event_type: "model",
          event_name: "answer",
          source: "production",
          config: { model: "gpt-4o-mini", provider: "openai" },
          inputs: { chat_history: [{ role: "user", content: "Where is my parcel?" }] },
          outputs: { role: "assistant", content: "On its way." },
        },
      ],
    });
    const { page } = await app.open(`/app/p/${app.service.projectId}/traces/${session}`);
    await page.getByRole("treeitem").filter({ hasText: "answer" }).click();
    await page.getByRole("region", { name: "Chosen event" }).getByText("On its way.").waitFor();

    await page.getByRole("button", { name: "More for this event" }).click();
    await page.getByRole("menuitem", { name: "Open in the playground" }).click();

    await page.getByRole("button", { name: "Model: openai/gpt-4o-mini" }).waitFor();
    const text = page.getByLabel("Text of message 1");
    expect(await text.inputValue()).toBe("Where is my parcel?");
  });

  test("opens an event of another provider, and says what it does not carry", async () => {
    const eventId = crypto.randomUUID();
    await app.call("POST", "/events", {
      event: {
        event_id: eventId,
        event_type: "model",
        event_name: "answer",
        config: { model: "gpt-4o-mini", provider: "openai", tools: [{ type: "web_search" }] },
        inputs: {
          system: "Be kind.",
          messages: [{ role: "user", content: [{ type: "text", text: "Where is it?" }] }],
        },
      },
    });

    const { page, findings } = await app.open(path(`?event=${eventId}`));

    const notes = page.getByRole("status").filter({ hasText: "Not carried over" });
    await notes.getByText("the tool web_search").waitFor();
    expect(await page.getByLabel("Text of message 1").inputValue()).toBe("Be kind.");
    expect(await page.getByLabel("Text of message 2").inputValue()).toBe("Where is it?");
    expect(await findings()).toEqual([]);
    await notes.getByRole("button", { name: "Dismiss" }).click();
    await notes.waitFor({ state: "detached" });
  });

  test("opens a model event once, with its messages and parameters", async () => {
    const eventId = crypto.randomUUID();
    await fetch(`${app.service.url}/events`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${app.service.projectKey}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({
        event: {
          event_id: eventId,
          event_type: "model",
          event_name: "answer",
          config: { model: "gpt-4o-mini", provider: "openai", temperature: 0.7 },
          inputs: { chat_history: [{ role: "user", content: "<b>Where</b> is my order?" }] },
          outputs: { role: "assistant", content: "On its way." },
        },
      }),
    });

    const { page } = await app.open(path(`?event=${eventId}`));

    await page.getByRole("button", { name: "Model: openai/gpt-4o-mini" }).waitFor();
    await page.getByRole("button", { name: "Parameters of model, 1 set" }).waitFor();
    const text = await page.getByLabel("Text of message 1").inputValue();
    expect(text).toBe("<b>Where</b> is my order?");
    await page.waitForURL((url) => !url.search.includes("event"));
    await page.getByLabel("Text of message 1").fill("Where is it?");
    await page.reload();
    await page.getByRole("button", { name: "Model: openai/gpt-4o-mini" }).waitFor();
    expect(await page.getByLabel("Text of message 1").inputValue()).toBe("Where is it?");
  });

  test("goes on from an answer that calls a tool, with its result", async () => {
    const { page, inspect } = await app.open(path());
    await page.getByLabel("Text of message 2").fill("Where is order 4711?");
    await pickModel(page, "Model", "openai/gpt-4o-echo");
    await page.getByText("Tools", { exact: true }).click();
    await page.getByRole("textbox", { name: "Tools as JSON" }).click();
    await page.keyboard.insertText('[{ "name": "find", "parameters": { "type": "object" } }]');
    await page.getByRole("button", { name: "Run", exact: true }).click();

    await page.getByRole("button", { name: "Continue" }).click();

    await page.locator('[aria-label="Text of message 4"]:focus').waitFor();
    await page.getByText("with tool_calls").waitFor();
    const callId = await page.getByLabel("Call that message 4 answers").inputValue();
    expect(callId).not.toBe("");
    await page.keyboard.type("It is on its way.");
    await inspect("playground-continued");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    const answer = page.getByRole("region", { name: "Model", exact: true });
    await answer.getByText("It is on its way.").waitFor();
    await page.getByRole("button", { name: "Continue" }).click();
    expect(await page.getByLabel("Role of message 5").inputValue()).toBe("assistant");
    expect(await page.getByLabel("Role of message 6").inputValue()).toBe("user");
    expect(standIn.requests.findLast(({ method }) => method === "POST")?.body).toMatchObject({
      messages: [
        { role: "user", content: "Where is order 4711?" },
        { role: "assistant", tool_calls: [{ id: callId, function: { name: "find" } }] },
        { role: "tool", tool_call_id: callId, content: "It is on its way." },
      ],
    });
  });

  test("says that an answer is cut off", async () => {
    const { page } = await app.open(path());
    await page.getByLabel("Text of message 2").fill("Tell me all");
    await pickModel(page, "Model", "openai/gpt-4o-length");

    await page.getByRole("button", { name: "Run", exact: true }).click();

    await page.getByRole("status").getByText("done, but cut off").waitFor();
    await page.getByText("raise max_tokens in the parameters").waitFor();
  });

  test("says what keeps a draft from being saved", async () => {
    const { page, findings } = await app.open(path());
    await pickModel(page, "Model", "openai/gpt-4o-mini");
    await page.getByText("Tools", { exact: true }).click();
    await page.getByRole("textbox", { name: "Tools as JSON" }).click();
    await page.keyboard.type("oops");

    await page.getByRole("button", { name: "Save", exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox", { name: "Name" }).fill("Unreadable");

    await dialog.getByRole("alert").getByText("The tools cannot be read").waitFor();
    const save = dialog.getByRole("button", { name: "Save prompt" });
    expect(await save.isDisabled()).toBe(true);
    expect(await findings()).toEqual([]);
  });

  test("shows the model of each of four columns", async () => {
    const { page, picture } = await app.open(path());
    const labels = ["Model 1", "Model 2", "Model 3", "Model 4"];
    for (const _ of labels.slice(1))
      await page.getByRole("button", { name: "Add a model" }).click();
    for (const label of labels) await pickModel(page, label, "openai/gpt-4o-mini");

    const pickers = page.getByRole("button", { name: /^Model \d: openai/ });
    await picture("playground-four");

    for (const picker of await pickers.all()) {
      const name = picker.getByText("openai/gpt-4o-mini");
      // The whole name has its room.
      const isCut = await name.evaluate((one: Cut) => one.scrollWidth > one.clientWidth);
      expect(isCut).toBe(false);
    }
    expect(await pickers.count()).toBe(labels.length);
  });
});
