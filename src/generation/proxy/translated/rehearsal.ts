// Puts a request to the provider's part of the Vercel AI SDK without sending it: the code that will
// write the request says what of it this very model does not take, which would else be told only
// with the answer, when it has been left out and paid for. Called by chat.ts.
// Source: docs/decisions.md, 21; docs/generations.md.

import {
  type LanguageModelV4,
  type LanguageModelV4CallOptions,
  type SharedV4Warning,
  UnsupportedFunctionalityError,
} from "@ai-sdk/provider";
import type { Fetch } from "../../providers/language-models.ts";
import { type Fields, refuse, untranslatable } from "./fields.ts";

/** What models of a rehearsal send with: nothing goes out, a stream without events comes back. */
export const answerNothing: Fetch = () =>
  Promise.resolve(new Response("", { headers: { "content-type": "text/event-stream" } }));

/**
 * Fails with INVALID_ARGUMENT naming the first member of the request that `model` would leave out
 * or cut. `model` is one that sends with `answerNothing`.
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
    // Whatever else is wrong, such as credentials, the call itself meets too and tells better.
    return [];
  }
}

/** Members of a request, by what the SDK names them. */
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

/** The SDK's reason, without what it says it does instead. */
function whyOf({ details }: { readonly details?: string }): string {
  const reason = details?.split(/\. |\.$/)[0]?.replace(" and will be ignored", "");
  return reason === undefined ? untranslatable : `${untranslatable} (${reason})`;
}
