// Writes bytes to a client with backpressure: a large answer goes out in pieces, and a client that
// reads nothing for a minute loses its answer, so that unread answers cannot fill the memory.
// Source: docs/limits.md.

import type { ServerResponse } from "node:http";
import { constants, type ServerHttp2Stream } from "node:http2";
import type { Writable } from "node:stream";
import { ServiceError } from "../base/errors.ts";
import { answerStallMs } from "../base/limits.ts";

/** Bytes of one write; the client must read as many within the stall time. */
const pieceBytes = 262_144;

/**
 * Error for a client that disconnected before its answer was complete. Created once: its stack is
 * of no use.
 */
const clientGone = new DOMException("the client went away", "AbortError");

/**
 * Writes bytes and resolves when the target takes more. Fails with DEADLINE_EXCEEDED if the client
 * reads nothing, and with an AbortError if it has gone. `response` is the client's response;
 * `target` is the response itself or an encoder in front of it.
 */
export async function writePieces(
  target: Writable,
  response: ServerResponse,
  bytes: Uint8Array,
): Promise<void> {
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    if (isGone(response)) throw clientGone;
    if (!target.write(bytes.subarray(at, at + pieceBytes))) {
      await settled(response, (done) => {
        target.once("drain", done);
        return () => target.off("drain", done);
      });
    }
  }
}

/** Ends an answer; resolves when its last byte is on its way, or if the client has gone. */
export async function endAnswer(response: ServerResponse, bytes?: Uint8Array): Promise<void> {
  try {
    const stream = streamOf(response);
    if (bytes && bytes.length <= pieceBytes && !stream && !isGone(response)) {
      // Sends head and body in one write, most often at once.
      response.end(bytes);
      if (response.socket?.writableLength === 0) return;
    } else if (bytes) await writePieces(response, response, bytes);
    // The HTTP/2 response itself finishes only when both sides of its stream are closed.
    const target = stream ?? response;
    if (isGone(response) || target.writableFinished) return;
    await settled(response, (done) => {
      target.once("finish", done);
      response.end();
      return () => target.off("finish", done);
    });
  } catch (error) {
    if (error === clientGone) return;
    if (!(error instanceof ServiceError)) throw error;
    breakOff(response);
  }
}

/**
 * Whether the client has gone. An HTTP/2 response has no `destroyed`, and emits no event after its
 * stream has closed.
 */
export function isGone(response: ServerResponse): boolean {
  const stream = streamOf(response);
  return stream ? stream.destroyed || stream.closed : response.destroyed;
}

/** Returns the stream of an HTTP/2 answer, undefined for HTTP/1.1. */
export function streamOf(response: ServerResponse): ServerHttp2Stream | undefined {
  return (response as ServerResponse & { readonly stream?: ServerHttp2Stream }).stream;
}

/** Ends an answer so that every client notices that it is incomplete. */
export function breakOff(response: ServerResponse): void {
  const stream = streamOf(response);
  // Destroying an HTTP/2 answer would reset it with NO_ERROR, which looks like a clean end.
  if (stream) stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  else response.destroy();
}

/** Waits for an event of a target. Fails if the client disconnects or reads nothing. */
export function settled(
  response: ServerResponse,
  listen: (done: () => void) => () => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (error?: Error): void => {
      clearTimeout(timer);
      response.off("close", onClose);
      unlisten();
      if (error) reject(error);
      else resolve();
    };
    const onClose = (): void => end(clientGone);
    const timer = setTimeout(() => {
      const message = `the client read nothing for ${answerStallMs} ms`;
      end(new ServiceError("DEADLINE_EXCEEDED", message));
    }, answerStallMs);
    response.once("close", onClose);
    const unlisten = listen(() => end());
    if (isGone(response)) onClose();
  });
}
