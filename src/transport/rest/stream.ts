// Server streams over REST: messages through an encoder picked by Accept, with backpressure, ended
// when the client goes, and never ended cleanly after a failure. Called by transcoder.ts.
// Source: docs/decisions.md, 15.

import { once } from "node:events";
import { constants, type ServerHttp2Stream } from "node:http2";
import type { Writable } from "node:stream";
import type { DescMessage, Message, MessageShape } from "@bufbuild/protobuf";
import { parseWeights } from "../accept.ts";
import { createStreamEncoder, encodingFor } from "../compression.ts";
import { type Exchange, headerOf, type NodeResponse } from "../exchange.ts";
import { serviceErrorOf } from "../interceptors/errors.ts";
import { messageWriter, type WriteContext } from "./json-writer.ts";

/** Top-level names of the event fields that a request asked for; undefined means all. */
type Projections = WriteContext["projections"];

/** Turns the messages of one stream into bytes of one media type. */
export type StreamEncode = (
  messages: AsyncIterable<Message>,
  projections: Projections,
) => AsyncIterable<Uint8Array>;

/** An encoder beside JSON Lines: for one media type in Accept, and one response message. */
export type StreamEncoder = {
  readonly mediaType: string;
  readonly output: DescMessage;
  readonly encode: StreamEncode;
};

export function streamEncoder<Desc extends DescMessage>(
  mediaType: string,
  output: Desc,
  encode: (
    messages: AsyncIterable<MessageShape<Desc>>,
    projections: Projections,
  ) => AsyncIterable<Uint8Array>,
): StreamEncoder {
  // Picked by `output`, it is only ever given messages of it.
  return { mediaType, output, encode: encode as unknown as StreamEncode };
}

const jsonLinesType = "application/x-ndjson";

/** Bytes gathered before a write, so that small messages do not become small packets. */
const gatherBytes = 65_536;

export type StreamOptions = {
  readonly output: DescMessage;
  readonly encoders: readonly StreamEncoder[];
  readonly writeContext: WriteContext;
  readonly headers: Readonly<Record<string, string>>;
};

/**
 * Writes a stream as the answer. An error before the first message is thrown with nothing written;
 * a later one ends the answer with an error line (JSON Lines) and a broken connection.
 */
export async function writeStream(
  exchange: Exchange,
  messages: AsyncIterable<Message>,
  options: StreamOptions,
): Promise<void> {
  const accepted = acceptedEncoder(exchange, options);
  const encode = accepted?.encode ?? jsonLines(options);
  const iterator = encode(messages, options.writeContext.projections)[Symbol.asyncIterator]();
  const onGone = (): void => void iterator.return?.().catch(() => undefined);
  exchange.response.once("close", onGone);
  const first = await iterator.next();
  const sink = openSink(exchange, accepted?.mediaType ?? jsonLinesType, options.headers);
  try {
    for (let next = first; !next.done; next = await iterator.next()) await sink.write(next.value);
    await sink.end();
  } catch (error) {
    if (!accepted) await tellError(sink, error);
    breakOff(exchange.response);
    throw error;
  } finally {
    exchange.response.off("close", onGone);
  }
}

/** The encoder that the client weighs highest; none where that is JSON Lines, the answer to all. */
function acceptedEncoder(exchange: Exchange, options: StreamOptions): StreamEncoder | undefined {
  const weights = parseWeights(headerOf(exchange.request, "accept") ?? "");
  const weightOf = (type: string): number => weights.get(type) ?? 0;
  const [best] = options.encoders
    .filter(({ output }) => output === options.output)
    .toSorted((a, b) => weightOf(b.mediaType) - weightOf(a.mediaType));
  if (!best || weightOf(best.mediaType) === 0) return undefined;
  const ranges = [jsonLinesType, "application/*", "*/*"];
  const jsonLinesWeight = weightOf(ranges.find((range) => weights.has(range)) ?? "");
  return weightOf(best.mediaType) >= jsonLinesWeight ? best : undefined;
}

/**
 * One line a message. A message that is nothing but a choice (`oneof`) of messages is written as
 * the one chosen, so a stream of events is a file of events, with its end as the last line.
 */
function jsonLines({ output, writeContext }: StreamOptions): StreamEncode {
  const write = lineWriter(output);
  return async function* (messages) {
    for await (const message of messages) {
      yield Buffer.from(`${JSON.stringify(write(message, writeContext))}\n`);
    }
  };
}

function lineWriter(output: DescMessage): (message: Message, context: WriteContext) => unknown {
  const [oneof] = output.oneofs;
  const isChoice =
    oneof !== undefined &&
    output.members.length === 1 &&
    oneof.fields.every((field) => field.fieldKind === "message");
  if (!isChoice) return messageWriter(output);
  const writers = new Map(
    oneof.fields.map((field) => [field.localName, field.message && messageWriter(field.message)]),
  );
  return (message, context) => {
    const chosen = (message as unknown as Record<string, { case?: string; value?: Message }>)[
      oneof.localName
    ];
    const write = chosen?.case === undefined ? undefined : writers.get(chosen.case);
    return write && chosen?.value ? write(chosen.value, context, true) : {};
  };
}

async function tellError(sink: Sink, error: unknown): Promise<void> {
  const { reason } = serviceErrorOf(error);
  try {
    await sink.write(Buffer.from(`${JSON.stringify({ success: false, errorCode: reason })}\n`));
    await sink.flush();
  } catch {
    // The client has gone; the error goes to the log alone.
  }
}

/** Ends an answer in a way that no client takes for its end. */
function breakOff(response: NodeResponse): void {
  const { stream } = response as NodeResponse & { readonly stream?: ServerHttp2Stream };
  // Destroying an HTTP/2 answer would reset it with NO_ERROR, which reads as a clean end.
  if (stream) stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  else response.destroy();
}

type Sink = {
  readonly write: (chunk: Uint8Array) => Promise<void>;
  readonly flush: () => Promise<void>;
  readonly end: () => Promise<void>;
};

function openSink(
  exchange: Exchange,
  contentType: string,
  headers: Readonly<Record<string, string>>,
): Sink {
  const { request, response } = exchange;
  const isText = contentType === jsonLinesType;
  const encoding = isText
    ? encodingFor(Number.MAX_SAFE_INTEGER, headerOf(request, "accept-encoding"))
    : undefined;
  response.writeHead(200, {
    ...headers,
    "content-type": contentType,
    ...(encoding ? { "content-encoding": encoding, vary: "accept-encoding" } : {}),
  });
  const encoder = encoding && createStreamEncoder(encoding);
  encoder?.transform.pipe(response);
  // What the encoder still writes to a client that has gone is lost like the rest.
  encoder?.transform.on("error", () => undefined);
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  return gatheringSink(encoder?.transform ?? response, encoder?.flush, gone.signal);
}

/** Gathers what comes within one turn of the event loop, and waits when the client reads slowly. */
function gatheringSink(
  target: Writable,
  flushTarget: (() => Promise<void>) | undefined,
  gone: AbortSignal,
): Sink {
  let gathered: Uint8Array[] = [];
  let bytes = 0;
  let turn: NodeJS.Immediate | undefined;

  const send = (onWritten?: () => void): boolean => {
    clearImmediate(turn);
    turn = undefined;
    if (gathered.length === 0) {
      onWritten?.();
      return true;
    }
    const chunk = gathered.length === 1 ? gathered[0] : Buffer.concat(gathered);
    gathered = [];
    bytes = 0;
    return target.write(chunk, onWritten);
  };
  const drained = async (): Promise<void> => {
    await once(target, "drain", { signal: gone });
  };
  return {
    async write(chunk) {
      gathered.push(chunk);
      bytes += chunk.length;
      if (bytes >= gatherBytes) {
        if (!send()) await drained();
        return;
      }
      turn ??= setImmediate(() => {
        send();
        void flushTarget?.();
      });
      if (target.writableNeedDrain) await drained();
    },
    async flush() {
      await new Promise<void>((resolve) => {
        send(resolve);
      });
      await flushTarget?.();
      // An encoder hands on what it flushed in the next turn.
      await new Promise((resolve) => setImmediate(resolve));
    },
    end() {
      send();
      return new Promise((resolve) => {
        gone.addEventListener("abort", () => resolve(), { once: true });
        target.end(() => resolve());
        if (gone.aborted) resolve();
      });
    },
  };
}
