// Anthropic's messages API in the stand-in.

import {
  type Ask,
  type Dialect,
  errorTypes,
  type Frame,
  type Json,
  piecesOf,
  recordsIn,
  type Reply,
  textOf,
  toEvent,
  tokensIn,
  type Usage,
} from "./dialect.ts";

function toAsk(body: Json, model: string): Ask {
  const messages = recordsIn(body["messages"]);
  const choice = body["tool_choice"] as Json | undefined;
  const isResult = (content: unknown): boolean =>
    recordsIn(content).some(({ type }) => type === "tool_result");
  return {
    model,
    isStream: body["stream"] === true,
    choices: 1,
    tools:
      choice?.["type"] === "none" ? [] : recordsIn(body["tools"]).map((t) => String(t["name"])),
    hasToolResult: messages.some(({ content }) => isResult(content)),
    lastText: textOf(messages.at(-1)?.["content"]),
    promptTokens: tokensIn([body["system"], messages]),
    isUsageWanted: true,
  };
}

function toUsage({ input, cacheRead, cacheWrite, output, reasoning }: Usage): Json {
  return {
    input_tokens: input,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    // The API does not separate reasoning from output.
    output_tokens: output + reasoning,
  };
}

const stopReasons = {
  stop: "end_turn",
  length: "max_tokens",
  tools: "tool_use",
  failed: "failed",
} as const;

function blocksOf({ text, reasoning, calls }: Reply): readonly Json[] {
  return [
    ...(reasoning === undefined
      ? []
      : [{ type: "thinking", thinking: reasoning, signature: "c2lnbmVk" }]),
    ...(text === null ? [] : [{ type: "text", text }]),
    ...calls.map((call) => ({
      type: "tool_use",
      id: `toolu_${call.id}`,
      name: call.name,
      input: call.arguments,
    })),
  ];
}

function toMessage({ model }: Ask, rest: Json): Json {
  return {
    id: "msg_standin",
    type: "message",
    role: "assistant",
    model: `${model}-20260101`,
    ...rest,
  };
}

function toAnswer(ask: Ask, reply: Reply): Json {
  return toMessage(ask, {
    content: blocksOf(reply),
    stop_reason: stopReasons[reply.finish],
    stop_sequence: null,
    usage: reply.usage ? toUsage(reply.usage) : {},
  });
}

/** Returns the start of a streamed block, and its deltas. */
function partsOf(block: Json): { readonly start: Json; readonly deltas: readonly Json[] } {
  if (block["type"] === "tool_use") {
    const delta = { type: "input_json_delta", partial_json: JSON.stringify(block["input"]) };
    return { start: { ...block, input: {} }, deltas: [delta] };
  }
  if (block["type"] === "thinking") {
    const words = piecesOf(String(block["thinking"]));
    return {
      start: { type: "thinking", thinking: "", signature: "" },
      deltas: [
        ...words.map((thinking) => ({ type: "thinking_delta", thinking })),
        { type: "signature_delta", signature: block["signature"] },
      ],
    };
  }
  const words = piecesOf(String(block["text"]));
  const deltas = words.map((text) => ({ type: "text_delta", text }));
  return { start: { type: "text", text: "" }, deltas };
}

function toFrames(ask: Ask, reply: Reply): readonly Frame[] {
  const frame = (kind: Frame["kind"], type: string, rest: Json): Frame => ({
    kind,
    bytes: toEvent({ type, ...rest }, type),
  });
  const usage = reply.usage ? toUsage(reply.usage) : {};
  const message = toMessage(ask, {
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usage, output_tokens: 1 },
  });
  const blocks = blocksOf(reply).flatMap((block, index) => {
    const { start, deltas } = partsOf(block);
    return [
      frame("open", "content_block_start", { index, content_block: start }),
      ...deltas.map((delta) => frame("content", "content_block_delta", { index, delta })),
      frame("open", "content_block_stop", { index }),
    ];
  });
  const delta = { stop_reason: stopReasons[reply.finish], stop_sequence: null };
  return [
    frame("open", "message_start", { message }),
    frame("open", "ping", {}),
    ...blocks,
    frame("finish", "message_delta", { delta, usage }),
    frame("done", "message_stop", {}),
  ];
}

function toError(status: number, message: string): Json {
  const type = status === 529 ? "overloaded_error" : (errorTypes[status] ?? "api_error");
  return { type: "error", error: { type, message }, request_id: "req_standin" };
}

export const anthropic: Dialect = {
  streamType: "text/event-stream",
  toAsk,
  toAnswer,
  toFrames,
  toError,
  toErrorFrame: (message) => toEvent(toError(529, message), "error"),
  brokenFrame: 'event: content_block_delta\ndata: {"type": "content_block_delta", "index"\n\n',
};
