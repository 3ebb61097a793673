// Open HTTP/2 streams without a known caller: one connection can leave hundreds of them without a
// body or with an unread answer. Past their limit the oldest one is reset. Calls of known callers
// count by their memory instead. Source: docs/limits.md.

import { constants, type ServerHttp2Stream } from "node:http2";
import { keylessStreamsMax } from "../base/tenant-limits.ts";
import type { NodeResponse } from "./exchange.ts";
import { streamOf } from "./write.ts";

/** The oldest first. */
const streams = new Set<ServerHttp2Stream>();

/** Counts a stream until it closes or its caller is known. */
export function addKeylessStream(stream: ServerHttp2Stream): void {
  streams.add(stream);
  stream.once("close", () => streams.delete(stream));
  const [oldest] = streams;
  if (streams.size <= keylessStreamsMax || oldest === undefined) return;
  streams.delete(oldest);
  oldest.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
}

/** Counts the stream of an answer no longer: its caller is known. */
export function removeKeylessStream(response: NodeResponse): void {
  const stream = streamOf(response);
  if (stream) streams.delete(stream);
}
