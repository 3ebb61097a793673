// Converts tools and tool_choice of the OpenAI API for the Vercel AI SDK. Source:
// docs/generations.md.

import type { LanguageModelV4FunctionTool, LanguageModelV4ToolChoice } from "@ai-sdk/provider";
import type { JsonValue } from "../../../base/json.ts";
import { type Fields, itemFields, untranslatable } from "../../openai/fields.ts";

type Schema = LanguageModelV4FunctionTool["inputSchema"];

/** Schema of a function without parameters, which providers require. */
const noParameters: Schema = { type: "object", properties: {} };

export function toTools(request: Fields): LanguageModelV4FunctionTool[] | undefined {
  const items = request.list("tools");
  if (!items || items.length === 0) return undefined;
  return items.map((item) => toTool(itemFields(item)));
}

function toTool(tool: Fields): LanguageModelV4FunctionTool {
  if (tool.needText("type") !== "function") tool.refuse("type", untranslatable);
  tool.only("type", "function");
  const declared = tool.fields("function") ?? tool.refuse("function", "must be given");
  declared.only("name", "description", "parameters", "strict");
  const description = declared.text("description");
  return {
    type: "function",
    name: declared.needText("name"),
    ...(description !== undefined && { description }),
    inputSchema: toSchema(declared.fields("parameters")?.object) ?? noParameters,
    ...(declared.boolean("strict") === true && { strict: true }),
  };
}

/** Passes a JSON Schema on unchanged: the provider checks it. */
export function toSchema(value: JsonValue | undefined): Schema | undefined {
  return value as Schema | undefined;
}

export function toToolChoice(
  request: Fields,
  tools: readonly LanguageModelV4FunctionTool[] | undefined,
): LanguageModelV4ToolChoice | undefined {
  const choice = request.value("tool_choice");
  if (choice === undefined) return undefined;
  if (choice === "none" || choice === "auto") return tools && { type: choice };
  if (!tools) return request.refuse("tool_choice", "needs tools");
  if (choice === "required") return { type: "required" };
  const named = typeof choice === "string" ? undefined : request.fields("tool_choice");
  if (named?.text("type") !== "function") return request.refuse("tool_choice", untranslatable);
  const toolName = named.fields("function")?.needText("name") ?? "";
  if (tools.some(({ name }) => name === toolName)) return { type: "tool", toolName };
  return request.refuse("tool_choice", "must name one of the tools");
}
