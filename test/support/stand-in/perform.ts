// Answers a request of the stand-in as the name of its model says: late, broken, with an error or
// normally.

import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { answerText, type Ask, type Dialect, type Frame, type Json, replyTo } from "./dialect.ts";
import type { Plays } from "./play.ts";

export type Exchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly model: string;
  readonly plays: Plays;
  readonly body: Json;
  /** User for whom failures are counted. */
  readonly user: string;
  /** Number of played failures, by model and user. */
  readonly failures: Map<string, number>;
  /** Text of every chat answer in place of the default. */
  readonly text: string | undefined;
  /** Called before the stand-in breaks the connection itself. */
  readonly onBreak: () => void;
};

type Failure = { readonly status: number; readonly message: string; readonly retryAfter?: number };

/** Time of a hanging answer, longer than any test waits. */
const hangMs = 600_000;

/** Answers a chat. */
export async function performChat(
  exchange: Exchange,
  dialect: Dialect,
  isStream: boolean,
): Promise<void> {
  if (await isFailed(exchange, dialect)) return;
  const { body, model, plays, response, text = answerText } = exchange;
  const ask = dialect.toAsk(body, model, isStream);
  if (plays.malformed) {
    sendMalformed(response, ask);
    return;
  }
  if (plays.errorBody) {
    send(response, 200, dialect.toError(400, "stand-in says that the context is too long"));
    return;
  }
  const reply = replyTo(ask, plays, text);
  if (!ask.isStream) {
    await sendWhole(exchange, withoutEnd(dialect.toAnswer(ask, reply), plays));
    return;
  }
  response.writeHead(200, { "content-type": dialect.streamType });
  const [errors] = plays.flakyEvent ?? [];
  if (errors !== undefined && failsStill(exchange, errors)) {
    response.end(dialect.toErrorFrame("stand-in overloaded"));
    return;
  }
  const frames = dialect.toFrames(ask, reply);
  if (plays.endless) await sendEndless(response, frames);
  else await sendFrames(exchange, dialect, plays.noChoices ? withoutChoices(frames) : frames);
}

/** The usage and the end stay. */
function withoutChoices(frames: readonly Frame[]): readonly Frame[] {
  return frames.filter(({ bytes }) => !Buffer.from(bytes).includes('"choices":[{'));
}

const endNames = new Set(["finish_reason", "finishReason", "stop_reason", "stopReason"]);

function withoutEnd(answer: unknown, { noFinish, noChoices }: Plays): unknown {
  const text = JSON.stringify(answer, (key, value: unknown) => {
    if (noFinish && endNames.has(key)) return null;
    return noChoices && key === "choices" ? [] : value;
  });
  return JSON.parse(text);
}

/** Answers a request that is neither a chat nor streamed. */
export async function performWhole(
  exchange: Exchange,
  dialect: Dialect,
  toAnswer: () => unknown,
): Promise<void> {
  if (await isFailed(exchange, dialect)) return;
  if (exchange.plays.malformed) exchange.response.end('{"object": "list", "data": [');
  else await sendWhole(exchange, toAnswer());
}

/** Waits, and plays the model's failure; returns whether it failed. */
async function isFailed(exchange: Exchange, dialect: Dialect): Promise<boolean> {
  const { plays, response, request } = exchange;
  if (plays.slow && !(await hasWaited(response, plays.slow[0]))) return true;
  if (plays.reset) {
    exchange.onBreak();
    response.destroy();
    return true;
  }
  if (plays.redirect) {
    const status = plays.redirect[0] ?? 302;
    response.writeHead(status, { location: `http://${request.headers.host ?? ""}/redirected` });
    response.end();
    return true;
  }
  const failure = failureOf(exchange);
  if (failure === undefined) return false;
  if (failure.status === 0) {
    exchange.onBreak();
    response.destroy();
    return true;
  }
  const { status, message, retryAfter } = failure;
  const headers = retryAfter === undefined ? {} : { "retry-after": String(retryAfter) };
  send(response, status, dialect.toError(status, message), headers);
  return true;
}

function failureOf(exchange: Exchange): Failure | undefined {
  const { plays } = exchange;
  const said = (status: number) => ({ status, message: `stand-in says ${status}` });
  if (plays.fail) return said(plays.fail[0] ?? 500);
  if (plays.leakKey) {
    return { status: plays.leakKey[0] ?? 401, message: leakOf(exchange) };
  }
  if (plays.limited) return { ...said(429), retryAfter: plays.limited[0] ?? 0 };
  if (plays.flaky) {
    const [status = 500, times = 1] = plays.flaky;
    return failsStill(exchange, times) ? said(status) : undefined;
  }
  if (plays.retryAfter && failsStill(exchange, 1)) {
    return { ...said(429), retryAfter: plays.retryAfter[0] ?? 0 };
  }
  return undefined;
}

function failsStill({ failures, model, user }: Exchange, times: number): boolean {
  const key = `${model}\n${user}`;
  const count = failures.get(key) ?? 0;
  if (count < times) failures.set(key, count + 1);
  else failures.delete(key);
  return count < times;
}

/** Returns a message with every secret of a request, as an error of a provider might. */
function leakOf({ request }: Exchange): string {
  const { headers, url = "" } = request;
  const names = ["authorization", "x-api-key", "api-key", "x-goog-api-key", "x-amz-security-token"];
  const secrets = names.flatMap((name) => headers[name] ?? []).map(String);
  const bare = secrets.map((secret) => secret.replace(/^Bearer /, ""));
  const query = new URL(url, "http://localhost").searchParams.get("key");
  const all = [...secrets, ...bare, ...(query === null ? [] : [query])];
  return `Incorrect API key provided: ${all.join(", ")}`;
}

function sendMalformed(response: ServerResponse, ask: Ask): void {
  if (ask.isStream) {
    response.writeHead(200, { "content-type": "text/html" });
    response.end("<html><body>It works!</body></html>");
    return;
  }
  response.writeHead(200, { "content-type": "application/json" });
  response.end('{"choices": [{"index": 0, "message": {"role": "assi');
}

async function sendWhole(exchange: Exchange, answer: unknown): Promise<void> {
  const { response, plays } = exchange;
  const bytes = Buffer.from(JSON.stringify(answer));
  if (plays.cutOff) {
    response.writeHead(200, {
      "content-type": "application/json",
      "content-length": String(bytes.length),
    });
    await write(response, bytes.subarray(0, bytes.length / 2));
    await cutOff(exchange);
    return;
  }
  if (!plays.endless) {
    send(response, 200, answer);
    return;
  }
  response.writeHead(200, { "content-type": "application/json" });
  await write(response, '{"choices": [{"index": 0, "message": {"role": "assistant", "content": "');
  while (!response.destroyed) await write(response, "on and on ".repeat(6_000));
}

async function sendEndless(response: ServerResponse, frames: readonly Frame[]): Promise<void> {
  const index = frames.findIndex(({ kind }) => kind === "content");
  for (const { bytes } of frames.slice(0, index)) await write(response, bytes);
  const again = frames[index]?.bytes ?? "";
  while (!response.destroyed) await write(response, again);
}

async function sendFrames(
  exchange: Exchange,
  dialect: Dialect,
  frames: readonly Frame[],
): Promise<void> {
  const { response, plays } = exchange;
  const middle = Math.ceil(frames.filter(({ kind }) => kind === "content").length / 2);
  const inMiddle = { ...exchange, dialect };
  let contents = 0;
  for (const { kind, bytes } of frames) {
    if (plays.trickle && !(await hasWaited(response, plays.trickle[0]))) return;
    if (plays.cutOff && kind === "finish") {
      await cutOff(exchange);
      return;
    }
    const isKept = kind === "finish" ? plays.noFinish : kind === "done" && isUnmarked(plays);
    if (isKept) continue;
    await write(response, bytes);
    if (kind !== "content") continue;
    contents += 1;
    if (contents === middle && (await isEndedInMiddle(inMiddle))) return;
  }
  if (plays.hang && !(await hasWaited(response, hangMs))) return;
  response.end();
}

function isUnmarked({ noDone, noFinish }: Plays): boolean {
  return noDone !== undefined || noFinish !== undefined;
}

/** Plays the event in the middle of a stream; returns true if the stream is over. */
async function isEndedInMiddle(exchange: Exchange & { dialect: Dialect }): Promise<boolean> {
  const { plays, response, dialect } = exchange;
  if (plays.pause) return !(await hasWaited(response, plays.pause[0]));
  if (plays.malformedStream) {
    response.end(dialect.brokenFrame);
    return true;
  }
  if (!plays.errorEvent && !plays.leakKeyEvent) return false;
  const message = plays.errorEvent ? "stand-in overloaded" : leakOf(exchange);
  response.end(dialect.toErrorFrame(message));
  return true;
}

/** Waits; returns false if the client has gone by then. */
async function hasWaited(response: ServerResponse, ms = 0): Promise<boolean> {
  const gone = new AbortController();
  const abort = (): void => gone.abort();
  response.once("close", abort);
  await delay(ms, undefined, { signal: gone.signal }).catch(() => undefined);
  response.off("close", abort);
  return !response.destroyed;
}

/** Writes with backpressure. */
async function write(response: ServerResponse, bytes: string | Uint8Array): Promise<void> {
  if (response.destroyed || response.write(bytes)) return;
  const gone = new AbortController();
  const closed = (): void => gone.abort();
  response.once("close", closed);
  await once(response, "drain", { signal: gone.signal }).catch(() => undefined);
  response.off("close", closed);
}

/**
 * Time for a client to read the sent bytes, which many clients discard when the connection breaks.
 */
const readMs = 50;

/** Breaks the connection after the client has had time to read. */
async function cutOff({ response, onBreak }: Exchange): Promise<void> {
  onBreak();
  await hasWaited(response, readMs);
  response.destroy();
}

export function send(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}
