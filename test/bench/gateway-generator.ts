// The load generator of `gateway`, a separate process: chat completions over keep-alive
// connections, either each in turn after the last answer, or at a fixed rate regardless of answers.
// Takes a GatewayJob as its argument and prints a GatewayResult.

import { connect } from "node:net";
import { answer } from "./stand-in.ts";

export type GatewayJob = {
  /** Base URL of OpenAI's API, ending in `/v1`. */
  readonly url: string;
  readonly key: string;
  readonly model: string;
  readonly isStream: boolean;
  readonly requests: number;
  /** Number of always busy connections, or requests per second. */
  readonly pace: { readonly concurrency: number } | { readonly rate: number };
  /** Headers of every request besides those of HTTP and the key. */
  readonly headers?: Readonly<Record<string, string>>;
};

export type GatewayResult = {
  readonly seconds: number;
  /** Times to the last byte, and to the first byte of the body. */
  readonly lastP50Ms: number;
  readonly lastP99Ms: number;
  readonly firstP50Ms: number;
  readonly firstP99Ms: number;
  readonly cpuSeconds: number;
};

type Times = { readonly firstMs: number; readonly lastMs: number };

type Send = (request: Buffer) => Promise<Times>;

const promptChars = 2_000;

async function main(job: GatewayJob): Promise<GatewayResult> {
  const request = toRequest(job);
  const times: Times[] = [];
  const cpu = process.cpuUsage();
  const begunAtMs = performance.now();
  if ("rate" in job.pace) await sendAtRate(job, job.pace.rate, request, times);
  else await sendInTurn(job, job.pace.concurrency, request, times);
  const seconds = (performance.now() - begunAtMs) / 1_000;
  const used = process.cpuUsage(cpu);
  // A fresh process compiles its code during its first second, whichever way the requests go.
  if ("rate" in job.pace) times.splice(0, job.pace.rate);
  const firsts = times.map(({ firstMs }) => firstMs).toSorted((a, b) => a - b);
  const lasts = times.map(({ lastMs }) => lastMs).toSorted((a, b) => a - b);
  const at = (sorted: readonly number[], share: number): number =>
    sorted[Math.ceil(sorted.length * share) - 1] ?? NaN;
  return {
    seconds,
    lastP50Ms: at(lasts, 0.5),
    lastP99Ms: at(lasts, 0.99),
    firstP50Ms: at(firsts, 0.5),
    firstP99Ms: at(firsts, 0.99),
    cpuSeconds: (used.user + used.system) / 1e6,
  };
}

function toRequest({ url, key, model, isStream, headers = {} }: GatewayJob): Buffer {
  const { pathname, host } = new URL(url);
  const content = "Tell me more. ".repeat(Math.ceil(promptChars / 14));
  const body = JSON.stringify({
    model,
    messages: [
      { role: "system", content: "You are brief." },
      { role: "user", content },
    ],
    temperature: 0.5,
    ...(isStream && { stream: true, stream_options: { include_usage: true } }),
  });
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(
    `POST ${pathname}/chat/completions HTTP/1.1\r\nhost: ${host}\r\n` +
      `authorization: Bearer ${key}\r\ncontent-type: application/json\r\n${lines.join("")}` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

async function sendInTurn(
  job: GatewayJob,
  concurrency: number,
  request: Buffer,
  times: Times[],
): Promise<void> {
  let sent = 0;
  const work = async (): Promise<void> => {
    const send = await openConnection(job);
    while (sent < job.requests) {
      sent += 1;
      times.push(await send(request));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
}

/** Sends on schedule; if no connection is free, opens another one. */
async function sendAtRate(
  job: GatewayJob,
  rate: number,
  request: Buffer,
  times: Times[],
): Promise<void> {
  const free = await Promise.all(Array.from({ length: 16 }, () => openConnection(job)));
  const running = new Set<Promise<void>>();
  const faults: unknown[] = [];
  const sendOne = async (): Promise<void> => {
    const dueMs = performance.now();
    // The connection idle for longest, so that the server closes none of them as idle.
    const send = free.shift() ?? (await openConnection(job));
    const waitedMs = performance.now() - dueMs;
    const { firstMs, lastMs } = await send(request);
    times.push({ firstMs: firstMs + waitedMs, lastMs: lastMs + waitedMs });
    free.push(send);
  };
  const begunAtMs = performance.now();
  for (let number = 0; number < job.requests; number += 1) {
    const waitMs = begunAtMs + (number * 1_000) / rate - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    const one = sendOne()
      .catch((error: unknown) => void faults.push(error))
      .finally(() => running.delete(one));
    running.add(one);
  }
  await Promise.all(running);
  if (faults.length > 0) throw faults[0];
}

/** Opens a connection that sends one request at a time and reads its answer to the end. */
function openConnection({ url, isStream }: GatewayJob): Promise<Send> {
  const { hostname, port } = new URL(url);
  return new Promise((resolveOpen, rejectOpen) => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    let reading: Reading | undefined;
    const fail = (error: Error): void => {
      rejectOpen(error);
      reading?.reject(error);
    };
    socket.on("error", fail).on("close", () => fail(new Error("a connection was closed")));
    socket.on("data", (chunk: Buffer) => {
      if (!reading || !read(reading, chunk.toString("latin1"))) return;
      const { resolve, reject, firstMs = 0, sentAtMs, pieces } = reading;
      const text = pieces.join("");
      reading = undefined;
      if (isRight(text, isStream)) resolve({ firstMs, lastMs: performance.now() - sentAtMs });
      else reject(new Error(`an answer is wrong: ${text.slice(0, 1_000)}`));
    });
    socket.once("connect", () => {
      resolveOpen(
        (request) =>
          new Promise((resolve, reject) => {
            if (socket.destroyed) reject(new Error("a connection was closed at rest"));
            const sentAtMs = performance.now();
            reading = { sentAtMs, resolve, reject, pieces: [], length: 0, tail: "" };
            socket.write(request);
          }),
      );
    });
  });
}

/** State of reading an answer. */
type Reading = {
  readonly sentAtMs: number;
  readonly resolve: (times: Times) => void;
  readonly reject: (error: Error) => void;
  readonly pieces: string[];
  length: number;
  /** Last characters, which show the end of a chunked body. */
  tail: string;
  head?: Head | undefined;
  firstMs?: number;
};

type Head = { readonly end: number; readonly bodyLength: number | undefined };

const chunkedEnd = "\r\n0\r\n\r\n";

/** Adds a piece of an answer; returns true if it is the last. */
function read(reading: Reading, piece: string): boolean {
  reading.pieces.push(piece);
  reading.length += piece.length;
  reading.tail = (reading.tail + piece).slice(-chunkedEnd.length);
  reading.head ??= findHead(reading.pieces);
  const { head, length } = reading;
  if (!head || length === head.end) return head?.bodyLength === 0;
  reading.firstMs ??= performance.now() - reading.sentAtMs;
  if (head.bodyLength !== undefined) return length >= head.end + head.bodyLength;
  return reading.tail === chunkedEnd;
}

function findHead(pieces: readonly string[]): Head | undefined {
  const text = pieces.join("");
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, end))?.[1];
  return { end: end + 4, bodyLength: length === undefined ? undefined : Number(length) };
}

/** Returns whether an answer is right: status 200, the whole text, and the end of a stream. */
function isRight(text: string, isStream: boolean): boolean {
  if (!text.startsWith("200", 9) || !text.includes('"finish_reason":"stop"')) return false;
  if (!isStream) return text.includes(answer);
  return text.includes('"total_tokens"') && text.includes("data: [DONE]\n\n");
}

if (import.meta.main) {
  const result = await main(JSON.parse(process.argv[2] ?? "") as GatewayJob);
  process.stdout.write(JSON.stringify(result), () => process.exit(0));
}
