// Providers called as if their API were OpenAI's: requests and answers are translated through the
// Vercel AI SDK, one to one. Called by proxy.ts for providers of other APIs, beside
// pass-through.ts, and by chat.ts for every provider.
// Source: docs/decisions.md, 20, 21; docs/generations.md.

import type { LanguageModels } from "../../providers/language-models.ts";
import type { CallUpstream } from "../upstream.ts";
import { callChat } from "./chat.ts";
import { callEmbeddings } from "./embeddings.ts";

export type TranslatedOptions = { readonly languageModels: LanguageModels };

export function createTranslated({ languageModels }: TranslatedOptions): CallUpstream {
  return (target, request, signal) =>
    request.operation === "embedding"
      ? callEmbeddings(languageModels, target, request, signal)
      : callChat(languageModels, target, request, signal);
}
