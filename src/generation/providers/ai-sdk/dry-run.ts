// Runs a request through the Vercel AI SDK without sending it, to find members that the model does
// not accept: otherwise the SDK would omit them and warn only with the paid answer.
// Source: docs/decisions.md, 21; docs/generations.md.

import {
  type LanguageModelV4,
  type LanguageModelV4CallOptions,
  type SharedV4Warning,
  UnsupportedFunctionalityError,
} from "@ai-sdk/provider";
import type { Fetch } from "./language-models.ts";
import { type Fields, refuse, untranslatable } from "../../openai/fields.ts";

/** Fetch function of a rehearsal: sends nothing and returns a stream without events. */
export const answerNothing: Fetch = () =>
  Promise.resolve(new Response("", { headers: { "content-type": "text/event-stream" } }));

/**
 * Fails with INVALID_ARGUMENT naming the first member of the request that `model` would omit or
 * cut. `model` must use `answerNothing`.
 */
export async function assertTaken(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  request: Fields,
): Promise<void> {
  for (const warning of await warningsOf(model, options)) {
    if (warning.type === "unsupported") refuse(nameOf(warning.feature, request), whyOf(warning));
  }
}

async function warningsOf(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
): Promise<readonly SharedV4Warning[]> {
  try {
    const { stream } = await model.doStream(options);
    const reader = stream.getReader();
    const { value } = await reader.read();
    await reader.cancel();
    return value?.type === "stream-start" ? value.warnings : [];
  } catch (error) {
    if (UnsupportedFunctionalityError.isInstance(error)) {
      refuse("messages", `${untranslatable} (${error.message})`);
    }
    // Other errors, such as wrong credentials, come up in the call itself with better messages.
    return [];
  }
}

/** Members of a request by the SDK's names. */
const names: Readonly<Record<string, string>> = {
  temperature: "temperature",
  topP: "top_p",
  presencePenalty: "presence_penalty",
  frequencyPenalty: "frequency_penalty",
  seed: "seed",
  stopSequences: "stop",
  maxOutputTokens: "max_tokens",
  responseFormat: "response_format",
  reasoning: "reasoning_effort",
  toolChoice: "tool_choice",
  strict: "tools",
};

function nameOf(feature: string, request: Fields): string {
  const name = names[feature] ?? "messages";
  const isNewer = name === "max_tokens" && request.value(name) === undefined;
  return isNewer ? "max_completion_tokens" : name;
}

/** Returns the SDK's reason without the part on what it does instead. */
function whyOf({ details }: { readonly details?: string }): string {
  const reason = details?.split(/\. |\.$/)[0]?.replace(" and will be ignored", "");
  return reason === undefined ? untranslatable : `${untranslatable} (${reason})`;
}
