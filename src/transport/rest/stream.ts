// Server streams over REST: encodes messages by their type or by Accept, writes with backpressure,
// stops when the client leaves, and never ends cleanly after an error. Source: docs/decisions.md,
// 15.2.

import type { Writable } from "node:stream";
import type { DescMessage, Message, MessageShape } from "@bufbuild/protobuf";
import {
  createStreamEncoder,
  encodingFor,
  parseWeights,
  type StreamEncoder as Compressor,
} from "../compression.ts";
import { type Exchange, headerOf, type NodeResponse, varyOf } from "../exchange.ts";
import { mapItems } from "../items.ts";
import { breakOff, endAnswer, settled, writePieces } from "../write.ts";
import { serviceErrorOf } from "../interceptors/errors.ts";
import type { ServiceError } from "../../base/errors.ts";
import { messageWriter, type WriteContext } from "./json-writer.ts";

/** Top-level names of the requested event fields; undefined means all. */
type Projections = WriteContext["projections"];

/** Encodes the messages of one stream to bytes of one media type. */
export type StreamEncode = (
  messages: AsyncIterable<Message>,
  projections: Projections,
) => AsyncIterable<Uint8Array>;

/** An encoder in addition to JSON Lines, for one media type in Accept and one response message. */
export type StreamEncoder = {
  readonly mediaType: string;
  readonly output: DescMessage;
  readonly encode: StreamEncode;
  /** Name under which people save the answer; undefined if it is not a file. */
  readonly fileName?: string;
  /** Whether it answers every stream of the message, regardless of Accept. */
  readonly isOnly?: boolean;
  /**
   * Returns the last bytes of a failed stream; if absent, only the broken connection shows the
   * error.
   */
  readonly encodeError?: (error: ServiceError) => Uint8Array;
};

export function streamEncoder<Desc extends DescMessage>(
  file: { readonly mediaType: string; readonly fileName: string },
  output: Desc,
  encode: (
    messages: AsyncIterable<MessageShape<Desc>>,
    projections: Projections,
  ) => AsyncIterable<Uint8Array>,
): StreamEncoder {
  // The encoder is chosen by `output`, so it receives only messages of that type.
  return { ...file, output, encode: encode as unknown as StreamEncode };
}

const jsonLinesType = "application/x-ndjson";

/** Keep caches and proxies from holding events back. */
const eventStreamHeaders = { "cache-control": "no-cache", "x-accel-buffering": "no" };

/** Bytes gathered before a write, so that small messages do not become small packets. */
const gatherBytes = 65_536;

export type StreamOptions = {
  readonly output: DescMessage;
  readonly encoders: readonly StreamEncoder[];
  readonly writeContext: WriteContext;
  /** Headers that the handler set before its first message. */
  readonly headers: Headers;
  /** Called when the answer breaks off, before its messages end. */
  readonly onBroken: (error: unknown) => void;
};

/**
 * Writes a stream as the answer. An error before the first message is thrown, with nothing written.
 * A later error ends the answer with an error in the encoder's format and a broken connection.
 */
export async function writeStream(
  exchange: Exchange,
  messages: AsyncIterable<Message>,
  options: StreamOptions,
): Promise<void> {
  const encoder = encoderOf(exchange, options);
  const encoded = encoder.encode(messages, options.writeContext.projections);
  const iterator = encoded[Symbol.asyncIterator]();
  const onGone = (): void => void iterator.return?.().catch(() => undefined);
  exchange.response.once("close", onGone);
  const first = await iterator.next();
  const sink = openSink(exchange, encoder, options.headers);
  try {
    for (let next = first; !next.done; next = await iterator.next()) await sink.write(next.value);
    await sink.end();
  } catch (error) {
    options.onBroken(error);
    onGone();
    // A client that reads nothing does not read an error either.
    if (!exchange.response.writableNeedDrain) await tellError(sink, encoder, error);
    breakOff(exchange.response);
    throw error;
  } finally {
    exchange.response.off("close", onGone);
  }
}

function encoderOf(exchange: Exchange, options: StreamOptions): StreamEncoder {
  const { encoders, output, writeContext } = options;
  const only = encoders.find((one) => one.isOnly === true && one.output === output);
  return only ?? acceptedEncoder(exchange, options) ?? jsonLines(output, writeContext);
}

/**
 * Returns the encoder with the highest weight in Accept; undefined if that is JSON Lines, the
 * default.
 */
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

function jsonLines(output: DescMessage, context: WriteContext): StreamEncoder {
  const lines = messageLines(output, context);
  return {
    mediaType: jsonLinesType,
    output,
    encode: (messages) => mapItems(lines(messages), (line) => Buffer.from(`${line}\n`)),
    encodeError: ({ reason }) =>
      Buffer.from(`${JSON.stringify({ success: false, errorCode: reason })}\n`),
  };
}

/**
 * Returns a function that writes each message as one line of JSON. A message that is only a oneof
 * of messages is written as the chosen message, so a stream of events is a file of events, with its
 * end as the last line.
 */
export function messageLines(
  output: DescMessage,
  context: WriteContext,
): (messages: AsyncIterable<Message>) => AsyncIterable<string> {
  const write = lineWriter(output);
  return (messages) => mapItems(messages, (message) => JSON.stringify(write(message, context)));
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

async function tellError(sink: Sink, encoder: StreamEncoder, error: unknown): Promise<void> {
  if (!encoder.encodeError) return;
  try {
    await sink.write(encoder.encodeError(serviceErrorOf(error)));
    await sink.flush();
  } catch {
    // The client has gone; only the log gets the error.
  }
}

type Sink = {
  readonly write: (chunk: Uint8Array) => Promise<void>;
  readonly flush: () => Promise<void>;
  readonly end: () => Promise<void>;
};

function openSink(
  exchange: Exchange,
  { mediaType, fileName }: StreamEncoder,
  headers: Headers,
): Sink {
  const { request, response } = exchange;
  const isText = mediaType === jsonLinesType;
  const encoding = isText
    ? encodingFor(Number.MAX_SAFE_INTEGER, headerOf(request, "accept-encoding"))
    : undefined;
  response.writeHead(200, {
    ...Object.fromEntries(headers),
    "content-type": mediaType,
    ...(fileName ? { "content-disposition": `attachment; filename="${fileName}"` } : {}),
    ...(mediaType.startsWith("text/event-stream") ? eventStreamHeaders : {}),
    ...(encoding ? { "content-encoding": encoding, vary: varyOf(response) } : {}),
  });
  const encoder = encoding && createStreamEncoder(encoding);
  encoder?.transform.pipe(response);
  // Bytes that the encoder still writes to a client that has gone are lost too.
  encoder?.transform.on("error", () => undefined);
  return gatheringSink(response, encoder);
}

/**
 * Returns a sink that gathers chunks of one turn of the event loop and waits while the client reads
 * slowly.
 */
function gatheringSink(response: NodeResponse, encoder: Compressor | undefined): Sink {
  const target: Writable = encoder?.transform ?? response;
  let gathered: Uint8Array[] = [];
  let bytes = 0;
  let turn: NodeJS.Immediate | undefined;

  const take = (): Uint8Array => {
    clearImmediate(turn);
    turn = undefined;
    const chunk = gathered.length === 1 ? gathered[0] : Buffer.concat(gathered);
    gathered = [];
    bytes = 0;
    return chunk ?? Buffer.alloc(0);
  };
  return {
    async write(chunk) {
      gathered.push(chunk);
      bytes += chunk.length;
      if (bytes >= gatherBytes) return writePieces(target, response, take());
      turn ??= setImmediate(() => {
        target.write(take());
        void encoder?.flush();
      });
      if (target.writableNeedDrain) {
        await settled(response, (done) => {
          target.once("drain", done);
          return () => target.off("drain", done);
        });
      }
    },
    async flush() {
      await writePieces(target, response, take());
      await encoder?.flush();
      // An encoder passes on its flushed bytes in the next turn.
      await new Promise((resolve) => setImmediate(resolve));
    },
    async end() {
      await writePieces(target, response, take());
      if (!encoder) return endAnswer(response);
      await settled(response, (done) => {
        response.once("finish", done);
        encoder.transform.end();
        return () => response.off("finish", done);
      });
    },
  };
}
