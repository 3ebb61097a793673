// GenerationService: a message in, a message out, no decisions.

import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Generation, GenerationService } from "../../../gen/waggle/v1/generation_pb.js";
import { ServiceError } from "../../base/errors.ts";
import { projectOf } from "../../access/call.ts";
import { callerOf } from "../calls/handler-caller.ts";
import type { Chat, ChatPart, ChatRecord } from "./chat.ts";

export function generationHandlers(chat: Chat): ServiceImpl<typeof GenerationService> {
  return {
    async createChat(request, context) {
      // REST requests with `stream` are routed to streamChat.
      if (request.stream === true) {
        throw new ServiceError("INVALID_ARGUMENT", "stream: call StreamChat for a stream");
      }
      const project = projectOf(context);
      return toGeneration(await chat.create(project, request, callerOf(context)));
    },
    async *streamChat(request, context) {
      const project = projectOf(context);
      const parts = chat.stream(project, request, callerOf(context));
      for await (const part of parts) yield { part: toPart(part) };
    },
  };
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
