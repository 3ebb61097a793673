// Chats: runs a model on a list of messages, and answers after the model event is stored.
// Source: docs/spec.md, "POST /chat"; docs/decisions.md, 7, 20.1.

import type { ProjectScope } from "../../access/scope.ts";
import { ServiceError } from "../../base/errors.ts";
import { handOff } from "../../base/hand-off.ts";
import type { JsonObject } from "../../base/json.ts";
import { type Failure, failureOf } from "../calls/attempts.ts";
import { ClientGone, untilAborted } from "../calls/call-signal.ts";
import type { CallEnd, RecordedRequest } from "../calls/generation-event.ts";
import { choicesAsked, type ModelRequest } from "../calls/model-call.ts";
import type { Caller, RecordedCall, RecordedCalls } from "../calls/recorded-calls.ts";
import type { Configurations } from "../configurations/configurations.ts";
import { createAnswerGatherer } from "../openai/answer-gatherer.ts";
import { type ChatAnswer, type Delta, deltasOf, readGathered, readWholeChat } from "./answer.ts";
import { type ChatRequest, type ChatTask, toChatTask, withConfiguration } from "./request.ts";

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
  create(project: ProjectScope, request: ChatRequest, caller: Caller): Promise<ChatRecord>;
  /**
   * Like `create`, but yields the text as it arrives and the record last. Fails if the provider
   * breaks off. The text until then is stored, also when the client disconnects.
   */
  stream(
    project: ProjectScope,
    request: ChatRequest,
    caller: Caller,
  ): AsyncGenerator<ChatPart, void, undefined>;
};

type OnDelta = (delta: Delta, signal: AbortSignal) => Promise<void>;

export type ChatOptions = {
  readonly recordedCalls: RecordedCalls;
  readonly configurations: Pick<Configurations, "use">;
};

export function createChat({ recordedCalls, configurations }: ChatOptions): Chat {
  /** Reads the configuration that a request names, if any. */
  async function configure(project: ProjectScope, request: ChatRequest): Promise<ChatRequest> {
    const { configuration, environment, messages } = request;
    if (configuration === undefined) {
      if (environment === undefined) return request;
      throw new ServiceError("INVALID_ARGUMENT", "environment: needs a configuration");
    }
    const wanted = { configuration, environment, hasMessages: messages.length > 0 };
    return withConfiguration(request, await configurations.use(project.projectId, wanted));
  }

  /** Runs a chat; with `onDelta` as a stream. */
  async function run(
    project: ProjectScope,
    given: ChatRequest,
    caller: Caller,
    onDelta?: OnDelta,
  ): Promise<ChatRecord> {
    assertOwn(project, given.project);
    const request = await configure(project, given);
    const task = toChatTask(request);
    const isStream = onDelta !== undefined;
    const asked: ModelRequest = { operation: "chat", body: task.body, isStream };
    const call = await recordedCalls.open(project, {
      request: asked,
      provider: request.provider,
      promptCharacters: task.filledCharacters,
      caller,
      traceIds: request,
      recorded: toRecorded(request, task),
    });
    const { failure, answer, ...end } = onDelta
      ? await readStream(call, choicesAsked(asked), onDelta)
      : await readWhole(call);
    const endedAtMs = Date.now();
    const { cost } = await call.finish({ ...end, answer, endedAtMs, error: failure?.text });
    if (failure) throw failure.thrown;
    return {
      choices: answer.choices.map(({ index, message, finishReason }) => ({
        index,
        message,
        finish_reason: finishReason ?? null,
      })),
      cost,
      generationId: call.ids.generationId,
      latencyMs: endedAtMs - call.startedAtMs,
      sessionId: call.ids.sessionId,
      isStream,
      startedAtMs: call.startedAtMs,
    };
  }

  return {
    create: (project, request, caller) => run(project, request, caller),

    stream: (project, request, caller) =>
      handOff<ChatPart>(async (put) => {
        const record = await run(project, request, caller, async (delta, signal) => {
          const passOn = (): Promise<void> => put({ kind: "delta", delta });
          // A client that stops reading must not keep the call open.
          await untilAborted(signal, passOn).catch((cause: unknown) => {
            throw signal.aborted ? signal.reason : new ClientGone(undefined, { cause });
          });
        });
        await put({ kind: "record", record });
      }),
  };
}

type ChatEnd = CallEnd & { readonly answer: ChatAnswer; readonly failure?: Failure };

async function readWhole(call: RecordedCall): Promise<ChatEnd> {
  const { answer, ...asked } = await call.ask("whole");
  return { ...asked, answer: readWholeChat(answer) };
}

/** Reads a stream to its end or to a failure. */
async function readStream(call: RecordedCall, choices: number, onDelta: OnDelta): Promise<ChatEnd> {
  const { answer: stream, ...asked } = await call.ask("stream");
  const { connection } = asked.target;
  const gatherer = createAnswerGatherer(choices, call.keep);
  try {
    for await (const parts of gatherer.follow(stream, connection, true)) {
      for (const delta of deltasOf(parts)) await onDelta(delta, call.signal);
    }
    return { ...asked, answer: readGathered(gatherer) };
  } catch (error) {
    const failure = failureOf(error, call.signal);
    return { ...asked, answer: readGathered(gatherer), failure };
  }
}

function toRecorded(request: ChatRequest, { config, inputs }: ChatTask): RecordedRequest {
  const { eventName, metadata = {}, userProperties = {} } = request;
  return {
    nameFor: (model) => eventName || `chat ${model}`,
    source: "chat",
    config,
    inputs,
    metadata,
    userProperties,
  };
}

/** The key determines the project; a request may only repeat its id or name. */
function assertOwn({ projectId, name }: ProjectScope, given: string): void {
  if (given === projectId || given === name) return;
  throw new ServiceError("NOT_FOUND", "no such project");
}
