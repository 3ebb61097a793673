// OpenAI's Responses API in the stand-in.

import {
  type Ask,
  type Dialect,
  type Frame,
  type Json,
  piecesOf,
  recordsIn,
  type Reply,
  textOf,
  tokensIn,
} from "./dialect.ts";
import { openAi } from "./openai.ts";

function toAsk(body: Json, model: string): Ask {
  const { input } = body;
  const items = typeof input === "string" ? [{ content: input }] : recordsIn(input);
  const tools = recordsIn(body["tools"]).map(({ name }) => String(name));
  return {
    model,
    isStream: body["stream"] === true,
    choices: 1,
    tools: body["tool_choice"] === "none" ? [] : tools,
    hasToolResult: items.some(({ type }) => type === "function_call_output"),
    lastText: textOf(items.at(-1)?.["content"]),
    promptTokens: tokensIn([body["instructions"], input]),
    isUsageWanted: true,
  };
}

const ends = {
  stop: { status: "completed", type: "response.completed" },
  tools: { status: "completed", type: "response.completed" },
  length: { status: "incomplete", type: "response.incomplete" },
  failed: { status: "failed", type: "response.failed" },
} as const;

function toUsage({ input, cacheRead, cacheWrite, output, reasoning }: NonNullable<Reply["usage"]>) {
  const sent = input + cacheRead + cacheWrite;
  return {
    input_tokens: sent,
    input_tokens_details: { cached_tokens: cacheRead },
    output_tokens: output + reasoning,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: sent + output + reasoning,
  };
}

function itemsOf({ text, reasoning, calls }: Reply): readonly Json[] {
  const status = "completed";
  const content = [{ type: "output_text", text, annotations: [] }];
  return [
    ...(reasoning === undefined
      ? []
      : [{ id: "rs_1", type: "reasoning", summary: [{ type: "summary_text", text: reasoning }] }]),
    ...(text === null
      ? []
      : [{ id: "msg_1", type: "message", status, role: "assistant", content }]),
    ...calls.map(({ id, name, arguments: args }) => ({
      id: `fc_${id}`,
      type: "function_call",
      status,
      call_id: id,
      name,
      arguments: JSON.stringify(args),
    })),
  ];
}

function toResponse({ model }: Ask, status: string, rest: Json): Json {
  return {
    id: "resp_standin",
    object: "response",
    created_at: 1_760_000_000,
    status,
    model: `${model}-2026-01-01`,
    error: null,
    incomplete_details: null,
    output: [],
    ...rest,
  };
}

function toAnswer(ask: Ask, reply: Reply): Json {
  const { finish, usage } = reply;
  return toResponse(ask, ends[finish].status, {
    output: itemsOf(reply),
    ...(finish === "length" && { incomplete_details: { reason: "max_output_tokens" } }),
    ...(finish === "failed" && { error: { code: "server_error", message: "stand-in failed" } }),
    ...(usage && { usage: toUsage(usage) }),
  });
}

function toFrames(ask: Ask, reply: Reply): readonly Frame[] {
  let number = 0;
  const frame = (kind: Frame["kind"], type: string, rest: Json): Frame => {
    const data = JSON.stringify({ type, sequence_number: number, ...rest });
    number += 1;
    return { kind, bytes: `event: ${type}\ndata: ${data}\n\n` };
  };
  const begun = { response: toResponse(ask, "in_progress", {}) };
  const answer = toAnswer(ask, reply);
  return [
    frame("open", "response.created", begun),
    frame("open", "response.in_progress", begun),
    ...itemsOf(reply).flatMap((item, index) => itemFrames(item, index, frame)),
    frame("finish", ends[reply.finish].type, { response: answer }),
  ];
}

type ToFrame = (kind: Frame["kind"], type: string, rest: Json) => Frame;

function itemFrames(item: Json, index: number, frame: ToFrame): readonly Frame[] {
  const place = { output_index: index, item_id: item["id"] };
  const empty = { ...item, content: [], summary: [], arguments: "", status: "in_progress" };
  const deltas = (type: string, text: unknown): readonly Frame[] =>
    piecesOf(String(text)).map((delta) => frame("content", type, { ...place, delta }));
  const [said] = recordsIn(item["content"] ?? item["summary"]);
  return [
    frame("open", "response.output_item.added", { output_index: index, item: empty }),
    ...(item["type"] === "message" ? deltas("response.output_text.delta", said?.["text"]) : []),
    ...(item["type"] === "reasoning"
      ? deltas("response.reasoning_summary_text.delta", said?.["text"])
      : []),
    ...(item["type"] === "function_call"
      ? deltas("response.function_call_arguments.delta", item["arguments"])
      : []),
    frame("open", "response.output_item.done", { output_index: index, item }),
  ];
}

export const openAiResponses: Dialect = {
  ...openAi,
  toAsk,
  toAnswer,
  toFrames,
  toErrorFrame(message) {
    const data = JSON.stringify({ type: "error", code: null, message, param: null });
    return `event: error\ndata: ${data}\n\n`;
  },
  brokenFrame: 'event: response.output_text.delta\ndata: {"type": "response.output_t\n\n',
};
