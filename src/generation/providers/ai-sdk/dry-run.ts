// Runs a request through the Vercel AI SDK without sending it, to find members that the model does
// not accept: otherwise the SDK would omit them and warn only with the paid answer.
// Source: docs/decisions.md, 20.1; docs/generations.md.

import {
  type LanguageModelV4CallOptions,
  type SharedV4Warning,
  UnsupportedFunctionalityError,
} from "@ai-sdk/provider";
import { refuse } from "../../../base/errors.ts";
import { type Fields, untranslatable } from "../../openai/fields.ts";
import type { Target } from "../../provider.ts";
import type { Fetch } from "./language-models.ts";

export type DryRun = {
  readonly warnings: readonly SharedV4Warning[];
  /** Body of the request; undefined if the SDK failed before it would send one. */
  readonly sentBody: string | undefined;
};

/** Fails with INVALID_ARGUMENT if the model supports no such messages. */
export async function dryRun(target: Target, options: LanguageModelV4CallOptions): Promise<DryRun> {
  let sentBody: string | undefined;
  const fetch: Fetch = (_, init) => {
    if (typeof init?.body === "string") sentBody = init.body;
    const headers = { "content-type": "text/event-stream" };
    return Promise.resolve(new Response("", { headers }));
  };
  const { chatModel } = await import("./language-models.ts");
  const model = chatModel(target, fetch);
  try {
    const { stream } = await model.doStream(options);
    const reader = stream.getReader();
    const { value } = await reader.read();
    await reader.cancel();
    return { warnings: value?.type === "stream-start" ? value.warnings : [], sentBody };
  } catch (error) {
    if (UnsupportedFunctionalityError.isInstance(error)) {
      refuse("messages", `${untranslatable} (${error.message})`);
    }
    // Other errors, such as wrong credentials, come up in the call itself with better messages.
    return { warnings: [], sentBody };
  }
}

/** Fails with INVALID_ARGUMENT naming the first member that the model would omit or cut. */
export function refuseUnsupported(warnings: readonly SharedV4Warning[], request: Fields): void {
  const warning = warnings.find(({ type }) => type === "unsupported");
  if (warning?.type === "unsupported") refuse(nameOf(warning.feature, request), whyOf(warning));
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

/** Returns the SDK's reason without the description of its workaround. */
function whyOf({ details }: { readonly details?: string }): string {
  const reason = details?.split(/\. |\.$/)[0]?.replace(" and will be ignored", "");
  return reason === undefined ? untranslatable : `${untranslatable} (${reason})`;
}
