// A proxied chat that names a configuration: the configuration's members of the OpenAI API, under
// those that the request gives itself. Source: docs/decisions.md, 44.5; docs/prompts.md.

import { refuse } from "../../base/errors.ts";
import { isJsonArray, isJsonObject, type JsonObject, present } from "../../base/json.ts";
import { assertSound } from "../../tracing/events/parse-event.ts";
import { historyName, toTool, toToolChoice } from "../chat/request.ts";
import { fillMessages } from "../chat/template.ts";
import type { UsedConfiguration } from "../configurations/used.ts";
import { fieldsOf } from "../openai/fields.ts";

/** Members that name a configuration; no provider sees them. */
export type Naming = {
  readonly configuration: string;
  readonly environment: string | undefined;
  /** Values of the placeholders of the template. */
  readonly inputs: JsonObject;
  /** The other members. */
  readonly body: JsonObject;
};

/** Returns how a chat names a configuration; undefined if it does not. */
export function readNaming(json: unknown): Naming | undefined {
  if (!isJsonObject(json) || (json["configuration"] ?? undefined) === undefined) return undefined;
  const { configuration: _, environment: __, inputs: ___, ...body } = json;
  const fields = fieldsOf(json);
  const inputs = fields.fields("inputs")?.object ?? {};
  if (Object.hasOwn(inputs, historyName)) {
    refuse(`inputs.${historyName}`, "is reserved for the recorded messages; use another name");
  }
  assertSound(inputs, "inputs");
  const environment = fields.text("environment");
  return { configuration: fields.needText("configuration"), environment, inputs, body };
}

/** Members of a request that no configuration sets. */
const ofRequests: ReadonlySet<string> = new Set(["model", "messages", "stream", "stream_options"]);

/** Returns the body of a chat with a configuration. Throws INVALID_ARGUMENT naming a member. */
export function withConfiguration(
  { body, inputs }: Pick<Naming, "body" | "inputs">,
  used: UsedConfiguration,
): JsonObject {
  const given = Object.entries(used.hyperparameters).filter(([name]) => !ofRequests.has(name));
  const own = body["messages"] ?? [];
  const { messages: filled } = fillMessages(used.template, inputs);
  return {
    ...Object.fromEntries(given),
    ...present({ response_format: used.responseFormat }),
    ...toolsOf(body, used),
    ...body,
    model: body["model"] ?? used.model,
    messages: isJsonArray(own) ? [...filled, ...own] : own,
  };
}

/** Returns the tools of a configuration, unless the request has its own. */
function toolsOf(body: JsonObject, { functions, functionCall }: UsedConfiguration): JsonObject {
  const hasOwn = ["tools", "functions"].some((name) => (body[name] ?? undefined) !== undefined);
  if (hasOwn || functions.length === 0) return {};
  const names = functions.flatMap(({ name }) => (typeof name === "string" ? [name] : []));
  return present({
    tools: functions.map(toTool),
    tool_choice: toToolChoice(functionCall, names),
  });
}

export function hasMessages({ body }: Pick<Naming, "body">): boolean {
  const { messages } = body;
  return isJsonArray(messages) && messages.length > 0;
}
