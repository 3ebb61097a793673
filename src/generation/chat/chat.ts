// Chats: runs a model on a list of messages, and answers after the model event is stored.
// Source: docs/spec.md, "POST /chat"; docs/decisions.md, 1, 7, 20.

import type { ProjectScope } from "../../access/scope.ts";
import { ServiceError } from "../../base/errors.ts";
import type { Reservation } from "../../base/byte-budget.ts";
import { handOff } from "../../base/hand-off.ts";
import type { JsonObject } from "../../base/json.ts";
import type { CostEstimate } from "../../tracing/events/event.ts";
import { type AnswerMemory, currentAnswer, keepPrompt, keeperOf } from "../calls/answer-memory.ts";
import { AttemptsError, runAttempts } from "../calls/attempts.ts";
import type { Backoff } from "../calls/backoff.ts";
import type { Concurrency } from "../calls/concurrency.ts";
import type { LanguageModels } from "../providers/ai-sdk/language-models.ts";
import { type CallSignal, ClientGone, openCallSignal } from "../calls/call-signal.ts";
import { createTranslated, translatedCalls } from "../providers/ai-sdk/ai-sdk.ts";
import type { ProxyRequest } from "../calls/model-call.ts";
import type { Generations, Place } from "../calls/generations.ts";
import type { Routing } from "../connections/routing/routing.ts";
import { createAnswerReader, type Delta } from "./answer.ts";
import { failureOf } from "./failure.ts";
import { type ChatEnd, type RunningChat, toGeneration } from "./recording.ts";
import { type ChatRequest, toChatTask } from "./request.ts";

export type ChatCaller = {
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
  /** Runs the effect that stores the generation, at once or together with other writes. */
  readonly commit: (effect: () => Promise<void>) => Promise<void>;
  /** Called with the place of the chat after it is stored, also if it failed. */
  readonly onRecorded: (place: Place) => void;
};

export type ChatRecord = {
  readonly choices: readonly JsonObject[];
  /** Cost in US dollars; null if the price is unknown. */
  readonly cost: number | null;
  readonly generationId: string;
  readonly latencyMs: number;
  readonly sessionId: string;
  readonly isStream: boolean;
  readonly startedAtMs: number;
};

export type ChatPart =
  | { readonly kind: "delta"; readonly delta: Delta }
  | { readonly kind: "record"; readonly record: ChatRecord };

export type Chat = {
  /**
   * Runs a chat to its end. The event is stored first, also if the provider failed; then this fails
   * with PROVIDER_REJECTED, PROVIDER_FAILED, PROVIDER_LIMITED or PROVIDER_TIMEOUT.
   *
   * Fails with INVALID_ARGUMENT naming the field, NOT_FOUND for another project, and OVERLOADED; in
   * these cases no model runs and nothing is stored.
   */
  create(project: ProjectScope, request: ChatRequest, caller: ChatCaller): Promise<ChatRecord>;
  /**
   * Like `create`, but yields the text as it arrives and the record last. Fails if the provider
   * breaks off. The text until then is stored, also when the client disconnects.
   */
  stream(
    project: ProjectScope,
    request: ChatRequest,
    caller: ChatCaller,
  ): AsyncGenerator<ChatPart, void, undefined>;
};

export type ChatOptions = {
  readonly routing: Pick<Routing, "find">;
  readonly languageModels: LanguageModels;
  readonly generations: Generations;
  readonly concurrency: Concurrency;
  readonly answerMemory: AnswerMemory;
  /** Maximum tries of each target. */
  readonly attemptsMax: number;
  readonly backoff?: Backoff;
  /** Maximum duration of a chat with all attempts and the whole answer. */
  readonly timeoutMs: number;
};

type OnDelta = (delta: Delta, signal: AbortSignal) => Promise<void>;

export function createChat(options: ChatOptions): Chat {
  const { routing, generations, concurrency, answerMemory } = options;
  const callModel = createTranslated({ languageModels: options.languageModels });

  /** Runs a chat; with `onDelta` as a stream. */
  async function run(
    project: ProjectScope,
    request: ChatRequest,
    caller: ChatCaller,
    onDelta?: OnDelta,
  ): Promise<ChatRecord> {
    assertOwn(project, request.project);
    const startedAtMs = Date.now();
    const task = toChatTask(request);
    const place = generations.place(request);
    const route = await routing.find(project, request.model, request.provider);
    const isStream = onDelta !== undefined;
    const chat: RunningChat = { request, task, route, place, startedAtMs, isStream };
    const release = concurrency.enter(project, translatedCalls(toCall(chat)));
    const memory = answerMemory.open(project);
    try {
      keepPrompt(memory, task.filledCharacters);
      const end = await answer(chat, memory, caller.signal, onDelta);
      const generation = toGeneration(chat, end);
      const estimate = await generations.finish(project, generation, caller.commit);
      caller.onRecorded(place);
      if (end.failure) throw end.failure.thrown;
      return toRecord(chat, end, estimate);
    } finally {
      memory.release();
      release();
    }
  }

  /** Asks the targets for an answer. Returns a failure too, except if no target could be asked. */
  async function answer(
    chat: RunningChat,
    memory: Reservation,
    client: AbortSignal,
    onDelta: OnDelta | undefined,
  ): Promise<ChatEnd> {
    const { attemptsMax, backoff, timeoutMs } = options;
    const ender = openCallSignal(client, timeoutMs);
    const { signal } = ender;
    const reader = createAnswerReader(keeperOf(memory));
    const call = toCall(chat);
    let asked: Asked | undefined;
    try {
      const attempting = { attemptsMax, signal, ...(backoff && { backoff }) };
      const { value, target, attempts } = await currentAnswer.run(memory, () =>
        runAttempts(chat.route, attempting, (one) => callModel(one, call, signal)),
      );
      asked = { target, attempts, firstByteMs: Date.now() - chat.startedAtMs };
      if (value.kind === "whole") reader.readWhole(value);
      else await reader.readStream(value, async (delta) => onDelta?.(delta, signal));
      return { ...asked, answer: reader.gathered(), endedAtMs: Date.now() };
    } catch (error) {
      if (error instanceof AttemptsError) asked = toAsked(error);
      if (!asked) throw error;
      const failure = failureOf(error, signal);
      return { ...asked, answer: reader.gathered(), endedAtMs: Date.now(), failure };
    } finally {
      close(ender);
    }
  }

  return {
    create: (project, request, caller) => generations.run(() => run(project, request, caller)),

    stream: (project, request, caller) =>
      handOff<ChatPart>((put) =>
        generations.run(async () => {
          const record = await run(project, request, caller, (delta, signal) =>
            untilAborted(signal, put({ kind: "delta", delta })),
          );
          await put({ kind: "record", record });
        }),
      ),
  };
}

/** The key determines the project; a request may only repeat its id or name. */
function assertOwn({ projectId, name }: ProjectScope, given: string): void {
  if (given === projectId || given === name) return;
  throw new ServiceError("NOT_FOUND", "no such project");
}

function toCall({ task: { body }, isStream }: RunningChat): ProxyRequest {
  // Models of the SDK read only the body.
  return { operation: "chat", body, bytes: new Uint8Array(), isStream };
}

/** Result of the attempts. */
type Asked = Pick<ChatEnd, "target" | "attempts" | "firstByteMs">;

function toAsked({ target, attempts }: AttemptsError): Asked {
  return { target, attempts, firstByteMs: undefined };
}

/** Ends the rest of the call, such as an unread stream or a socket. */
function close(ender: CallSignal): void {
  ender.close();
  ender.end(new Error("the chat is over"));
}

/** Stops waiting when the call ends: a client that stops reading must not keep it open. */
async function untilAborted(signal: AbortSignal, taken: Promise<void>): Promise<void> {
  const ended = Promise.withResolvers<never>();
  const onAbort = (): void => ended.reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    await Promise.race([taken, ended.promise]);
  } catch (error) {
    throw signal.aborted ? signal.reason : new ClientGone(undefined, { cause: error });
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

function toRecord(chat: RunningChat, end: ChatEnd, { cost }: CostEstimate): ChatRecord {
  return {
    choices: end.answer.choices.map((choice) => ({
      index: choice.index,
      message: choice.message,
      finish_reason: choice.finishReason ?? null,
    })),
    cost,
    generationId: chat.place.generationId,
    latencyMs: end.endedAtMs - chat.startedAtMs,
    sessionId: chat.place.sessionId,
    isStream: chat.isStream,
    startedAtMs: chat.startedAtMs,
  };
}
