// Chats and proxied chats that name a configuration: the provider's request, and the record.
// Source: docs/decisions.md, 44.5.

import { describe, expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import { type AnsweredGeneration, bodyOf, startChatService } from "../support/chats.ts";
import { addConfiguration } from "../support/configurations.ts";
import { givenAMetricProject } from "../support/metrics.ts";
import { lastOf } from "../support/proxied.ts";

const chats = givenStarted(startChatService);

async function call(route: string, body: object): Promise<Response> {
  const [method = "", path = ""] = route.split(" ");
  return fetch(chats.service.url + path, {
    method,
    headers: {
      authorization: `Bearer ${chats.service.projectKey}`,
      "content-type": "application/json",
    },
    body: JSON.stringify(body),
  });
}

const find = { name: "find", description: "Finds.", parameters: { type: "object" } };
const template = [{ role: "system", content: "Greet {{ name }}." }];
const parameters = {
  call_type: "chat",
  model: "gpt-4o-mini",
  hyperparameters: { temperature: 0.2, max_tokens: 50 },
  responseFormat: { type: "json_object" },
  selectedFunctions: [{ id: "f1", ...find }],
  functionCallParams: "force",
  forceFunction: { name: "find" },
  template,
};

/** Creates a configuration, whose name is unique, and returns its id. */
async function make(name: string, more: object = {}): Promise<string> {
  const body = { name, provider: "openai", parameters, ...more };
  const made = await call("POST /v1/configurations", body);
  return (await bodyOf<{ insertedId: string }>(made)).insertedId;
}

const user = { role: "user", content: "Hello" };
const greeted = { role: "system", content: "Greet Ada." };
const sent = {
  model: "gpt-4o-mini",
  temperature: 0.2,
  max_tokens: 50,
  response_format: { type: "json_object" },
  tools: [{ type: "function", function: find }],
  tool_choice: { type: "function", function: { name: "find" } },
};

describe("POST /chat", () => {
  /** Sends a chat without a model, and returns its event. */
  async function eventOf(body: Record<string, unknown>) {
    const response = await chats.chat({ model: undefined, messages: [user], ...body });
    const { generation_id: id } = await bodyOf<AnsweredGeneration>(response);
    return chats.readEvent(id);
  }

  test("takes model, parameters, functions and messages of a configuration", async () => {
    const id = await make("whole");

    const event = await eventOf({ configuration: id, inputs: { name: "Ada" } });

    expect(lastOf(chats.standIn).body).toEqual({ ...sent, messages: [greeted, user] });
    expect(event).toMatchObject({
      config: {
        provider: "openai",
        model: "gpt-4o-mini",
        version: "v1",
        configuration: { id, name: "whole", version: "v1" },
        hyperparameters: { temperature: 0.2, max_tokens: 50 },
        response_format: { type: "json_object" },
        template: [...template, user],
      },
      inputs: { name: "Ada", chat_history: [greeted, user] },
    });
  });

  test("needs no messages of its own where there is a template", async () => {
    const text = { ...parameters, template: "Greet {{ name }}." };
    await make("text", { parameters: text });

    await eventOf({ configuration: "text", inputs: { name: "Ada" }, messages: [] });
    const alone = lastOf(chats.standIn).body["messages"];
    await eventOf({ configuration: "text", inputs: { name: "Ada" } });
    const before = lastOf(chats.standIn).body["messages"];

    expect(alone).toEqual([{ role: "user", content: "Greet Ada." }]);
    expect(before).toEqual([greeted, user]);
  });

  test("lets the request say otherwise", async () => {
    await make("otherwise");

    const event = await eventOf({
      configuration: "otherwise",
      model: "local/other",
      inputs: { name: "Ada" },
      hyperparameters: { temperature: 1 },
      functions: [{ name: "other", parameters: {} }],
      version: "mine",
    });

    expect(lastOf(chats.standIn).body).toEqual({
      model: "other",
      messages: [greeted, user],
      temperature: 1,
      max_tokens: 50,
      response_format: { type: "json_object" },
      tools: [
        { type: "function", function: { name: "other", parameters: expect.any(Object) as object } },
      ],
    });
    expect(event.config).toMatchObject({
      version: "mine",
      configuration: { name: "otherwise", version: "v1" },
    });
  });

  test("uses the version that is deployed in an environment", async () => {
    const id = await make("deployed", { env: ["prod"] });
    const later = { ...parameters, model: "gpt-4o" };
    await call(`PUT /v1/configurations/${id}`, { parameters: later });
    const named = { configuration: "deployed", inputs: { name: "Ada" } };

    const newest = await eventOf(named);
    const deployed = await eventOf({ ...named, environment: "prod" });

    expect(newest.config).toMatchObject({ model: "gpt-4o", configuration: { version: "v2" } });
    expect(deployed.config).toMatchObject({
      model: "gpt-4o-mini",
      configuration: { version: "v1", environment: "prod" },
    });
  });

  test.each([
    [{ configuration: "absent" }, "configuration: the project has no such configuration"],
    [{ configuration: "" }, "configuration: the project has no such configuration"],
    [{ configuration: "refused", environment: "dev" }, "none of this name deployed in dev"],
    [
      { configuration: "refused", environment: "test" },
      'environment: must be one of dev, staging, prod, not "test"',
    ],
    [{ environment: "dev" }, "environment: needs a configuration"],
    [{ configuration: "refused" }, "inputs.name: is missing"],
    [{ messages: [], model: "openai/m" }, "messages: must have at least one message"],
  ])("refuses %j by name", async (body, message) => {
    await make("refused").catch(() => undefined);

    const response = await chats.chat({ model: undefined, messages: [user], ...body });

    expect(response.status).toBe(400);
    expect(((await response.json()) as { message: string }).message).toContain(message);
  });

  test("finds no configuration of another project", async () => {
    const other = await givenAMetricProject(chats.service);
    const id = await addConfiguration(chats.service.database, other);

    for (const configuration of [id, `stored-${id}`]) {
      const response = await chats.chat({ configuration });
      expect(response.status).toBe(400);
      expect(await response.text()).toContain("the project has no such configuration");
    }
  });
});

describe("POST /v1/chat/completions", () => {
  const completions = (body: object) => call("POST /v1/chat/completions", body);

  async function eventOf(response: Response) {
    const text = await response.text();
    if (response.status !== 200) throw new Error(text);
    return chats.readEvent(response.headers.get("x-waggle-generation-id") ?? "");
  }

  test("takes what the request leaves out, and hides the names from the provider", async () => {
    const id = await make("proxied", { env: ["staging"] });

    const event = await eventOf(
      await completions({
        configuration: "proxied",
        environment: "staging",
        inputs: { name: "Ada" },
        messages: [user],
        temperature: 1,
        seed: 7,
      }),
    );

    expect(lastOf(chats.standIn).body).toEqual({
      ...sent,
      messages: [greeted, user],
      temperature: 1,
      seed: 7,
    });
    expect(event).toMatchObject({
      config: {
        version: "v1",
        configuration: { id, name: "proxied", version: "v1", environment: "staging" },
        template,
        hyperparameters: { temperature: 1, max_tokens: 50, seed: 7 },
      },
      inputs: { name: "Ada", chat_history: [greeted, user] },
    });
  });

  test("streams, and keeps the tools and the model of the request", async () => {
    await make("streamed");

    const response = await completions({
      configuration: "streamed",
      inputs: { name: "Ada" },
      model: "local/other",
      stream: true,
      tools: [],
    });

    expect(response.headers.get("content-type")).toContain("text/event-stream");
    expect((await eventOf(response)).config).toMatchObject({
      model: "other",
      configuration: { name: "streamed" },
    });
    expect(lastOf(chats.standIn).body).toMatchObject({ stream: true, messages: [greeted] });
    expect(lastOf(chats.standIn).body["tools"]).toEqual([]);
  });

  test.each([
    [{ configuration: "absent" }, "configuration: the project has no such configuration"],
    [{ configuration: 5 }, "configuration: must be text"],
    [{ configuration: "bad", inputs: [] }, "inputs: must be an object"],
    [{ configuration: "bad", inputs: { chat_history: [] } }, "inputs.chat_history: is reserved"],
    [{ configuration: "bad" }, "inputs.name: is missing"],
  ])("refuses %j by name", async (body, message) => {
    await make("bad").catch(() => undefined);

    const response = await completions({ messages: [user], ...body });

    expect(response.status).toBe(400);
    expect(await response.text()).toContain(message);
  });
});
