// A small HTTP server that speaks the OpenAI API: chat completions with tools, streaming and chosen
// failures, embeddings. Used by fixtures, the demo and tests in place of a provider; listens on
// loopback only. Answers depend on the request alone, so that recordings repeat.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type StandIn = {
  /** Base URL for clients, ending in `/v1`. */
  readonly url: string;
  stop(): Promise<void>;
};

type Message = {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly unknown[];
};

type ChatRequest = {
  readonly model: string;
  readonly messages: readonly Message[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
  readonly stream?: boolean;
  readonly stream_options?: { readonly include_usage?: boolean };
};

/**
 * Starts the stand-in on `port` (0: any free one). Models named `fail-<status>` answer that HTTP
 * status with an error body of OpenAI's; `cut-off` breaks its stream in the middle. A chat that
 * offers tools and has no tool result yet calls the first tool; any other gets a fixed reply.
 */
export async function startOpenAiStandIn(port = 0): Promise<StandIn> {
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      fail(response, 500, error instanceof Error ? error.message : String(error));
    });
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const address = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${address.port}/v1`, stop: () => stop(server) };
}

function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve, reject) => {
    server.close((error) => (error === undefined ? resolve() : reject(error)));
  });
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("utf8");
  if (request.method === "POST" && request.url === "/v1/chat/completions") {
    answerChat(JSON.parse(text) as ChatRequest, response);
    return;
  }
  if (request.method === "POST" && request.url === "/v1/embeddings") {
    answerEmbeddings(JSON.parse(text) as EmbeddingRequest, response);
    return;
  }
  if (request.method === "GET" && request.url === "/v1/models") {
    send(response, 200, { object: "list", data: [{ id: "stand-in", object: "model" }] });
    return;
  }
  fail(response, 404, `no route ${request.method ?? ""} ${request.url ?? ""}`);
}

function answerChat(request: ChatRequest, response: ServerResponse): void {
  const status = /^fail-(\d{3})$/.exec(request.model)?.[1];
  if (status !== undefined) {
    fail(response, Number(status), `stand-in says ${status}`);
    return;
  }
  const message = replyTo(request);
  const usage = usageOf(request, message);
  if (request.stream === true) {
    streamChat(request, message, usage, response);
    return;
  }
  send(response, 200, {
    ...envelope(request, "chat.completion"),
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishOf(message) }],
    usage,
  });
}

type Reply = {
  readonly role: "assistant";
  readonly content: string | null;
  readonly refusal: null;
  readonly tool_calls?: readonly ToolCall[];
};

type ToolCall = {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
};

function replyTo({ messages, tools }: ChatRequest): Reply {
  const tool = tools?.[0];
  if (tool !== undefined && !messages.some(({ role }) => role === "tool")) {
    const call: ToolCall = {
      id: "call_1",
      type: "function",
      function: { name: tool.function.name, arguments: '{"city":"Paris"}' },
    };
    return { role: "assistant", content: null, refusal: null, tool_calls: [call] };
  }
  return { role: "assistant", content: "It is 18 °C and sunny in Paris.", refusal: null };
}

function finishOf(message: Reply): string {
  return message.tool_calls === undefined ? "stop" : "tool_calls";
}

// One token for each four characters, as a rule of thumb has it.
function usageOf(request: ChatRequest, message: Reply): Record<string, unknown> {
  const prompt = tokensIn(request.messages);
  const completion = tokensIn(message.content ?? message.tool_calls);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
}

function tokensIn(value: unknown): number {
  return Math.ceil(JSON.stringify(value).length / 4);
}

function envelope(request: ChatRequest, object: string): Record<string, unknown> {
  return {
    id: "chatcmpl-standin",
    object,
    created: 1_760_000_000,
    model: `${request.model}-2026-01-01`,
    system_fingerprint: "fp_standin",
  };
}

function streamChat(
  request: ChatRequest,
  message: Reply,
  usage: Record<string, unknown>,
  response: ServerResponse,
): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const write = (rest: Record<string, unknown>): void => {
    const chunk = { ...envelope(request, "chat.completion.chunk"), ...rest };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  const choice = (delta: Record<string, unknown>, finish: string | null): void => {
    write({ choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] });
  };
  choice({ role: "assistant", content: message.content === null ? null : "" }, null);
  for (const word of message.content?.split(/(?<= )/) ?? []) choice({ content: word }, null);
  if (request.model === "cut-off") {
    response.destroy();
    return;
  }
  message.tool_calls?.forEach((call, index) => {
    choice({ tool_calls: [{ index, ...call }] }, null);
  });
  choice({}, finishOf(message));
  if (request.stream_options?.include_usage === true) write({ choices: [], usage });
  response.end("data: [DONE]\n\n");
}

type EmbeddingRequest = {
  readonly model: string;
  readonly input: string | readonly unknown[];
  readonly encoding_format?: "float" | "base64";
};

const embedding = [0.25, -0.5, 0.125, 1];

function answerEmbeddings(request: EmbeddingRequest, response: ServerResponse): void {
  const inputs = Array.isArray(request.input) ? request.input : [request.input];
  const isBase64 = request.encoding_format === "base64";
  const value = isBase64
    ? Buffer.from(new Float32Array(embedding).buffer).toString("base64")
    : embedding;
  const tokens = tokensIn(inputs);
  send(response, 200, {
    object: "list",
    model: request.model,
    data: inputs.map((_, index) => ({ object: "embedding", index, embedding: value })),
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  });
}

const errorTypes: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  404: "not_found_error",
  429: "rate_limit_error",
};

function fail(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const type = errorTypes[status] ?? "server_error";
  send(response, status, { error: { message, type, param: null, code: null } });
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
