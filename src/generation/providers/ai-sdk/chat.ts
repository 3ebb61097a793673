// Chat completions of the OpenAI API through the language models of other providers.
// Source: docs/decisions.md, 21; docs/generations.md.

import type { Target } from "../../provider.ts";
import { toProviderError } from "./error.ts";
import { usageOf } from "./usage.ts";
import { createLanguageModels, type LanguageModels } from "./language-models.ts";
import type { ProxyRequest, UpstreamAnswer, WholeAnswer } from "../../calls/model-call.ts";
import { isUsageWanted, toCallOptions, toChoices } from "./call-options.ts";
import { sumUsages, toCompletion } from "./completion.ts";
import { fieldsOf } from "../../openai/fields.ts";
import { answerNothing, assertTaken } from "./dry-run.ts";
import { type ChatCall, streamChat } from "./stream.ts";
import { toWholeAnswer } from "./whole-answer.ts";

/** Models that send nothing, to find out which members of a request they accept. */
const rehearsals = createLanguageModels({ fetchOf: () => answerNothing });

/**
 * Runs a chat completion. Fails with INVALID_ARGUMENT if the target cannot take the request, with a
 * ProviderError if the provider fails, and with the signal's reason if it is aborted.
 */
export async function callChat(
  languageModels: LanguageModels,
  target: Target,
  { body, isStream }: ProxyRequest,
  signal: AbortSignal,
): Promise<UpstreamAnswer> {
  const request = fieldsOf(body);
  const options = toCallOptions(request, target);
  const choices = toChoices(request);
  const isUsageAsked = isUsageWanted(request);
  await assertTaken(rehearsals.chat(target), options, request);
  const call = { model: languageModels.chat(target), target, options, choices };
  return isStream
    ? streamChat({ ...call, isUsageWanted: isUsageAsked }, signal)
    : generate(call, signal);
}

/** Makes one call for each choice; if one fails, the others are aborted. */
async function generate(
  { model, target, options, choices }: ChatCall,
  signal: AbortSignal,
): Promise<WholeAnswer> {
  const ended = new AbortController();
  const abortSignal = AbortSignal.any([signal, ended.signal]);
  try {
    const calls = Array.from({ length: choices }, () =>
      model.doGenerate({ ...options, abortSignal }),
    );
    const results = await Promise.all(calls);
    const usage = sumUsages(results.map((result) => usageOf(result.usage)));
    return toWholeAnswer(toCompletion(results, usage, target), usage);
  } catch (error) {
    throw signal.aborted ? signal.reason : toProviderError(error, target);
  } finally {
    ended.abort();
  }
}
