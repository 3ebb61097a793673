// Writes bytes to a client with backpressure: a large answer goes out in pieces, and a client that
// reads nothing for a minute loses its answer, so that unread answers cannot fill the memory.
// Source: docs/limits.md.

import { constants, type ServerHttp2Stream } from "node:http2";
import type { Writable } from "node:stream";
import { ServiceError } from "../base/errors.ts";
import { answerStallMs } from "../base/limits.ts";
import { unreadAnswersMax } from "../base/tenant-limits.ts";
import type { NodeResponse } from "./exchange.ts";

/** Bytes of one write; the client must read as many within the stall time. */
const pieceBytes = 262_144;

/**
 * Thrown where a client has gone before its answer was whole. Made once: its stack is of no use.
 */
const clientGone = new DOMException("the client went away", "AbortError");

/**
 * Writes bytes and resolves when the target takes more. Fails with
 * DEADLINE_EXCEEDED where the client reads nothing, and with an AbortError where it has gone.
 * `response` is what the client reads, behind an encoder where there is one.
 */
export async function writePieces(
  target: Writable,
  response: NodeResponse,
  bytes: Uint8Array,
): Promise<void> {
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    if (!target.write(bytes.subarray(at, at + pieceBytes))) {
      await settled(response, (done) => {
        target.once("drain", done);
        return () => target.off("drain", done);
      });
    }
  }
}

/** Ends an answer; resolves when its last byte is on its way, or the client has gone. */
export async function endAnswer(response: NodeResponse, bytes?: Uint8Array): Promise<void> {
  try {
    const stream = streamOf(response);
    const isOneWrite = !stream && !response.destroyed && bytes && bytes.length <= pieceBytes;
    if (isOneWrite) {
      // With its header, and most often at once.
      response.end(bytes);
      if (response.socket?.writableLength === 0) return;
    } else if (bytes) await writePieces(response, response, bytes);
    const target = stream ?? response;
    if (response.destroyed || target.writableFinished) return;
    noteUnread(response);
    await settled(response, (done) => {
      target.once("finish", done);
      response.end();
      return () => target.off("finish", done);
    });
  } catch (error) {
    if (error === clientGone) return;
    if (!(error instanceof ServiceError)) throw error;
    breakOff(response);
  } finally {
    unread.delete(response);
  }
}

/** Answers that have ended and are not on their way yet, the oldest first. */
const unread = new Set<NodeResponse>();

/** Limits their number: one connection can leave hundreds of answers unread. */
function noteUnread(response: NodeResponse): void {
  unread.add(response);
  const [oldest] = unread;
  if (unread.size <= unreadAnswersMax || oldest === undefined) return;
  unread.delete(oldest);
  breakOff(oldest);
}

/** Ends an answer in a way that no client takes for its end. */
export function breakOff(response: NodeResponse): void {
  const stream = streamOf(response);
  // Destroying an HTTP/2 answer would reset it with NO_ERROR, which reads as a clean end.
  if (stream) stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  else response.destroy();
}

/** HTTP/2's response says that it has finished only when its stream is closed on both sides. */
function streamOf(response: NodeResponse): ServerHttp2Stream | undefined {
  return (response as NodeResponse & { readonly stream?: ServerHttp2Stream }).stream;
}

/** Waits for an event of a target, as long as the client reads and is there. */
export function settled(
  response: NodeResponse,
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
    if (response.destroyed) onClose();
  });
}
