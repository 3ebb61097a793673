// Calls providers through the Vercel AI SDK with requests and answers of the OpenAI API. The proxy
// uses it for providers with another API, chats always.
// Source: docs/decisions.md, 20, 21; docs/generations.md.

import { isJsonArray } from "../../../base/json.ts";
import { chatChoicesMax } from "../../../base/tenant-limits.ts";
import type { LanguageModels } from "./language-models.ts";
import { choicesAsked } from "../../proxy/request.ts";
import type { CallUpstream, ProxyRequest } from "../../calls/model-call.ts";
import { callChat } from "./chat.ts";
import { callEmbeddings, parallelMax } from "./embeddings.ts";

export type TranslatedOptions = { readonly languageModels: LanguageModels };

export function createTranslated({ languageModels }: TranslatedOptions): CallUpstream {
  return (target, request, signal) =>
    request.operation === "embedding"
      ? callEmbeddings(languageModels, target, request, signal)
      : callChat(languageModels, target, request, signal);
}

/** Returns the number of concurrent provider calls for a request. */
export function translatedCalls({ operation, body }: ProxyRequest): number {
  if (operation === "chat") return Math.min(choicesAsked({ body }), chatChoicesMax);
  const { input } = body;
  return isJsonArray(input) ? Math.min(Math.max(input.length, 1), parallelMax) : 1;
}
