// Converts parts of the Vercel AI SDK's stream to OpenAI's deltas of one choice.
// Source: docs/generations.md.

import type { LanguageModelV4StreamPart, LanguageModelV4ToolCall } from "@ai-sdk/provider";
import type { JsonObject } from "../../../base/json.ts";
import { malformedFault } from "../../openai/error.ts";
import type { Target } from "../../provider.ts";
import { assertNothingLost, toFinishReason, toReasoning, toReasoningExtra } from "./completion.ts";

export type ChoiceDelta = { readonly delta: JsonObject; readonly finish_reason: string | null };

/** Maximum tool calls, and reasoning blocks, of one answer; an answer with more is malformed. */
const partsMax = 1_024;

type Call = { readonly index: number; hasArguments: boolean };

export function createChoiceDeltas(target: Target) {
  const calls = new Map<string, Call>();
  const reasoning = createReasoning(target);

  function beginCall(id: string, name: string): JsonObject {
    if (!calls.has(id)) assertRoom(calls, target);
    const index = calls.size;
    calls.set(id, { index, hasArguments: false });
    return { index, id, type: "function", function: { name, arguments: "" } };
  }

  function addArguments(id: string, text: string): readonly JsonObject[] {
    const call = calls.get(id);
    if (!call || text === "") return [];
    call.hasArguments = true;
    return [{ index: call.index, function: { arguments: text } }];
  }

  /** Returns the deltas for the parts of a complete call that were not sent before. */
  function endCall(part: LanguageModelV4ToolCall): readonly JsonObject[] {
    const { toolCallId: id, toolName, input, providerMetadata } = part;
    const begun = calls.has(id) ? [] : [beginCall(id, toolName)];
    const rest = calls.get(id)?.hasArguments ? [] : addArguments(id, input);
    const index = calls.get(id)?.index ?? 0;
    const extra = providerMetadata && [{ index, extra_content: providerMetadata as JsonObject }];
    return [...begun, ...rest, ...(extra ?? [])];
  }

  return {
    /** Returns the deltas of a part. Fails with a ProviderError if the model failed at its end. */
    of(part: LanguageModelV4StreamPart): readonly ChoiceDelta[] {
      switch (part.type) {
        case "text-delta":
          return part.delta === "" ? [] : [toDelta({ content: part.delta })];
        case "reasoning-start":
        case "reasoning-delta":
        case "reasoning-end":
          return reasoning.of(part);
        case "tool-input-start":
          return toCallDeltas([beginCall(part.id, part.toolName)]);
        case "tool-input-delta":
          return toCallDeltas(addArguments(part.id, part.delta));
        case "tool-call":
          return toCallDeltas(endCall(part));
        case "finish":
          return [
            ...reasoning.signed(),
            { delta: {}, finish_reason: toFinishReason(part.finishReason, target) },
          ];
        case "file":
        case "reasoning-file":
        case "tool-result":
        case "tool-approval-request":
          assertNothingLost(part.type, target);
          return [];
        default:
          return [];
      }
    },
  };
}

function toDelta(delta: JsonObject): ChoiceDelta {
  return { delta, finish_reason: null };
}

function toCallDeltas(calls: readonly JsonObject[]): readonly ChoiceDelta[] {
  return calls.map((call) => toDelta({ tool_calls: [call] }));
}

/** Throws a ProviderError if an answer has the maximum number of parts of a kind. */
function assertRoom(parts: ReadonlyMap<string, unknown>, { connection }: Target): void {
  if (parts.size < partsMax) return;
  throw malformedFault(connection, `more than ${partsMax} parts of one kind`);
}

type ReasoningPart = Extract<
  LanguageModelV4StreamPart,
  { type: `reasoning-${"start" | "delta" | "end"}` }
>;
type ReasoningBlock = { text: string; metadata: object | undefined };

/** Collects blocks of reasoning; their signature may arrive with any part. */
function createReasoning(target: Target) {
  const blocks = new Map<string, ReasoningBlock>();

  return {
    of(part: ReasoningPart): readonly ChoiceDelta[] {
      if (!blocks.has(part.id)) assertRoom(blocks, target);
      const block = blocks.get(part.id) ?? { text: "", metadata: undefined };
      blocks.set(part.id, block);
      if (part.providerMetadata) block.metadata = { ...block.metadata, ...part.providerMetadata };
      if (part.type !== "reasoning-delta" || part.delta === "") return [];
      block.text += part.delta;
      return [toDelta({ reasoning_content: part.delta })];
    },

    /**
     * Returns all signed blocks in one delta: clients that merge deltas keep only the last value.
     */
    signed(): readonly ChoiceDelta[] {
      const all = [...blocks.values()].map(({ text, metadata }) => toReasoning(text, metadata));
      const extra = toReasoningExtra(all);
      return extra ? [toDelta({ extra_content: extra })] : [];
    },
  };
}
