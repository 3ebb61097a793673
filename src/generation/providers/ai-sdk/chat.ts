// Chat completions through the language models of the Vercel AI SDK.
// Source: docs/decisions.md, 20.1; docs/generations.md.

import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import type { ModelAnswer, ModelRequest, WholeAnswer } from "../../calls/model-call.ts";
import { readWholeAnswer } from "../../openai/answer.ts";
import { fieldsOf } from "../../openai/fields.ts";
import type { Target } from "../../provider.ts";
import { isUsageWanted, toCallOptions, toChoices } from "./call-options.ts";
import { assertUsable, sumUsages, toCompletion, usageOf } from "./completion.ts";
import { dryRun, refuseUnsupported } from "./dry-run.ts";
import { toProviderError } from "./error.ts";
import type { Fetch } from "./language-models.ts";
import { type ChatCall, streamChat } from "./stream.ts";

type CheckedChat = {
  readonly options: LanguageModelV4CallOptions;
  readonly choices: number;
  readonly isUsageWanted: boolean;
  /** Body that the SDK sends for a stream of one choice; undefined if it fails before. */
  readonly sentBody: string | undefined;
};

/** Fails with INVALID_ARGUMENT naming the member of the request that the target cannot take. */
async function checkChat(target: Target, { body }: ModelRequest): Promise<CheckedChat> {
  const request = fieldsOf(body);
  const options = toCallOptions(request, target);
  const choices = toChoices(request);
  const isWanted = isUsageWanted(request);
  const { warnings, sentBody } = await dryRun(target, options);
  refuseUnsupported(warnings, request);
  return { options, choices, isUsageWanted: isWanted, sentBody };
}

/**
 * Runs a chat completion. Fails with INVALID_ARGUMENT if the target cannot take the request, with a
 * ProviderError if the provider fails, and with the signal's reason if it is aborted.
 */
export async function callChat(
  fetch: Fetch,
  target: Target,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<ModelAnswer> {
  const checked = await checkChat(target, request);
  const { chatModel } = await import("./language-models.ts");
  const call = { ...checked, model: chatModel(target, fetch), target };
  return request.isStream ? streamChat(call, signal) : generate(call, signal);
}

/**
 * Returns the body that the SDK would send to a target with the OpenAI API, with every choice in
 * one request. Fails with INVALID_ARGUMENT if the target cannot take the request.
 */
export async function toOpenAiBody(target: Target, request: ModelRequest): Promise<Uint8Array> {
  const { choices, sentBody } = await checkChat(target, request);
  if (sentBody === undefined) throw new Error("the AI SDK sends no request");
  const { stream, stream_options, ...body } = JSON.parse(sentBody) as Record<string, unknown>;
  const streamed = request.isStream ? { stream, stream_options } : {};
  return Buffer.from(JSON.stringify({ ...body, ...(choices > 1 && { n: choices }), ...streamed }));
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
    const json = toCompletion(results, usage, target);
    assertUsable(results, target, { ...readWholeAnswer("chat", json), usage });
    return { kind: "whole", json, usage };
  } catch (error) {
    throw signal.aborted ? signal.reason : toProviderError(error, target);
  } finally {
    ended.abort();
  }
}
