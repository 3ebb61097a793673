// Judges: prompts that a model answers with a score. Source: docs/spec.md, "What the service does",
// 6; docs/evaluators.md; docs/decisions.md, 22.6.

import { type JsonObject, present } from "../../../base/json.ts";
import { toStorableText } from "../../../base/storable-text.ts";
import { judgeAnswerCharactersMax } from "../../../base/tenant-limits.ts";
import type {
  JudgeAnswer,
  JudgeCalls,
  JudgeQuestion,
  JudgeRefusal,
} from "../../../generation/judge/judge-calls.ts";
import type { Judge, JudgeCall, RunnableDefinition, RunResult } from "../runner.ts";
import { askedForm } from "./asked-form.ts";
import { parseAnswer } from "./parse-answer.ts";
import { fillTemplate, parseTemplate, type Template } from "./template.ts";

/** Concurrent calls of one chunk; they count towards the project's limit of model calls too. */
const concurrency = 8;
/** Maximum stored characters of an answer. */
const keptCharactersMax = 10_000;

export function createJudge({ calls }: { readonly calls: JudgeCalls }): Judge {
  return {
    open(project, definition, signal) {
      const closing = new AbortController();
      const ending = AbortSignal.any([signal, closing.signal]);
      const parsed = parseTemplate(definition.criteria);
      const ask = createAsk(definition, (question) => calls.ask(project, question, ending));
      return {
        concurrency,
        isWanted: () => false,
        async run(event) {
          ending.throwIfAborted();
          if ("template" in parsed) return judge(parsed.template, definition, ask, event);
          return failure("PROMPT", parsed.fault.message, "");
        },
        async close() {
          closing.abort(new Error("the evaluator was closed"));
        },
      };
    },
  };
}

type Ask = (prompt: string) => Promise<JudgeAnswer | JudgeRefusal>;

async function judge(
  template: Template,
  definition: RunnableDefinition,
  ask: Ask,
  event: JsonObject,
): Promise<RunResult> {
  const filled = fillTemplate(template, event);
  if (!filled) return failure("PROMPT", "the prompt, once filled, is too long for any model", "");
  const { absent } = filled;
  const output = absent.length === 0 ? "" : `no value for ${absent.join(", ")}`;
  const answer = await ask(filled.text);
  if (answer.kind === "refusal") return toFailure(answer, output);
  return toResult(answer, definition, output);
}

/**
 * Returns a function that asks the definition's model. Not every model accepts a temperature or a
 * schema: refused options are left out, and if that helps, for the following events too.
 */
function createAsk(
  definition: RunnableDefinition,
  send: (question: JudgeQuestion) => Promise<JudgeAnswer | JudgeRefusal>,
): Ask {
  const { system, responseFormat } = askedForm(definition);
  let taken = present({ temperature: 0, response_format: responseFormat });

  async function ask(prompt: string, options: JsonObject): Promise<JudgeAnswer | JudgeRefusal> {
    const messages = [
      { role: "system", content: system },
      { role: "user", content: prompt },
    ];
    const provider = definition.model_provider ?? "";
    const model = definition.model_name ?? "";
    const answer = await send({ provider, model, messages, options });
    if (answer.kind === "refusal") {
      const fewer = optionsLeft(options, answer);
      return fewer ? ask(prompt, fewer) : answer;
    }
    taken = options;
    return answer;
  }

  return (prompt) => ask(prompt, taken);
}

/**
 * Returns fewer options to retry with: without the options that the refusal names, or without any.
 * Undefined if the options cannot be the cause of the refusal.
 */
function optionsLeft(options: JsonObject, refusal: JudgeRefusal): JsonObject | undefined {
  const { reason, message } = refusal;
  const names = Object.keys(options);
  const isBadRequest = reason === "PROVIDER_REJECTED" || reason === "INVALID_ARGUMENT";
  if (!isBadRequest || names.length === 0) return undefined;
  const named = names.filter((name) => message.includes(name));
  if (named.length === 0) return {};
  return Object.fromEntries(Object.entries(options).filter(([name]) => !named.includes(name)));
}

/**
 * Converts a refusal. A reader of the failure passed no argument, so INVALID_ARGUMENT becomes
 * MODEL.
 */
function toFailure({ reason, message }: JudgeRefusal, output: string): RunResult {
  return failure(reason === "INVALID_ARGUMENT" ? "MODEL" : reason, message, output);
}

function toResult(answer: JudgeAnswer, definition: RunnableDefinition, output: string): RunResult {
  const text = toStorableText(answer.text);
  const judge = toJudgeCall({ ...answer, text });
  if (text.length > judgeAnswerCharactersMax) {
    const message = `the answer has more than ${judgeAnswerCharactersMax} characters`;
    return failure("NO_SCORE", message, output, judge);
  }
  const parsed = parseAnswer(text, definition);
  if ("reason" in parsed) {
    const cut = answer.isCut ? "; it ended for its length" : "";
    return failure(parsed.reason, `${parsed.message}${cut}`, output, judge);
  }
  return { kind: "score", ...parsed, output, judge };
}

function toJudgeCall(answer: JudgeAnswer): JudgeCall {
  return {
    provider: answer.provider,
    model: answer.model,
    promptTokens: answer.promptTokens,
    completionTokens: answer.completionTokens,
    cost: answer.cost,
    answer: answer.text.slice(0, keptCharactersMax).toWellFormed(),
  };
}

function failure(reason: string, words: string, output: string, judge?: JudgeCall): RunResult {
  const message = toStorableText(words);
  return { kind: "failure", reason, message, output, ...(judge && { judge }) };
}
