// LlmProxyService: request and answer are bodies of the OpenAI API; response headers contain the
// ids of the recorded call.

import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { HttpBody } from "../../../gen/google/api/httpbody_pb.js";
import type { LlmProxyService } from "../../../gen/waggle/v1/llm_proxy_pb.js";
import { ServiceError } from "../../base/errors.ts";
import { memoryOf, parsedBodyKey, projectOf } from "../../access/call.ts";
import { decodeJson } from "../../base/decode/json.ts";
import type { Operation } from "../calls/model-call.ts";
import { callerOf, setIdHeaders } from "../calls/handler-caller.ts";
import type { Models } from "./models.ts";
import type { Answered, Proxy, ProxyCall } from "./proxy.ts";
import { parseCallHeaders } from "./request-headers.ts";

const streamingRpcs = {
  chat: "StreamChatCompletion",
  response: "StreamResponse",
  message: "StreamMessage",
  embedding: "no embedding",
} as const;

export function llmProxyHandlers(
  proxy: Proxy,
  models: Models,
): ServiceImpl<typeof LlmProxyService> {
  async function create(operation: Operation, body: HttpBody | undefined, context: HandlerContext) {
    const call = await callOf(proxy, operation, body, context);
    if (call.request.isStream) throw notThisRpc(`true is for ${streamingRpcs[operation]}`);
    const { bytes, contentType, ...answered } = await proxy.create(projectOf(context), call);
    setHeaders(context, answered);
    return { contentType, data: bytes };
  }

  async function* stream(
    operation: Operation,
    body: HttpBody | undefined,
    context: HandlerContext,
  ) {
    const call = await callOf(proxy, operation, body, context);
    if (!call.request.isStream) throw notThisRpc("must be true here");
    const { chunks, ...answered } = await proxy.stream(projectOf(context), call);
    setHeaders(context, answered);
    for await (const data of chunks) yield { contentType: "text/event-stream", data };
  }

  return {
    createChatCompletion: ({ httpBody }, context) => create("chat", httpBody, context),
    createEmbedding: ({ httpBody }, context) => create("embedding", httpBody, context),

    streamChatCompletion: ({ httpBody }, context) => stream("chat", httpBody, context),
    createResponse: ({ httpBody }, context) => create("response", httpBody, context),
    streamResponse: ({ httpBody }, context) => stream("response", httpBody, context),

    createMessage: ({ httpBody }, context) => create("message", httpBody, context),
    streamMessage: ({ httpBody }, context) => stream("message", httpBody, context),

    async countMessageTokens({ httpBody }, context) {
      const call = await callOf(proxy, "message", httpBody, context);
      const { bytes, contentType } = await proxy.count(projectOf(context), call);
      return { contentType, data: bytes };
    },

    async listModels(_, context) {
      const { models: list, unavailable } = await models.list(projectOf(context));
      return {
        object: "list",
        data: list.map((model) => ({ ...model, object: "model" })),
        unavailableProviders: [...unavailable],
      };
    },
  };
}

async function callOf(
  proxy: Pick<Proxy, "read">,
  operation: Operation,
  body: HttpBody | undefined,
  context: HandlerContext,
): Promise<ProxyCall> {
  const bytes = body?.data ?? new Uint8Array();
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const json = context.values.get(parsedBodyKey) ?? (await decodeJson(buffer, memoryOf(context)));
  return {
    request: await proxy.read(projectOf(context), { operation, bytes, json }),
    headers: parseCallHeaders(context.requestHeader),
    caller: callerOf(context),
  };
}

function notThisRpc(fault: string): ServiceError {
  return new ServiceError("INVALID_ARGUMENT", `stream: ${fault}`);
}

function setHeaders({ responseHeader }: HandlerContext, answered: Answered): void {
  setIdHeaders(responseHeader, answered);
  responseHeader.set("x-waggle-provider", answered.provider);
  responseHeader.set("x-waggle-model", answered.model);
}
