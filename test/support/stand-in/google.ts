// Google's Gemini API in the stand-in: contents and embeddings.

import {
  type Ask,
  type Dialect,
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

function toAsk(body: Json, model: string, isStream: boolean): Ask {
  const contents = recordsIn(body["contents"]);
  const settings = body["generationConfig"] as Json | undefined;
  const calling = (body["toolConfig"] as Json | undefined)?.["functionCallingConfig"];
  const isOff = (calling as Json | undefined)?.["mode"] === "NONE";
  const offered = recordsIn(body["tools"]).flatMap((tool) =>
    recordsIn(tool["functionDeclarations"]),
  );
  const count = settings?.["candidateCount"];
  return {
    model,
    isStream,
    choices: typeof count === "number" ? count : 1,
    tools: isOff ? [] : offered.map(({ name }) => String(name)),
    hasToolResult: contents.some(({ parts }) =>
      recordsIn(parts).some((part) => part["functionResponse"] !== undefined),
    ),
    lastText: textOf(contents.at(-1)?.["parts"]),
    promptTokens: tokensIn([body["systemInstruction"], contents]),
    isUsageWanted: true,
  };
}

function toUsage({ input, cacheRead, cacheWrite, output, reasoning }: Usage): Json {
  const prompt = input + cacheRead + cacheWrite;
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: output,
    totalTokenCount: prompt + output + reasoning,
    ...(cacheRead > 0 && { cachedContentTokenCount: cacheRead }),
    ...(reasoning > 0 && { thoughtsTokenCount: reasoning }),
  };
}

const finishReasons = {
  stop: "STOP",
  length: "MAX_TOKENS",
  tools: "STOP",
  failed: "MALFORMED_FUNCTION_CALL",
} as const;

function partsOf({ text, reasoning, calls }: Reply): readonly Json[] {
  return [
    ...(reasoning === undefined ? [] : [{ text: reasoning, thought: true }]),
    ...(text === null ? [] : [{ text }]),
    ...calls.map(({ name, arguments: args }) => ({ functionCall: { name, args } })),
  ];
}

function envelopeOf({ model }: Ask): Json {
  return { modelVersion: `${model}-001`, responseId: "gemini-standin" };
}

function toAnswer(ask: Ask, reply: Reply): Json {
  return {
    candidates: Array.from({ length: ask.choices }, (_, index) => ({
      content: { role: "model", parts: partsOf(reply) },
      finishReason: finishReasons[reply.finish],
      index,
    })),
    ...(reply.usage && { usageMetadata: toUsage(reply.usage) }),
    ...envelopeOf(ask),
  };
}

function toFrames(ask: Ask, reply: Reply): readonly Frame[] {
  const pieces = partsOf(reply).flatMap((part) =>
    typeof part["text"] === "string"
      ? piecesOf(part["text"]).map((text) => ({ ...part, text }))
      : [part],
  );
  const frame = (kind: Frame["kind"], candidate: Json, rest: Json = {}): Frame => ({
    kind,
    bytes: toEvent({ candidates: [{ ...candidate, index: 0 }], ...rest, ...envelopeOf(ask) }),
  });
  const finishReason = finishReasons[reply.finish];
  const content = { role: "model", parts: [{ text: "" }] };
  const usage = reply.usage && { usageMetadata: toUsage(reply.usage) };
  return [
    ...pieces.map((part) => frame("content", { content: { role: "model", parts: [part] } })),
    frame("finish", { content, finishReason }, usage),
  ];
}

const statusNames: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  503: "UNAVAILABLE",
};

function toError(status: number, message: string): Json {
  return { error: { code: status, message, status: statusNames[status] ?? "INTERNAL" } };
}

export const google: Dialect = {
  streamType: "text/event-stream",
  toAsk,
  toAnswer,
  toFrames,
  toError,
  toErrorFrame: (message) => toEvent(toError(500, message)),
  brokenFrame: 'data: {"candidates": [{"content": {"role": "model"\n\n',
};

/** Returns the answer to one request for an embedding, or to several together. */
export function toGoogleEmbeddings(body: Json): Json {
  const embedding = { values: [0.25, -0.5, 0.125, 1] };
  const requests = body["requests"];
  if (requests === undefined) return { embedding };
  return { embeddings: recordsIn(requests).map(() => embedding) };
}
