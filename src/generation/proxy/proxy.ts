// LLM proxy: finds the provider of a request's model, calls it, stores the generation and passes
// the answer on unchanged. Source: docs/decisions.md, 1, 7, 20, 21.

import type { ProjectScope } from "../../access/scope.ts";
import type { Reservation } from "../../base/byte-budget.ts";
import { ServiceError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { type AnswerMemory, currentAnswer, keeperOf } from "../calls/answer-memory.ts";
import { AttemptsError, runAttempts } from "../calls/attempts.ts";
import type { Backoff } from "../calls/backoff.ts";
import type { Concurrency, Release } from "../calls/concurrency.ts";
import { ProviderError, toServiceError } from "../provider-error.ts";
import { speaksOpenAi, type Target } from "../provider.ts";
import type { Generations, Place } from "../calls/generations.ts";
import type { Routing } from "../connections/routing/routing.ts";
import { type ReadAnswer, readWholeAnswer } from "../openai/answer.ts";
import { type CallSignal, clientGoneText, openCallSignal } from "../calls/call-signal.ts";
import { type CallEnd, type RunningCall, toGeneration } from "./recording.ts";
import type { CallHeaders } from "./request-headers.ts";
import { choicesAsked, modelOf } from "./request.ts";
import { createStreamReader, type StreamReader } from "../openai/stream-reader.ts";
import { translatedCalls } from "../providers/ai-sdk/ai-sdk.ts";
import { streamFault } from "../openai/error.ts";
import type {
  CallUpstream,
  ProxyRequest,
  StreamAnswer,
  UpstreamAnswer,
  WholeAnswer,
} from "../calls/model-call.ts";

export type ProxyCall = {
  readonly request: ProxyRequest;
  readonly headers: CallHeaders;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
  /** Runs the effect that stores the generation, at once or together with other writes. */
  readonly commit: (effect: () => Promise<void>) => Promise<void>;
  /** Called with the place of the call after it is stored, also if it failed. */
  readonly onRecorded: (place: Place) => void;
};

/** Contents of the response headers. */
export type Answered = Omit<Place, "parentId"> & {
  readonly provider: string;
  readonly model: string;
};

export type Proxy = {
  /** Runs a call to its end. */
  create(project: ProjectScope, call: ProxyCall): Promise<Answered & Pick<WholeAnswer, Passed>>;
  /**
   * Runs a call to the first byte of its answer. The last bytes follow after the generation is
   * stored; the stream fails if the answer is incomplete. The generation is also stored if the
   * client stops reading.
   */
  stream(project: ProjectScope, call: ProxyCall): Promise<Answered & Pick<StreamAnswer, "chunks">>;
};

type Passed = "bytes" | "contentType";

export type ProxyOptions = {
  readonly routing: Pick<Routing, "find">;
  readonly generations: Generations;
  readonly concurrency: Concurrency;
  readonly answerMemory: AnswerMemory;
  /** Calls providers with the OpenAI API; `translated` calls the others. */
  readonly passThrough: CallUpstream;
  readonly translated: CallUpstream;
  readonly attemptsMax: number;
  readonly backoff?: Backoff;
  /** Maximum duration of a call. */
  readonly timeoutMs: number;
  readonly logger: Pick<Logger, "warn">;
};

/** Time to wait for the end of the connection after `[DONE]`, which ends the answer. */
const afterDoneMs = 200;

type Run = RunningCall & {
  readonly call: ProxyCall;
  readonly ender: CallSignal;
  /** Memory of the answer until it is stored. */
  readonly memory: Reservation;
  /** Stores the result of the call; only the first one counts. Undefined if no model was asked. */
  readonly finish: (end: CallEnd | undefined) => Promise<void>;
};

type AnswerOf<K> = Extract<UpstreamAnswer, { readonly kind: K }>;

type Asked<A> = {
  readonly answer: A;
  readonly end: Pick<CallEnd, "target" | "attempts" | "firstByteMs">;
};

export function createProxy(options: ProxyOptions): Proxy {
  const { routing, generations, concurrency, logger } = options;

  async function begin(project: ProjectScope, call: ProxyCall): Promise<Run> {
    const { request, headers, signal } = call;
    const startedAtMs = Date.now();
    const place = generations.place(headers);
    const route = await routing.find(project, modelOf(request));
    const isTranslated = route.targets.some((one) => !speaksOpenAi(one.connection.type));
    const release = concurrency.enter(project, isTranslated ? translatedCalls(request) : 1);
    try {
      const timeoutMs = Math.min(headers.timeoutMs ?? options.timeoutMs, options.timeoutMs);
      const ender = openCallSignal(signal, timeoutMs);
      const memory = options.answerMemory.open(project);
      const running = { request, headers, route, place, startedAtMs, call, ender, memory };
      return { ...running, finish: finisher(project, running, release) };
    } catch (error) {
      release();
      throw error;
    }
  }

  function finisher(
    project: ProjectScope,
    running: Omit<Run, "finish">,
    release: Release,
  ): Run["finish"] {
    const ended = Promise.withResolvers<void>();
    // Shutdown waits for the end of the call, also if the client stopped reading.
    void generations.run(() => ended.promise);
    const store = async (end: CallEnd | undefined): Promise<void> => {
      const { ender, call, memory } = running;
      ender.close();
      try {
        if (!end) return;
        await generations.finish(project, toGeneration(running, end), call.commit);
        call.onRecorded(running.place);
      } finally {
        memory.release();
        release();
        ended.resolve();
      }
    };
    let finished: Promise<void> | undefined;
    return (end) => (finished ??= store(end));
  }

  /** Asks the targets for an answer; stores and throws a failure. */
  async function ask<K extends UpstreamAnswer["kind"]>(
    run: Run,
    kind: K,
  ): Promise<Asked<AnswerOf<K>>> {
    const { route, request, ender, memory, startedAtMs } = run;
    const { attemptsMax, backoff } = options;
    try {
      const attempting = { attemptsMax, signal: ender.signal, ...(backoff && { backoff }) };
      const { value, target, attempts } = await currentAnswer.run(memory, () =>
        runAttempts(route, attempting, (one, signal) => upstreamOf(one)(one, request, signal)),
      );
      if (!isKind(value, kind)) throw new Error(`a ${kind} answer was asked for`);
      return { answer: value, end: { target, attempts, firstByteMs: Date.now() - startedAtMs } };
    } catch (error) {
      const failure = failureOf(run, error);
      // Other errors mean that no provider could be asked: there is nothing to store.
      const end =
        error instanceof AttemptsError ? { ...endOf(error), error: failure.text } : undefined;
      await run.finish(end);
      throw failure.thrown;
    }
  }

  const upstreamOf = ({ connection }: Target): CallUpstream =>
    speaksOpenAi(connection.type) ? options.passThrough : options.translated;

  /** Passes a stream on and stores the generation once, however the stream ends. */
  async function* passOn(run: Run, asked: Asked<StreamAnswer>): AsyncGenerator<Uint8Array> {
    const { answer, end } = asked;
    const reader = createStreamReader(choicesAsked(run.request), keeperOf(run.memory));
    const finish = (error?: string): Promise<void> =>
      run.finish({ ...end, answer: readSoFar(reader, answer), error });
    const { signal } = run.ender;
    // Needed because a stream whose client is gone may never be resumed.
    signal.addEventListener("abort", () => {
      // After a time-out without `[DONE]` the client gets an error, so the event records one.
      const isLate = signal.reason instanceof ServiceError;
      const isComplete = reader.isDone() || (reader.isWhole() && !isLate);
      finish(isComplete ? undefined : failureOf(run, signal.reason).text).catch((err: unknown) => {
        logger.warn({ err }, "a generation whose client has gone is not stored");
      });
    });
    let isLeft = true;
    try {
      yield* passing(run, reader, asked);
      await finish();
      isLeft = false;
      const held = reader.held();
      if (held.length > 0) yield held;
    } catch (error) {
      isLeft = false;
      const failure = failureOf(run, error);
      await finish(failure.text);
      throw failure.thrown;
    } finally {
      if (isLeft) run.ender.end(gone());
      await finish();
    }
  }

  return {
    async create(project, call) {
      const run = await begin(project, call);
      const { answer, end } = await ask(run, "whole");
      const read = readWholeAnswer(call.request.operation, answer.json);
      await run.finish({ ...end, answer: { ...read, usage: answer.usage ?? read.usage } });
      const { bytes, contentType } = answer;
      return { ...answeredOf(run, end.target), bytes, contentType };
    },

    async stream(project, call) {
      const run = await begin(project, call);
      const asked = await ask(run, "stream");
      return { ...answeredOf(run, asked.end.target), chunks: passOn(run, asked) };
    },
  };
}

/** Yields the parts of a stream that may pass before its generation is stored. */
async function* passing(
  { ender }: Run,
  reader: StreamReader,
  { answer, end }: Asked<StreamAnswer>,
): AsyncGenerator<Uint8Array> {
  const { connection } = end.target;
  let timer: NodeJS.Timeout | undefined;
  try {
    for await (const chunk of answer.chunks) {
      const bytes = reader.push(chunk);
      if (bytes) yield bytes;
      const fault = reader.fault();
      if (fault) throw streamFault(connection, fault);
      if (reader.isDone()) timer ??= setTimeout(() => ender.end(gone()), afterDoneMs);
    }
  } catch (error) {
    // Failures of the connection after `[DONE]` do not concern the answer.
    if (!reader.isDone()) throw error;
  } finally {
    clearTimeout(timer);
  }
  const rest = reader.end();
  if (rest) yield rest;
  const fault = reader.fault();
  if (fault) throw streamFault(connection, fault);
}

function isKind<K extends UpstreamAnswer["kind"]>(
  answer: UpstreamAnswer,
  kind: K,
): answer is AnswerOf<K> {
  return answer.kind === kind;
}

function readSoFar(reader: StreamReader, { usage }: StreamAnswer): ReadAnswer {
  const read = reader.answer();
  return { ...read, usage: usage?.() ?? read.usage };
}

function endOf({ target, attempts }: AttemptsError): CallEnd {
  return { target, attempts };
}

function answeredOf({ place }: Run, { connection, model }: Target): Answered {
  const { generationId, sessionId } = place;
  return { generationId, sessionId, provider: connection.name, model };
}

function gone(): Error {
  return new DOMException("nobody reads the answer", "AbortError");
}

/** Returns the error text for the event and the error for the caller. */
function failureOf(
  { call, ender }: Run,
  error: unknown,
): { readonly text: string; readonly thrown: unknown } {
  const ended: unknown = ender.signal.reason;
  const cause = error instanceof AttemptsError ? (error.error ?? ended) : error;
  const known = cause instanceof ProviderError ? toServiceError(cause) : cause;
  if (known instanceof ServiceError) {
    return { text: `${known.reason}: ${known.message}`, thrown: known };
  }
  const isGone = call.signal.aborted || (cause instanceof Error && cause.name === "AbortError");
  const text = isGone ? clientGoneText(ended) : "INTERNAL: the service failed";
  return { text, thrown: cause };
}
