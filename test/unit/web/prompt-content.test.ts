// The editor of a prompt keeps what it does not show.

import { expect, test } from "vitest";
import {
  messagesFault,
  toContent,
  toParameters,
  variablesOf,
} from "../../../src/web/app/pages/prompts/prompt-content.ts";

const call = { id: "c1", type: "function", function: { name: "find", arguments: "{}" } };
const picture = [
  { type: "text", text: "What is in {{ bild }}?" },
  { type: "image_url", image_url: { url: "https://example.com/a.png" } },
];
const parameters = {
  call_type: "chat",
  model: "gpt-4o",
  hyperparameters: { temperature: 0 },
  template: [
    { role: "system", content: "Be brief." },
    { role: "user", content: picture },
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", content: "12", tool_call_id: "c1" },
  ],
};

test("messages with images and calls of tools are saved as they were read", () => {
  expect(toParameters(toContent("openai", parameters), parameters)).toEqual(parameters);
});

test("a changed text leaves other messages and other parts of its message alone", () => {
  const content = toContent("openai", parameters);
  const messages = content.messages.map((message, index) =>
    index === 3 ? { ...message, text: "13" } : message,
  );

  const { template } = toParameters({ ...content, messages }, parameters);

  expect(template).toEqual([
    ...parameters.template.slice(0, 3),
    { role: "tool", content: "13", tool_call_id: "c1" },
  ]);
});

test("a content with an image is edited as JSON, and a fault in it is named", () => {
  const content = toContent("openai", parameters);
  const withText = (text: string) =>
    content.messages.map((message, index) => (index === 1 ? { ...message, text } : message));
  const messages = withText('[{"type": "text", "text": "Hi"}]');

  expect(messagesFault(messages)).toBeUndefined();
  expect(toParameters({ ...content, messages }, parameters)["template"]).toContainEqual({
    role: "user",
    content: [{ type: "text", text: "Hi" }],
  });
  expect(messagesFault(withText("[{"))).toBe("The content of message 2 is no JSON.");
});

test("variables are those that the service fills in", () => {
  const texts = ["{{ größe }}, {{first name}} and {{ a.b }}", "{{ größe }} {{ }} {x}"];

  expect(variablesOf(texts.map((text) => ({ text })))).toEqual(["größe", "first name", "a.b"]);
});
