// OpenAI's and Mistral's API in the stand-in, which are nearly the same: chat completions and
// embeddings.

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
  toOpenAiCall,
  type Usage,
} from "./dialect.ts";

function toAsk(body: Json, model: string): Ask {
  const messages = recordsIn(body["messages"]);
  const options = body["stream_options"] as Json | undefined;
  const tools = recordsIn(body["tools"]).map((tool) => String((tool["function"] as Json)["name"]));
  return {
    model,
    isStream: body["stream"] === true,
    choices: typeof body["n"] === "number" ? body["n"] : 1,
    tools: body["tool_choice"] === "none" ? [] : tools,
    hasToolResult: messages.some(({ role }) => role === "tool"),
    lastText: textOf(messages.at(-1)?.["content"]),
    promptTokens: tokensIn(messages),
    isUsageWanted: options?.["include_usage"] === true,
  };
}

function envelopeOf({ model }: Ask, object: string): Json {
  return {
    id: "chatcmpl-standin",
    object,
    created: 1_760_000_000,
    model: `${model}-2026-01-01`,
    system_fingerprint: "fp_standin",
  };
}

/** Counts the prompt once and the completion of every choice. */
function toUsage(usage: Usage, { choices }: Ask): Json {
  const { input, cacheRead, cacheWrite, output } = usage;
  // This API does not report tokens written to a cache separately: they are part of the prompt.
  const prompt = input + cacheRead + cacheWrite;
  const reasoning = choices * usage.reasoning;
  const completion = choices * output + reasoning;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cacheRead },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}

const finishReasons = {
  stop: "stop",
  length: "length",
  tools: "tool_calls",
  failed: "error",
} as const;

function toMessage({ text, reasoning, calls }: Reply): Json {
  return {
    role: "assistant",
    content: text,
    refusal: null,
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls.map(toOpenAiCall) }),
  };
}

function toAnswer(ask: Ask, reply: Reply): Json {
  const { usage, finish } = reply;
  return {
    ...envelopeOf(ask, "chat.completion"),
    choices: Array.from({ length: ask.choices }, (_, index) => ({
      index,
      message: toMessage(reply),
      logprobs: null,
      finish_reason: finishReasons[finish],
    })),
    ...(usage && { usage: toUsage(usage, ask) }),
  };
}

function toFrames(ask: Ask, reply: Reply): readonly Frame[] {
  const { text, reasoning, calls, finish, usage } = reply;
  const chunk = (kind: Frame["kind"], rest: Json): Frame => ({
    kind,
    bytes: toEvent({
      ...envelopeOf(ask, "chat.completion.chunk"),
      ...(ask.isUsageWanted && { usage: null }),
      ...rest,
    }),
  });
  const choices = (kind: Frame["kind"], delta: Json, reason: string | null): readonly Frame[] =>
    Array.from({ length: ask.choices }, (_, index) =>
      chunk(kind, { choices: [{ index, delta, logprobs: null, finish_reason: reason }] }),
    );
  return [
    ...choices("open", { role: "assistant", content: text === null ? null : "" }, null),
    ...piecesOf(reasoning ?? null).flatMap((piece) =>
      choices("content", { reasoning_content: piece }, null),
    ),
    ...piecesOf(text).flatMap((piece) => choices("content", { content: piece }, null)),
    ...calls.flatMap((call, index) =>
      choices("content", { tool_calls: [{ index, ...toOpenAiCall(call) }] }, null),
    ),
    ...choices("finish", {}, finishReasons[finish]),
    ...(ask.isUsageWanted && usage
      ? [chunk("finish", { choices: [], usage: toUsage(usage, ask) })]
      : []),
    { kind: "done", bytes: "data: [DONE]\n\n" },
  ];
}

function toError(status: number, message: string): Json {
  const type = errorTypes[status] ?? "server_error";
  return { error: { message, type, param: null, code: null } };
}

export const openAi: Dialect = {
  streamType: "text/event-stream",
  toAsk,
  toAnswer,
  toFrames,
  toError,
  toErrorFrame: (message) => toEvent(toError(500, message)),
  brokenFrame: 'data: {"id": "chatcmpl-standin", "choices": [{"index": 0, "delta"\n\n',
};

/** Mistral's API always sends usage in the last chunk, and its errors are flat. */
export const mistral: Dialect = {
  ...openAi,
  toFrames(ask, reply) {
    const frames = toFrames({ ...ask, isUsageWanted: false }, reply);
    if (!reply.usage) return frames;
    const usage = `,"usage":${JSON.stringify(toUsage(reply.usage, ask))}}\n\n`;
    return frames.map(({ kind, bytes }) => ({
      kind,
      bytes: kind === "finish" ? String(bytes).replace(/\}\n\n$/, () => usage) : bytes,
    }));
  },
  toError: (status, message) => ({
    object: "error",
    message,
    type: errorTypes[status] ?? "internal_server_error",
    param: null,
    code: String(status),
  }),
  toErrorFrame: (message) => toEvent({ object: "error", message, type: "internal_server_error" }),
};

const embedding = [0.25, -0.5, 0.125, 1];

/** Returns the answer to a request for embeddings. */
export function toOpenAiEmbeddings(body: Json, model: string): Json {
  const inputs = Array.isArray(body["input"]) ? body["input"] : [body["input"]];
  const isBase64 = body["encoding_format"] === "base64";
  const value = isBase64
    ? Buffer.from(new Float32Array(embedding).buffer).toString("base64")
    : embedding;
  const tokens = tokensIn(inputs);
  return {
    object: "list",
    model,
    data: inputs.map((_, index) => ({ object: "embedding", index, embedding: value })),
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  };
}
