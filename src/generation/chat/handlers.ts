// GenerationService: a message in, a message out, no decisions.

import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type {
  CreateChatRequest,
  Generation,
  GenerationService,
} from "../../../gen/waggle/v1/generation_pb.js";
import { ServiceError } from "../../base/errors.ts";
import { commitEffectKey, projectOf } from "../../access/call.ts";
import { setPlace } from "../calls/place-headers.ts";
import type { Caller } from "../calls/recorded-calls.ts";
import type { Chat, ChatPart, ChatRecord } from "./chat.ts";
import type { ChatRequest } from "./request.ts";

export function generationHandlers(chat: Chat): ServiceImpl<typeof GenerationService> {
  return {
    async createChat(request, context) {
      // REST requests with `stream` are routed to streamChat.
      if (request.stream === true) {
        throw new ServiceError("INVALID_ARGUMENT", "stream: call StreamChat for a stream");
      }
      const project = projectOf(context);
      return toGeneration(await chat.create(project, fromRequest(request), callerOf(context)));
    },
    async *streamChat(request, context) {
      const project = projectOf(context);
      const parts = chat.stream(project, fromRequest(request), callerOf(context));
      for await (const part of parts) yield { part: toPart(part) };
    },
  };
}

function callerOf({ signal, values, responseHeader }: HandlerContext): Caller {
  return {
    signal,
    commit: values.get(commitEffectKey),
    onRecorded: (place) => setPlace(responseHeader, place),
  };
}

/** Both types have the same fields. */
function fromRequest(request: CreateChatRequest): ChatRequest {
  return request;
}

type Choices = Generation["choices"];

function toGeneration({ latencyMs, isStream, startedAtMs, cost, choices, ...ids }: ChatRecord) {
  return {
    ...ids,
    ...(cost !== null && { cost }),
    choices: choices as Choices,
    latency: latencyMs,
    stream: isStream,
    timestamp: timestampFromMs(startedAtMs),
  };
}

function toPart(part: ChatPart) {
  if (part.kind === "delta") {
    return { case: "delta", value: { type: "delta", ...part.delta } } as const;
  }
  return {
    case: "generation",
    value: { type: "generation", ...toGeneration(part.record) },
  } as const;
}
