// Amazon Bedrock in the stand-in: the Converse API, its binary event stream, and the embeddings of
// the Titan and Cohere models.

import { crc32 } from "node:zlib";
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
  type Usage,
} from "./dialect.ts";

function toAsk(body: Json, model: string, isStream: boolean): Ask {
  const messages = recordsIn(body["messages"]);
  const tools = recordsIn((body["toolConfig"] as Json | undefined)?.["tools"]);
  return {
    model,
    isStream,
    choices: 1,
    tools: tools.flatMap(({ toolSpec }) =>
      toolSpec === undefined ? [] : [String((toolSpec as Json)["name"])],
    ),
    hasToolResult: messages.some(({ content }) =>
      recordsIn(content).some((part) => part["toolResult"] !== undefined),
    ),
    lastText: textOf(messages.at(-1)?.["content"]),
    promptTokens: tokensIn([body["system"], messages]),
    isUsageWanted: true,
  };
}

function toUsage({ input, cacheRead, cacheWrite, output, reasoning }: Usage): Json {
  return {
    inputTokens: input,
    outputTokens: output + reasoning,
    totalTokens: input + cacheRead + cacheWrite + output + reasoning,
    cacheReadInputTokens: cacheRead,
    cacheWriteInputTokens: cacheWrite,
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
      : [{ reasoningContent: { reasoningText: { text: reasoning, signature: "c2lnbmVk" } } }]),
    ...(text === null ? [] : [{ text }]),
    ...calls.map(({ id, name, arguments: input }) => ({
      toolUse: { toolUseId: `tooluse_${id}`, name, input },
    })),
  ];
}

function toAnswer(_: Ask, reply: Reply): Json {
  return {
    output: { message: { role: "assistant", content: blocksOf(reply) } },
    stopReason: stopReasons[reply.finish],
    usage: reply.usage && toUsage(reply.usage),
    metrics: { latencyMs: 5 },
  };
}

/** Returns the start of a block, which texts do not need, and its deltas. */
function partsOf(block: Json): { readonly start?: Json; readonly deltas: readonly Json[] } {
  const tool = block["toolUse"] as Json | undefined;
  if (tool) {
    const { input, ...start } = tool;
    return { start: { toolUse: start }, deltas: [{ toolUse: { input: JSON.stringify(input) } }] };
  }
  const reasoning = block["reasoningContent"] as { reasoningText: Json } | undefined;
  if (reasoning) {
    const { text, signature } = reasoning.reasoningText;
    const words = piecesOf(String(text)).map((piece) => ({ reasoningContent: { text: piece } }));
    return { deltas: [...words, { reasoningContent: { signature } }] };
  }
  return { deltas: piecesOf(String(block["text"])).map((text) => ({ text })) };
}

function toFrames(_: Ask, reply: Reply): readonly Frame[] {
  const frame = (kind: Frame["kind"], type: string, payload: Json): Frame => ({
    kind,
    bytes: toMessage({ ":message-type": "event", ":event-type": type }, payload),
  });
  const blocks = blocksOf(reply).flatMap((block, contentBlockIndex) => {
    const { start, deltas } = partsOf(block);
    return [
      ...(start ? [frame("open", "contentBlockStart", { contentBlockIndex, start })] : []),
      ...deltas.map((delta) => frame("content", "contentBlockDelta", { contentBlockIndex, delta })),
      frame("open", "contentBlockStop", { contentBlockIndex }),
    ];
  });
  const usage = reply.usage && toUsage(reply.usage);
  return [
    frame("open", "messageStart", { role: "assistant" }),
    ...blocks,
    frame("finish", "messageStop", { stopReason: stopReasons[reply.finish] }),
    frame("done", "metadata", { usage, metrics: { latencyMs: 5 } }),
  ];
}

/** Returns a message of the event stream: lengths, headers and payload, with checksums. */
function toMessage(headers: Readonly<Record<string, string>>, payload: Json): Uint8Array {
  const body = Buffer.from(JSON.stringify(payload));
  const typed = { ...headers, ":content-type": "application/json" };
  const head = Buffer.concat(Object.entries(typed).map(([name, value]) => toHeader(name, value)));
  const length = 16 + head.length + body.length;
  const message = Buffer.alloc(length);
  message.writeUInt32BE(length, 0);
  message.writeUInt32BE(head.length, 4);
  message.writeUInt32BE(crc32(message.subarray(0, 8)), 8);
  head.copy(message, 12);
  body.copy(message, 12 + head.length);
  message.writeUInt32BE(crc32(message.subarray(0, length - 4)), length - 4);
  return message;
}

/** Number of the header type "string". */
const stringType = 7;

function toHeader(name: string, value: string): Uint8Array {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(Buffer.byteLength(value));
  return Buffer.concat([
    Buffer.from([name.length]),
    Buffer.from(name),
    Buffer.from([stringType]),
    length,
    Buffer.from(value),
  ]);
}

export const bedrock: Dialect = {
  streamType: "application/vnd.amazon.eventstream",
  toAsk,
  toAnswer,
  toFrames,
  toError: (_, message) => ({ message }),
  toErrorFrame: (message) =>
    toMessage(
      { ":message-type": "exception", ":exception-type": "internalServerException" },
      { message },
    ),
  // Long enough for a message, but with a wrong checksum.
  brokenFrame: Buffer.from([0, 0, 0, 32, 0, 0, 0, 0, ...new Uint8Array(24)]),
};

/** Returns the answer to a request for embeddings: Titan takes one text, Cohere several. */
export function toBedrockEmbeddings(body: Json): Json {
  const embedding = [0.25, -0.5, 0.125, 1];
  const texts = body["texts"];
  if (Array.isArray(texts)) return { embeddings: texts.map(() => embedding) };
  return { embedding, inputTextTokenCount: tokensIn(body["inputText"]) };
}
