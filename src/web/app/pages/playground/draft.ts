// The draft of the playground, kept in this browser for each project, so that neither a reload nor
// an ended sign-in loses it. Pure functions, except for reading and keeping.

import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { type Fields, isFields } from "../../design/chat-message.ts";
import { formatValue } from "../../design/format.ts";

export type DraftMessage = {
  readonly id: string;
  readonly role: string;
  readonly text: string;
  /** True for content other than text: `text` is its JSON. */
  readonly isJson?: boolean;
  /** Other fields, such as `tool_calls`, which are sent as they came. */
  readonly rest?: JsonObject;
};

export const parameterNames = [
  "temperature",
  "max_tokens",
  "top_p",
  "frequency_penalty",
  "presence_penalty",
  "stop",
] as const;

export type ParameterName = (typeof parameterNames)[number];

export type Column = {
  readonly id: string;
  /** Empty while none is chosen. */
  readonly model: string;
  /** As typed; absent ones are left to the provider. */
  readonly parameters: Readonly<Partial<Record<ParameterName, string>>>;
};

export type Draft = {
  readonly messages: readonly DraftMessage[];
  readonly variables: Readonly<Record<string, string>>;
  /** JSON of the functions that the model may call, as typed. */
  readonly tools: string;
  readonly columns: readonly Column[];
  /** Name of the prompt that was opened, under which the draft is saved again. */
  readonly promptName?: string;
  /** Its parameters that the playground has no field for; saving keeps them. */
  readonly promptRest?: JsonObject;
  /** Parts of the opened event or prompt that the draft lacks, as parts of a sentence. */
  readonly leftOut?: readonly string[];
};

export const columnsMax = 4;

export function newMessage(role: string, text = ""): DraftMessage {
  return { id: crypto.randomUUID(), role, text };
}

export function newColumn(model = ""): Column {
  return { id: crypto.randomUUID(), model, parameters: {} };
}

export function emptyDraft(): Draft {
  return {
    messages: [newMessage("system"), newMessage("user")],
    variables: {},
    tools: "",
    columns: [newColumn()],
  };
}

const keyOf = (projectId: string): string => `waggle.playground.${projectId}`;

/** Returns the kept draft of a project, or an empty one. */
export function readDraft(projectId: string): Draft {
  try {
    const kept = JSON.parse(localStorage.getItem(keyOf(projectId)) ?? "null") as Draft | null;
    return kept && kept.messages.length > 0 && kept.columns.length > 0 ? kept : emptyDraft();
  } catch {
    // The kept draft has a form that this release does not know.
    return emptyDraft();
  }
}

export function keepDraft(projectId: string, draft: Draft): void {
  try {
    localStorage.setItem(keyOf(projectId), JSON.stringify(draft));
  } catch {
    // The browser gives no more room; the draft stays in the page.
  }
}

/** Returns a message as the API takes it; fails when a content that is JSON has a fault. */
export function toApiMessage({ role, text, isJson, rest }: DraftMessage): JsonObject {
  const content = isJson === true ? (JSON.parse(text) as JsonObject) : text;
  return { ...rest, role, content };
}

/** Returns messages of an event or a prompt as a draft has them. */
export function toDraftMessages(value: unknown): readonly DraftMessage[] {
  if (typeof value === "string") return [newMessage("user", value)];
  if (!Array.isArray(value)) return [];
  return value.filter(isFields).map(({ role, content, ...rest }) => {
    const isText = typeof content === "string" || content === null || content === undefined;
    return {
      ...newMessage(typeof role === "string" ? role : "user", formatValue(content)),
      ...(!isText && { isJson: true }),
      ...(Object.keys(rest).length > 0 && { rest: rest as JsonObject }),
    };
  });
}

/**
 * Returns messages with an answer at their end, followed by empty ones to fill in: a result for
 * each tool that the answer calls, or else a message of the person.
 */
export function continueWith(
  messages: readonly DraftMessage[],
  answer: Fields,
): readonly DraftMessage[] {
  const { tool_calls: calls } = answer;
  const results = (Array.isArray(calls) ? calls : []).filter(isFields).map(({ id }) => ({
    ...newMessage("tool"),
    rest: { tool_call_id: String(id) },
  }));
  const next = results.length > 0 ? results : [newMessage("user")];
  return [...messages, ...toDraftMessages([answer]), ...next];
}

/** Returns the parameters as the API takes them. */
export function toHyperparameters({ parameters }: Column): JsonObject {
  const entries = parameterNames.flatMap((name): readonly (readonly [string, JsonValue])[] => {
    const typed = parameters[name]?.trim();
    if (typed === undefined || typed === "") return [];
    if (name === "stop") return [[name, typed.split("\n").filter(Boolean)]];
    const value = Number(typed);
    // The service names a value that is not a number.
    return [[name, Number.isNaN(value) ? typed : value]];
  });
  return Object.fromEntries(entries);
}

/** Returns the parameters of a prompt, with those of the opened one that the draft lacks. */
export function toPromptParameters(draft: Draft, column: Column): JsonObject {
  const { hyperparameters, ...rest } = draft.promptRest ?? {};
  const functions = toFunctions(draft.tools);
  return {
    ...rest,
    call_type: "chat",
    model: column.model.includes("/")
      ? column.model.slice(column.model.indexOf("/") + 1)
      : column.model,
    hyperparameters: {
      ...(isFields(hyperparameters) && hyperparameters),
      ...toHyperparameters(column),
    },
    template: draft.messages.map(toApiMessage),
    ...(functions.length > 0 && {
      selectedFunctions: functions.map((one) => ({ id: one["name"] ?? "", ...one })),
    }),
  };
}

/** Returns recorded parameters as typed ones. */
export function toParameters(value: unknown): Column["parameters"] {
  if (!isFields(value)) return {};
  const entries = parameterNames.flatMap((name) => {
    const given = value[name];
    // Langfuse's client says so where a call has no limit.
    if (given === undefined || given === null || given === "" || given === "Infinity") return [];
    const isText = typeof given === "string";
    const text = Array.isArray(given) ? given.join("\n") : isText ? given : JSON.stringify(given);
    return [[name, text] as const];
  });
  return Object.fromEntries(entries);
}

/** Returns the functions in the typed JSON, in either of the forms of OpenAI's API. */
export function toFunctions(tools: string): readonly JsonObject[] {
  if (tools.trim() === "") return [];
  const parsed: unknown = JSON.parse(tools);
  const list = Array.isArray(parsed) ? parsed : [parsed];
  return list.map((tool: unknown) => {
    if (!isFields(tool)) throw new SyntaxError("each tool is an object");
    return (isFields(tool["function"]) ? tool["function"] : tool) as JsonObject;
  });
}

/** Returns the fault of the typed tools; undefined if there is none. */
export function toolsFault(tools: string): string | undefined {
  return faultOf(() => toFunctions(tools));
}

/** Returns why a text cannot be read; undefined if it can. */
function faultOf(read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : "This is no JSON.";
  }
}

/** Returns what keeps a draft from being saved, as a sentence; undefined if nothing does. */
export function draftFault({ messages, tools }: Draft): string | undefined {
  const wrong = messages.findIndex(
    ({ text, isJson }) => isJson === true && faultOf(() => JSON.parse(text)) !== undefined,
  );
  if (wrong !== -1) return `The content of message ${wrong + 1} is no JSON.`;
  const fault = toolsFault(tools);
  return fault === undefined ? undefined : `The tools cannot be read: ${fault}`;
}
