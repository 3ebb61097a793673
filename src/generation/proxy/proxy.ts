// LLM proxy: finds the provider of a request's model, calls it, stores the generation and passes
// the answer on unchanged. Source: docs/decisions.md, 7, 21.1.

import type { ProjectScope } from "../../access/scope.ts";
import { refuse, ServiceError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { failureOf } from "../calls/attempts.ts";
import type { GenerationIds } from "../calls/generation-event.ts";
import type { ModelRequest, WholeAnswer } from "../calls/model-call.ts";
import type { Asked, ModelCalls } from "../calls/model-calls.ts";
import type { Caller, RecordedCall, RecordedCalls } from "../calls/recorded-calls.ts";
import type { Configurations } from "../configurations/configurations.ts";
import { toEventBytes } from "../openai/event-stream.ts";
import { asksUsage, isUsageOnly } from "../openai/stream-usage.ts";
import type { Target } from "../provider.ts";
import { redactor } from "../providers/redact.ts";
import { answerForms } from "./answer-forms.ts";
import { hasMessages, readNaming, withConfiguration } from "./configured.ts";
import { parseProxyRequest, type ProxyRequest, sessionIdOf, toRecorded } from "./request.ts";
import type { CallHeaders } from "./request-headers.ts";

export type ProxyCall = {
  readonly request: ProxyRequest;
  readonly headers: CallHeaders;
  readonly caller: Caller;
};

export type Answered = Omit<GenerationIds, "parentId"> & {
  readonly provider: string;
  readonly model: string;
};

export type RawAnswer = { readonly bytes: Uint8Array; readonly contentType: string };

export type ReceivedBody = {
  readonly operation: ModelRequest["operation"];
  readonly bytes: Uint8Array;
  /** Parsed `bytes`. */
  readonly json: unknown;
};

export type Proxy = {
  /**
   * Checks a request; a chat may name a configuration, whose members are then under its own. Fails
   * with INVALID_ARGUMENT naming the field.
   */
  read(project: ProjectScope, body: ReceivedBody): Promise<ProxyRequest>;
  create(project: ProjectScope, call: ProxyCall): Promise<Answered & RawAnswer>;
  /** Asks the provider for the number of tokens of a message's request; stores nothing. */
  count(project: ProjectScope, call: ProxyCall): Promise<RawAnswer>;
  /**
   * Runs a call to the first byte of its answer. The last bytes follow after the generation is
   * stored; the stream fails if the answer is incomplete. The generation is also stored if the
   * client stops reading.
   */
  stream(
    project: ProjectScope,
    call: ProxyCall,
  ): Promise<Answered & { readonly chunks: AsyncIterable<Uint8Array> }>;
};

export type ProxyOptions = {
  readonly recordedCalls: RecordedCalls;
  readonly calls: ModelCalls;
  readonly configurations: Pick<Configurations, "use">;
  readonly logger: Pick<Logger, "warn">;
};

export function createProxy({ recordedCalls, calls, configurations, logger }: ProxyOptions): Proxy {
  function open(
    project: ProjectScope,
    { request, headers, caller }: ProxyCall,
  ): Promise<RecordedCall> {
    const { timeoutMs } = headers;
    const recorded = toRecorded(request, headers);
    return recordedCalls.open(project, {
      request: withBetas(request, headers),
      promptCharacters: request.configured?.promptCharacters ?? 0,
      timeoutMs,
      caller,
      traceIds: { ...headers, sessionId: sessionIdOf(request, headers) },
      recorded,
    });
  }

  /** Passes a stream on and stores the generation once, however the stream ends. */
  async function* passOn(
    call: RecordedCall,
    { answer: stream, ...asked }: Asked<"stream">,
    request: ProxyRequest,
  ): AsyncGenerator<Uint8Array> {
    const { signal } = call;
    const gatherer = answerForms[request.operation].gather(request, call.keep);
    const hidesUsage = call.isCharged && !asksUsage(request);
    const finish = (error?: string) => call.finish({ ...asked, answer: gatherer.answer(), error });
    const finishWhole = () => {
      const failure = gatherer.failure(asked.target.connection);
      return finish(failure && failureOf(failure, signal).text);
    };
    // Needed because a stream whose client is gone may never be resumed.
    signal.addEventListener("abort", () => {
      // After a time-out without `[DONE]` the client gets an error, so the event records one.
      const isLate = signal.reason instanceof ServiceError;
      const isComplete = gatherer.isDone() || (gatherer.isComplete() && !isLate);
      const stored = isComplete ? finishWhole() : finish(failureOf(undefined, signal).text);
      stored.catch((err: unknown) => {
        logger.warn({ err }, "a generation whose client has gone is not stored");
      });
    });
    let isLeft = true;
    try {
      for await (const parts of gatherer.follow(stream, asked.target.connection)) {
        // The end follows after the generation is stored.
        if (gatherer.isDone()) await finishWhole();
        const shown = hidesUsage ? parts.filter((part) => !isUsageOnly(part)) : parts;
        if (shown.length > 0) yield toEventBytes(shown);
      }
      await finishWhole();
      isLeft = false;
    } catch (error) {
      isLeft = false;
      const { text, thrown } = failureOf(error, signal);
      await finish(text);
      throw thrown;
    } finally {
      if (isLeft) call.end(new DOMException("the answer is not read", "AbortError"));
      await finish();
    }
  }

  return {
    async read(project, { operation, bytes, json }) {
      const naming = operation === "chat" ? readNaming(json) : undefined;
      if (!naming) return parseProxyRequest(operation, bytes, json);
      const wanted = { ...naming, hasMessages: hasMessages(naming) };
      const used = await configurations.use(project.projectId, wanted);
      const body = withConfiguration(naming, used);
      const written = Buffer.from(JSON.stringify(body));
      const configured = {
        config: { ...used.recorded, template: used.template },
        inputs: naming.inputs,
        promptCharacters: Math.max(0, written.length - bytes.length),
      };
      return { ...parseProxyRequest(operation, written, body), configured };
    },

    async create(project, call) {
      const run = await open(project, call);
      const { answer, ...asked } = await run.ask("whole");
      const { json } = answer;
      const { bytes, contentType } = rawOf(answer);
      const form = answerForms[call.request.operation];
      const read = form.read(json);
      const failure = form.failure(asked.target.connection, json);
      const error = failure && failureOf(failure, run.signal).text;
      await run.finish({ ...asked, answer: { ...read, usage: answer.usage ?? read.usage }, error });
      // A model that failed may repeat a secret.
      const sent = failure ? redactor(asked.target.connection).body(bytes) : bytes;
      return { ...answeredOf(run, asked.target), bytes: sent, contentType };
    },

    async count(project, { request, headers, caller }) {
      if (request.isStream) refuse("stream", "must not be true: a count is one number");
      const call = await calls.open(project, {
        request: { ...withBetas(request, headers), isCount: true },
        timeoutMs: headers.timeoutMs,
        client: caller.signal,
      });
      try {
        const { answer } = await call.ask("whole");
        return rawOf(answer);
      } catch (error) {
        throw failureOf(error, call.signal).thrown;
      } finally {
        call.close();
      }
    },

    async stream(project, call) {
      const run = await open(project, call);
      const asked = await run.ask("stream");
      const chunks = passOn(run, asked, call.request);
      return { ...answeredOf(run, asked.target), chunks };
    },
  };
}

function withBetas(request: ProxyRequest, { betas }: CallHeaders): ModelRequest {
  return { ...request, ...(betas !== undefined && { betas }) };
}

function rawOf({ json, bytes, contentType = "application/json" }: WholeAnswer): RawAnswer {
  return { bytes: bytes ?? Buffer.from(JSON.stringify(json)), contentType };
}

function answeredOf({ ids }: RecordedCall, { connection, model }: Target): Answered {
  const { generationId, sessionId } = ids;
  return { generationId, sessionId, provider: connection.name, model };
}
