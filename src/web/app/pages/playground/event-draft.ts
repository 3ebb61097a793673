// Drafts of recorded model events and of saved prompts. A draft tells what it could not carry over,
// since a changed prompt must not run unnoticed. Pure functions.

import type { JsonObject } from "@bufbuild/protobuf";
import type { Configuration } from "../../../../../gen/waggle/v1/configuration_pb.js";
import type { Event } from "../../../../../gen/waggle/v1/event_pb.js";
import { type Fields, isFields } from "../../design/chat-message.ts";
import { readInputs } from "../session/event-messages.ts";
import { carryMessages } from "./carried-messages.ts";
import { carryParameters, carryTools, isParameter } from "./carried-tools.ts";
import { type Draft, emptyDraft, newColumn, toDraftMessages } from "./draft.ts";

/** Members of a whole request that change no answer, or that the draft holds elsewhere. */
const quietInputs = ["model", "stream", "tools", "user", "metadata"];

export function eventToDraft({
  config = {},
  inputs = {},
}: Pick<Event, "config" | "inputs">): Draft {
  const read = readInputs(inputs, true);
  const carried = carryMessages(read.messages);
  const template = toDraftMessages(config["template"]);
  // A whole request that was logged as inputs has its settings beside its messages.
  const isRequest = ["messages", "contents"].some((name) => read.names.includes(name));
  const settings: Fields = { ...(isRequest && inputs), ...config };
  const { parameters, notes } = carryParameters(settings);
  const tools = carryTools(config["tools"] ?? config["functions"] ?? inputs["tools"]);
  const others = Object.entries(inputs).filter(([name]) => !read.names.includes(name));
  const isTold = (name: string) =>
    quietInputs.includes(name) || (isRequest && isSetting(name, inputs[name]));
  const left = template.length > 0 ? [] : others.filter(([name]) => !isTold(name));
  return {
    ...emptyDraft(),
    ...(carried.messages.length > 0
      ? { messages: carried.messages }
      : template.length > 0 && { messages: template }),
    variables: Object.fromEntries(others.map(([name, value]) => [name, textOf(value)])),
    tools: tools.text,
    columns: [{ ...newColumn(modelOf(settings)), parameters }],
    leftOut: [
      ...carried.notes,
      ...left.map(([name]) => `the input ${name}`),
      ...tools.notes,
      ...notes,
    ],
  };
}

/** Returns whether a member of a request is a setting, which `carryParameters` carries or tells. */
function isSetting(name: string, value: unknown): boolean {
  if (/^generation_?config$/i.test(name)) return true;
  const { parameters, notes } = carryParameters({ [name]: value });
  return Object.keys(parameters).length + notes.length > 0;
}

function modelOf({ model, provider: sent }: Fields): string {
  if (typeof model !== "string") return "";
  if (typeof sent !== "string") return model;
  // Strands names itself, whatever provider it calls.
  if (sent === "strands-agents") return model;
  const provider = providerOf(sent);
  return model.startsWith(`${provider}/`) ? model : `${provider}/${model}`;
}

/** Names in the GenAI conventions and OpenInference whose first part is no provider of the API. */
const providerNames: ReadonlyMap<string, string> = new Map([
  ["aws", "bedrock"],
  ["aws.bedrock", "bedrock"],
  ["gcp.gemini", "google"],
  ["gcp.gen_ai", "google"],
  ["gcp.vertex_ai", "google"],
  ["gemini", "google"],
  ["mistral_ai", "mistral"],
  ["mistralai", "mistral"],
  ["vertex_ai", "google"],
  ["vertexai", "google"],
]);

/**
 * Returns the API's name of a provider. The AI SDK appends the provider's interface, as in
 * `openai.responses`; no name of the API has a dot.
 */
function providerOf(sent: string): string {
  const name = sent.toLowerCase();
  return providerNames.get(name) ?? name.replace(/\..*/s, "");
}

export function promptToDraft({ name, parameters = {}, provider }: Configuration): Draft {
  const { model, template, selectedFunctions, ...settings } = parameters;
  const messages = toDraftMessages(template);
  const carried = carryParameters(settings);
  const tools = carryTools(selectedFunctions);
  return {
    ...emptyDraft(),
    promptName: name,
    promptRest: restOf(settings),
    ...(messages.length > 0 && { messages }),
    tools: tools.text,
    columns: [{ ...newColumn(modelOf({ model, provider })), parameters: carried.parameters }],
    leftOut: [...tools.notes, ...carried.notes],
  };
}

/** Returns the parameters of a prompt that the draft does not hold, hyperparameters included. */
function restOf(parameters: JsonObject): JsonObject {
  const { call_type: _, hyperparameters, ...settings } = parameters;
  const all = isFields(hyperparameters) ? hyperparameters : {};
  const others = Object.entries(all).filter(([name]) => !isParameter(name));
  return { ...settings, ...(others.length > 0 && { hyperparameters: Object.fromEntries(others) }) };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
